"""`adjudge check`: gate a release."""

from typing import Any

import click

from adjudge.cli._options import SETTINGS, debug_option, findable
from adjudge.cli._run_options import SECONDS, terminable, with_options

OPTIONS = (
    click.option("--agent", help="The agent: an address, module:function, command: PROGRAM, openai:MODEL."),
    click.option("--traces", help="In place of an agent: a folder or file of traces that it left."),
    click.option("--judge", help="The model that scores the quality: openai:MODEL or anthropic:MODEL."),
    click.option("--base-url", help="Address of the judge's OpenAI-compatible endpoint."),
    click.option("--repeat", type=click.IntRange(1, 10_000), help="Run every scenario so often."),
    click.option("--gate", help="The gate file; without it every workflow has to pass."),
    click.option("--junit", help="Write a JUnit report to this file."),
    click.option("--json", "json_file", help="Write everything as JSON to this file."),
    click.option("--github", is_flag=True, help="Print annotations for GitHub, and add to its step summary."),
    click.option("--langfuse", is_flag=True, help="Send the scores to Langfuse; keys come from LANGFUSE_*."),
    click.option(
        "--outbox", default="adjudge.outbox", show_default=True, help="Where scores stand until they are delivered."
    ),
    click.option(
        "--otlp-endpoint",
        is_flag=False,
        flag_value="0",
        help="Listen for the agent's spans on [HOST:]PORT, or on any free port, and go by them.",
    ),
    click.option("--workers", default=16, show_default=True, type=click.IntRange(min=1), help="Runs in flight."),
    click.option("--deadline", type=SECONDS, help="Seconds a run may take in all.  [default: 120 or more]"),
    click.option("--run", help="The run file; one that exists goes on."),
    click.option("--retry-failed", is_flag=True, help="Do runs again that ended in an error."),
)


@click.command(
    "check",
    context_settings=SETTINGS,
    short_help="Gate a release on scenarios.",
    epilog="""\b
Examples:
  adjudge check scenarios/ --agent http://localhost:8000/chat --gate gate.toml
  adjudge check scenarios/ --agent my_agent:answer --repeat 5 --junit report.xml
  adjudge check scenarios/ --traces traces/ --judge openai:gpt-4.1-mini --langfuse

\b
Exit codes: 0 pass; 1 the gate failed, and nothing else; 2 the call is wrong; 3 undecided
(an agent or a judge failed, traces are incomplete, too few runs); 130 and 143 interrupted.""",
)
@click.argument("scenarios")
@with_options(*OPTIONS)
@debug_option
def command(scenarios: str, **options: Any) -> int:
    """Run the SCENARIOS of a file or folder, and say whether the agent passes the gate."""
    from adjudge.cli._check_run import run_check

    findable()
    with terminable():
        return run_check(scenarios, **options)

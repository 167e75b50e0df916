"""`adjudge judge`: ask a judge about rows."""

from typing import Any

import click

from adjudge.cli._options import SETTINGS, debug_option
from adjudge.cli._run_options import BUDGETS, CANARIES, LIMITS, dry_run_option, terminable, with_options


@click.group(
    "judge",
    context_settings=SETTINGS,
    short_help="Ask a judge about rows.",
    epilog="\b\nExample:\n  adjudge judge run rows.jsonl --judge local",
)
@debug_option
def command() -> None:
    """Ask a judge about rows."""


@command.command(
    "run",
    context_settings=SETTINGS,
    short_help="Judge a file of rows.",
    epilog="""\b
Examples:
  adjudge judge run rows.jsonl --judge local
  adjudge judge run rows.jsonl --judge openai:gpt-4.1-mini --out verdicts.jsonl
  adjudge judge run rows.jsonl --judge openai:llama --base-url http://localhost:8000/v1
  adjudge judge run rows.jsonl --judge openai:gpt-4.1 --price 2,8 --max-cost 5 --run july.run

\b
The key is read from OPENAI_API_KEY. Exit codes: 0 judged; 2 the call is wrong; 3 undecided
(stopped, no rows, or more than --max-unscored have no score); 130 and 143 interrupted. A run
that did not end goes on with: adjudge resume FILE""",
)
@click.argument("rows")
@click.option("--judge", required=True, help="local, openai:MODEL, anthropic:MODEL, litellm:MODEL or panel:A,B.")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@with_options(*LIMITS, CANARIES, *BUDGETS)
@click.option("--run", help="The run file; one that exists goes on, if it is the same run.")
@click.option("--out", help="Write one verdict a line here, in input order ('-': standard output).")
@dry_run_option
@debug_option
def run(
    rows: str, judge: str, base_url: str | None, run: str | None, out: str | None, dry_run: bool, **limits: Any
) -> int:
    """Judge every row of ROWS (JSON lines, CSV or Parquet) with id, question, reference and response.

    Replies are kept in the run file before they are read, so that nothing is paid twice.
    """
    from adjudge.cli._live import live, show_finished
    from adjudge.runs import RunConfig
    from adjudge.runs._sessions import judge_file

    config = RunConfig(**limits)
    options = {"base_url": base_url}
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs._estimate import estimate

        return show_estimate(estimate(rows, judge=judge, options=options, config=config))
    with terminable(), live() as watch:
        finished = judge_file(rows, judge, options=options, config=config, run=run, out=out, watch=watch)
    return show_finished(finished, to_stderr=out == "-")

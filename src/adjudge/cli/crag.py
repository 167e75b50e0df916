"""`adjudge crag`: the CRAG-MM evaluation."""

from typing import Any

import click

from adjudge.cli._options import SETTINGS, debug_option
from adjudge.cli._run_options import BUDGETS, LIMITS, terminable, with_options

CODES = """\b
Exit codes: 0 done; 2 the call is wrong; 3 undecided (stopped, no turns, or more than
--max-unscored have no label); 130 and 143 interrupted. The same command goes on."""

BREAKDOWNS = ("domain", "query_category", "dynamism", "image_quality", "turn_idx")

WORKERS = click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(min=1), help="Calls of the judge in flight."
)
AGENT = (
    click.option("--agent", required=True, help="module:Agent, module:function, or another agent by name."),
    click.option("--dataset", required=True, help="A file or folder of conversations, or hub:OWNER/NAME."),
    click.option("--split", help="Which split of the data set."),
    click.option("--allow-host", multiple=True, help="A host that images may be fetched from; repeatable."),
    click.option("--num-conversations", type=click.IntRange(min=0), help="How many whole conversations; default all."),
)
JUDGE = (
    click.option("--judge", help="local, a MODEL, or none for no semantic evaluation.  [default: gpt-4o]"),
    click.option("--base-url", help="Address of an OpenAI-compatible endpoint."),
    click.option("--scorer", multiple=True, help="A scorer that is aggregated beside the metrics; repeatable."),
    click.option(
        "--rule-scope",
        type=click.Choice(["conversation", "all"]),
        default="conversation",
        show_default=True,
        help="Where the two-wrong rule counts.",
    ),
    click.option("--raw-csv", is_flag=True, help="Write cells that a spreadsheet would run as they are."),
    click.option("--parquet", is_flag=True, help="Write the results as Parquet too."),
    click.option("--by", multiple=True, type=click.Choice(BREAKDOWNS), help="Show a breakdown; repeatable."),
)
OUT = (
    click.option(
        "--out",
        default="crag-results",
        show_default=True,
        help="The folder of the run files and of everything that is written.",
    ),
    click.option("--retry-failed", is_flag=True, help="Do turns again that ended in an error."),
)


@click.group(
    "crag",
    context_settings=SETTINGS,
    short_help="Evaluate an agent on CRAG-MM conversations.",
    epilog="\b\nExample:\n  adjudge crag evaluate turns.jsonl --judge local --out results",
)
@debug_option
def command() -> None:
    """Evaluate an agent on CRAG-MM conversations."""


@command.command(
    "run",
    context_settings=SETTINGS,
    short_help="Let an agent answer, and evaluate its answers.",
    epilog=f"""\b
Examples:
  adjudge crag run --agent my_agent:Agent --dataset conversations.jsonl --judge local
  adjudge crag run --agent my_agent:Agent --dataset hub:crag-mm-2025/crag-mm-multi-turn-public \\
      --split validation --num-conversations 100 --workers 8 --out results

{CODES}""",
)
@with_options(*AGENT, *JUDGE, WORKERS, *LIMITS[1:], *BUDGETS, *OUT)
@debug_option
def run(**options: Any) -> int:
    """Ask the agent every turn of the conversations, label its answers, and write turn data, results and scores."""
    from adjudge.cli._crag_run import run_crag

    with terminable():
        return run_crag("run", **options)


@command.command(
    "generate",
    context_settings=SETTINGS,
    short_help="Let an agent answer, without evaluation.",
    epilog=f"""\b
Example:
  adjudge crag generate --agent my_agent:Agent --dataset conversations.jsonl --out results

{CODES}""",
)
@with_options(*AGENT, WORKERS, *LIMITS[1:], *OUT)
@debug_option
def generate(**options: Any) -> int:
    """Ask the agent every turn of the conversations, and write turn data."""
    from adjudge.cli._crag_run import run_crag

    with terminable():
        return run_crag("generate", **options)


@command.command(
    "evaluate",
    context_settings=SETTINGS,
    short_help="Evaluate answers that were saved.",
    epilog=f"""\b
Examples:
  adjudge crag evaluate turns.jsonl --judge local --out results
  adjudge crag evaluate turns.jsonl --judge llama --base-url http://localhost:8000/v1
  adjudge crag evaluate turns.jsonl --judge gpt-4o --workers 16 --by domain --out results

{CODES}""",
)
@click.argument("turns")
@with_options(*JUDGE, WORKERS, *LIMITS[1:], *BUDGETS, *OUT)
@debug_option
def evaluate(**options: Any) -> int:
    """Label the turns in TURNS (turn data as JSON lines), and write results and scores."""
    from adjudge.cli._crag_run import run_crag

    with terminable():
        return run_crag("evaluate", **options)

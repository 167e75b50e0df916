"""`adjudge resume`: go on with a run."""

from typing import Any

import click

from adjudge.cli._options import SETTINGS, Share, debug_option
from adjudge.cli._run_options import BUDGETS, SECONDS, Price, terminable, with_options


@click.command(
    "resume",
    context_settings=SETTINGS,
    short_help="Go on with a run that was stopped.",
    epilog="""\b
Examples:
  adjudge resume july.run
  adjudge resume july.run --out verdicts.jsonl
  adjudge resume july.run --max-calls 5000 --retry-failed""",
)
@click.argument("file")
@click.option("--out", help="Write the results here, in input order ('-': standard output).")
@click.option("--retry-failed", is_flag=True, help="Ask again about rows that ended in an error.")
@click.option("--base-url", help="Another address for the judge's endpoint.")
@click.option("--workers", type=click.IntRange(min=1), help="Calls in flight.")
@click.option("--deadline", type=SECONDS, help="Seconds a row may take in all.")
@click.option("--attempt-timeout", type=SECONDS, help="Seconds one attempt may take.")
@click.option("--max-unscored", type=Share(), help="Share of rows that may have no score.")
@click.option("--price", type=Price(), help="Dollars for a million prompt and completion tokens: 0.15,0.60.")
@with_options(*BUDGETS[:3])
@debug_option
def command(file: str, out: str | None, retry_failed: bool, base_url: str | None, **limits: Any) -> int:
    """Go on with the run in FILE where it stopped, with the limits that it began with unless others are given.

    Rows that are done stay as they are; a reply that had arrived is not paid for again.
    """
    from adjudge.cli._live import live, show_finished
    from adjudge.runs._sessions import resume_run

    with terminable(), live() as watch:
        finished = resume_run(
            file, out=out, options={"base_url": base_url}, limits=limits, retry_failed=retry_failed, watch=watch
        )
    return show_finished(finished, to_stderr=out == "-")

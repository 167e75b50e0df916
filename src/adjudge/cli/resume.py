"""`adjudge resume`: resume a run."""

from typing import Any

import click

from adjudge.cli._options import (
    ACCEPT_CHANGES,
    BUDGETS,
    SECONDS,
    Price,
    Share,
    dry_run_option,
    exit_on_sigterm,
    new_command,
    with_options,
)


@new_command(
    "resume",
    short_help="Resume a run that was stopped.",
    epilog="""\b
Examples:
  adjudge resume july.run
  adjudge resume july.run --out verdicts.jsonl
  adjudge resume july.run --max-calls 5000 --retry-failed""",
)
@click.argument("file")
@click.option("--out", help="Write the results here, in input order ('-': standard output).")
@click.option("--retry-failed", is_flag=True, help="Ask again about rows that ended in an error.")
@click.option("--retry-unscored", is_flag=True, help="Ask again about rows that have no score, though nothing failed.")
@ACCEPT_CHANGES
@click.option("--base-url", help="Another address for the judge's endpoint.")
@click.option("--workers", type=click.IntRange(min=1), help="Calls in flight.")
@click.option("--deadline", type=SECONDS, help="Seconds a row may take in all.")
@click.option("--attempt-timeout", type=SECONDS, help="Seconds one attempt may take.")
@click.option("--max-unscored", type=Share(), help="Share of rows that may have no score.")
@click.option("--price", type=Price(), help="Dollars for a million prompt and completion tokens: 0.15,0.60.")
@with_options(*BUDGETS[:3])
@dry_run_option
def command(file: str, out: str | None, base_url: str | None, dry_run: bool, **more: Any) -> int:
    """Resume the run in FILE where it stopped, with the limits that it began with unless others are given.

    Rows that are done stay as they are; a reply that had arrived is not paid for again.
    """
    from adjudge.cli._show import live, show_finished
    from adjudge.runs import resume_run

    options = {"base_url": base_url}
    again = {name: more.pop(name) for name in ("retry_failed", "retry_unscored")}
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs import estimate_resume

        return show_estimate(estimate_resume(file, options=options, limits=more, **again))
    with exit_on_sigterm(), live() as watch:
        finished = resume_run(file, out=out, options=options, limits=more, watch=watch, **again)
    return show_finished(finished, to_stderr=out == "-")

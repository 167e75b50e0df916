"""`adjudge resume`: resume a run."""

from functools import partial
from typing import Any

import click

from adjudge.cli._options import (
    ACCEPT_CHANGES,
    AGENT_OPTIONS,
    BUDGETS,
    NO_CODE,
    SECONDS,
    Price,
    Share,
    dry_run_option,
    exit_on_sigterm,
    new_command,
    with_options,
)
from adjudge.errors import printable


@new_command(
    "resume",
    short_help="Resume a run that was stopped.",
    epilog="""\b
Examples:
  adjudge resume july.run
  adjudge resume july.run --out verdicts.jsonl
  adjudge resume july.run --max-calls 5000 --retry-failed
  adjudge resume from-elsewhere.run --agent my_agent:answer --base-url http://localhost:8000/v1""",
)
@click.argument("file")
@click.option("--scorer", "scorers", multiple=True, help="Say again what the run was started with. Repeatable.")
@click.option("--judge", help="The same for its judge.")
@click.option("--agent", help="The same for its agent.")
@with_options(*AGENT_OPTIONS[:-1])  # all but --wait: what they say is not kept in a run
@click.option("--trust", is_flag=True, help="Run the code and call the addresses that a file from elsewhere names.")
@click.option("--out", help="Write the results here, in input order ('-': standard output).")
@click.option("--retry-failed", is_flag=True, help="Ask again about rows that ended in an error.")
@click.option("--retry-unscored", is_flag=True, help="Ask again about rows that have no score, though nothing failed.")
@ACCEPT_CHANGES
@NO_CODE
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

    Rows that are done stay as they are; a reply that had arrived is not paid for again. A run that was started by
    somebody else, or on another machine, does not decide what is run and called here: say it again, or --trust it.
    """
    from adjudge.cli._show import live, show_finished
    from adjudge.runs import GivenAgain, resume_run

    options = {"base_url": base_url}
    said = {name: more.pop(name) for name in ("scorers", "judge", "agent", "trust")}
    given = GivenAgain(**said, on_trust=partial(_warn, file))
    again = {name: more.pop(name) for name in ("retry_failed", "retry_unscored")}
    if dry_run:
        from adjudge.cli.plan import show_estimate
        from adjudge.runs import estimate_resume

        return show_estimate(estimate_resume(file, options=options, limits=more, given=given, **again))
    with exit_on_sigterm(), live() as watch:
        finished = resume_run(file, out=out, options=options, limits=more, given=given, watch=watch, **again)
    return show_finished(finished, to_stderr=out == "-")


def _warn(file: str, named: list[str]) -> None:
    """Say what a file that is trusted makes us do, before it is done."""
    click.echo(
        f"adjudge: warning: trusting {printable(file)}, which names {printable(' '.join(named), 2000)}", err=True
    )
    click.echo("adjudge: warning: keys in the environment go to the addresses among them", err=True)

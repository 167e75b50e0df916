"""`adjudge show`: what is in a run file, and one row of it whole."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from adjudge.cli._options import new_command
from adjudge.errors import UsageError, printable

if TYPE_CHECKING:
    from adjudge.runs import RunFile

UNDER_WAY = ("running", "stopped")  # states in which rows may wait
CHECK = ("scenario",)  # the names of the scores of a check


@new_command(
    "show",
    short_help="Show a run, or one row of it.",
    epilog="""\b
Examples:
  adjudge show july.run
  adjudge show july.run --failures
  adjudge show july.run refund-7""",
)
@click.argument("file")
@click.argument("row", required=False)
@click.option(
    "--failures", "with_failures", is_flag=True, help="List every row without a score, and every FAIL of a check."
)
@click.option("--out", help="Write the results again, in input order ('-': standard output).")
def command(file: str, row: str | None, with_failures: bool, out: str | None) -> int:
    """Show what the run in FILE was asked to do, how far it is, and its summary so far.

    With ROW, an id or a number from 1 on, show everything about that row: question, references, conversation, scores
    with their reasons, prompts and replies.
    """
    from adjudge.runs import open_run

    run = open_run(file)
    if row is not None:
        from adjudge.cli._row import find_row, show_row

        if with_failures or out is not None:
            raise UsageError("a row is shown alone: leave --failures and --out out", code="bad-option")
        show_row(run, find_row(run, row))
        return 0
    _show_run(run, is_piped=out == "-")
    if with_failures:
        for line in _failures(run):
            click.echo(printable(line, most=500), err=out == "-")
    if out is not None:
        run.export(out)
    return 0


def _show_run(run: "RunFile", *, is_piped: bool) -> None:
    """Print a run; where standard output is for the results alone, to standard error.

    Rows that a run has yet to do are not errors: they are counted apart.
    """
    from adjudge.cli._show import Terminal, show_summary

    state, plan = run.state, run.plan
    cost = f", ${state.cost:.4f}" if state.cost else ""
    spent = f"{state.calls:,} calls, {state.tokens:,} tokens{cost}"
    click.echo(f"{state.state}: {state.done:,} of {state.cases:,} rows, {spent}", err=is_piped)
    source = printable(", ".join(plan.merged) or plan.source or "Python", most=500)
    click.echo(
        f"started {printable(plan.started)} by adjudge {printable(plan.adjudge)}, cases from {source}", err=is_piped
    )
    console = Terminal(stderr=is_piped)
    is_over = state.state not in UNDER_WAY
    show_summary(run.summary if is_over else run.summary_so_far, console)
    if not is_over and (to_do := state.cases - state.done):
        console.say(f"{to_do:,} {'row' if to_do == 1 else 'rows'} to do")
    if plan.names == CHECK:
        from adjudge.cli.check import show_scenarios
        from adjudge.scenarios import read_scenario_run

        console.print()
        found = read_scenario_run(run.file)
        if not is_over:
            found = replace(found, results=tuple(one for row, one in found.pairs() if row.scores is not None))
        show_scenarios(found, console)


def _failures(run: "RunFile") -> Iterator[str]:
    """Give a line for every row without a score and, of a check, for every run that failed; rows to do have none."""
    is_over = run.state.state not in UNDER_WAY
    if run.plan.names == CHECK:
        from adjudge.scenarios import outcome_of, read_scenario_run

        for row, result in read_scenario_run(run.file).pairs():
            if (is_over or row.scores is not None) and (outcome := outcome_of(result)) != "passed":
                word = "FAIL" if outcome == "failed" else outcome
                yield f"{row.case.id}: {word}: {'; '.join(result['reasons'])}"
        return
    for one in run.scores():
        is_to_do = not is_over and (one.score.reason or "").startswith("not-run: ")
        if one.score.status != "scored" and not is_to_do:
            yield f"{one.id}: {one.scorer}: {one.score.status}: {one.score.reason}"

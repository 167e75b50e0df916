"""`adjudge show`: what is in a run file."""

import click

from adjudge.cli._options import new_command
from adjudge.errors import printable


@new_command(
    "show",
    short_help="Show a run.",
    epilog="\b\nExamples:\n  adjudge show july.run\n  adjudge show july.run --failures",
)
@click.argument("file")
@click.option("--failures", "with_failures", is_flag=True, help="List every row without a score, with its reason.")
@click.option("--out", help="Write the results again, in input order ('-': standard output).")
def command(file: str, with_failures: bool, out: str | None) -> int:
    """Show what the run in FILE was asked to do, how far it is, and its summary so far."""
    from adjudge.cli._show import Terminal, show_summary
    from adjudge.runs import open_run

    run = open_run(file)
    state, plan = run.state, run.plan
    # Standard output is then for the results alone.
    is_piped = out == "-"
    cost = f", ${state.cost:.4f}" if state.cost else ""
    spent = f"{state.calls:,} calls, {state.tokens:,} tokens{cost}"
    click.echo(f"{state.state}: {state.done:,} of {state.cases:,} rows, {spent}", err=is_piped)
    source = printable(", ".join(plan.merged) or plan.source or "Python", most=500)
    click.echo(
        f"started {printable(plan.started)} by adjudge {printable(plan.adjudge)}, cases from {source}", err=is_piped
    )
    show_summary(run.summary, Terminal(stderr=is_piped))
    if with_failures:
        for row in run.scores():
            if row.score.status != "scored":
                words = f"{row.id}: {row.scorer}: {row.score.status}: {row.score.reason}"
                click.echo(printable(words, most=500), err=is_piped)
    if out is not None:
        run.export(out)
    return 0

"""`adjudge show`: what is in a run file."""

import click

from adjudge.cli._options import SETTINGS, debug_option, printable


@click.command(
    "show",
    context_settings=SETTINGS,
    short_help="Show a run.",
    epilog="\b\nExamples:\n  adjudge show july.run\n  adjudge show july.run --failures",
)
@click.argument("file")
@click.option("--failures", "with_failures", is_flag=True, help="List every row without a score, with its reason.")
@debug_option
def command(file: str, with_failures: bool) -> int:
    """Show what the run in FILE was asked to do, how it stands, and what it amounts to so far."""
    from pathlib import Path

    from adjudge.cli._show import Terminal, show_summary
    from adjudge.errors import RunError, UsageError
    from adjudge.runs._look import failures, run_state, run_summary

    if not Path(file).is_file():
        raise UsageError(f"{file}: there is no such run file", code="cannot-read")
    run = run_state(Path(file))
    if run.plan is None:
        raise RunError(run.fault or f"{file} cannot be read", code="run-damaged")
    cost = f", ${run.cost:.4f}" if run.cost else ""
    click.echo(f"{run.state}: {run.done:,} of {run.cases:,} rows, {run.calls:,} calls, {run.tokens:,} tokens{cost}")
    source = ", ".join(run.plan.merged) or run.plan.source or "Python"
    click.echo(f"started {run.plan.started} by adjudge {run.plan.adjudge}, cases from {printable(source, most=500)}")
    show_summary(run_summary(file), Terminal())
    if with_failures:
        for failure in failures(file):
            words = f"{failure.id}: {failure.scorer}: {failure.status}: {failure.reason}"
            click.echo(printable(words, most=500))
    return 0

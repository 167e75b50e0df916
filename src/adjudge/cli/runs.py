"""`adjudge runs`: which runs there are."""

import click

from adjudge.cli._options import SETTINGS, debug_option, printable


@click.command(
    "runs",
    context_settings=SETTINGS,
    short_help="List run files.",
    epilog="\b\nExamples:\n  adjudge runs\n  adjudge runs results/",
)
@click.argument("folder", required=False)
@debug_option
def command(folder: str | None) -> None:
    """List the run files (*.run) in FOLDER, or in the folder of runs that were given no place, oldest first."""
    from adjudge.runs._look import list_runs

    found = list_runs(folder)
    if not found:
        click.echo("There are no runs here.")
    for run in found:
        if run.plan is None:
            click.echo(f"{run.file}  {run.state}: {printable(run.fault or '')}")
            continue
        counts = ", ".join(f"{count:,} {status}" for status, count in (run.counts or {}).items())
        what = ", ".join(run.plan.names)
        click.echo(f"{run.file}  {run.state}  {run.done:,} of {run.cases:,} rows ({counts})  {printable(what)}")

"""`adjudge init`: the first files of a project."""

import click

from adjudge.cli._options import new_command


@new_command(
    "init",
    short_help="Write a starter scenario file and a gate.",
    epilog="\b\nExamples:\n  adjudge init\n  adjudge init evaluation",
)
@click.argument("folder", default=".")
def command(folder: str) -> None:
    """Write scenarios/starter.toml and gate.toml into FOLDER, by default this one; nothing is written over."""
    from pathlib import Path

    from adjudge.scenarios import write_starter

    for place in write_starter(folder):
        click.echo(f"wrote {place}")
    here = Path(folder)
    click.echo("\nTry them on the sample agent, then write your own:")
    gate = f"--gate {here / 'gate.toml'}"
    click.echo(f"  adjudge check {here / 'scenarios'} {gate} --agent adjudge.scenarios.sample:answer")

"""`adjudge init`: the first files of a project, and of a scorer, a judge, a decoder or an environment."""

import click

from adjudge.cli._options import new_command


@new_command(
    "init",
    short_help="Write first files: scenarios and a gate, or a scorer, judge, decoder or environment.",
    epilog="\b\nExamples:\n  adjudge init\n  adjudge init evaluation\n  adjudge init scorer brevity",
)
@click.argument("what", default=".")
@click.argument("name", required=False)
def command(what: str, name: str | None) -> None:
    """Write scenarios/starter.toml and gate.toml into the folder WHAT, by default this one; nothing is written over.

    Where WHAT is scorer, judge, decoder or environment: write the code of one called NAME, a test that passes, and a
    page, into this folder.
    """
    from pathlib import Path

    from adjudge.errors import UsageError
    from adjudge.starters import KINDS, write_starter

    if what in KINDS and what != "scenario":
        places = write_starter(what, name)
        then = ["Try it, then make it yours:", f"  pytest test_{name}.py"]
    elif name is not None:
        raise UsageError(f"adjudge init takes a folder, or one of {', '.join(list(KINDS)[1:])} and a name")
    else:
        here = Path(what)
        places = write_starter(folder=here)
        gate = f"--gate {here / 'gate.toml'}"
        then = [
            "Try them on the sample agent, then write your own:",
            f"  adjudge check {here / 'scenarios'} {gate} --agent adjudge.scenarios.sample:answer",
        ]
    for place in places:
        click.echo(f"wrote {place}")
    click.echo("\n" + "\n".join(then))

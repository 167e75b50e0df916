"""`adjudge scorers`: what can be asked for a score."""

import click

from adjudge.cli._options import new_command
from adjudge.errors import printable


@new_command(
    "scorers",
    short_help="List the registered scorers.",
    epilog="\b\nExamples:\n  adjudge scorers\n  adjudge scorers qa",
)
@click.argument("word", default="")
def command(word: str) -> None:
    """List the registered scorers, with their signatures and what they mean; only those with WORD, if given."""
    from adjudge.errors import UnknownReward
    from adjudge.rewards import describe, list_rewards

    names = [name for name in list_rewards() if word.lower() in name.lower()]
    if not names:
        click.echo(f"No scorer has {word!r} in its name.")
    for name in names:
        try:
            found = describe(name)
        except UnknownReward as error:
            click.echo(f"{name}\n    cannot be loaded: {printable(error.message)}")
            continue
        click.secho(f"{found.name}{found.signature}", bold=True)
        click.echo(f"    {found.summary}\n    version {found.version}, {found.place}")
    if not word:
        judges = "local, openai:MODEL, anthropic:MODEL, litellm:MODEL, panel:A,B, cascade:A,B, quality:openai:MODEL"
        click.echo(f"Judges are scorers, too: {judges}.")

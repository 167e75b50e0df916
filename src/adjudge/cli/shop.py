"""`adjudge shop`: the shop, as pages, in the terminal, and for buyers to compare with."""

from typing import Any

import click

from adjudge.cli._options import DEBUG, SETTINGS, new_command, with_options
from adjudge.errors import printable

ITEMS = with_options(
    click.option("--data", help="A folder with WebShop's item files; else the items are adjudge's own."),
    click.option("--goals", type=click.Choice(["human", "synthetic"]), default="human", help="Which goals of --data."),
    click.option("--products", type=click.IntRange(min=1), help="Take the first so many items of --data."),
    click.option(
        "--nouns", type=click.Choice(["auto", "lexicon", "words", "spacy"]), default="auto", help="Who finds nouns."
    ),
)
"""What says which items are on sale."""


@click.group(
    "shop",
    context_settings=SETTINGS,
    params=[DEBUG],
    short_help="Serve the shop, or play in it.",
    invoke_without_command=True,
    epilog="\b\nExamples:\n  adjudge shop\n  adjudge shop play 7\n  adjudge shop baselines",
)
@click.pass_context
def command(context: click.Context) -> None:
    """Serve the shop as pages (as `serve` does), play it in the terminal, or let the baselines play."""
    if context.invoked_subcommand is None:
        context.invoke(serve)


@new_command(
    "serve",
    command,
    short_help="Serve the shop as pages.",
    epilog="\b\nExamples:\n  adjudge shop serve\n  adjudge shop serve --port 8080",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; this machine only by default.")
@click.option("--port", type=click.IntRange(0, 65535), default=3000, show_default=True, help="0 takes any free one.")
@ITEMS
def serve(host: str, port: int, **items: Any) -> None:
    """Serve the shop as pages for people and browsing agents, until interrupted."""
    import asyncio

    from adjudge.environments.webshop import ShopSite, WebShopSpec
    from adjudge.errors import UsageError

    spec = WebShopSpec(**items)
    # Fails here if something is missing, before the shop opens.
    spec.build()

    async def run() -> None:
        async with ShopSite(spec).serving(host, port) as address:
            click.echo(f"adjudge shop is open at {address} (Ctrl-C closes it)")
            await asyncio.Event().wait()

    try:
        asyncio.run(run())
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}; try another --port") from None


@new_command(
    "play",
    command,
    short_help="Play a task in the terminal.",
    epilog="\b\nExamples:\n  adjudge shop play\n  adjudge shop play 7",
)
@click.argument("task", default="0")
@ITEMS
def play(task: str, **items: Any) -> None:
    """Play TASK (a number, 0 if not given) in the terminal."""
    from adjudge.environments.webshop import WebShopSpec, play_terminal

    world = WebShopSpec(**items).build()
    outcome = play_terminal(world, task, input, lambda line: click.echo(printable(line, most=5000)))
    click.echo(f"adjudge shop, task {outcome.task}: reward {outcome.reward:.4f}")


@new_command(
    "baselines",
    command,
    short_help="Let the baselines play.",
    epilog="\b\nExample:\n  adjudge shop baselines",
)
@click.option("--tasks", type=click.IntRange(min=1), help="Only the first so many tasks.")
@ITEMS
def baselines(tasks: int | None, **items: Any) -> None:
    """Show what a buyer who knows the goal, a naive one and a random one reach."""
    from adjudge.environments.webshop import BASELINES, WebShopSpec, run_baseline

    world = WebShopSpec(**items).build()
    count = len(world.catalogue.goals)
    click.echo(f"{world.catalogue.name}, nouns by {world.nouns.name}")
    click.echo("buyer    tasks  reward  success")
    for name in BASELINES:
        result = run_baseline(name, world, range(min(tasks or count, count)))
        click.echo(f"{name:7}  {result.tasks:5}  {result.reward:.4f}   {result.success:.4f}")

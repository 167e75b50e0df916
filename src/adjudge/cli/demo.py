"""`adjudge demo`: the guided tour."""

import click

from adjudge.cli._options import new_command


@new_command(
    "demo",
    short_help="A guided tour, offline.",
    epilog="\b\nExamples:\n  adjudge demo\n  adjudge demo gate",
)
@click.argument("chapter", required=False)
def command(chapter: str | None) -> None:
    """Show rewards, mathematics, judges, a benchmark and a gate on bundled samples: offline, no key needed.

    CHAPTER plays one: rewards, math, judges, local, benchmark, gate, environments, report.
    """
    from rich.text import Text

    from adjudge.cli._show import Terminal, show_summary
    from adjudge.demo import tour

    console = Terminal()

    def say(text: str) -> None:
        console.print(Text(text))
        console.print()

    tour(say, lambda summary: show_summary(summary, console), chapter)

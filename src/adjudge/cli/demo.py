"""`adjudge demo`: the guided tour."""

from adjudge.cli._options import new_command


@new_command(
    "demo",
    short_help="A guided tour, offline.",
    epilog="\b\nExample:\n  adjudge demo",
)
def command() -> None:
    """Show rewards, mathematics, judges, a benchmark and a gate on bundled samples: offline, no key needed."""
    from rich.text import Text

    from adjudge.cli._show import Terminal, show_summary
    from adjudge.demo import tour

    console = Terminal()

    def say(text: str) -> None:
        console.print(Text(text))
        console.print()

    tour(say, lambda summary: show_summary(summary, console))

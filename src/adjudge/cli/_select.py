"""Which scenarios a check runs, and how the runs of each tag ended."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from adjudge.errors import printable

if TYPE_CHECKING:
    from adjudge.cli._show import Terminal

SELECTED = ("tags", "only", "exclude", "last_failed")
SELECTION = (
    click.option("--tag", "tags", multiple=True, help="Only scenarios with this tag, or another that is given."),
    click.option("--only", multiple=True, help="Only the scenario with this id, or all of a pattern: 'billing-*'."),
    click.option("--exclude", multiple=True, help="Not the scenario with this id, or all of a pattern."),
    click.option("--last-failed", metavar="RUN", help="Only scenarios that did not pass in this run file."),
)


def show_tags(results: Sequence[Mapping[str, Any]], console: "Terminal") -> None:
    """Print how the runs of each tag ended; a run counts for each of its tags."""
    from rich.text import Text

    from adjudge.cli._show import new_table
    from adjudge.scenarios import outcome_of

    tags: dict[str, Counter[str]] = {}
    for result in results:
        for tag in dict.fromkeys(result["tags"]):
            tags.setdefault(tag, Counter())[outcome_of(result)] += 1
    table = new_table("tag", "runs", "passed", "failed", "undecided")
    for tag, ends in sorted(tags.items()):
        cells = [Text(f"{ends[how]:,}") for how in ("passed", "failed", "undecided")]
        for cell, style in zip(cells[1:], ("red", "yellow"), strict=True):
            cell.stylize(style if cell.plain != "0" else "dim")
        table.add_row(Text(printable(tag)), f"{ends.total():,}", *cells)
    console.print()
    console.print(table)

"""How a phase stands while it goes on: a bar on a terminal, with the three counts; now and then a line elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from adjudge.crag._phases import Watch
from adjudge.runs import Progress

PATIENCE = 2.0  # seconds before a bar appears
EVERY = 10.0  # seconds between two lines


@contextmanager
def bar(name: str) -> Iterator[Watch | None]:
    """Show a bar on a terminal; nothing elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[counts]}"))
    bars = Bars(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True)
    task = bars.add_task(name, total=None, counts="")
    started = time.monotonic()

    def watch(progress: Progress) -> None:
        bars.update(task, completed=progress.done, total=progress.total, counts=counts_of(progress))
        if not bars.live.is_started and time.monotonic() - started > PATIENCE:
            bars.start()

    try:
        yield watch
    finally:
        bars.stop()


@contextmanager
def bar_or_lines(name: str) -> Iterator[Watch | None]:
    """Show a bar on a terminal; elsewhere write a line every ten seconds."""
    with bar(name) as watch:
        yield _lines(name) if watch is None else watch


def counts_of(progress: Progress) -> str:
    """Say the three counts.

    >>> counts_of(Progress())
    '0 scored, 0 unscored, 0 error'
    """
    counts = progress.counts
    return ", ".join(f"{counts[status]:,} {status}" for status in ("scored", "unscored", "error"))


def _lines(name: str) -> Watch:
    said = time.monotonic()

    def watch(progress: Progress) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY:
            said = time.monotonic()
            total = "" if progress.total is None else f" of {progress.total:,}"
            line = f"{name}: {progress.done:,}{total} turns · {counts_of(progress)}"
            print(line, file=sys.stderr, flush=True)  # noqa: T201 (progress is for whoever watches)

    return watch

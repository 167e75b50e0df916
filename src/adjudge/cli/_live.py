"""A run while it goes on, and how it ended: a line that changes on a terminal, now and then a line elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from adjudge.cli._options import printable
from adjudge.cli._show import EVERY, PATIENCE, Terminal, show_summary
from adjudge.runs import Finished, Progress


def describe(progress: Progress, began: int, seconds: float) -> str:
    """Say in one line how a run stands."""
    counts = progress.counts
    rate = (progress.done - began) / seconds if seconds > 0 else 0.0
    total = "" if progress.total is None else f" of {progress.total:,}"
    words = [
        f"{progress.done:,}{total} rows",
        f"{progress.in_flight} in flight",
        f"{counts['scored']:,} scored, {counts['unscored']:,} unscored, {counts['error']:,} error",
        f"{rate:.1f} rows/s",
    ]
    if progress.calls:
        cost = f", ${progress.cost:.4f}" if progress.cost else ""
        words.append(f"{progress.calls:,} calls, {progress.tokens:,} tokens{cost}")
    if progress.total is not None and rate > 0 and progress.done < progress.total:
        left = round((progress.total - progress.done) / rate)
        words.append(f"{left // 60}:{left % 60:02d} left")
    return " · ".join(words)


@contextmanager
def live() -> Iterator[Callable[[Progress], None]]:
    """Give what is told of a run's progress a place on the terminal, or lines where there is none."""
    console = Terminal(stderr=True)
    started = time.monotonic()
    said = started
    began: int | None = None
    status = console.status("starting") if console.is_terminal else None

    def watch(progress: Progress) -> None:
        nonlocal said, began
        began = progress.done if began is None else began
        now = time.monotonic()
        if status is not None:
            if now - started > PATIENCE:
                status.update(describe(progress, began, now - started))
                status.start()
        elif now - said >= EVERY:
            said = now
            print(describe(progress, began, now - started), file=sys.stderr, flush=True)  # noqa: T201 (the terminal's side)

    try:
        yield watch
    finally:
        if status is not None:
            status.stop()


def show_finished(finished: Finished, *, to_stderr: bool, again: str = "adjudge resume") -> int:
    """Print how a run ended and return its exit code; `again` is what goes on with it, before the name of its file."""
    for warning in finished.warnings:
        click.echo(f"adjudge: warning: {printable(warning, most=500)}", err=True)
    if finished.signal is not None:
        click.echo(f"adjudge: interrupted; {again} {finished.file} goes on", err=True)
        return finished.exit_code
    if finished.summary is not None:
        show_summary(finished.summary, Terminal(stderr=to_stderr))
    show_end(finished, again)
    return finished.exit_code


def show_end(finished: Finished, again: str = "adjudge resume") -> None:
    """Say whether a run decides anything, and where it is."""
    if finished.undecided is not None:
        more = f"{again} {finished.file} goes on" if finished.is_stopped else f"the run is in {finished.file}"
        click.echo(f"adjudge: undecided: {printable(finished.undecided, most=500)}; {more}", err=True)
    else:
        click.echo(f"adjudge: the run is in {finished.file}", err=True)

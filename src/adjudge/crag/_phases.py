"""A phase of an evaluation as a run of the engine: where its file is, how its progress is shown, how it is stopped."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from adjudge.calling import run_sync
from adjudge.errors import RunError, RunStopped, UsageError
from adjudge.runs import Progress, RunTask, run_session

Watch: TypeAlias = Callable[[Progress], None]
ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Gets how many turns are done, and of how many."""

Watching: TypeAlias = Callable[[str], AbstractContextManager[Watch | None]]
"""Given the name of a phase, a context with the function that gets its progress."""

PATIENCE = 2.0  # seconds before a bar appears
EVERY = 10.0  # seconds between two lines


@dataclass(eq=False)
class Phases:
    """The runs of one evaluation, in `run_dir`, or in a temporary folder that is removed with this object."""

    run_dir: Path | None = None
    watching: Watching | None = None  # in place of the bar that `show` asks for
    show: bool = False
    callback: ProgressCallback | None = None
    signals: bool = False  # whether SIGINT and SIGTERM stop a phase in good order, as on the command line
    signal: int | None = field(default=None, init=False)  # which of them did
    _place: Path | None = field(default=None, init=False)  # the temporary folder

    def file(self, name: str, *, anew: bool = False) -> Path:
        """Return the run file of that name; `anew` removes an earlier one from a temporary folder."""
        if self.run_dir is not None:
            return make_folder(self.run_dir) / f"{name}.run"
        if self._place is None:
            self._place = Path(tempfile.mkdtemp(prefix="adjudge-crag-"))
            # Removed with this object, or when Python ends: `__del__` alone would miss the second.
            weakref.finalize(self, shutil.rmtree, self._place, ignore_errors=True)
        path = self._place / f"{name}.run"
        if anew:
            path.unlink(missing_ok=True)
        return path

    def run(self, name: str, task: RunTask) -> None:
        """Run a phase to its end; one that was stopped raises `RunStopped`, and its file keeps what was done."""
        # What the command line sets comes before the bar that Python users ask for.
        watching = bar if self.watching is None and self.show else self.watching
        with nullcontext() if watching is None else watching(name) as shown:

            def watch(progress: Progress) -> None:
                if shown is not None:
                    shown(progress)
                if self.callback is not None and progress.total is not None:
                    self.callback(progress.done, progress.total)

            is_watched = shown is not None or self.callback is not None
            task = replace(task, signals=self.signals, watch=watch if is_watched else None)
            try:
                session = run_sync(run_session(task), "evaluate", anywhere=True)
            except RunError as error:
                if error.code != "run-mismatch":
                    raise
                # The user knows the folder, not our files in it.
                message = error.message.removesuffix("run file")
                raise RunError(f"{message}folder", code=error.code) from None
        for warning in session.warnings:
            warnings.warn(warning, stacklevel=2)
        self.signal = session.signal
        stopped = session.stopped
        if stopped is not None:
            where = "" if self.run_dir is None else f"; what was done is in {self.run_dir}: do the same again to resume"
            raise RunStopped(f"{stopped.message}{where}", code=stopped.code) from stopped


def make_folder(folder: Path) -> Path:
    """Return the folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}", code="cannot-write") from None
    return folder


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
def watch_phase(name: str) -> Iterator[Watch | None]:
    """Give a function that shows the progress of a phase: a bar on a terminal, else a line every ten seconds."""
    printed = time.monotonic()

    def print_line(progress: Progress) -> None:
        nonlocal printed
        if time.monotonic() - printed >= EVERY:
            printed = time.monotonic()
            total = "" if progress.total is None else f" of {progress.total:,}"
            line = f"{name}: {progress.done:,}{total} turns · {counts_of(progress)}"
            print(line, file=sys.stderr, flush=True)  # noqa: T201 (progress is for people, not for a log)

    with bar(name) as watch:
        yield print_line if watch is None else watch


def counts_of(progress: Progress) -> str:
    """Return the three counts in words.

    >>> counts_of(Progress())
    '0 scored, 0 unscored, 0 error'
    """
    counts = progress.counts
    return ", ".join(f"{counts[status]:,} {status}" for status in ("scored", "unscored", "error"))

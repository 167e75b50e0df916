"""A phase of an evaluation as a run of the engine: where its file lies, who watches it, and how it is stopped."""

from __future__ import annotations

import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from adjudge.calling import run_sync
from adjudge.errors import RunError, RunStopped, UsageError
from adjudge.runs import Progress, RunTask, Session, run_session

Watch: TypeAlias = Callable[[Progress], None]
Watching: TypeAlias = Callable[[str], AbstractContextManager[Watch | None]]
"""Given what a phase is called, somebody who is told how it stands while it goes on."""


@dataclass(eq=False)
class Phases:
    """The runs of one evaluation, in `run_dir`, or in a place of their own that goes with this object."""

    run_dir: Path | None = None
    watching: Watching | None = None
    signals: bool = False  # whether SIGINT and SIGTERM stop a phase in good order, as on the command line
    signal: int | None = field(default=None, init=False)  # which of them did

    def file(self, name: str, *, anew: bool = False) -> Path:
        """Return the run file of that name; in a place of our own it may be wanted anew."""
        if self.run_dir is not None:
            return made(self.run_dir) / f"{name}.run"
        place = getattr(self, "_place", None)
        if place is None:
            place = self._place = Path(tempfile.mkdtemp(prefix="adjudge-crag-"))
            weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        path: Path = place / f"{name}.run"
        if anew:
            path.unlink(missing_ok=True)
        return path

    def run(self, name: str, work: Callable[[Watch | None], RunTask]) -> Session:
        """Do a phase to its end; one that was stopped raises `RunStopped`, and what was done stays in its file."""
        with nullcontext() if self.watching is None else self.watching(name) as watch:
            session = self._session(work(watch))
        for warning in session.warnings:
            warnings.warn(warning, stacklevel=2)
        self.signal = session.signal
        stopped = session.stopped
        if stopped is not None:
            where = "" if self.run_dir is None else f"; what was done is in {self.run_dir}: do the same again to go on"
            raise RunStopped(f"{stopped.message}{where}", code=stopped.code) from stopped
        return session

    def _session(self, work: RunTask) -> Session:
        try:
            return run_sync(run_session(work), "evaluate", anywhere=True)
        except RunError as error:
            if error.code != "run-mismatch":
                raise
            message = error.message.removesuffix("run file")  # the files are ours, the folder is the user's
            raise RunError(f"{message}folder", code=error.code) from None


def made(folder: Path) -> Path:
    """Return the folder, made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}", code="cannot-write") from None
    return folder

"""The files of one viewer: found, opened when they are asked for, kept up to date."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import AdjudgeError, UsageError
from adjudge.scenarios import Gate
from adjudge.view._calibrations import is_calibration
from adjudge.view._figures import RunFigures
from adjudge.view._index import RowIndex, forget_old
from adjudge.view._monitors import is_monitor
from adjudge.view._sources import About, find_files, key_of, open_source, stamp_of

MOST_OPEN = 12  # indexes that are open at once
PATIENCE = 1.5  # seconds that a page waits for a file that is being read for the first time
SHARE, LONGEST = 20, 5.0  # a file is looked at again after so many times what the last look took, or so many seconds
SMALL = 5_000  # rows up to which a list of runs reads a file for its headline
LISTED = 200  # files that a list shows, the newest first


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One line of the list: `figures` is None for a file that was not read yet, `fault` why it cannot be."""

    key: str
    path: Path
    changed: float
    about: About | None = None
    figures: RunFigures | None = None
    total: int | None = None
    is_running: bool = False
    fault: str | None = None

    @property
    def is_settled(self) -> bool:
        """Whether it stays like that as long as the file does: a run may end without another word in its file."""
        return self.fault is not None or (self.figures is not None and not self.is_running)


class Library:
    """The files that paths name; folders are looked through again for every list."""

    def __init__(self, paths: Sequence[Path], folder: Path | None = None, gate: Gate | None = None) -> None:
        self.paths = list(paths)
        self.gate = gate
        self._folder = folder
        self._open: OrderedDict[str, RowIndex] = OrderedDict()
        self._looked: dict[str, tuple[float, float]] = {}  # when each was looked at, and how long that took
        self._busy: dict[str, asyncio.Task[bool]] = {}
        self._entries: dict[str, tuple[str, ListEntry]] = {}  # each with the stamp of its file
        self._lock = threading.Lock()
        forget_old(folder)

    @property
    def has_folders(self) -> bool:
        """Whether other files may come."""
        return any(path.is_dir() for path in self.paths)

    def close(self) -> None:
        """Close every index."""
        for index in self._open.values():
            index.close()
        self._open.clear()

    def files(self) -> dict[str, Path]:
        """Return all files by key."""
        others = {*self.calibrations().values(), *self.monitors().values()}
        return {key_of(path): path for path in find_files(self.paths) if path not in others}

    def calibrations(self) -> dict[str, Path]:
        """Return what was measured of judges, by key."""
        return self._others(is_calibration)

    def monitors(self) -> dict[str, Path]:
        """Return what watched rewards, by key."""
        return self._others(is_monitor)

    def _others(self, is_one: Callable[[Path], bool]) -> dict[str, Path]:
        inside = (one for path in self.paths if path.is_dir() for one in sorted(path.iterdir()))
        return {key_of(path): path for path in (*self.paths, *inside) if is_one(path)}

    def index(self, key: str) -> RowIndex:
        """Return the index of a file; an unknown key raises `UsageError`."""
        with self._lock:
            opened = self._open.get(key)
            if opened is not None and not opened.is_replaced:
                self._open.move_to_end(key)
                return opened
            path = self.files().get(key)
            if path is None:
                raise UsageError("There is no such file here.", code="no-such-row")
            source = open_source(path)
            if opened is not None:
                self._open.pop(key).close()
                self._looked.pop(key, None)
            index = self._open[key] = RowIndex(source, self._folder)
            while len(self._open) > MOST_OPEN:
                old = next(one for one in self._open if one not in self._busy)
                self._open.pop(old).close()
            return index

    async def read(self, key: str) -> RowIndex:
        """Return an index with what its file holds; one that is new is still reading, which may outlast a page."""
        index = await asyncio.to_thread(self.index, key)
        task = self._busy.get(key)
        if task is None:
            at, took = self._looked.get(key, (0.0, 0.0))
            if time.monotonic() - at < min(SHARE * took, LONGEST):
                return index
            task = self._busy[key] = asyncio.create_task(asyncio.to_thread(self._refresh, key, index))
            task.add_done_callback(lambda _: self._busy.pop(key, None))
        done, _ = await asyncio.wait({task}, timeout=PATIENCE)
        if done:
            task.result()  # raises what the reading raised
        return index

    def _refresh(self, key: str, index: RowIndex) -> bool:
        began = time.monotonic()
        changed = index.refresh()
        self._looked[key] = (began, time.monotonic() - began)
        return changed

    def entries(self) -> list[ListEntry]:
        """Return the list of all files, the newest first; what cannot be read says why."""
        files = sorted(self.files().items(), key=lambda pair: pair[1].stat().st_mtime, reverse=True)
        return [self._entry(key, path) for key, path in files[:LISTED]]

    def _entry(self, key: str, path: Path) -> ListEntry:
        stamp = stamp_of(path, Path(f"{path}-wal"))
        known = self._entries.get(key)
        if known is not None and known[0] == stamp and known[1].is_settled:
            return known[1]
        changed = path.stat().st_mtime
        try:
            entry = self._read_entry(key, path, changed)
        except AdjudgeError as error:
            entry = ListEntry(key, path, changed, fault=error.message)
        self._entries[key] = (stamp, entry)
        return entry

    def _read_entry(self, key: str, path: Path, changed: float) -> ListEntry:
        """Read what a list says of a file; an index that no page has open is closed again."""
        with self._lock:
            opened = self._open.get(key)
            if opened is not None and opened.is_replaced:
                opened = None
            index = opened or RowIndex(open_source(path), self._folder)
            try:
                source = index.source
                total = source.total
                if key not in self._busy and (total is None or total <= SMALL or not index.is_new):
                    self._refresh(key, index)
                figures = None if index.is_new else index.figures()
                return ListEntry(key, path, changed, source.about, figures, source.total, source.is_running)
            finally:
                if opened is None:
                    index.close()

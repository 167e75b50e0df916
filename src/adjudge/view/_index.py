"""The index of one file: what is searched, filtered and summed up, kept in the cache folder.

    index = RowIndex(open_source(path))
    index.refresh()                     reads the rows that are new
    index.page(Query(words="Paris"))    -> the numbers of fifty rows, and where the next fifty begin

Made when the file is first looked at, and brought up to date as a run goes on. The file itself is never written. An
index can always be made again: one that does not fit its file, or an older release, is thrown away.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from adjudge.errors import RowError, RunError
from adjudge.files import connect, user_folder
from adjudge.model import from_json, to_json
from adjudge.view._figures import RunFigures, count_in, figures_of
from adjudge.view._index_tables import INDEXES, SCHEMA, STATUSES, VERSION, mark_flaky, storable, write_rows
from adjudge.view._queries import MOST_COUNTED, Query, RowPage, count_of, find_page, neighbours
from adjudge.view._sources import ViewRow, ViewSource, key_of

BATCH = 500  # rows written together
OLD = 90 * 86_400.0  # seconds after which an index that was not used is removed
FIGURES_SHARE = 10  # figures of a run that goes on are as old as this many times what they cost
MOST_KEPT = 1000  # counts of filters
WAIT_S = 60.0  # another viewer may be sorting a million rows
GAP = 4096  # rows without scores, one after the other, behind which a run in order has none with scores


class RowIndex:
    """The index of a source; any thread may use it."""

    def __init__(self, source: ViewSource, folder: Path | None = None) -> None:
        self.source = source
        self._identity = source.identity
        self._path = (folder or user_folder("cache") / "views") / f"{key_of(source.path)}.sqlite"
        self._lock = threading.RLock()
        self._connection = self._open()
        with suppress(OSError):
            os.utime(self._path)  # it is in use
        self.read = 0  # rows that the refresh which is under way has read
        self._figures: RunFigures | None = None
        self._counts: dict[Query, tuple[int, bool]] = {}  # of the rows that were there when the figures were summed up
        self._has_new = False  # since the figures were summed up
        self._next_figures = 0.0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def refresh(self) -> bool:
        """Read the rows that are new, and return whether there were any."""
        with self._lock:
            stamp = self.source.stamp
            known = self._meta("stamp")
            if known == stamp:
                return False
            # Rows of a file that was read to its end do not change, unless somebody began it anew or retried some.
            is_other = self._meta("identity") != self._identity
            if known and (is_other or self.source.is_kept or self._meta("complete") == "yes"):
                self._clear()
            is_running = self.source.is_running
            early, total = self.source.early, self.source.total
            if early is not None:
                total = len(early.cases)
                # What came back before the decision, and was not needed for it, is not part of the result.
                if self._count() > total or self._meta("early") is None:
                    self._clear()
                    self._set(early="yes")
            added = self._add_rows()
            # Rows that the writer still holds back may follow.
            is_complete = total is not None and not is_running and self._count() >= total
            self._set(stamp=stamp, identity=self._identity, complete="yes" if is_complete else "no")
            # Rows may also be those that another viewer has read.
            self._has_new = True
            return bool(added)

    @property
    def size(self) -> int:
        """How many rows have outcomes."""
        with self._lock:
            return self._count()

    @property
    def progress(self) -> tuple[int, int | None]:
        """How many rows have been read, and of how many."""
        return self.read, self.source.total

    @property
    def is_replaced(self) -> bool:
        """Whether another file has the name now, of which the source knows nothing."""
        return self.source.identity != self._identity

    @property
    def is_new(self) -> bool:
        """Whether the file has not been read yet."""
        return self._meta("stamp") is None

    def figures(self) -> RunFigures:
        """Return what all rows amount to."""
        with self._lock:
            if self._figures is None:
                self._figures = self._kept_figures()
            # Of a large run that goes on they are summed up now and then, and not for every page.
            is_due = time.monotonic() >= self._next_figures or not self.source.is_running
            if self._figures is None or (self._has_new and is_due):
                self._has_new = False
                self._counts.clear()
                began = time.monotonic()
                self._figures = replace(
                    figures_of(self._connection, self.source.about, self.source.early), spent=self.source.spent
                )
                ended = time.monotonic()
                self._next_figures = ended + FIGURES_SHARE * (ended - began)
                self._set(figures=to_json(self._figures).decode(), summed=self._meta("stamp") or "")
            return self._figures

    def _kept_figures(self) -> RunFigures | None:
        """Return the figures that an earlier viewer has summed up, if they are still those of the file."""
        kept = self._meta("figures")
        if kept is None or self._meta("summed") != self._meta("stamp"):
            return None
        try:
            found = from_json(RunFigures, kept.encode())
        except RowError:
            return None
        self._has_new = False
        return found

    def page(self, query: Query) -> RowPage:
        """Return the numbers of the rows that a query finds, a page of them."""
        with self._lock:
            return find_page(self._connection, query, self._lead(query))

    def count(self, query: Query) -> tuple[int, bool]:
        """Return how many rows a query finds, and whether there are more than were counted."""
        with self._lock:
            known = count_in(self.figures(), query)
            if known is not None:
                return known, False
            asked = replace(query, after="", columns=())
            if asked not in self._counts:
                if len(self._counts) >= MOST_KEPT:
                    self._counts.clear()
                # Each filter is counted alone to see which of several leads.
                lead = next(iter(query.filters)) if len(query.filters) == 1 else self._lead(query)
                self._counts[asked] = count_of(self._connection, query, lead)
            return self._counts[asked]

    def _lead(self, query: Query) -> str | None:
        """Return the filter that leaves the fewest rows; None where all leave more than are counted."""
        counts = {name: self.count(one)[0] for name, one in query.filters.items()}
        least = min(counts, key=counts.__getitem__, default=None)
        return least if least is not None and counts[least] < MOST_COUNTED else None

    def neighbours(self, query: Query, number: int) -> tuple[int | None, int | None]:
        """Return the rows before and after one, among those that a query finds."""
        with self._lock:
            return neighbours(self._connection, query, number, self._lead(query))

    def row(self, number: int) -> ViewRow:
        """Return one row."""
        if not self.source.is_kept:
            return self.source.row(number)
        with self._lock:
            found = self._connection.execute("SELECT body FROM bodies WHERE number = ?", (number,)).fetchone()
        if found is None:
            raise RunError(f"{self.source.path} has no row {number}", code="no-such-row")
        return from_json(ViewRow, found[0])

    def number_of(self, id_: str) -> int | None:
        """Return the number of the first row with that id."""
        with self._lock:
            found = self._connection.execute("SELECT min(number) FROM rows WHERE id = ?", (id_,)).fetchone()
        return None if found is None else found[0]

    def cluster(self, name: str, most: int) -> list[int]:
        """Return the numbers of the rows that belong together, in order."""
        with self._lock:
            found = self._connection.execute(
                "SELECT number FROM rows WHERE cluster = ? ORDER BY number LIMIT ?", (storable(name), most)
            )
            return [row[0] for row in found]

    def groups(self, most: int) -> list[tuple[str, int, int, float | None]]:
        """Return the rows that are repeats: what they repeat, their number, status and value of the first scorer."""
        with self._lock:
            return self._connection.execute(
                """SELECT cluster, number, status, value FROM rows JOIN scores USING (number)
                   WHERE is_repeat AND scorer = 0 ORDER BY number LIMIT ?""",
                (most,),
            ).fetchall()

    def is_stale(self, row: ViewRow) -> bool:
        """Return whether the index knows other outcomes of a row than its file, as after a retry."""
        scores = list((row.scores or {}).values())
        # By scorer, because that is how they are found: a search by number alone goes through all of them.
        with self._lock:
            for at in range(len(self.source.about.scorers)):
                known = self._connection.execute(
                    "SELECT status FROM scores WHERE scorer = ? AND number = ?", (at, row.number)
                ).fetchone()
                status = None if at >= len(scores) else STATUSES.index(scores[at].status)
                if (None if known is None else known[0]) != status:
                    return True
        return False

    def rebuild(self) -> None:
        """Forget everything; the next refresh reads the whole file again."""
        with self._lock:
            self._clear()

    def values(self, scorer: int) -> Iterator[tuple[int, float]]:
        """Give the number of every row that has a value of a scorer, and the value, in order."""
        last = -1
        while True:
            with self._lock:
                found = self._connection.execute(
                    "SELECT number, value FROM scores WHERE scorer = ? AND number > ? AND value IS NOT NULL"
                    " ORDER BY number LIMIT 10000",
                    (scorer, last),
                ).fetchall()
            if not found:
                return
            yield from found
            last = found[-1][0]

    def _add_rows(self) -> int:
        """Read the rows from the first one that had no scores on, and write those that have some now."""
        first = int(self._meta("mark") or 0)
        mark: int | None = None
        last = first - 1
        added = self.read = 0
        rows = self._done_rows(first)
        while batch := list(islice(rows, BATCH)):
            last = batch[-1].number
            waiting = [row.number for row in batch if row.scores is None]
            mark = waiting[0] if mark is None and waiting else mark
            added += self._add_batch([row for row in batch if row.scores is not None])
            self.read += len(batch)
        self._set(mark=str(last + 1 if mark is None else mark))
        # Sorting all rows once takes less than finding the place of each while a file is read for the first time.
        self._connection.executescript(INDEXES)
        if added:
            mark_flaky(self._connection, len(self.source.about.scorers))
        return added

    def _add_batch(self, rows: list[ViewRow]) -> int:
        """Write those of some rows that are not there, and return how many those are."""
        if not rows:
            return 0
        connection = self._connection
        # Another viewer may be reading the same file into the same index.
        connection.execute("BEGIN IMMEDIATE")
        try:
            between = (rows[0].number, rows[-1].number)
            there = connection.execute("SELECT number FROM rows WHERE number BETWEEN ? AND ?", between)
            known = {number for (number,) in there}
            new = [row for row in rows if row.number not in known]
            write_rows(connection, new, self.source.about.judged, is_kept=self.source.is_kept)
            self._set(size=str(self._count() + len(new)))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        return len(new)

    def _done_rows(self, first: int) -> Iterator[ViewRow]:
        """Give rows until so many without scores follow one another that there will not be others."""
        missing = 0
        for row in self.source.rows(first):
            missing = 0 if row.scores is not None else missing + 1
            if missing > GAP and self.source.in_order:
                return
            yield row

    def _count(self) -> int:
        return int(self._meta("size") or 0)  # a million rows are not counted for every page

    def _meta(self, name: str) -> str | None:
        found = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def _set(self, **values: str) -> None:
        for name, value in values.items():
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def _clear(self) -> None:
        self._connection.close()
        self._remove()
        self._connection = self._open()
        self._figures = None
        self._counts.clear()

    def _remove(self) -> None:
        for end in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                Path(f"{self._path}{end}").unlink()

    def _open(self) -> sqlite3.Connection:
        """Open the index, a new one where there is none of this release."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for is_second in (False, True):
            connection = connect(self._path, timeout_s=WAIT_S)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = OFF")  # an index that a crash damages is made again
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version == VERSION:
                    return connection
                if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
                    return connection
            except sqlite3.DatabaseError:
                if is_second:
                    raise
            connection.close()
            self._remove()
        raise RunError(f"{self._path}: the index cannot be made", code="cannot-write")


def forget_old(folder: Path | None = None) -> None:
    """Remove the indexes that nobody has used for three months, such as those of files that are gone."""
    place = folder or user_folder("cache") / "views"
    for path in place.glob("*.sqlite"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()

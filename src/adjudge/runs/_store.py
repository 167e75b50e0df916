"""The run file itself: opened, locked, read. One thread at a time may use a store.

`synchronous=FULL`: what is committed is on disk and survives a power cut. Write-ahead log where the file system allows
it (others may read while the run is written), else a rollback journal under an exclusive lock. What a killed process
left in the tail beside the file (see `_journal`) is written into it first.
"""

import os
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from adjudge.errors import RunError, UsageError
from adjudge.files import FileLock, connect, roll_back, sqlite_fault, user_folder
from adjudge.model import ChatReply, Score, Status
from adjudge.runs._journal import Tail
from adjudge.runs._records import (
    AGAIN,
    APPLICATION,
    COMPLETE,
    EARLY,
    MIGRATIONS,
    RUN_ID,
    VERSION,
    CaseRecord,
    TrajectoryRecord,
    Write,
    check_kind,
    join_inserts,
    read_case,
    read_meta,
    read_reply,
    read_score,
    read_trajectory,
    write_meta,
)

if TYPE_CHECKING:
    from adjudge.runs._stopping import EarlyStop

PENDING = """
    SELECT seq, unit, body, sum FROM cases
    WHERE seq > ? AND NOT EXISTS (SELECT 1 FROM scores WHERE scores.seq = cases.seq) ORDER BY seq LIMIT ?
"""
CANARIES = "SELECT seq, unit, body, sum FROM cases WHERE seq <= ? AND seq < 0 ORDER BY seq DESC LIMIT ?"
OPEN = """
    SELECT seq, unit, body, sum FROM cases
    WHERE seq BETWEEN ? AND ? AND NOT EXISTS (SELECT 1 FROM scores WHERE scores.seq = cases.seq) ORDER BY seq DESC
"""
ENDED = """
    SELECT seq, unit, body, sum FROM cases
    WHERE seq > ? AND unit IN (SELECT unit FROM cases JOIN scores USING (seq) WHERE status = ?)
    ORDER BY seq LIMIT ?
"""
BEGUN = """
    SELECT DISTINCT seq FROM requests WHERE NOT EXISTS (SELECT 1 FROM scores WHERE scores.seq = requests.seq)
"""
TOTALS = """
    SELECT count(*) FILTER (WHERE called), total(attempts) FILTER (WHERE called) + (
               SELECT count(*) FROM requests WHERE NOT EXISTS (
                   SELECT 1 FROM replies WHERE replies.number = requests.number)),
           total(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)) FILTER (WHERE called),
           total(cost), count(*) FILTER (WHERE fault IS NOT NULL)
    FROM (SELECT *, source IN ('call', 'agent') AS called FROM replies)
"""


class Checkpoint(NamedTuple):
    """How far a run is: its cases, what it has spent, its last request, the cases it asked about, rows by outcome."""

    cases: int  # in the file so far
    total: int | None  # how many there are in all; None: they have not all been read
    attempts: int
    tokens: int
    cost: float
    last_request: int
    begun: set[int]  # cases that have no scores, but for which a model was asked already
    counts: dict[str, int]


# The lock on the run with a path; taking it raises `RunError` with the id of the process that has it.
run_lock = partial(FileLock, error=RunError, code="run-locked")


@dataclass(slots=True, eq=False)
class Store:
    """One run file; `Store.write(path)` opens it to write, `Store.read(path)` only to read."""

    path: Path
    _connection: sqlite3.Connection
    _lock: FileLock | None = None
    _again: dict[str, int] | None = None  # cases that are asked again, with the last request before that

    @classmethod
    def write(cls, path: str | Path) -> Self:
        """Open a run file to write it, a new one if there is none; another writer raises `RunError` with its pid."""
        path = Path(path)
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent} is not a folder: a run file cannot be written there", code="cannot-write")
        # The lock comes first: nothing is read or changed while another process writes.
        lock = run_lock(path)
        lock.acquire()
        store = None
        try:
            # One name for one run: through another one its lock and its tail would be other files. Links are resolved.
            if path.exists() and path.stat().st_nlink > 1:
                message = f"{path} has other names (hard links), under which another process could write it"
                raise RunError(f"{message}: copy it, and use the copy", code="run-linked")
            with translate_errors(path):
                store = cls(path, _connect(path), lock)
            # The process before us may have been killed: what it paid for goes into the file before anything else.
            tail = Tail(path, store.meta(RUN_ID))
            left = list(tail.read())
            if left:
                store.commit(left)
            tail.close()
        except BaseException:
            if store is not None:
                store._connection.close()
            lock.release()
            raise
        return store

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open a run file to read it, also while another process writes it."""
        path = Path(path)
        if not path.is_file():
            why = " is not a regular file" if path.exists() else ": there is no such run file"
            raise UsageError(f"{path}{why}", code="cannot-read")
        with translate_errors(path):
            begun = roll_back(path, APPLICATION)
            connection = connect(path, read_only=True)
            try:
                if not begun or not check_kind(connection, path):
                    raise RunError(f"{path} does not hold a run yet", code="not-a-run")
            except BaseException:
                connection.close()
                raise
        return cls(path, connection)

    def hold(self) -> None:
        """Read the file from now on as it is now, whatever others write; only for a store opened by `read`."""
        self.rows("BEGIN")
        self.rows("SELECT count(*) FROM meta")  # SQLite takes its snapshot with the first query

    def close(self, *_: object) -> None:
        """Close the file; the log is folded into it, so that a run at rest is one file."""
        try:
            if self._lock is not None:
                with suppress(sqlite3.Error):  # another process reads the file, or the disk is full: the log stays
                    self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    __exit__ = close

    def commit(self, writes: Iterable[Write]) -> None:
        """Write a group: all of it is on disk when this returns, or none of it is in the file."""
        connection = self._connection
        with translate_errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                for statement, values in join_inserts(writes):
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def fold(self) -> None:
        """Move what was committed from the log beside the file into the file, as far as readers allow it."""
        self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def copy_to(self, path: Path) -> None:
        """Copy the whole file as it is now, what is in its log included."""
        path.unlink(missing_ok=True)
        with translate_errors(path), closing(connect(path)) as target:
            self._connection.backup(target)

    def meta(self, name: str) -> Any:
        """Return the value that the run keeps under that name, or None."""
        found = self.rows("SELECT name, body, sum FROM meta WHERE name = ?", name)
        return read_meta(*found[0]) if found else None

    def early_stop(self) -> "EarlyStop | None":
        """Return how the run was decided before all its cases were needed; None where it was not."""
        stored = self.meta(EARLY)
        if stored is None:
            return None
        from adjudge.runs._stopping import read_early_stop

        return read_early_stop(stored, self)

    def pending(self, after: int, most: int) -> list[CaseRecord]:
        """Return the next cases without scores, in order."""
        return [read_case(*row) for row in self.rows(PENDING, after, most)]

    def ended(self, status: Status, after: int, most: int) -> list[CaseRecord]:
        """Return the next cases of units in which a case ended with that status, in order."""
        return [read_case(*row) for row in self.rows(ENDED, after, status, most)]

    def cases(self, after: int, most: int) -> list[CaseRecord]:
        """Return the next cases, in order."""
        rows = self.rows("SELECT seq, unit, body, sum FROM cases WHERE seq > ? ORDER BY seq LIMIT ?", after, most)
        return [read_case(*row) for row in rows]

    def canaries(self, first: int, most: int) -> list[CaseRecord]:
        """Return the next canaries from that number on, in the order of their cases."""
        return [read_case(*row) for row in self.rows(CANARIES, first, most)]

    def open_canaries(self, first: int, last: int) -> list[CaseRecord]:
        """Return the canaries in that range that have no scores."""
        return [read_case(*row) for row in self.rows(OPEN, first, last)]

    def open_units(self, units: Iterable[Sequence[int]]) -> list[list[CaseRecord]]:
        """Return those cases of each unit that have no scores; the cases of a unit follow one another."""
        return [[read_case(*row) for row in reversed(self.rows(OPEN, unit[0], unit[-1]))] for unit in units]

    def case_sums(self, first: int, last: int) -> list[bytes]:
        """Return the checksums of the cases in that range."""
        rows = self.rows("SELECT sum FROM cases WHERE seq BETWEEN ? AND ? ORDER BY seq", first, last)
        return [row[0] for row in rows]

    def scores(self, first: int, last: int) -> dict[int, list[Score]]:
        """Return the scores of the cases in that range, by case, in order of the scorers."""
        query = "SELECT seq, scorer, status, body, sum FROM scores WHERE seq BETWEEN ? AND ? ORDER BY seq, scorer"
        found: dict[int, list[Score]] = {}
        for row in self.rows(query, first, last):
            found.setdefault(row[0], []).append(read_score(*row))
        return found

    def trajectories(self, first: int, last: int) -> dict[int, TrajectoryRecord]:
        """Return what the agent did for the cases in that range."""
        query = "SELECT seq, seconds, fault, body, sum FROM trajectories WHERE seq BETWEEN ? AND ?"
        return {row[0]: read_trajectory(*row) for row in self.rows(query, first, last)}

    def replies(self, seq: int) -> dict[bytes, ChatReply]:
        """Return the replies that came to the requests of one case, by the requests' keys.

        Those that led to no score, where somebody wants the judge to be asked again, do not count.
        """
        if self._again is None:
            self._again = self.meta(AGAIN) or {}
        query = """SELECT key, replies.number, source, fault, replies.body, replies.sum
                   FROM requests JOIN replies USING (number) WHERE seq = ? AND number > ? ORDER BY number"""
        found: dict[bytes, ChatReply] = {}
        for key, *rest in self.rows(query, seq, self._again.get(str(seq), 0)):
            reply = read_reply(key, *rest)
            if reply is not None:
                found[key] = reply
        return found

    def costs(self, first: int, last: int) -> dict[int, float | None]:
        """Return what was paid for each case in that range; None where some reply was known already."""
        query = """SELECT seq, total(cost), max(source IN ('cache', 'shared'))
                   FROM requests JOIN replies USING (number) WHERE seq BETWEEN ? AND ? GROUP BY seq"""
        return {seq: None if known else cost for seq, cost, known in self.rows(query, first, last)}

    def checkpoint(self) -> Checkpoint:
        """Return how far the run is, for the session that resumes it."""
        _, attempts, tokens, cost, _ = self.rows(TOTALS)[0]
        return Checkpoint(
            cases=self.count(),
            total=self.meta(COMPLETE),
            attempts=int(attempts),
            tokens=int(tokens),
            cost=float(cost),
            last_request=int(self.rows("SELECT coalesce(max(number), 0) FROM requests")[0][0]),
            begun={row[0] for row in self.rows(BEGUN)},
            counts=self.counts(),
        )

    def count(self) -> int:
        """Return how many cases there are so far."""
        return int(self.rows("SELECT coalesce(max(seq), -1) + 1 FROM cases")[0][0])

    def counts(self) -> dict[str, int]:
        """Return how many cases ended in each outcome; a case counts as its worst score, or as spared."""
        query = """SELECT seq, max(CASE status WHEN 'error' THEN 2 WHEN 'unscored' THEN 1 ELSE 0 END) AS worst
                   FROM scores WHERE seq >= 0 GROUP BY seq"""
        names = ("scored", "unscored", "error")
        early = self.meta(EARLY) and self.early_stop()
        if early is None:
            found = self.rows(f"SELECT worst, count(*) FROM ({query}) GROUP BY worst")  # noqa: S608 (our own text)
            return {**dict.fromkeys(names, 0), **{names[worst]: count for worst, count in found}}
        counted = frozenset(early.cases)
        ends = Counter(worst for seq, worst in self.rows(query) if seq in counted)
        return {**{name: ends[worst] for worst, name in enumerate(names)}, "spared": early.spared}

    def totals(self) -> tuple[int, int, int, float, int]:
        """Return calls, attempts, tokens, cost and failed calls so far; a call without a reply is an attempt, too."""
        calls, attempts, tokens, cost, failed = self.rows(TOTALS)[0]
        return int(calls), int(attempts), int(tokens), float(cost), int(failed)

    def forget(self, status: Status) -> None:
        """Delete the scores, and failed answers of the agent, of units in which a case ended with that status."""
        # Good answers of the agent stay: only what failed is asked again.
        cases = "SELECT seq FROM cases WHERE unit IN (SELECT unit FROM cases JOIN scores USING (seq) WHERE status = ?)"
        writes: list[Write] = []
        if status == "unscored":
            # What a judge said led to no score: its replies stay in the file, but it is asked again.
            last = self.rows("SELECT coalesce(max(number), 0) FROM requests")[0][0]
            self._again = {**(self.meta(AGAIN) or {}), **{str(seq): last for (seq,) in self.rows(cases, status)}}
            writes.append(write_meta(AGAIN, self._again))
        writes.append((f"DELETE FROM trajectories WHERE fault IS NOT NULL AND seq IN ({cases})", (status,)))  # noqa: S608 (our own text)
        writes.append((f"DELETE FROM scores WHERE seq IN ({cases})", (status,)))  # noqa: S608 (same)
        self.commit(writes)

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds; the caller checks their checksums."""
        with translate_errors(self.path):
            return self._connection.execute(query, values).fetchall()


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file for its one writer, and bring it to the current schema."""
    connection = connect(path)
    try:
        version = check_kind(connection, path)
        # Some file systems accept the mode and fail only when the log is first used, so it is tried out here.
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if sqlite_fault(error) == "full":
                raise
            mode = None
        if mode != "wal":
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            # In one transaction: a file that was killed in the middle has its old version and can be opened again.
            steps = "".join(MIGRATIONS[version:])
            kind = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            connection.executescript(f"BEGIN IMMEDIATE; {steps} {kind} COMMIT;")
            if version == 0:
                connection.execute(*write_meta(RUN_ID, secrets.token_hex(16)))
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise a `RunError` with its code for whatever SQLite raises."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        fault = sqlite_fault(error)
        if fault == "full":
            message = f"{path}: no room to write ({error}); what was done is kept"
            raise RunError(f"{message}: make room, then adjudge resume {path}", code="disk-full") from error
        if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
            raise RunError(f"{path} is not a run file", code="not-a-run") from error
        if fault == "damaged":
            raise RunError(f"{path} is damaged, or is not a run file: {error}", code="run-damaged") from error
        if fault == "locked":
            raise RunError(f"{path} is in use by another process", code="run-locked") from error
        code = "run-damaged" if "malformed" in str(error) else "cannot-use"
        raise RunError(f"{path}: {error}", code=code) from error


def runs_folder() -> Path:
    """Return the folder of runs whose file nobody named: `ADJUDGE_RUNS`, else the user's state folder."""
    given = os.environ.get("ADJUDGE_RUNS")
    return Path(given) if given else user_folder("state") / "runs"


def new_run_file(kind: str) -> Path:
    """Return the path of a new run file in that folder."""
    folder = runs_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}", code="cannot-write") from None
    return folder / f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}.run"

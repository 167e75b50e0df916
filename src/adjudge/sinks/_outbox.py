"""The outbox: one SQLite file that holds scores before they are sent, and until they are acknowledged.

    sinks       where scores go: kind, address and project, without keys, with this user's seal
    scores      what is to be sent, as it is sent, once for each sink and id
    ends        what became of a score: delivered, or rejected with the reason; without an end it is pending
    sessions    the trace of a session, once a receiver has named it

`synchronous=FULL`: what is committed is on disk, and survives a power cut.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from adjudge.errors import UsageError
from adjudge.files import FileLock, connect, file_kind, has_schema, is_sealed, seal, sqlite_fault
from adjudge.sinks._scores import OutScore, Receipt, Rejected, cleaned_score
from adjudge.sinks._wire import OutboxError

_APPLICATION = 0x41444A4F  # "ADJO": by which `file` and we recognise an outbox
_VERSION = 1
_SCHEMA = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS sinks (name TEXT PRIMARY KEY, about BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS scores (
        number INTEGER PRIMARY KEY, sink TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
        version INTEGER NOT NULL DEFAULT 0, UNIQUE (sink, id));
    CREATE TABLE IF NOT EXISTS ends (number INTEGER PRIMARY KEY, state TEXT NOT NULL, reason TEXT);
    CREATE TABLE IF NOT EXISTS sessions (
        sink TEXT NOT NULL, session TEXT NOT NULL, trace TEXT, PRIMARY KEY (sink, session)) WITHOUT ROWID;
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_VERSION};
    COMMIT;
"""
_PENDING = """
    SELECT number, body, version FROM scores
    WHERE sink = ? AND number > ? AND NOT EXISTS (SELECT 1 FROM ends WHERE ends.number = scores.number)
    ORDER BY number LIMIT ?
"""
_END = "INSERT OR REPLACE INTO ends SELECT number, ?, ? FROM scores WHERE number = ? AND version = ?"
_RETRY = """
    DELETE FROM ends WHERE state = 'rejected' AND reason LIKE 'refused:%'
    AND number IN (SELECT number FROM scores WHERE sink = ?)
"""
_REJECTED = """
    SELECT body, reason FROM scores JOIN ends USING (number)
    WHERE sink = ? AND state = 'rejected' ORDER BY number
"""
_COUNTS = """
    SELECT coalesce(state, 'pending'), count(*) FROM scores LEFT JOIN ends USING (number) WHERE sink = ? GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One pending score: its place in the outbox, itself, how many bytes it is, and how often it was replaced."""

    number: int
    score: OutScore
    size: int
    version: int


@dataclass(frozen=True, slots=True)
class End:
    """What became of an entry."""

    entry: Entry
    state: Literal["delivered", "rejected"]
    reason: str | None = None


class Outbox:
    """One outbox file; a new one where there is none and `create` allows it. Use it as `with`, or call `close`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Outbox(Path(folder) / "scores.outbox") as outbox:
    ...     outbox.add("langfuse", {}, [OutScore("f1", 0.5, trace_id="t1"), OutScore("f1", 0.5, trace_id="t1")])
    ...     outbox.receipt("langfuse").pending
    'langfuse'
    1
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise UsageError(f"{self.path}: there is no such outbox", code="cannot-read")
        with _translate_errors(self.path):
            self._connection = _connect(self.path)

    def close(self) -> None:
        """Close the file; what is in it stays."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sending(self) -> FileLock:
        """Hold the right to send; another process that has it raises `OutboxError`."""
        in_use = "is being sent by another process: wait for it, or end it"
        return FileLock(self.path, OutboxError, code="outbox-locked", in_use=in_use)

    def add(self, kind: str, about: Mapping[str, str], scores: Iterable[OutScore]) -> str:
        """Keep scores for a receiver, and return the name of its sink; all of them are on disk when this returns.

        Receivers of one kind with other addresses or projects are other sinks: what was meant for one of them never
        goes to another. The first of a kind has its name.

        A score that the outbox has already stays as it was. One with the same id and another value replaces it, with
        the time of the first, and is pending again.
        """
        # Before the transaction: cleaning may take a while, and others wait for the lock.
        cleaned = [cleaned_score(score) for score in scores]
        with self._transaction() as connection:
            known = self.sinks()
            sink = next((name for name, other in known.items() if _is_same(other, about)), None)
            if sink is None:
                host, project = about.get("host", ""), about.get("project", "")
                sink = next(name for name in (kind, f"{kind} {host}", f"{kind} {host} {project}") if name not in known)
            body = {**known.get(sink, {}), **about}
            body["seal"] = seal(_content(body)) or ""
            connection.execute("INSERT OR REPLACE INTO sinks VALUES (?, ?)", (sink, msgspec.json.encode(body)))
            for score in cleaned:
                self._add(connection, sink, score)
        return sink

    def _add(self, connection: sqlite3.Connection, sink: str, score: OutScore) -> None:
        query = "SELECT number, body FROM scores WHERE sink = ? AND id = ?"
        found = connection.execute(query, (sink, score.id)).fetchone()
        if found is None:
            values = (sink, score.id, msgspec.json.encode(score))
            connection.execute("INSERT INTO scores (sink, id, body) VALUES (?, ?, ?)", values)
            return
        # The time of the first is kept, because receivers recognise a score by its id and time.
        number, before = found
        body = msgspec.json.encode(replace(score, timestamp=_decode(before).timestamp))
        if body != before:
            connection.execute("UPDATE scores SET body = ?, version = version + 1 WHERE number = ?", (body, number))
            connection.execute("DELETE FROM ends WHERE number = ?", (number,))

    def sinks(self) -> dict[str, dict[str, str]]:
        """Return where scores in this outbox go, by the sinks' names."""
        rows = self._rows("SELECT name, about FROM sinks ORDER BY name")
        try:
            return {name: msgspec.json.decode(about, type=dict[str, str]) for name, about in rows}
        except (msgspec.DecodeError, TypeError):
            raise OutboxError(
                f"{self.path} is damaged: a receiver in it cannot be read", code="outbox-damaged"
            ) from None

    def pending(self, sink: str, after: int, most: int) -> list[Entry]:
        """Return the next pending scores, in order."""
        rows = self._rows(_PENDING, sink, after, most)
        return [Entry(number, _decode(body), len(body), version) for number, body, version in rows]

    def end(self, ends: Iterable[End]) -> None:
        """Write down what became of scores; it is on disk when this returns. One replaced meanwhile stays pending."""
        # With its version: an entry that was replaced while it was on its way has still to be sent.
        rows = [(end.state, end.reason, end.entry.number, end.entry.version) for end in ends]
        if rows:
            with self._transaction() as connection:
                connection.executemany(_END, rows)

    def retry_refused(self, sink: str) -> None:
        """Make those scores pending again that the receiver had refused."""
        with self._transaction() as connection:
            connection.execute(_RETRY, (sink,))

    def trace_of(self, sink: str, session: str) -> tuple[bool, str | None]:
        """Return whether the trace of a session was looked up, and that trace, if it has one."""
        rows = self._rows("SELECT trace FROM sessions WHERE sink = ? AND session = ?", sink, session)
        return (True, rows[0][0]) if rows else (False, None)

    def keep_trace(self, sink: str, session: str, trace: str | None) -> None:
        """Write down the trace of a session, so that every attempt uses the same."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)", (sink, session, trace))

    def receipt(self, sink: str, fault: str | None = None) -> Receipt:
        """Return what became of the scores for a sink."""
        counts = dict(self._rows(_COUNTS, sink))
        listed = [(_decode(body), reason) for body, reason in self._rows(_REJECTED, sink)]
        rejected = tuple(Rejected(score.id, score.name, reason or "", score.trace_id) for score, reason in listed)
        pending = counts.get("pending", 0)
        return Receipt(counts.get("delivered", 0), pending, rejected, fault=fault if pending else None)

    def _rows(self, query: str, *values: object) -> list[Any]:
        with _translate_errors(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _translate_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back after some faults, such as a full disk.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def is_ours(about: Mapping[str, str]) -> bool:
    """Return whether this user sent scores to that receiver from this machine."""
    return is_sealed(_content(about), about.get("seal"))


def _content(about: Mapping[str, str]) -> bytes:
    return msgspec.json.encode(["outbox", *(about.get(name, "") for name in ("kind", "host", "project"))])


def _is_same(known: Mapping[str, str], about: Mapping[str, str]) -> bool:
    """Return whether two receivers are one: an address or a project that was not known yet fits any."""
    if known.get("kind") != about.get("kind"):
        return False
    pairs = [(known.get(name), about.get(name)) for name in ("host", "project")]
    return all(not one or not other or one == other for one, other in pairs)


def _decode(body: bytes) -> OutScore:
    try:
        return msgspec.json.decode(body, type=OutScore)
    except msgspec.DecodeError:
        raise OutboxError("the outbox is damaged: a score in it cannot be read", code="outbox-damaged") from None


def _connect(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    try:
        version = file_kind(connection, _APPLICATION)
        if version is None:
            raise OutboxError(f"{path} is an SQLite file, but not an outbox", code="not-an-outbox")
        if version > _VERSION:
            raise OutboxError(f"{path} was written by a newer adjudge: update adjudge", code="outbox-newer")
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        # A file system without shared memory: a rollback journal does as well.
        except sqlite3.OperationalError:
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        # A new file has version 0.
        if version < _VERSION:
            connection.executescript(_SCHEMA)
        if not has_schema(connection, _SCHEMA):
            raise OutboxError(f"{path} holds other tables, views or triggers than an outbox has", code="not-an-outbox")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise an `OutboxError` with its code for whatever SQLite raises."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        fault = sqlite_fault(error)
        if fault in ("full", "io"):
            raise OutboxError(f"{path}: no room to write ({error})", code="disk-full") from error
        if fault == "locked":
            raise OutboxError(f"{path} is in use by another process", code="outbox-locked") from error
        if fault == "damaged":
            raise OutboxError(f"{path} is damaged, or not an outbox: {error}", code="outbox-damaged") from error
        raise OutboxError(f"{path}: {error}", code="cannot-use") from error

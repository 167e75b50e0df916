"""What a run file holds: its tables, and its records as they are written, read back and checked.

A `Write` is a statement with its values; the journal executes it. Reading a record whose checksum does not match raises
`RunError`: a damaged record is never taken for a good one.

    meta           what the run is: plan, limits, when the cases were complete
    cases          what was wanted, one row a case, in order of input; cases of one unit are scored together; the canary
                   of case n, which only the judge sees, is case -(n + 1)
    requests       what is asked, written before it is sent
    replies        what came back, raw, written before anybody interprets it; or the fault that came instead
    attempts       failed attempts of a call, whether or not another one followed
    trajectories   what the agent did, or why it did nothing
    scores         one row a case and scorer

Nothing is updated in place: a row is written once, with a checksum over its keys and body, and every read checks it.
"""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Annotated, Any, Literal, TypeAlias, TypeVar
from uuid import UUID

import msgspec

from adjudge.errors import DataError, RowError, RunError
from adjudge.files import file_kind, has_schema
from adjudge.model import ChatReply, Score, Trajectory, decode_json, encode_json, from_json

T = TypeVar("T")

APPLICATION = 0x41444A47  # "ADJG": by which `file` and we recognise a run file
RUN_ID = "id"  # the name in `meta` of the run's own id, which also binds the files beside it
SUM = 8  # bytes of a checksum
AGAIN = "again"  # the name in `meta` of the cases that are asked again, with the last request before that
BATCH = 32  # rows of one statement
EARLY = "early"  # the name in `meta` of how thresholds settled the run
COMPLETE = "complete"  # the name in `meta` of the number of cases, written once all have been read

MIGRATIONS = (
    """
    CREATE TABLE meta (name TEXT PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE cases (seq INTEGER PRIMARY KEY, unit INTEGER NOT NULL, body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE requests (
        number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, key BLOB NOT NULL, at REAL NOT NULL,
        body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE INDEX requests_by_case ON requests (seq);
    CREATE TABLE replies (
        number INTEGER PRIMARY KEY, source TEXT NOT NULL, seconds REAL NOT NULL, attempts INTEGER NOT NULL,
        prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, fault TEXT,
        body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE attempts (
        number INTEGER NOT NULL, attempt INTEGER NOT NULL, seconds REAL NOT NULL, fault TEXT NOT NULL,
        PRIMARY KEY (number, attempt)) WITHOUT ROWID;
    CREATE TABLE trajectories (
        seq INTEGER PRIMARY KEY, seconds REAL NOT NULL, fault TEXT, body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE scores (
        seq INTEGER NOT NULL, scorer INTEGER NOT NULL, status TEXT NOT NULL, value REAL, reason TEXT,
        body BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (seq, scorer)) WITHOUT ROWID;
    """,
)
VERSION = len(MIGRATIONS)

Write: TypeAlias = tuple[str, tuple[Any, ...]]
"""One statement with its values."""

Source: TypeAlias = Literal["call", "cache", "shared", "agent"]
"""Where a reply came from: its own call, the cache, an equal request of another row, or an agent's own means."""

_REQUEST = "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?)"
_REPLY = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TRAJECTORY = "INSERT OR REPLACE INTO trajectories VALUES (?, ?, ?, ?, ?)"
KEPT = (_REQUEST, _REPLY, _TRAJECTORY)
"""The statements of records that must outlive the process from the moment they are made."""

_META: dict[str, Any] = {
    RUN_ID: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]+$")],
    AGAIN: dict[str, int],
    COMPLETE: int,
    "seal": str,
    "accepted": list[dict[str, Any]],
}
_encode = msgspec.json.Encoder().encode
_PLAIN = (str, int, bool, type(None))


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """One case: its columns, or why it has none, or why it cannot be scored."""

    seq: int
    unit: int  # the first case of those that are scored together
    id: Any
    row: Mapping[str, Any] | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """The outcome of one request, with its time, attempts and cost; `wasted` are tokens of attempts worth nothing."""

    reply: ChatReply | None
    fault: str | None = None
    source: Source = "call"
    seconds: float = 0.0
    attempts: int = 1
    cost: float | None = None
    wasted: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class TrajectoryRecord:
    """What the agent did for one case, or why it did nothing."""

    trajectory: Trajectory | None
    fault: str | None = None
    seconds: float = 0.0


def encode(value: object) -> bytes:
    """Return JSON; lone surrogates and large integers, which msgspec refuses, take a slower way."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        return encode_json(value)


def keepable(value: Any) -> Any:
    """Return a value of a row as JSON holds it; raise `TypeError` where it would come back as something else.

    Values of data libraries are unwrapped: an array is its list, a scalar its number. The encoder would also take
    bytes, dates, decimals and sets, but as texts and lists that nobody wrote.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        if value in (math.inf, -math.inf):
            raise TypeError(f"JSON has no {value}")
        return float(value)
    if isinstance(value, Mapping):
        return {name: one if type(one) in _PLAIN else keepable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [keepable(one) for one in value]
    unwrap = getattr(value, "tolist", None)
    if callable(unwrap):
        return keepable(unwrap())
    if isinstance(value, bytes | bytearray | memoryview | date | time | timedelta | Decimal | UUID | set | frozenset):
        raise TypeError(f"a {type(value).__name__} is not a JSON value")
    return value


def write_meta(name: str, value: object) -> Write:
    """Keep a value of the whole run under a name."""
    body = encode(value)
    return "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (name, body, checksum("meta", body, name))


def write_case(case: CaseRecord) -> Write:
    """Keep a case; one that JSON cannot hold is kept as a fault."""
    # A row that JSON cannot hold must not end the run: it becomes an error row with its number.
    try:
        body = encode({"id": keepable(case.id), "row": keepable(case.row), "fault": case.fault})
    except (TypeError, ValueError, RecursionError, DataError) as error:
        fault = f"bad-row: row {case.seq + 1} cannot be kept as JSON: {error}"
        body = encode({"id": case.seq + 1, "row": None, "fault": fault})
    values = (case.seq, case.unit, body, checksum("cases", body, case.seq, case.unit))
    return "INSERT INTO cases VALUES (?, ?, ?, ?)", values


def write_request(number: int, seq: int, key: bytes, at: float, body: bytes) -> Write:
    """Keep a request, before it is sent."""
    values = (number, seq, key, at, body, checksum("requests", body, number, seq, key))
    return _REQUEST, values


def write_reply(number: int, record: ReplyRecord, body: bytes | None = None, *, key: bytes = b"") -> Write:
    """Keep what came back; `body` is the reply as JSON, where the caller has it already.

    The key of the request goes with the checksum: a reply never counts for a request with other content.
    """
    reply = record.reply
    body = encode(reply) if body is None else body
    counts = (None, None) if reply is None else (reply.prompt_tokens, reply.completion_tokens)
    # None stays what nobody counted. An endpoint may report any number of tokens; SQLite holds 63 bits.
    known = [
        None if count is None and not wasted else max(0, min((count or 0) + wasted, 1 << 62))
        for count, wasted in zip(counts, record.wasted, strict=True)
    ]
    fault = record.fault and _plain(record.fault)
    sum_ = checksum("replies", body, number, record.source, fault) + key
    measures = (round(record.seconds, 6), record.attempts, *known, record.cost)
    values = (number, record.source, *measures, fault, body, sum_)
    return _REPLY, values


def write_attempt(number: int, attempt: int, seconds: float, fault: str) -> Write:
    """Keep why one attempt of a call failed."""
    values = (number, attempt, round(seconds, 6), _plain(fault))
    return "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)", values


def write_trajectory(seq: int, record: TrajectoryRecord) -> Write:
    """Keep what the agent did."""
    body = encode(record.trajectory)
    fault = record.fault and _plain(record.fault)
    values = (seq, round(record.seconds, 6), fault, body, checksum("trajectories", body, seq, fault))
    return _TRAJECTORY, values


def write_scores(seq: int, scores: Sequence[Score], first: int = 0) -> list[Write]:
    """Keep the scores of one case, by all scorers from the first on."""
    writes: list[Write] = []
    for scorer, given in enumerate(scores, first):
        score = given
        try:
            body = encode(score)
        except (TypeError, ValueError, RecursionError, DataError) as error:
            # A score that JSON cannot hold must not end the run: it becomes an error of its row.
            score = Score.error(f"bad-result: the score cannot be kept as JSON: {error}")
            body = encode(score)
        sum_ = checksum("scores", body, seq, scorer, score.status)
        values = (seq, scorer, score.status, score.value, score.reason and _plain(score.reason), body, sum_)
        writes.append(("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", values))
    return writes


def read_meta(name: str, body: bytes, sum_: bytes) -> Any:
    """Read a value of the whole run."""
    check(sum_, "meta", body, name)
    try:
        return msgspec.convert(decode_json(body), _META.get(name, Any))
    except (msgspec.ValidationError, UnicodeEncodeError, RowError) as error:
        raise RunError(f"the {name} of the run cannot be read: {error}", code="run-damaged") from None


def read_case(seq: int, unit: int, body: bytes, sum_: bytes) -> CaseRecord:
    """Read a case."""
    check(sum_, "cases", body, seq, unit)
    try:
        found = decode_json(body)
        id_, row, fault = found["id"], found["row"], found["fault"]
        is_case = isinstance(row, dict | None) and isinstance(fault, str | None)
    except (RowError, KeyError, TypeError):
        is_case = False
    if not is_case:
        raise RunError(f"case {seq} in the run file cannot be read", code="run-damaged")
    return CaseRecord(seq, unit, id_, row, fault)


def read_reply(key: bytes, number: int, source: str, fault: str | None, body: bytes, sum_: bytes) -> ChatReply | None:
    """Read the reply to the request with that key; None where a fault came instead, or the reply is another's."""
    check(sum_[:SUM], "replies", body, number, source, fault)
    belongs = sum_[SUM:] in (b"", key)  # runs of older releases do not say
    return decode_as(ChatReply, body) if belongs else None


def read_trajectory(seq: int, seconds: float, fault: str | None, body: bytes, sum_: bytes) -> TrajectoryRecord:
    """Read what the agent did."""
    check(sum_, "trajectories", body, seq, fault)
    if not isinstance(seconds, float):  # no checksum is over it
        raise RunError(f"the time of case {seq} in the run file is not a number", code="run-damaged")
    return TrajectoryRecord(decode_as(Trajectory, body), fault, seconds)


def read_score(seq: int, scorer: int, status: str, body: bytes, sum_: bytes) -> Score:
    """Read a score."""
    check(sum_, "scores", body, seq, scorer, status)
    score = decode_as(Score, body)
    if score is None:
        raise RunError("a score is empty", code="run-damaged")
    return score


def decode_as(kind: type[T], body: bytes) -> T | None:
    """Read JSON of a kind, or null."""
    # The fast decoder first; it refuses lone surrogates and large integers, which the slow one takes.
    if body == b"null":
        return None
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        try:
            return from_json(kind, body)
        except RowError as error:
            raise RunError(f"a {kind.__name__} in the run file cannot be read: {error}", code="run-damaged") from None


def read_as(kind: type[T], value: object) -> T:
    """Return columns that no checksum is over, if they are of a kind."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise RunError(f"a record in the run file cannot be read: {error}", code="run-damaged") from None


def check(sum_: bytes, table: str, body: object, *keys: object) -> None:
    """Raise `RunError` for a record that differs from what was written."""
    if not isinstance(body, bytes) or checksum(table, body, *keys) != sum_:
        raise RunError(f"a record of {table} does not match its checksum: the run file is damaged", code="run-damaged")


def checksum(table: str, body: bytes, *keys: object) -> bytes:
    """Return the checksum of one record: its table, its keys and its body.

    >>> checksum("cases", b"a", 1) == checksum("cases", b"a", 1) != checksum("cases", b"a", 2)
    True
    """
    head = f"{table}{keys!r}".encode("utf-8", "surrogatepass")  # the text of a tuple ends with its bracket
    return sha256(head + body).digest()[:SUM]  # the fastest hash on processors that have it built in


def check_kind(connection: sqlite3.Connection, path: object) -> int:
    """Return the file's version; a file that is not a run, or of a newer release, raises `RunError`."""
    version = file_kind(connection, APPLICATION)
    if version is None:
        raise RunError(f"{path} is an SQLite file, but not a run", code="not-a-run")
    if version > VERSION:
        message = f"{path} was written by a newer adjudge (its schema is {version}, this one reads up to {VERSION})"
        raise RunError(f"{message}: update adjudge", code="run-newer")
    if version and not has_schema(connection, "".join(MIGRATIONS[:version])):
        raise RunError(f"{path} holds other tables, views or triggers than a run has", code="not-a-run")
    return version


def _plain(text: str) -> str:
    """Return text that SQLite can hold: lone surrogates are shown, not kept."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def join_inserts(writes: Iterable[Write]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Join inserts of one kind to statements of many rows.

    SQLite releases the interpreter's lock for every statement; with one for each row the journal's thread would wait
    for the event loop that often.
    """
    groups: dict[str, list[tuple[Any, ...]]] = {}
    for statement, values in writes:
        if statement.startswith("INSERT"):
            groups.setdefault(statement, []).append(values)
        else:
            yield statement, values
    for statement, rows in groups.items():
        head, _, places = statement.partition(" VALUES ")
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            yield f"{head} VALUES {', '.join([places] * len(part))}", [value for row in part for value in row]

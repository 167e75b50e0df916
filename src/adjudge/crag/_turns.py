"""The rows of an evaluation: a turn with its answer, and the same turn with its labels.

    turn data    13 fields, one JSON object a line
    results      the same 13, five more that say how the turn was labelled, and `status`

Rows are plain dicts. Turn data may have other fields too: a scorer may ask for them, they are saved and loaded, and
no result has them. A turn whose agent failed has an empty response, and says why in `fault`.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_type_hints

import msgspec

from adjudge.conversations import Labels
from adjudge.datasets import RepeatFinder, json_line, read_rows, sort_ids, whole_file
from adjudge.errors import RowError, closest
from adjudge.model import Status, to_json

TURN_FIELDS = (
    *("session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain", "dynamism"),
    *("query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history"),
)
"""The fields of turn data, in their order."""

RESULT_COLUMNS = (
    *TURN_FIELDS,
    *("is_exact_match", "is_correct", "is_miss", "is_semantically_correct", "api_response"),
)
"""The columns of a result, as the benchmark defines them."""

COLUMNS = (*RESULT_COLUMNS, "status")
"""The columns of a result file."""

REQUIRED = ("session_id", "query", "ground_truth", "agent_response")
"""The fields that turn data must have."""

FAULT = "fault"
"""The field of turn data that says why an agent gave no answer; rows of healthy turns lack it."""

TOKENIZER = "tokenizer"
"""The field of turn data that says by which tokenizer, and where, the response was cut; others may not know."""

SCORERS = "scorers"
"""The field of a result that holds the scores of additional scorers, by name."""

CATEGORIES = ("image_quality", "query_category", "domain", "dynamism")
"""The fields that say what kind of turn it is: a number, a name, or None where that is not known."""

Category = int | str | None
_TURN_FIELDS = frozenset(TURN_FIELDS)
_NUMBERS = ("turn_idx", "total_turn_count", *CATEGORIES)
_MOST_TURNS = 1 << 31
_SAFE = frozenset((str, bool, int, type(None)))
AT_ONCE = 1024  # lines whose ids are sorted together


class TurnRow(TypedDict):
    """One turn with its answer; the four categories are None where they are not known."""

    session_id: str
    interaction_id: str
    turn_idx: int
    is_ego: bool
    image_quality: Category
    query_category: Category
    domain: Category
    dynamism: Category
    query: str
    ground_truth: str
    agent_response: str
    total_turn_count: int
    interaction_id_history: list[str]


class ResultRow(TurnRow):
    """One turn with its labels."""

    is_exact_match: bool
    is_correct: bool
    is_miss: bool
    is_semantically_correct: bool
    api_response: dict[str, Any] | None
    status: Status


def _values_of(name: str, kind: type) -> type[msgspec.Struct]:
    counts = {count: Annotated[int, msgspec.Meta(ge=0, lt=_MOST_TURNS)] for count in ("turn_idx", "total_turn_count")}
    return msgspec.defstruct(name, list((get_type_hints(kind) | counts).items()), array_like=True, gc=False)


TurnValues = _values_of("TurnValues", TurnRow)
ResultValues = _values_of("ResultValues", ResultRow)
"""The same without names, which is what is quick to check and to decode."""


def turn_row(columns: Mapping[str, Any], *, place: str = "", turn_idx: int | None = None) -> dict[str, Any]:
    """Return a turn with all its fields, in order, the optional ones by default, or raise `RowError` with the place.

    Where `turn_idx` is not in the row it is the given one, else as many as there are interactions before it.
    `interaction_id` is made of session and turn, `total_turn_count` is the least that there can be, `is_ego` is false,
    categories are None, the history is empty.

    >>> row = turn_row({"session_id": "s", "query": "?", "ground_truth": "a", "agent_response": "b"})
    >>> row["interaction_id"], row["turn_idx"], row["is_ego"], row["total_turn_count"], row["domain"]
    ('s/0', 0, False, 1, None)
    """
    # Nearly all rows were written by us: one quick check instead of one for each field.
    if _is_whole(columns, TurnValues, TURN_FIELDS):
        return dict(columns)
    return _checked(_with_defaults(columns, turn_idx), TurnRow, TURN_FIELDS, place)


class TurnRows:
    """Turns with all their fields, one after the other.

    One that has neither `turn_idx` nor history comes after those of its session that were there before it.
    """

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def take(self, columns: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return the next turn, as `turn_row` does."""
        known = columns.get("turn_idx") is not None or columns.get("interaction_id_history") is not None
        after = None if known else self._next.get(str(columns.get("session_id")), 0)
        row = turn_row(columns, place=place, turn_idx=after)
        session, turn = row["session_id"], row["turn_idx"]
        if turn >= self._next.get(session, 0):
            self._next[session] = turn + 1
        return row


def _with_defaults(columns: Mapping[str, Any], turn_idx: int | None) -> dict[str, Any]:
    # An optional field that is null is the same as one that is missing: some libraries write every column.
    lacking = [name for name, value in columns.items() if value is None and name in _TURN_FIELDS.difference(REQUIRED)]
    given = {name: value for name, value in columns.items() if name not in lacking}
    history = given.setdefault("interaction_id_history", [])
    if "turn_idx" not in given:
        given["turn_idx"] = len(history) if turn_idx is None and isinstance(history, list) else turn_idx
    turn = given["turn_idx"]
    turn = int(turn) if isinstance(turn, float) and turn.is_integer() else turn
    given.setdefault("interaction_id", f"{given.get('session_id')}/{turn}")
    given.setdefault("total_turn_count", turn + 1 if isinstance(turn, int) else None)
    given.setdefault("is_ego", False)
    return {**dict.fromkeys(CATEGORIES), **given}


def write_turns(path: str | Path, turns: Iterable[Mapping[str, Any]]) -> int:
    """Write turn data at the path, which appears when it is whole, and return how many turns there were.

    Each is checked first, as `turn_row` does.
    """
    count = 0
    with whole_file(str(path)) as file:
        for count, turn in enumerate(turns, 1):
            row = turn_row(turn, place=f"turn {count}: ")
            file.write(json_line(row, checked=len(row) == len(TURN_FIELDS)))
    return count


def read_turns(path: str | Path) -> Iterator[dict[str, Any]]:
    """Read turn data, one turn at a time; optional fields that a line lacks get their defaults.

    A turn without `turn_idx` and history comes after the turns of its session in earlier lines. A line that is
    broken, lacks a field or has one of a wrong type raises `RowError` with file, line and field when it is reached; an
    interaction, or a turn of a session, that appears twice does so at the end.
    """
    lines = read_rows(str(path), "jsonl")
    rows = TurnRows()
    with RepeatFinder() as finder:
        # Ids are sorted by the block, so that repeats are found in files larger than memory.
        while some := list(islice(lines, AT_ONCE)):
            turns: list[dict[str, Any]] = []
            names: list[tuple[str, int]] = []
            for read in some:
                if read.columns is None:
                    raise RowError(f"{path}, {(read.fault or '').removeprefix('bad-row: ')}")
                turn = rows.take(read.columns, f"{path}, line {read.number}: ")
                turns.append(turn)
                names.append((f"with the interaction_id {turn['interaction_id']!r}", read.number))
                names.append((f"{turn['turn_idx']} of session {turn['session_id']!r}", read.number))
            finder.add(sort_ids(iter(names)))
            yield from turns
        _, repeats = finder.repeats(most=1)
        for repeat in repeats:
            raise RowError(f"{path}, lines {repeat.first} and {repeat.second}: there are two turns {repeat.id}")


def result_row(
    turn: Mapping[str, Any],
    labels: Labels,
    api_response: Mapping[str, Any] | None = None,
    *,
    scorers: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the result of a turn: its fields, its labels, what the judge replied, and its status.

    `scorers` has, by name, the `value`, `status` and `reason` that additional scorers gave the turn.
    """
    row = {name: turn[name] for name in TURN_FIELDS}
    row["is_exact_match"] = labels.is_exact_match
    row["is_correct"] = labels.is_correct
    row["is_miss"] = labels.is_miss
    row["is_semantically_correct"] = labels.is_semantically_correct
    row["api_response"] = None if api_response is None else dict(api_response)
    row["status"] = labels.status
    if scorers:
        row[SCORERS] = {name: dict(score) for name, score in scorers.items()}
    return row


def labels_of(row: Mapping[str, Any], *, place: str = "") -> Labels:
    """Return the labels of a result; those that contradict one another raise `RowError` with the place."""
    try:
        return _labels(
            row["is_exact_match"], row["is_correct"], row["is_miss"], row["is_semantically_correct"], row["status"]
        )
    except ValueError as error:
        raise RowError(f"{place}{error}") from None


# There are few labels, and rows by the million.
_labels = lru_cache(maxsize=64)(Labels)


def check_result(row: Mapping[str, Any], *, place: str = "") -> dict[str, Any]:
    """Return a result with its columns in order, or raise `RowError` with the place and the column."""
    checked = dict(row) if _is_whole(row, ResultValues, COLUMNS) else _checked(row, ResultRow, COLUMNS, place)
    labels_of(checked, place=place)
    reply = checked["api_response"]
    # Only additional fields and unusual replies can hold what JSON cannot.
    if len(checked) > len(COLUMNS) or (reply and not _SAFE.issuperset(map(type, reply.values()))):
        try:
            to_json({name: value for name, value in checked.items() if name == "api_response" or name not in COLUMNS})
        except RowError as error:
            raise RowError(f"{place}{error.message.removeprefix('$.')}") from None
    return checked


def _is_whole(row: Mapping[str, Any], values: type[msgspec.Struct], names: tuple[str, ...]) -> bool:
    """Return whether a row has exactly these fields, in order and of their types, which nearly all rows have."""
    try:
        return tuple(row) == names and bool(msgspec.convert(tuple(row.values()), values))
    except msgspec.ValidationError:
        return False


def _checked(row: Mapping[str, Any], kind: Any, names: tuple[str, ...], place: str) -> dict[str, Any]:
    try:
        checked: dict[str, Any] = msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        given = {name: row[name] for name in _NUMBERS if name in row}
        whole = {name: int(value) for name, value in given.items() if isinstance(value, float) and value.is_integer()}
        # Some libraries save a 2 as 2.0.
        if whole:
            return _checked({**row, **whole}, kind, names, place)
        raise RowError(f"{place}{_fault(str(error), row, names)}") from None
    # Another field has half a character in its name, which msgspec refuses: it is checked without that one.
    except UnicodeEncodeError:
        known = _checked({name: row[name] for name in names if name in row}, kind, names, place)
        return known | {name: value for name, value in row.items() if name not in known}
    for name in ("turn_idx", "total_turn_count"):
        if not 0 <= checked[name] < _MOST_TURNS:
            raise RowError(f"{place}{name}: {checked[name]} is not a number of turns")
    if tuple(checked) != names:
        checked = {name: checked[name] for name in names}
    if len(row) != len(checked):
        checked.update((name, value) for name, value in row.items() if name not in checked)
    return checked


def _fault(message: str, row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return which field is wrong, and how."""
    missing = next((name for name in names if name not in row), None)
    if missing is not None:
        return f"there is no field {missing!r}{closest(missing, (str(name) for name in row if name not in names))}"
    what, _, path = message.partition(" - at `$")
    return f"{path.rstrip('`').lstrip('.')}: {what[:1].lower()}{what[1:]}"

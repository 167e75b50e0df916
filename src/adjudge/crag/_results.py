"""The results of an evaluation: rows in order, as many as there are, in little memory.

    results = TurnResults.of(rows)      any number of rows, in any order
    results[0]["is_correct"]            a plain dict
    results.to_pandas()                 where pandas is installed

Rows lie encoded in a file of their own once they are many, and are decoded as they are looked at.
"""

import json
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, get_type_hints, overload

import msgspec
from msgspec.structs import asdict

from adjudge.conversations import RuleScope, given_up_after
from adjudge.crag._turns import COLUMNS, ResultRow, check_result, labels_of

IN_MEMORY = 1 << 24  # bytes of rows that are kept in memory
AT_ONCE = 256  # rows that are read together

_OTHERS = "others"
_Stored = msgspec.defstruct(
    "Stored", [*get_type_hints(ResultRow).items(), (_OTHERS, dict[str, Any] | None)], array_like=True, gc=False
)
_decode_lines = msgspec.json.Decoder(_Stored).decode_lines
_encode = msgspec.json.Encoder().encode


class _Pile:
    """Encoded rows, one after the other: in memory while they are few, then in a file that nobody else sees."""

    def __init__(self) -> None:
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._on_disk = 0
        self.starts = array("Q", [0])  # of the rows, and where the last one ends

    def append(self, row: bytes) -> None:
        self._memory += row
        self.starts.append(self.starts[-1] + len(row))
        if len(self._memory) > IN_MEMORY:
            if self._file is None:
                self._file = TemporaryFile()  # noqa: SIM115 (closed with the pile)
            self._on_disk += self._file.write(self._memory)
            self._file.flush()
            self._memory.clear()

    def read(self, first: int, count: int = 1) -> bytes:
        """Return some rows that follow one another."""
        start, stop, split = self.starts[first], self.starts[first + count], self._on_disk
        on_disk = b""
        if self._file is not None and start < split:
            on_disk = os.pread(self._file.fileno(), min(stop, split) - start, start)
        return on_disk + bytes(self._memory[max(start - split, 0) : max(stop - split, 0)])

    def in_order(self, order: Sequence[int]) -> "_Pile":
        """Return a pile of the same rows in another order."""
        pile = _Pile()
        for index in order:
            pile.append(self.read(index))
        return pile

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


class TurnResults(Sequence[dict[str, Any]]):
    """Result rows in the order of (session_id, turn_idx); it does not change, and the rows it gives are copies."""

    __slots__ = ("_pile", "_places", "_ruled")

    def __init__(self, pile: _Pile, places: range, ruled: bytes) -> None:
        self._pile = pile
        self._places = places
        self._ruled = ruled  # by place: whether the two-wrong rule makes it a miss

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], *, rule_scope: RuleScope = "conversation") -> "TurnResults":
        """Take the rows in any order; under `rule_scope="all"` they get the labels that the two-wrong rule gives.

        A row that lacks a column, or has one of a wrong type, raises `RowError`.
        """
        if isinstance(rows, cls) and rule_scope == "conversation":
            return rows
        pile = _sorted_pile(rows)
        places = range(len(pile.starts) - 1)
        raw = cls(pile, places, bytes(len(places)))
        return raw if rule_scope == "conversation" else cls(pile, places, _given_up(raw))

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        places = self._places
        if places.step != 1:
            yield from (self._one(place) for place in places)
            return
        for first in range(places.start, places.stop, AT_ONCE):
            count = min(AT_ONCE, places.stop - first)
            ruled = self._ruled[first : first + count]
            for row, is_ruled in zip(_decoded(self._pile.read(first, count)), ruled, strict=True):
                yield _missed(row) if is_ruled else row

    def _one(self, place: int) -> dict[str, Any]:
        (row,) = _decoded(self._pile.read(place))
        return _missed(row) if self._ruled[place] else row

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> "TurnResults": ...
    def __getitem__(self, index: int | slice) -> "dict[str, Any] | TurnResults":
        if isinstance(index, slice):
            return TurnResults(self._pile, self._places[index], self._ruled)
        return self._one(self._places[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TurnResults):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of every sequence of dicts

    def __reduce__(self) -> tuple[Any, ...]:
        return TurnResults.of, (list(self),)

    def __repr__(self) -> str:
        return f"TurnResults({len(self)} rows)"

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the 19 columns."""
        from adjudge.crag._tables import to_pandas

        return to_pandas(self)

    def to_polars(self) -> Any:
        """Return a polars DataFrame with the 19 columns; `api_response` is JSON in it."""
        from adjudge.crag._tables import to_polars

        return to_polars(self)

    def to_parquet(self, path: str | Path) -> None:
        """Write the 19 columns as Parquet; the file appears when it is whole."""
        from adjudge.crag._tables import write_parquet

        write_parquet(str(path), self)


def _sorted_pile(rows: Iterable[Mapping[str, Any]]) -> _Pile:
    pile = _Pile()
    sessions: dict[str, int] = {}
    numbers, turns = array("Q"), array("Q")
    for number, row in enumerate(rows, 1):
        checked = check_result(row, place=f"row {number}: ")
        numbers.append(sessions.setdefault(checked["session_id"], len(sessions)))
        turns.append(checked["turn_idx"])
        pile.append(_encoded(checked))
    ranks = array("Q", bytes(8 * len(sessions)))
    for rank, session in enumerate(sorted(sessions)):
        ranks[sessions[session]] = rank
    keys = array("Q", [ranks[number] << 32 | turn for number, turn in zip(numbers, turns, strict=True)])
    if all(key <= after for key, after in pairwise(keys)):
        return pile
    return pile.in_order(sorted(range(len(keys)), key=keys.__getitem__))


def _encoded(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line: its values, and a dict of what else it has."""
    values = list(row.values())
    if len(values) == len(COLUMNS):
        values.append(None)
    else:
        values = [*values[: len(COLUMNS)], dict(list(row.items())[len(COLUMNS) :])]
    try:
        return _encode(values) + b"\n"
    except (UnicodeEncodeError, OverflowError):  # half a character, or an integer over 64 bits
        return json.dumps(values).encode() + b"\n"


def _decoded(lines: bytes) -> list[dict[str, Any]]:
    try:
        rows = [asdict(stored) for stored in _decode_lines(lines)]
    except (msgspec.DecodeError, UnicodeDecodeError):  # half a character is somewhere, or such an integer
        rows = [dict(zip((*COLUMNS, _OTHERS), json.loads(line), strict=True)) for line in lines.splitlines()]
    for row in rows:
        others = row.pop(_OTHERS)
        if others:
            row.update(others)
    return rows


def _missed(row: dict[str, Any]) -> dict[str, Any]:
    row.update(is_exact_match=False, is_correct=False, is_miss=True, is_semantically_correct=False)
    return row


def _given_up(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return 1 for each scored row that comes after two wrong in a row, rows being in order."""
    flags = bytearray()
    for _, turns in groupby(rows, key=lambda row: row["session_id"]):
        labels = [labels_of(row).label for row in turns]
        kept = given_up_after(labels)
        flags += bytes(kept) + bytes(label != "unscored" for label in labels[kept:])
    return bytes(flags)

"""The results of an evaluation: rows in order, as many as there are, in little memory.

    results = TurnResults.of(rows)      any number of rows, in any order
    results[0]["is_correct"]            a plain dict
    results.to_pandas()                 where pandas is installed

Rows lie encoded in a file of their own once they are many, and are decoded as they are looked at.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, overload

from adjudge.conversations import RuleScope, given_up_after
from adjudge.crag._turns import COLUMNS, check_result, labels_of
from adjudge.datasets import json_line
from adjudge.model import decode_json

IN_MEMORY = 1 << 24  # bytes of rows that are kept in memory
AT_ONCE = 256  # rows that are read together


_SAFE = (str, bool, int, type(None))


class _Pile:
    """Encoded rows, one after the other: in memory while they are few, then in a file that nobody else sees."""

    def __init__(self) -> None:
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._on_disk = 0

    @property
    def size(self) -> int:
        return self._on_disk + len(self._memory)

    def append(self, row: bytes) -> None:
        self._memory += row
        if len(self._memory) > IN_MEMORY:
            if self._file is None:
                self._file = TemporaryFile()  # noqa: SIM115 (closed with the pile)
            self._on_disk += self._file.write(self._memory)
            self._file.flush()
            self._memory.clear()

    def read(self, start: int, stop: int) -> bytes:
        split = self._on_disk
        on_disk = b""
        if self._file is not None and start < split:
            on_disk = os.pread(self._file.fileno(), min(stop, split) - start, start)
        return on_disk + bytes(self._memory[max(start - split, 0) : max(stop - split, 0)])

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


class TurnResults(Sequence[dict[str, Any]]):
    """Result rows in the order of (session_id, turn_idx); it does not change, and the rows it gives are copies."""

    __slots__ = ("_pile", "_ruled", "_starts", "_stops")

    def __init__(self, pile: _Pile, starts: "array[int]", stops: "array[int]", ruled: bytes) -> None:
        self._pile = pile
        self._starts = starts
        self._stops = stops
        self._ruled = ruled

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], *, rule_scope: RuleScope = "conversation") -> "TurnResults":
        """Take the rows in any order; under `rule_scope="all"` they get the labels that the two-wrong rule gives.

        A row that lacks a column, or has one of a wrong type, raises `RowError`.
        """
        if isinstance(rows, cls) and rule_scope == "conversation":
            return rows
        pile = _Pile()
        sessions: dict[str, int] = {}
        numbers, turns, starts = array("Q"), array("q"), array("Q")
        for number, row in enumerate(rows, 1):
            checked = check_result(row, place=f"row {number}: ")
            numbers.append(sessions.setdefault(checked["session_id"], len(sessions)))
            turns.append(checked["turn_idx"])
            starts.append(pile.size)
            pile.append(json_line(checked, checked=_is_plain(checked)))
        starts.append(pile.size)
        ranks = {sessions[session]: rank for rank, session in enumerate(sorted(sessions))}
        order = sorted(range(len(turns)), key=lambda index: ranks[numbers[index]] << 32 | turns[index])
        firsts = array("Q", [starts[index] for index in order])
        lasts = array("Q", [starts[index + 1] for index in order])
        raw = cls(pile, firsts, lasts, bytes(len(order)))
        return raw if rule_scope == "conversation" else cls(pile, firsts, lasts, _given_up(raw))

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> "TurnResults": ...
    def __getitem__(self, index: int | slice) -> "dict[str, Any] | TurnResults":
        if isinstance(index, slice):
            return TurnResults(self._pile, self._starts[index], self._stops[index], self._ruled[index])
        row: dict[str, Any] = decode_json(self._pile.read(self._starts[index], self._stops[index]))
        if self._ruled[index]:
            row.update(is_exact_match=False, is_correct=False, is_miss=True, is_semantically_correct=False)
        return row

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


def _is_plain(row: Mapping[str, Any]) -> bool:
    """Tell at once that no number of a row can be one that JSON does not have."""
    reply = row["api_response"]
    return len(row) == len(COLUMNS) and (reply is None or all(type(value) in _SAFE for value in reply.values()))


def _given_up(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return 1 for each scored row that comes after two wrong in a row, rows being in order."""
    flags = bytearray()
    for _, turns in groupby(rows, key=lambda row: row["session_id"]):
        labels = [labels_of(row).label for row in turns]
        kept = given_up_after(labels)
        flags += bytes(kept) + bytes(label != "unscored" for label in labels[kept:])
    return bytes(flags)

"""Turn data: what an agent answered, one JSON object a line, written and read as a stream."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from adjudge.crag._turns import TURN_FIELDS, TurnRows, turn_row
from adjudge.datasets import RepeatFinder, RowRead, json_line, read_rows, sort_ids, whole_file
from adjudge.errors import RowError

AT_ONCE = 1024  # lines whose ids are put away together


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

    A turn without `turn_idx` and history comes after the turns of its session that stand above it. A line that is
    broken, lacks a field or has one of a wrong type raises `RowError` with file, line and field when it is reached; an
    interaction, or a turn of a session, that stands there twice does so at the end.
    """
    lines = read_rows(str(path), "jsonl")
    rows = TurnRows()
    with RepeatFinder() as finder:
        while some := list(islice(lines, AT_ONCE)):
            turns = [(read.number, _turn(read, str(path), rows)) for read in some]
            finder.add(sort_ids(_names(turns)))
            yield from (turn for _, turn in turns)
        _, repeats = finder.repeats(most=1)
        for repeat in repeats:
            raise RowError(f"{path}, lines {repeat.first} and {repeat.second}: there are two turns {repeat.id}")


def _turn(read: RowRead, path: str, rows: TurnRows) -> dict[str, Any]:
    if read.columns is None:
        raise RowError(f"{path}, {(read.fault or '').removeprefix('bad-row: ')}")
    return rows.take(read.columns, f"{path}, line {read.number}: ")


def _names(turns: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[str, int]]:
    for number, turn in turns:
        yield f"with the interaction_id {turn['interaction_id']!r}", number
        yield f"{turn['turn_idx']} of session {turn['session_id']!r}", number

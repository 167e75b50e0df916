"""Tables as CSV; results are read back equal.

    abc123,xyz789,0,True,2,1,3,0,What color is this car?,red, ... ,"{""verdict"":""CORRECT""}",scored

Lines end with a line feed; a cell is quoted where it must be. `_cells` says what is done about formulas and about
characters that no CSV can hold; those are nearly never there, and looked for in whole blocks.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from adjudge.crag._cells import category_of, category_text, fit, guard, is_fit, unfit, unguard
from adjudge.crag._turns import CATEGORIES, COLUMNS, check_result
from adjudge.datasets import read_rows, whole_file
from adjudge.errors import RowError
from adjudge.model import decode_json

BLOCK = 512  # rows that are written together

_encode = msgspec.json.Encoder().encode
_BOOLS = {"True": True, "False": False, "true": True, "false": False}


def write_csvs(all_path: str, ego_path: str, rows: Iterable[Mapping[str, Any]], *, raw_csv: bool = False) -> None:
    """Write all rows into one file and the ego-centric ones into another, in one pass; both appear in the end."""
    with whole_file(all_path) as everything, whole_file(ego_path) as ego:
        header = (",".join(COLUMNS) + "\n").encode()
        everything.write(header)
        ego.write(header)
        iterator = iter(rows)
        while block := list(islice(iterator, BLOCK)):
            lines = _lines(block, raw_csv)
            everything.write("".join(lines).encode())
            some = [line for line, row in zip(lines, block, strict=True) if row["is_ego"]]
            ego.write("".join(some).encode())


def write_table(path: str, names: Sequence[str], rows: Iterable[Sequence[Any]], *, raw_csv: bool = False) -> None:
    """Write any small table; None is an empty cell."""
    text = _plain if raw_csv else guard
    with whole_file(path) as file:
        file.write((",".join(names) + "\n").encode())
        for row in rows:
            cells = [
                _quoted(text(fit(cell))) if isinstance(cell, str) else "" if cell is None else cell for cell in row
            ]
            file.write((",".join(map(str, cells)) + "\n").encode())


def _lines(rows: list[Mapping[str, Any]], raw_csv: bool) -> list[str]:
    text = _plain if raw_csv else guard
    lines = [_line(row, text) for row in rows]
    return lines if is_fit("".join(lines)) else [_line(row, lambda cell: text(fit(cell))) for row in rows]


def _plain(cell: str) -> str:
    return cell


def _line(row: Mapping[str, Any], text: Callable[[str], str]) -> str:
    history, reply = row["interaction_id_history"], row["api_response"]
    return (
        f"{_quoted(text(row['session_id']))},{_quoted(text(row['interaction_id']))},{row['turn_idx']},{row['is_ego']},"
        f"{_category(row['image_quality'], text)},{_category(row['query_category'], text)},"
        f"{_category(row['domain'], text)},{_category(row['dynamism'], text)},"
        f"{_quoted(text(row['query']))},{_quoted(text(row['ground_truth']))},{_quoted(text(row['agent_response']))},"
        f"{row['total_turn_count']},{_json(history) if history else '[]'},"
        f"{row['is_exact_match']},{row['is_correct']},{row['is_miss']},{row['is_semantically_correct']},"
        f"{'null' if reply is None else _json(reply)},{row['status']}\n"
    )


def _json(value: list[str] | dict[str, Any]) -> str:
    try:
        text = _encode(value).decode()
    except (UnicodeEncodeError, OverflowError):  # half a character, or an integer over 64 bits
        text = json.dumps(value, separators=(",", ":"))
    return _quoted(text)


def _quoted(cell: str) -> str:
    if '"' in cell:
        return '"' + cell.replace('"', '""') + '"'
    return f'"{cell}"' if "," in cell or "\n" in cell or "\r" in cell else cell


def _category(value: int | str | None, text: Callable[[str], str]) -> int | str:
    return _quoted(text(category_text(value))) if isinstance(value, str) else "" if value is None else value


def read_csv(path: str, *, raw_csv: bool = False) -> Iterator[dict[str, Any]]:
    """Read results as they were written; what cannot be read raises `RowError` with file, row and column."""
    text = unfit if raw_csv else _text
    readers: dict[str, Callable[[str], Any]] = {
        **dict.fromkeys(("turn_idx", "total_turn_count"), int),
        **dict.fromkeys(CATEGORIES, lambda cell: category_of(text(cell))),
        **dict.fromkeys(("interaction_id_history", "api_response"), decode_json),
        **dict.fromkeys(("is_ego", "is_exact_match", "is_correct", "is_miss", "is_semantically_correct"), _bool),
    }
    for number, cells, fault in read_rows(path, "csv"):
        if cells is None:
            raise RowError(f"{path}: {(fault or '').removeprefix('bad-row: ')}")
        yield read_row(cells, readers, text, f"{path}, row {number}: ")


def read_row(
    cells: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]], other: Callable[[Any], Any], place: str
) -> dict[str, Any]:
    """Return a result, each cell read by the reader of its column, or by the other; `RowError` has place and column."""
    row: dict[str, Any] = {}
    for name, cell in cells.items():
        try:
            row[name] = readers.get(name, other)(cell)
        except RowError as error:
            raise RowError(f"{place}{name}: {error.message}") from None
        except ValueError as error:
            raise RowError(f"{place}{name}: {error}") from None
    return check_result(row, place=place)


def _text(cell: str) -> str:
    return unfit(unguard(cell))


def _bool(cell: str) -> bool:
    if cell not in _BOOLS:
        raise ValueError(f"{cell[:40]!r} is neither True nor False")
    return _BOOLS[cell]

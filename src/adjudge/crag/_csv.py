"""Results as CSV, read back equal.

Python's own writer writes the rows. What it would write in a way that others misread (a bare carriage return, NUL, half
a character) is nearly never there: it is looked for in whole blocks, and blocks that have it are written with care.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from adjudge.crag._cells import fit, guard, unfit, unguard
from adjudge.crag._turns import COLUMNS, check_result
from adjudge.datasets import read_rows, whole_file
from adjudge.errors import RowError
from adjudge.model import decode_json, encode_json

BLOCK = 512  # rows that are written together

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_BOOLS = {"True": True, "False": False, "true": True, "false": False}


def write_csvs(all_path: str, ego_path: str, rows: Iterable[Mapping[str, Any]], *, raw_csv: bool = False) -> None:
    """Write all rows into one file and the ego-centric ones into another, in one pass; both appear in the end."""
    with whole_file(all_path) as everything, whole_file(ego_path) as ego:
        header = (",".join(COLUMNS) + "\n").encode()
        everything.write(header)
        ego.write(header)
        iterator = iter(rows)
        while block := list(islice(iterator, BLOCK)):
            everything.write(_encoded(block, raw_csv))
            some = [row for row in block if row["is_ego"]]
            ego.write(_encoded(some, raw_csv))


def _encoded(rows: list[Mapping[str, Any]], raw_csv: bool) -> bytes:
    text = _plain if raw_csv else guard
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([_cells(row, text) for row in rows])
    block = buffer.getvalue()
    if "\r" not in block and "\0" not in block and 'json:"' not in block:
        try:
            return block.encode()
        except UnicodeEncodeError:
            pass
    return b"".join(_careful(_cells(row, lambda cell: text(fit(cell)))) for row in rows)


def _careful(cells: list[Any]) -> bytes:
    """Return one line; the writer quotes a carriage return only where lines end with one."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().removesuffix("\r\n").encode() + b"\n"


def _plain(cell: str) -> str:
    return cell


def _cells(row: Mapping[str, Any], text: Callable[[str], str]) -> list[Any]:
    history, reply = row["interaction_id_history"], row["api_response"]
    return [
        text(row["session_id"]),
        text(row["interaction_id"]),
        row["turn_idx"],
        row["is_ego"],
        _category(row["image_quality"], text),
        _category(row["query_category"], text),
        _category(row["domain"], text),
        _category(row["dynamism"], text),
        text(row["query"]),
        text(row["ground_truth"]),
        text(row["agent_response"]),
        row["total_turn_count"],
        encode_json(history).decode() if history else "[]",
        row["is_exact_match"],
        row["is_correct"],
        row["is_miss"],
        row["is_semantically_correct"],
        "null" if reply is None else encode_json(reply).decode(),
        row["status"],
    ]


def _category(value: int | str | None, text: Callable[[str], str]) -> int | str | None:
    """Return a number as it is and a text so that it cannot be taken for a number, or for nothing."""
    if not isinstance(value, str):
        return value
    return text(json.dumps(value) if not value or value[0] == '"' or _WHOLE.fullmatch(value) else value)


def read_csv(path: str, *, raw_csv: bool = False) -> Iterator[dict[str, Any]]:
    """Read results as they were written; what cannot be read raises `RowError` with file, row and column."""
    text = unfit if raw_csv else _text
    readers: dict[str, Callable[[str], Any]] = {
        **dict.fromkeys(("turn_idx", "total_turn_count"), int),
        **dict.fromkeys(("image_quality", "query_category", "domain", "dynamism"), lambda cell: _value(text(cell))),
        **dict.fromkeys(("interaction_id_history", "api_response"), decode_json),
        **dict.fromkeys(("session_id", "interaction_id", "query", "ground_truth", "agent_response", "status"), text),
    }
    for number, cells, fault in read_rows(path, "csv"):
        if cells is None:
            raise RowError(f"{path}: {(fault or '').removeprefix('bad-row: ')}")
        row: dict[str, Any] = {}
        for name, cell in cells.items():
            try:
                row[name] = readers.get(name, _bool)(cell)
            except (ValueError, RowError) as error:
                raise RowError(f"{path}, row {number}: {name}: {_why(error)}") from None
        yield check_result(row, place=f"{path}, row {number}: ")


def _text(cell: str) -> str:
    return unfit(unguard(cell))


def _value(cell: str) -> int | str | None:
    if not cell:
        return None
    if cell[0] == '"':
        return str(json.loads(cell))
    return int(cell) if _WHOLE.fullmatch(cell) else cell


def _bool(cell: str) -> bool:
    if cell not in _BOOLS:
        raise ValueError(f"{cell[:40]!r} is neither True nor False")
    return _BOOLS[cell]


def _why(error: ValueError | RowError) -> str:
    return error.message if isinstance(error, RowError) else str(error)

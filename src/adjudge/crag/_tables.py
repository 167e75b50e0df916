r"""Results as tables: CSV and Parquet files, which read back equal, and frames of pandas and polars.

    abc123,xyz789,0,True,2,1,3,0,What color is this car?,red, ... ,"{""verdict"":""CORRECT""}",scored

Lines of CSV end with a line feed; a cell is quoted where it must be, and never runs in a spreadsheet:

    =1+1     ->  '=1+1       -40  ->  -40 (a plain number does not run)      '=1+1  ->  ''=1+1
    a\0b     ->  json:"a\u0000b"       what UTF-8 or other readers cannot take, as a JSON string

Such characters are very rare, so whole blocks are searched for them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

import msgspec

from adjudge.crag._turns import CATEGORIES, COLUMNS, check_result
from adjudge.datasets import read_rows, whole_file
from adjudge.errors import MissingExtra, RowError
from adjudge.model import decode_json, encode_json

TEXTS = ("session_id", "interaction_id", "query", "ground_truth", "agent_response")
BLOCK = 512  # rows of CSV that are written together
ROW_GROUP = 8192  # rows of Parquet that are written together

_FORMULA = "=+-@\t\r\n＝＋－＠"
_SUSPECT = frozenset("'" + _FORMULA)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_AS_JSON = 'json:"'
_UNFIT = re.compile("[\0\ud800-\udfff]")
_BOOLS = {"True": True, "False": False, "true": True, "false": False}
_encode = msgspec.json.Encoder().encode

Rows = Sequence[Mapping[str, Any]]


def guard(text: str) -> str:
    """Return the text with a leading apostrophe if a spreadsheet would run it as a formula.

    >>> guard("=1+1"), guard("-40"), guard("-40 degrees"), guard("'=1")
    ("'=1+1", '-40', "'-40 degrees", "''=1")
    """
    return f"'{text}" if text[:1] in _SUSPECT and _runs(text) else text


def unguard(cell: str) -> str:
    """Return the text that `guard` was given.

    >>> unguard("'=1+1"), unguard("'tis"), unguard("''=1")
    ('=1+1', "'tis", "'=1")
    """
    return cell[1:] if cell[:1] == "'" and _runs(cell[1:]) else cell


def _runs(text: str) -> bool:
    """Return whether a spreadsheet would run a cell; apostrophes of our own are not counted."""
    # Every apostrophe that is there already gets another one, so that reading back takes away exactly ours.
    bare = text.lstrip("'")
    return bare[:1] in _SUSPECT and bare != "" and _NUMBER.fullmatch(bare) is None


def fit(text: str) -> str:
    r"""Return text that UTF-8 and other readers of CSV can take: as JSON if there is NUL or half a character in it.

    >>> fit("a\0"), fit("a"), fit('json:"')
    ('json:"a\\u0000"', 'a', 'json:"json:\\""')
    """
    return f"json:{json.dumps(text)}" if text.startswith(_AS_JSON) or _UNFIT.search(text) else text


def _is_fit(text: str) -> bool:
    """Return whether nothing in a long text needs `fit`."""
    if "\0" in text or _AS_JSON in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unfit(cell: str) -> str:
    """Return the text that `fit` was given; raises `ValueError` where it gave no such cell."""
    if not cell.startswith(_AS_JSON):
        return cell
    text = json.loads(cell.removeprefix("json:"))
    if not isinstance(text, str):
        raise ValueError("not a JSON text")  # noqa: TRY004 (one error for every cell that cannot be read)
    return text


def category_text(value: int | str | None) -> str:
    """Return a category as text, so that a name cannot be taken for a number, or for nothing.

    >>> category_text(3), category_text("sports"), category_text("3"), category_text(None)
    ('3', 'sports', '"3"', '')
    """
    if isinstance(value, str):
        return json.dumps(value) if not value or value[0] == '"' or _WHOLE.fullmatch(value) else value
    return "" if value is None else str(value)


def category_of(text: str) -> int | str | None:
    """Return the category that `category_text` was given; raises `ValueError` where it gave no such text."""
    if not text or text[0] == '"':
        return str(json.loads(text)) if text else None
    return int(text) if _WHOLE.fullmatch(text) else text


def write_csvs(all_path: str, ego_path: str, rows: Iterable[Mapping[str, Any]], *, raw_csv: bool = False) -> None:
    """Write all rows into one file and the ego-centric ones into another, in one pass; both appear in the end."""
    text = str if raw_csv else guard
    with whole_file(all_path) as everything, whole_file(ego_path) as ego:
        header = (",".join(COLUMNS) + "\n").encode()
        everything.write(header)
        ego.write(header)
        for block in _batches(rows, BLOCK):
            lines = [_line(row, text) for row in block]
            # One search through the block is much quicker than one for each cell.
            if not _is_fit("".join(lines)):
                lines = [_line(row, lambda cell: text(fit(cell))) for row in block]
            everything.write("".join(lines).encode())
            some = [line for line, row in zip(lines, block, strict=True) if row["is_ego"]]
            ego.write("".join(some).encode())


def write_table(path: str, names: Sequence[str], rows: Iterable[Sequence[Any]], *, raw_csv: bool = False) -> None:
    """Write any small table; None is an empty cell."""
    text = str if raw_csv else guard
    with whole_file(path) as file:
        file.write((",".join(names) + "\n").encode())
        for row in rows:
            cells = [_quote(text(fit(cell))) if isinstance(cell, str) else cell for cell in row]
            file.write((",".join("" if cell is None else str(cell) for cell in cells) + "\n").encode())


def _batches(rows: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Mapping[str, Any]]]:
    iterator = iter(rows)
    while some := list(islice(iterator, size)):
        yield some


def _line(row: Mapping[str, Any], text: Callable[[str], str]) -> str:
    history, reply = row["interaction_id_history"], row["api_response"]
    return (
        f"{_quote(text(row['session_id']))},{_quote(text(row['interaction_id']))},{row['turn_idx']},{row['is_ego']},"
        f"{_category(row['image_quality'], text)},{_category(row['query_category'], text)},"
        f"{_category(row['domain'], text)},{_category(row['dynamism'], text)},"
        f"{_quote(text(row['query']))},{_quote(text(row['ground_truth']))},{_quote(text(row['agent_response']))},"
        f"{row['total_turn_count']},{_json(history) if history else '[]'},"
        f"{row['is_exact_match']},{row['is_correct']},{row['is_miss']},{row['is_semantically_correct']},"
        f"{'null' if reply is None else _json(reply)},{row['status']}\n"
    )


def _json(value: list[str] | dict[str, Any]) -> str:
    try:
        text = _encode(value).decode()
    # Half a character, or an integer over 64 bits.
    except (UnicodeEncodeError, OverflowError):
        text = json.dumps(value, separators=(",", ":"))
    return _quote(text)


def _quote(cell: str) -> str:
    if '"' in cell:
        return '"' + cell.replace('"', '""') + '"'
    return f'"{cell}"' if "," in cell or "\n" in cell or "\r" in cell else cell


def _category(value: int | str | None, text: Callable[[str], str]) -> int | str:
    return _quote(text(category_text(value))) if isinstance(value, str) else "" if value is None else value


def read_csv(path: str, *, raw_csv: bool = False) -> Iterator[dict[str, Any]]:
    """Read results as they were written; what cannot be read raises `RowError` with file, row and column."""

    def text(cell: str) -> str:
        return unfit(cell if raw_csv else unguard(cell))

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


def _bool(cell: str) -> bool:
    if cell not in _BOOLS:
        raise ValueError(f"{cell[:40]!r} is neither True nor False")
    return _BOOLS[cell]


def to_pandas(rows: Rows) -> Any:
    """Return a pandas DataFrame; replies of judges are dicts in it."""
    pandas = _import("pandas", "pandas")
    return pandas.DataFrame(_columns(rows, _whole_numbers(rows)))


def to_polars(rows: Rows) -> Any:
    """Return a polars DataFrame."""
    polars = _import("polars", "polars")
    whole = _whole_numbers(rows)
    types = {"int": polars.Int64, "bool": polars.Boolean, "text": polars.String, "texts": polars.List(polars.String)}
    schema = {name: types[kind] for name, kind in _kinds(whole).items()}
    return polars.DataFrame(_with_json(_columns(rows, whole)), schema=schema)


def write_parquet(path: str, rows: Rows) -> None:
    """Write the rows as Parquet, some at a time."""
    arrow, parquet = _import("pyarrow", "parquet"), _import("pyarrow.parquet", "parquet")
    whole = _whole_numbers(rows)
    types = {"int": arrow.int64(), "bool": arrow.bool_(), "text": arrow.string(), "texts": arrow.list_(arrow.string())}
    schema = arrow.schema([(name, types[kind]) for name, kind in _kinds(whole).items()])
    with whole_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        for some in _batches(rows, ROW_GROUP):
            writer.write_table(arrow.table(_with_json(_columns(some, whole)), schema=schema))


def _import(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra.of(extra, f"a table of {module.partition('.')[0]}") from None


def _whole_numbers(rows: Rows) -> frozenset[str]:
    """Return the categories that are numbers in every row that has one; the others become text."""
    texts: set[str] = set()
    for row in rows:
        for name in CATEGORIES:
            value = row[name]
            # A column of integers has 64 bits.
            if not (value is None or (isinstance(value, int) and value.bit_length() < 64)):
                texts.add(name)
    return frozenset(CATEGORIES) - texts


def _kinds(whole: frozenset[str]) -> dict[str, str]:
    # Whatever is not named below is one of the five labels and flags.
    kinds = dict.fromkeys(COLUMNS, "bool")
    kinds |= dict.fromkeys((*TEXTS, "api_response", "status"), "text")
    kinds |= dict.fromkeys(("turn_idx", "total_turn_count"), "int") | {"interaction_id_history": "texts"}
    return kinds | {name: "int" if name in whole else "text" for name in CATEGORIES}


def _columns(rows: Iterable[Mapping[str, Any]], whole: frozenset[str]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows:
        for name, column in columns.items():
            column.append(row[name])
    for name in TEXTS:
        columns[name] = [fit(text) for text in columns[name]]
    for name in set(CATEGORIES) - whole:
        columns[name] = [None if value is None else fit(category_text(value)) for value in columns[name]]
    columns["interaction_id_history"] = [[fit(id_) for id_ in ids] for ids in columns["interaction_id_history"]]
    return columns


def _with_json(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    replies = [None if reply is None else encode_json(reply).decode() for reply in columns["api_response"]]
    return columns | {"api_response": replies}


def read_parquet(path: str) -> Iterator[dict[str, Any]]:
    """Read results as they were written; what cannot be read raises `RowError` with file, row and column."""
    readers: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(CATEGORIES, lambda value: category_of(unfit(value)) if isinstance(value, str) else value),
        "interaction_id_history": lambda ids: [_text(id_) for id_ in ids] if isinstance(ids, list) else ids,
        "api_response": lambda value: decode_json(value) if isinstance(value, str) else value,
    }
    for number, columns, _ in read_rows(path, "parquet"):
        yield read_row(columns or {}, readers, _text, f"{path}, row {number}: ")


def _text(value: Any) -> Any:
    """Return a text as it was; other values are returned as they are, for the check to name."""
    return unfit(value) if isinstance(value, str) else value

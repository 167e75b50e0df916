"""Results as tables of other libraries, each imported only here and only when asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

from adjudge.crag._cells import category_of, category_text, fit, unfit
from adjudge.crag._csv import read_row
from adjudge.crag._turns import CATEGORIES, COLUMNS
from adjudge.datasets import read_rows, whole_file
from adjudge.errors import MissingExtra
from adjudge.model import decode_json, encode_json

TEXTS = ("session_id", "interaction_id", "query", "ground_truth", "agent_response")
AT_ONCE = 8192  # rows of a row group

Rows = Sequence[Mapping[str, Any]]


def to_pandas(rows: Rows) -> Any:
    """Return a pandas DataFrame; replies of judges are dicts in it."""
    pandas = _imported("pandas", "pandas")
    return pandas.DataFrame(_columns(rows, _whole_numbers(rows)))


def to_polars(rows: Rows) -> Any:
    """Return a polars DataFrame."""
    polars = _imported("polars", "polars")
    whole = _whole_numbers(rows)
    types = {"int": polars.Int64, "bool": polars.Boolean, "text": polars.String, "texts": polars.List(polars.String)}
    schema = {name: types[kind] for name, kind in _kinds(whole).items()}
    return polars.DataFrame(_with_json(_columns(rows, whole)), schema=schema)


def write_parquet(path: str, rows: Rows) -> None:
    """Write the rows as Parquet, some at a time."""
    arrow, parquet = _imported("pyarrow", "parquet"), _imported("pyarrow.parquet", "parquet")
    whole = _whole_numbers(rows)
    types = {"int": arrow.int64(), "bool": arrow.bool_(), "text": arrow.string(), "texts": arrow.list_(arrow.string())}
    schema = arrow.schema([(name, types[kind]) for name, kind in _kinds(whole).items()])
    with whole_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        for some in _batches(rows):
            writer.write_table(arrow.table(_with_json(_columns(some, whole)), schema=schema))


def _imported(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra.of(extra, f"a table of {module.partition('.')[0]}") from None


def _batches(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    iterator = iter(rows)
    while some := list(islice(iterator, AT_ONCE)):
        yield some


def _whole_numbers(rows: Rows) -> frozenset[str]:
    """Return the categories that are numbers in every row that has one; the others become text."""
    texts: set[str] = set()
    for row in rows:
        texts.update(name for name in CATEGORIES if not _is_whole(row[name]))
    return frozenset(CATEGORIES) - texts


def _is_whole(value: int | str | None) -> bool:
    """Tell whether a column of 64-bit integers can hold it."""
    return value is None or (isinstance(value, int) and value.bit_length() < 64)


def _kinds(whole: frozenset[str]) -> dict[str, str]:
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
    """Return a text as it was; what is none is for the check to name."""
    return unfit(value) if isinstance(value, str) else value

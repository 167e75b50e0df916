"""Results as tables of other libraries, each imported only here and only when asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

from adjudge.crag._cells import category_of, category_text, fit, unfit
from adjudge.crag._turns import CATEGORIES, COLUMNS, check_result
from adjudge.datasets import read_rows, whole_file
from adjudge.errors import MissingExtra, RowError
from adjudge.model import decode_json, encode_json

TEXTS = ("session_id", "interaction_id", "query", "ground_truth", "agent_response")
AT_ONCE = 8192  # rows of a row group

Rows = Sequence[Mapping[str, Any]]


def to_pandas(rows: Rows) -> Any:
    """Return a pandas DataFrame, with the values as they are."""
    pandas = _imported("pandas", "pandas")
    return pandas.DataFrame([[row[name] for name in COLUMNS] for row in rows], columns=list(COLUMNS))


def to_polars(rows: Rows) -> Any:
    """Return a polars DataFrame."""
    polars = _imported("polars", "polars")
    whole = _whole_numbers(rows)
    types = {"int": polars.Int64, "bool": polars.Boolean, "text": polars.String, "texts": polars.List(polars.String)}
    schema = {name: types[kind] for name, kind in _kinds(whole).items()}
    return polars.DataFrame(_columns(rows, whole), schema=schema)


def write_parquet(path: str, rows: Rows) -> None:
    """Write the rows as Parquet, some at a time."""
    arrow, parquet = _imported("pyarrow", "parquet"), _imported("pyarrow.parquet", "parquet")
    whole = _whole_numbers(rows)
    types = {"int": arrow.int64(), "bool": arrow.bool_(), "text": arrow.string(), "texts": arrow.list_(arrow.string())}
    schema = arrow.schema([(name, types[kind]) for name, kind in _kinds(whole).items()])
    with whole_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        for some in _batches(rows):
            writer.write_table(arrow.table(_columns(some, whole), schema=schema))


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
        texts.update(name for name in CATEGORIES if isinstance(row[name], str))
    return frozenset(CATEGORIES) - texts


def _kinds(whole: frozenset[str]) -> dict[str, str]:
    kinds = dict.fromkeys(COLUMNS, "bool")
    kinds |= dict.fromkeys((*TEXTS, "api_response", "status"), "text")
    kinds |= dict.fromkeys(("turn_idx", "total_turn_count"), "int") | {"interaction_id_history": "texts"}
    return kinds | {name: "int" if name in whole else "text" for name in CATEGORIES}


def _columns(rows: Iterable[Mapping[str, Any]], whole: frozenset[str]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows:
        for name, column in columns.items():
            value = row[name]
            column.append(category_text(value) if name in CATEGORIES and name not in whole else value)
    for name in (*TEXTS, *(set(CATEGORIES) - whole)):
        columns[name] = [fit(text) for text in columns[name]]
    columns["interaction_id_history"] = [[fit(id_) for id_ in ids] for ids in columns["interaction_id_history"]]
    columns["api_response"] = [None if one is None else encode_json(one).decode() for one in columns["api_response"]]
    return columns


def read_parquet(path: str) -> Iterator[dict[str, Any]]:
    """Read results as they were written; what cannot be read raises `RowError` with file, row and column."""
    for number, columns, _ in read_rows(path, "parquet"):
        place = f"{path}, row {number}: "
        row = dict(columns or {})
        try:
            for name in CATEGORIES:
                row[name] = category_of(unfit(row[name])) if isinstance(row.get(name), str) else row.get(name)
            for name in TEXTS:
                row[name] = unfit(row[name])
            row["interaction_id_history"] = [unfit(id_) for id_ in row["interaction_id_history"]]
            row["api_response"] = None if row["api_response"] is None else decode_json(row["api_response"])
        except (AttributeError, KeyError, TypeError, ValueError, RowError):
            pass  # the check below names the column
        yield check_result(row, place=place)

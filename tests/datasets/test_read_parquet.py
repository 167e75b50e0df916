"""Parquet in: rows keep their types, and are numbered from 1."""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.datasets import RowRead, read_chunks, read_rows
from adjudge.datasets import _read as reading
from adjudge.errors import DataError, MissingExtra


def written(path: Path, rows: list[dict[str, Any]], **options: Any) -> str:
    """Write rows as Parquet and return the path."""
    pq.write_table(pa.Table.from_pylist(rows), path, **options)
    return str(path)


def test_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows come back as they were written, nested values and nulls too, across chunks and row groups."""
    rows = [
        {"id": index, "answer": ["a", "ß"] if index % 2 else None, "trajectory": [{"role": "user", "content": "x"}]}
        for index in range(10)
    ]
    path = written(tmp_path / "rows.parquet", rows, row_group_size=4)
    monkeypatch.setattr(reading, "RECORDS", 3)
    chunks = list(read_chunks(path))
    assert len(chunks) > 3
    assert [row for chunk in chunks for row in chunk.rows()] == [
        RowRead(number, row, None) for number, row in enumerate(rows, 1)
    ]


def test_no_rows(tmp_path: Path) -> None:
    """A file with columns and no rows is read as no rows."""
    path = tmp_path / "rows.pq"
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    assert list(read_rows(str(path))) == []


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" + b"\x00" * 100 + b"PAR1"])
def test_corrupt(tmp_path: Path, content: bytes) -> None:
    """A file that is not Parquet is refused with its name."""
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"rows\.parquet cannot be read as Parquet"):
        list(read_rows(str(path)))


def test_cut_off(tmp_path: Path) -> None:
    """A Parquet file that was cut off is refused, not read in part."""
    path = tmp_path / "rows.parquet"
    written(path, [{"id": index} for index in range(1000)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        list(read_rows(str(path)))


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow, the error says which install brings it."""
    path = written(tmp_path / "rows.parquet", [{"id": 1}])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[parquet\]'"):
        list(read_rows(path))

"""A row has a limit in every format: what is larger is refused with its place, and never held."""

import json
import subprocess
import sys
from binascii import a2b_base64
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.datasets import _parquet, read_chunks, read_conversations, read_rows
from adjudge.datasets import _read as reading
from adjudge.errors import DataError, RowError

READING = str(Path(__file__).with_name("reading.py"))
MOST = 300 << 20  # a row of 64 MB as bytes, as text and as Python values
LONG = "x" * 600_000
PNG = a2b_base64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def read_apart(path: Path, *more: str) -> dict[str, Any]:
    """Read a file in another process; what it printed, once its memory is known to be bounded."""
    found = subprocess.run([sys.executable, READING, str(path), *more], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(found.stdout)
    assert result["grown"] < MOST
    return result


def packed(path: Path, **columns: Any) -> Path:
    """Write columns as Parquet, packed as well as can be."""
    pq.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < 30_000
    return path


@pytest.mark.parametrize("more", [(), ("conversations",)], ids=["rows", "conversations"])
def test_a_text_that_many_rows_refer_to(tmp_path: Path, more: tuple[str, ...]) -> None:
    """A file of 3 kB in which 2,048 rows share one long text is read, a few rows at a time."""
    count = 2048
    columns = {"question": [str(n) for n in range(count)], "answer": ["a"] * count, "notes": [LONG] * count}
    found = read_apart(packed(tmp_path / "rows.parquet", **columns), *more)
    assert (found["rows"], found["faults"], found["error"]) == (count, [], "")


def test_a_row_that_repeats_a_text(tmp_path: Path) -> None:
    """A row whose list refers to one long text a thousand times is a fault that names it; the others are read."""
    found = read_apart(packed(tmp_path / "rows.parquet", a=[["short"], [LONG] * 1024, ["short"]]))
    assert found["rows"] == 3
    assert found["faults"][0].startswith("bad-row: row 2: its 614,")
    assert found["faults"][0].endswith("are more than the 67,108,864 that a row may have")


@pytest.mark.parametrize("more", [(), ("conversations",)], ids=["rows", "conversations"])
@pytest.mark.parametrize(
    "column",
    [["y" * 300_000_000], pa.array([[1] * 30_000_000]), pa.array([[1]] * 99 + [[1] * 30_000_000])],
    ids=["text", "list", "one-list-of-many"],
)
def test_what_a_group_says_of_itself(tmp_path: Path, column: Any, more: tuple[str, ...]) -> None:
    """A row group that unpacks to far more than a row may have is refused with its number before it is unpacked."""
    found = read_apart(packed(tmp_path / "rows.parquet", a=column), *more)
    assert found["error"].startswith("DataError: too-large: ")
    assert "rows.parquet, row group 1: column 'a" in found["error"]


def test_an_image_over_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image that is larger than a row may be is a fault of its row when it is looked up, and of no other."""
    monkeypatch.setattr(_parquet, "LARGEST_ROW", 5000)
    image = pa.array([{"bytes": PNG + bytes(n), "path": None} for n in (1, 9000, 2)])
    path = packed(tmp_path / "rows.parquet", question=["a", "b", "c"], answer=["x", "y", "z"], image=image)
    first, second, third = (read.image for read in read_conversations(path))
    assert first is not None
    assert second is not None
    assert third is not None
    assert (first.load().size, third.load().size) == ((1, 1), (1, 1))
    with pytest.raises(RowError, match="more than the 5,000 that a row may have") as caught:
        second.load()
    assert caught.value.code == "bad-image"


def test_a_line_without_end(tmp_path: Path) -> None:
    """A line of a gigabyte is a row with a fault; the lines around it are read."""
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": 1}\n{"id": "')
        file.seek(1 << 30)
        file.write(b'"}\n{"id": 3}\n')
    found = read_apart(path)
    assert found["rows"] == 3
    assert found["faults"] == ["bad-row: line 2: longer than the 67,108,864 bytes that a row may have"]


def test_a_line_of_many_values(tmp_path: Path) -> None:
    """A line that is short and whose values would fill the memory is a fault too."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": [' + b"[]," * 15_000_000 + b"0]}\n{}\n")
    found = read_apart(path)
    assert found["faults"] == ["bad-row: line 1: more than the 2,000,000 values that a row may have"]
    assert found["rows"] == 2


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_csv_row_without_end(tmp_path: Path, quote: str) -> None:
    """A record of CSV that is too long ends the reading, with its line: nobody can tell where the next one begins."""
    path = tmp_path / "rows.csv"
    with path.open("wb") as file:
        file.write(b"id,text\n1,a\n2," + quote.encode())
        for _ in range(200):
            file.write(b"x" * 1_000_000 + (b"\n" if quote else b""))
    found = read_apart(path)
    assert found["error"].startswith("DataError: too-large: ")
    assert found["error"].endswith("begins on line 3 is longer than the 67,108,864 characters that a row may have")


def test_chunks_of_long_csv_rows_are_short(tmp_path: Path) -> None:
    """A chunk ends before a thousand long rows are in it."""
    path = tmp_path / "rows.csv"
    path.write_text("id,text\n" + f"1,{'x' * 1_000_000}\n" * 40, encoding="ascii")
    assert max(len(chunk.records) for chunk in read_chunks(str(path))) < 20
    assert len(list(read_rows(str(path)))) == 40


def test_a_header_of_many_columns(tmp_path: Path) -> None:
    """Each of many columns is compared with the others at once; two of one name are found at the end as well."""
    path = tmp_path / "rows.csv"
    path.write_text(",".join(map(str, range(200_000))) + ",7\n", encoding="ascii")
    with pytest.raises(DataError, match="two columns are called '7'"):
        list(read_rows(str(path)))


@pytest.mark.parametrize("size", range(20, 60, 3))
@pytest.mark.parametrize("way", ["file", "pipe"])
def test_lines_around_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, way: str) -> None:
    """Wherever blocks end, exactly the lines over the limit are faults, and no number is lost."""
    monkeypatch.setattr(reading, "BLOCK", 16)
    monkeypatch.setattr(reading, "LARGEST_ROW", 40)
    lines = [json.dumps({"a": "x" * (size + step)}) for step in (-10, 0, 1, -9, 5, -10)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines), encoding="ascii")
    if way == "pipe":
        monkeypatch.setattr(Path, "is_file", lambda _: False)
    rows = list(read_rows(str(path)))
    assert [row.number for row in rows] == [1, 2, 3, 4, 5, 6]
    for line, row in zip(lines, rows, strict=True):
        # A line that began within a block may be longer by that block.
        assert row.fault is None or len(line) >= 40 - 16
        assert row.fault is not None or len(line) <= 40 + 16

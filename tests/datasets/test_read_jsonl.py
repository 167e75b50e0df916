"""JSON lines in: every line that is not blank is a row, readable or not, and no row stops the others."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.datasets import Chunk, RowRead, format_of, read_chunks, read_rows
from adjudge.datasets import _read as reading
from adjudge.errors import DataError, UsageError

GOOD = b'{"id":"g"}'


def rows_of(tmp_path: Path, content: bytes, name: str = "rows.jsonl") -> list[RowRead]:
    """Write a file and read its rows."""
    path = tmp_path / name
    path.write_bytes(content)
    return list(read_rows(str(path)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b'{"a":1}\n{"a":2}\n', [(1, {"a": 1}), (2, {"a": 2})], id="plain"),
        pytest.param(b'{"a":1}\n{"a":2}', [(1, {"a": 1}), (2, {"a": 2})], id="no line end at the end"),
        pytest.param(b'\xef\xbb\xbf{"a":1}\n', [(1, {"a": 1})], id="BOM"),
        pytest.param(b'{"a":1}\r\n{"a":2}\r\n', [(1, {"a": 1}), (2, {"a": 2})], id="CRLF"),
        pytest.param(b'\n\n{"a":1}\n \t\n\r\n{"a":2}\n\n', [(3, {"a": 1}), (6, {"a": 2})], id="blank lines"),
        pytest.param(b' {"a":1} \n', [(1, {"a": 1})], id="spaces around"),
        pytest.param(b"{}\n", [(1, {})], id="no columns"),
        pytest.param(b'{"a":1,"a":2}\n', [(1, {"a": 2})], id="a key twice: the last"),
        pytest.param('{"a":"x\u2028y\u0085z"}\n'.encode(), [(1, {"a": "x\u2028y\u0085z"})], id="unicode line ends"),
        pytest.param(b'{"a":"\\ud800"}\n', [(1, {"a": "\ud800"})], id="lone surrogate"),
        pytest.param(b'{"a":"\\u0000"}\n', [(1, {"a": "\x00"})], id="NUL escape"),
        pytest.param(b'{"a":' + b"9" * 40 + b"}\n", [(1, {"a": int("9" * 40)})], id="integer over 64 bits"),
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n \r\n\t", [], id="only blank"),
        pytest.param(b"\xef\xbb\xbf", [], id="only a BOM"),
    ],
)
def test_readable(tmp_path: Path, content: bytes, expected: list[tuple[int, dict[str, Any]]]) -> None:
    """A row has the number of its line and its columns, whatever surrounds it."""
    assert rows_of(tmp_path, content) == [RowRead(number, columns, None) for number, columns in expected]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param(b'{"a":', "not JSON", id="broken"),
        pytest.param(b"hello", "not JSON", id="text"),
        pytest.param(b"[1,2]", "expected an object, got list", id="array"),
        pytest.param(b"3", "expected an object, got int", id="number"),
        pytest.param(b"null", "expected an object, got NoneType", id="null"),
        pytest.param(b'"a"', "expected an object, got str", id="string"),
        pytest.param(b'{"a":NaN}', "NaN is not a JSON number", id="NaN"),
        pytest.param(b'{"a":-Infinity}', "-Infinity is not a JSON number", id="infinity"),
        pytest.param(b'{"a":"\xff"}', "not UTF-8 at byte 7", id="invalid UTF-8"),
        pytest.param(b'{"a":"\xed\xa0\x80"}', "not UTF-8", id="encoded surrogate"),
        pytest.param(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply", id="deep"),
        pytest.param(b'{"a":"x\x00y"}', "not JSON", id="raw NUL"),
        pytest.param(b'{"a":1}{"a":2}', "not JSON", id="two on a line"),
        pytest.param(b'{"a":1}\r{"a":2}', "not JSON", id="CR alone"),
        pytest.param(b"{'a':1}", "not JSON", id="Python's repr"),
        pytest.param(b'{"a":1,}', "not JSON", id="trailing comma"),
        pytest.param(b'{"a":' + b"9" * 5000 + b"}", "not JSON", id="integer of 5,000 digits"),
    ],
)
def test_unreadable_line(tmp_path: Path, line: bytes, words: str) -> None:
    """A line that is no JSON object is a row with a fault that names its line; the rows around it are read."""
    before, broken, after = rows_of(tmp_path, b"\n".join([GOOD, line, GOOD, b""]))
    assert (before.columns, after.columns) == ({"id": "g"}, {"id": "g"})
    assert (broken.number, broken.columns) == (2, None)
    assert broken.fault is not None
    assert broken.fault.startswith("bad-row: line 2: ")
    assert words in broken.fault
    assert "cut off" not in broken.fault


def test_cut_off(tmp_path: Path) -> None:
    """A broken last line without a line end is a row whose fault asks whether the file was cut off."""
    *_, last = rows_of(tmp_path, GOOD + b"\n" + GOOD[:5])
    assert (last.number, last.columns) == (2, None)
    assert last.fault is not None
    assert "the last line, without a line end: was the file cut off?" in last.fault


def test_long_line(tmp_path: Path) -> None:
    """A line of 5 MB is a row like any other, and so are its neighbours."""
    long = {"a": "x" * 5_000_000}
    rows = rows_of(tmp_path, b"\n".join([GOOD, json.dumps(long).encode(), GOOD]))
    assert [row.columns for row in rows] == [{"id": "g"}, long, {"id": "g"}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_utf16_file(tmp_path: Path, encoding: str, name: str) -> None:
    """A UTF-16 file is refused as such, not row by row."""
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    with pytest.raises(DataError, match="is UTF-16; adjudge reads UTF-8"):
        rows_of(tmp_path, (mark + "a,b\n1,2\n").encode(encoding), name)


@pytest.mark.parametrize(
    ("path", "given", "expected"),
    [
        ("a.jsonl", None, "jsonl"),
        ("a.ndjson", None, "jsonl"),
        ("a.JSON", None, "jsonl"),
        ("a.Csv", None, "csv"),
        ("a.parquet", None, "parquet"),
        ("a.pq", None, "parquet"),
        ("-", None, "jsonl"),
        ("-", "csv", "csv"),
        ("a.txt", "csv", "csv"),
        ("a.csv", "jsonl", "jsonl"),
    ],
)
def test_format(path: str, given: str | None, expected: str) -> None:
    """The ending tells the format, in any case; what is given wins; standard input is JSON lines."""
    assert format_of(path, given) == expected


@pytest.mark.parametrize(
    ("path", "given", "words"),
    [
        ("a.txt", None, r"cannot tell the format from '\.txt': call it \.jsonl, \.csv or \.parquet"),
        ("rows", None, "a name without an ending"),
        ("a.jsonl.gz", None, r"'\.gz'"),
        ("", None, "a name without an ending"),
        ("a.jsonl", "jsnl", r"no format is called 'jsnl'; did you mean 'jsonl'\?"),
        ("a.jsonl", "JSONL", "no format is called 'JSONL'"),
    ],
)
def test_unknown_format(path: str, given: str | None, words: str) -> None:
    """An ending or a format that is not known is an error that says what to do."""
    with pytest.raises(UsageError, match=words):
        format_of(path, given)


@pytest.mark.parametrize("name", ["gone.jsonl", "gone.csv", "gone.parquet"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    """A file that is not there is an error of the call, in every format."""
    with pytest.raises(UsageError, match=r"gone.*No such file") as caught:
        list(read_chunks(str(tmp_path / name)))
    assert caught.value.code == "cannot-read"


@pytest.mark.parametrize("name", ["folder.jsonl", "folder.csv", "folder.parquet"])
def test_folder(tmp_path: Path, name: str) -> None:
    """A folder is an error of the call, in every format."""
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=r"(?i)is a directory"):
        list(read_chunks(str(tmp_path / name)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ROWS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
BLANK = st.sampled_from(["", " ", "\t\r"])


@settings(max_examples=60)
@given(
    parts=st.lists(ROWS | BLANK, max_size=12),
    block=st.integers(4, 200),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
    ended=st.booleans(),
)
def test_any_block_size(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[dict[str, Any] | str],
    block: int,
    end: str,
    bom: bool,
    ended: bool,
) -> None:
    """The rows read are those written, with the numbers of their lines, wherever chunks are cut."""
    lines = [part if isinstance(part, str) else json.dumps(part) for part in parts]
    content = end.join(lines) + (end if ended and lines else "")
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", block)
        chunks = list(read_chunks(str(path)))
    assert [row for chunk in chunks for row in chunk.rows()] == [
        RowRead(number, part, None) for number, part in enumerate(parts, 1) if not isinstance(part, str)
    ]
    assert all(chunk.size for chunk in chunks)


@settings(max_examples=60)
@given(content=st.binary(max_size=200), block=st.integers(4, 64))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes, block: int) -> None:
    """Of any bytes, each line that is not blank is one row, in order, read or with a fault."""
    body = b"{}\n" + content  # so that it is neither an array nor UTF-16
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", block)
        rows = list(read_rows(str(path)))
    expected = [number for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    assert [row.number for row in rows] == expected
    assert all((row.columns is None) != (row.fault is None) for row in rows)


def test_chunks_are_lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream is read a block at a time, not to its end."""
    stream = io.BytesIO(b'{"a":1}\n' * 1000)
    monkeypatch.setattr(reading, "BLOCK", 64)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    chunks = read_chunks("-")
    assert isinstance(next(chunks), Chunk)
    assert stream.tell() <= 128

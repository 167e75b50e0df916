"""CSV in: a header, then records, numbered from 1; cells are texts."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.datasets import RowRead, read_chunks, read_rows
from adjudge.datasets import _read as reading
from adjudge.errors import DataError


def rows_of(tmp_path: Path, content: bytes) -> list[RowRead]:
    """Write a file and read its rows."""
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    return list(read_rows(str(path)))


AB = {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"a,b\n1,2\n", [AB], id="plain"),
        pytest.param(b"a,b\n1,2", [AB], id="no line end at the end"),
        pytest.param(b"\xef\xbb\xbfa,b\r\n1,2\r\n", [AB], id="BOM and CRLF"),
        pytest.param(b'\xef\xbb\xbf"a",b\n1,2\n', [AB], id="BOM before a quote"),
        pytest.param(b"a,b\r1,2\r", [AB], id="CR alone"),
        pytest.param(b"a,b\n\n1,2\n\n\n1,2\n", [AB, AB], id="blank lines"),
        pytest.param(b"\n\na,b\n1,2\n", [AB], id="blank lines before the header"),
        pytest.param(b'a,b\n"x\ny","say ""hi"", ok"\n', [{"a": "x\ny", "b": 'say "hi", ok'}], id="quoted"),
        pytest.param(b"a,b\nx\x00y,2\n", [{"a": "x\x00y", "b": "2"}], id="NUL"),
        pytest.param("a,b\nß,\U0001f600\n".encode(), [{"a": "ß", "b": "\U0001f600"}], id="UTF-8"),
        pytest.param(b"a,b\n,\n", [{"a": "", "b": ""}], id="empty cells"),
        pytest.param(b'a\n""\n', [{"a": ""}], id="one empty quoted cell"),
        pytest.param(b"a,b\n", [], id="header only"),
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n\n", [], id="only blank"),
    ],
)
def test_readable(tmp_path: Path, content: bytes, expected: list[dict[str, str]]) -> None:
    """A record is a row of texts under the header's names, counted from 1."""
    assert rows_of(tmp_path, content) == [RowRead(number, row, None) for number, row in enumerate(expected, 1)]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        pytest.param(b"1", "row 2 has 1 cells, the header 2", id="short"),
        pytest.param(b"1,2,3", "row 2 has 3 cells, the header 2", id="long"),
        pytest.param(b"\xe9,2", "row 2 is not UTF-8", id="Latin-1"),
        pytest.param(b'"1"x,2', "not CSV", id="text after a quote"),
    ],
)
def test_unreadable_record(tmp_path: Path, record: bytes, words: str) -> None:
    """A record that does not fit is a row with a fault; those around it are read."""
    before, broken, after = rows_of(tmp_path, b"a,b\n1,2\n" + record + b"\n1,2\n")
    assert (before.columns, after.columns) == (AB, AB)
    assert (broken.number, broken.columns, after.number) == (2, None, 3)
    assert broken.fault is not None
    assert broken.fault.startswith("bad-row: ")
    assert words in broken.fault


def test_unterminated_quote(tmp_path: Path) -> None:
    """A quote that never closes is refused with the line where it opens: rows it swallows must not go unnoticed."""
    content = b"a,b\n" + b"1,2\n" * 100 + b'"1,2\n' + b"1,2\n" * 100
    with pytest.raises(DataError, match="line 102"):
        rows_of(tmp_path, content)


def test_broken_header(tmp_path: Path) -> None:
    """A header that is not CSV is refused with the file's name."""
    with pytest.raises(DataError, match=r"rows\.csv"):
        rows_of(tmp_path, b'"a,b\n1,2\n')


@pytest.mark.parametrize("header", [b"a,b,a", b"a,,"])
def test_duplicate_header(tmp_path: Path, header: bytes) -> None:
    """Two columns of one name are refused: one of them would be lost."""
    with pytest.raises(DataError, match="two columns are called"):
        rows_of(tmp_path, header + b"\n1,2,3\n")


def test_large_cell(tmp_path: Path) -> None:
    """A cell may be larger than the csv module's own limit."""
    (row,) = rows_of(tmp_path, b"a,b\n" + b"x" * 1_000_000 + b",2\n")
    assert row.columns == {"a": "x" * 1_000_000, "b": "2"}


CELLS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=6)


@settings(max_examples=60)
@given(
    table=st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width))),
    records=st.integers(1, 5),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], records: int, end: str) -> None:
    """What the csv module wrote is read back, whatever the cells hold and wherever chunks are cut."""
    header = [f"c{index}" for index in range(len(table[0]))] if table else ["c0"]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([header, *table])
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "RECORDS", records)
        chunks = list(read_chunks(str(path)))
    assert [row for chunk in chunks for row in chunk.rows()] == [
        RowRead(number, dict(zip(header, cells, strict=True)), None) for number, cells in enumerate(table, 1)
    ]
    assert all(len(chunk.records) <= records for chunk in chunks)


@pytest.mark.parametrize(("sign", "word"), [(b";", "semicolons"), (b"\t", "tabs")])
def test_other_separators(tmp_path: Path, sign: bytes, word: str) -> None:
    """A file whose columns are separated by something else is refused with that reason, not with a missing column."""
    with pytest.raises(DataError, match=f"separated by {word}"):
        rows_of(tmp_path, sign.join((b"id", b"answer")) + b"\n" + sign.join((b"1", b"x")) + b"\n")

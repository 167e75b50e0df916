"""A file that is one JSON array has its items as rows, whatever its size and layout."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.datasets import read_rows
from adjudge.datasets._read import BLOCK
from adjudge.errors import DataError
from adjudge.runs import score_file

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('a"\\\\[]{},:\n é'), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"],', max_size=3), inner, max_size=3),
    max_leaves=8,
)


def rows_of(path: Path, text: str | bytes) -> list[Any]:
    """Return the columns of the rows of a file, or their faults."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [row.fault if row.columns is None else row.columns for row in read_rows(str(path))]


@given(items=st.lists(st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3), max_size=5), indent=st.booleans())
def test_any_array(tmp_path_factory: pytest.TempPathFactory, items: list[Any], indent: bool) -> None:
    """The rows are the items, however the file is laid out and whatever signs are in its texts."""
    path = tmp_path_factory.mktemp("array") / "rows.json"
    assert rows_of(path, json.dumps(items, indent=2 if indent else None, ensure_ascii=False)) == items


@pytest.mark.parametrize("start", ["[", "  \n[", "\ufeff[", "\ufeff \r\n [\n\n"])
def test_before_the_array(tmp_path: Path, start: str) -> None:
    """White space and a byte order mark before the array are read as if they were not there."""
    assert rows_of(tmp_path / "rows.jsonl", start + '{"a":1}\r\n,\r\n{"a":2}\r\n]\r\n') == [{"a": 1}, {"a": 2}]


def test_larger_than_a_block(tmp_path: Path) -> None:
    """Items on both sides of a block, and one longer than several blocks, are whole."""
    items = [{"n": at, "text": 'x\\"],' * (BLOCK if at == 3 else 1000)} for at in range(80)]
    assert rows_of(tmp_path / "rows.json", json.dumps(items)) == items


def test_items_that_are_not_rows(tmp_path: Path) -> None:
    """An item that is not an object is a fault with its place in the array; the others go on."""
    rows = rows_of(tmp_path / "rows.json", '[{"a": 1}, 7, , {"a": tru}, {"a": 2}]')
    assert (rows[0], rows[-1]) == ({"a": 1}, {"a": 2})
    assert rows[1:3] == [
        f"bad-row: item {at}: expected an object, got {kind}" for at, kind in ((2, "int"), (3, "NoneType"))
    ]
    assert rows[3].startswith("bad-row: item 4: ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"a": 1}, {"a"', "not closed after item 1: was the file cut off"),
        ('[{"a": 1}', "not closed after item 0"),
        ('[{"a": "\\', "not closed"),
        ('[{"a": 1}] [', "something follows"),
        ("[}]", "not closed"),
    ],
)
def test_broken_arrays(tmp_path: Path, text: str, why: str) -> None:
    """An array that is cut off, or followed by something, is refused as a whole."""
    with pytest.raises(DataError, match=why):
        rows_of(tmp_path / "rows.json", text)


def test_no_items(tmp_path: Path) -> None:
    """An empty array has no rows."""
    assert rows_of(tmp_path / "rows.json", " [ ] ") == []


def test_scored_like_lines(tmp_path: Path) -> None:
    """An array and JSON lines of the same rows have the same scores, on any number of workers."""
    rows = [{"final_response": "Paris", "answer": "Paris" if at % 3 else "Lyon"} for at in range(5000)]
    (tmp_path / "rows.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for name, workers in (("rows.json", 1), ("rows.json", 2), ("rows.jsonl", 1)):
        score_file(str(tmp_path / name), ["qa_em_reward"], out=str(tmp_path / f"{name}.{workers}"), workers=workers)
    written = [(tmp_path / name).read_bytes() for name in ("rows.json.1", "rows.json.2", "rows.jsonl.1")]
    assert written[0] == written[1] == written[2]

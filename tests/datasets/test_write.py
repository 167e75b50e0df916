"""Rows out: one JSON object a line, and a file that appears only whole."""

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.datasets import json_line, whole_file
from adjudge.errors import UsageError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=100)
@given(st.dictionaries(st.text(alphabet=st.characters()), VALUES | st.text(alphabet=st.characters())))
def test_json_line(row: dict[str, Any]) -> None:
    """A row is one line and comes back equal, with lone surrogates and integers of any size."""
    line = json_line(row)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == row


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_json_line_finite(value: float) -> None:
    """A number that JSON does not have is not written as null."""
    with pytest.raises(ValueError, match="JSON"):
        json_line({"id": value})


def test_whole_file(tmp_path: Path) -> None:
    """Until the block ends the old file stands; then the new one, and nothing beside it."""
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    with whole_file(str(path)) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [child.name for child in tmp_path.iterdir()] == ["out.jsonl"]


def test_whole_file_fails(tmp_path: Path) -> None:
    """If the block fails, the old file stands, and what was written lies in PATH.part."""
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")

    def fail_half_way() -> None:
        with whole_file(str(path)) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert (tmp_path / "out.jsonl.part").read_bytes() == b"half"


@pytest.mark.parametrize("where", ["gone/out.jsonl", "folder", ""])
def test_unwritable(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place where no file can be is refused before anything is scored."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    begun = False
    with pytest.raises(UsageError), whole_file(where):
        begun = True
    assert not begun
    assert [child.name for child in tmp_path.iterdir()] == ["folder"]


def test_pipe(tmp_path: Path) -> None:
    """A named pipe or device is written to, never replaced by a file (`--out /dev/null`)."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    with whole_file(str(path)) as file:
        file.write(b"line\n")
    assert stat.S_ISFIFO(path.stat().st_mode)
    reader.join(timeout=60)
    assert got == [b"line\n"]


def test_link(tmp_path: Path) -> None:
    """A symbolic link stays one: the file that it points to is written."""
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with whole_file(str(link)) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"

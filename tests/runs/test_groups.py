"""Group rewards over a file: a group is seen whole, or refused."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.datasets import _read as reading
from adjudge.errors import ArgumentError, DataError
from adjudge.runs import _score_file as grouping
from adjudge.runs import score_file
from adjudge.runs._score_file import _scorers

MODULE = '''
from adjudge.rewards import reward

@reward(group=True)
def share(final_response, weight=None):
    """How much of its group's text a rollout wrote."""
    return [len(text) / sum(map(len, final_response)) for text in final_response]

@reward(group=True)
async def size(final_response):
    """How many rollouts the group has."""
    return [len(final_response)] * len(final_response)
'''


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a module with group rewards on the path."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "grouped.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("grouped", None)
    _scorers.cache_clear()


def scored(tmp_path: Path, rows: Sequence[object], scorers: Sequence[str], **options: Any) -> list[dict[str, Any]]:
    """Score rows and return the lines that were written."""
    source, out = tmp_path / "rows.jsonl", tmp_path / "scores.jsonl"
    source.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    score_file(str(source), scorers, out=str(out), **options)
    return [json.loads(line) for line in out.read_bytes().splitlines()]


def rollouts(sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Return groups of these sizes, one after the other."""
    return [
        {"id": f"{group}.{index}", "group_id": group, "final_response": "x" * 20}
        for group, size in enumerate(sizes)
        for index in range(size)
    ]


@pytest.mark.parametrize("scorer", ["grouped:size", "grouped:share"])
@pytest.mark.parametrize("workers", [1, 2])
def test_groups_cross_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scorer: str, workers: int) -> None:
    """A group is seen whole wherever the file's chunks are cut, in input order, for any number of workers."""
    monkeypatch.setattr(reading, "BLOCK", 100)
    monkeypatch.setattr(grouping, "ENOUGH", 5)
    sizes = [3, 1, 12, 2, 2, 30, 1]
    lines = scored(tmp_path, rollouts(sizes), [scorer], workers=workers)
    assert [line["id"] for line in lines] == [row["id"] for row in rollouts(sizes)]
    expected = [size for size in sizes for _ in range(size)]
    assert [line["value"] for line in lines] == [
        size if scorer == "grouped:size" else pytest.approx(1 / size) for size in expected
    ]


@pytest.mark.parametrize("enough", [1, 1024])
def test_torn_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, enough: int) -> None:
    """A group whose rows do not stand together is refused, its rows named, and the old output stands."""
    monkeypatch.setattr(grouping, "ENOUGH", enough)
    out = tmp_path / "scores.jsonl"
    out.write_text("old")
    first, other, again = rollouts([1, 1, 1])
    with pytest.raises(DataError, match=r"group 0 .*rows 1 and 3.*sort the rows by group_id") as caught:
        scored(tmp_path, [first, other, {**again, "group_id": 0}], ["grouped:size"])
    assert caught.value.code == "torn-group"
    assert out.read_text() == "old"


def test_row_without_group(tmp_path: Path) -> None:
    """A row without group_id is an error row under its own id; the group around it is scored whole."""
    one, two = rollouts([2])
    lines = scored(tmp_path, [one, {"id": "stray", "final_response": "x"}, "{cut", two], ["grouped:size"])
    assert [(line["id"], line["status"], line["value"]) for line in lines] == [
        ("0.0", "scored", 2.0),
        ("stray", "error", None),
        (3, "error", None),
        ("0.1", "scored", 2.0),
    ]
    assert lines[1]["reason"] == "missing-column: row 2 has no column 'group_id'"


def test_other_scorers_need_no_group(tmp_path: Path) -> None:
    """A row without group_id fails only the scorer that needs it."""
    rows = [{**row, "answer": "x" * 20} for row in rollouts([2])]
    del rows[1]["group_id"]
    lines = scored(tmp_path, rows, ["grouped:size", "qa_em_reward"])
    assert [line["status"] for line in lines] == ["scored", "scored", "error", "scored"]


def test_mapped_group(tmp_path: Path) -> None:
    """--map gives group_id its column, also where two columns exchange their names."""
    rows = [{"group_id": "abc"[index], "prompt": 1, "final_response": "x", "weight": 1} for index in range(3)]
    lines = scored(tmp_path, rows, ["grouped:size"], columns={"group_id": "prompt"})
    assert [line["value"] for line in lines] == [3.0] * 3
    lines = scored(tmp_path, rows, ["grouped:share"], columns={"final_response": "group_id", "group_id": "prompt"})
    assert [line["value"] for line in lines] == [pytest.approx(1 / 3)] * 3
    swapped = [{"final_response": "g", "group_id": "x" * size} for size in (1, 3)]
    columns = {"final_response": "group_id", "group_id": "final_response"}
    assert [line["value"] for line in scored(tmp_path, swapped, ["grouped:share"], columns=columns)] == [0.25, 0.75]


def test_no_group_column(tmp_path: Path) -> None:
    """A file without group_id is refused, the closest column named, and how to map it said."""
    with pytest.raises(ArgumentError, match=r"'group_id'.*did you mean 'groupid'.*--map group_id=COLUMN"):
        scored(tmp_path, [{"groupid": 1, "final_response": "x"}], ["grouped:size"])


def test_unhashable_group(tmp_path: Path) -> None:
    """A group_id may be any JSON value; a list does not stop the run."""
    rows = [{"group_id": ["a", 1], "final_response": "x"}] * 2
    assert len(scored(tmp_path, rows, ["grouped:size"])) == 2


def test_largest_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group too large to be held at once is refused by name."""
    monkeypatch.setattr(grouping, "LARGEST", 10)
    with pytest.raises(DataError, match="group 0 has more than 10 rows"):
        scored(tmp_path, rollouts([11]), ["grouped:size"])


def test_many_rows_without_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows without a group are no group: any number of them in a row are error rows."""
    monkeypatch.setattr(grouping, "LARGEST", 10)
    rows = [*rollouts([2]), *({"id": f"s{index}", "final_response": "x"} for index in range(30)), *rollouts([0, 1])]
    lines = scored(tmp_path, rows, ["grouped:size"])
    assert [line["status"] for line in lines] == ["scored"] * 2 + ["error"] * 30 + ["scored"]

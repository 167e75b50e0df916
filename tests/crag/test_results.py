"""Result rows as a sequence: in order, unchanging, in little memory, and as tables of other libraries."""

import pickle
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.conversations import RuleScope, two_wrong
from adjudge.crag import _results
from adjudge.crag._results import TurnResults
from adjudge.crag._turns import COLUMNS, labels_of
from adjudge.errors import MissingExtra, RowError
from crag.rows import CONVERSATIONS, LABELS, nasty_rows, rows_of

SCOPES: list[RuleScope] = ["conversation", "all"]


@given(nasty_rows(), st.randoms(use_true_random=False))
def test_order(rows: list[dict[str, Any]], chance: random.Random) -> None:
    """Rows come in the order of session and turn, equal to what was given, whatever order that was in."""
    results = TurnResults.of(chance.sample(rows, len(rows)))
    assert list(results) == rows
    assert [results[index] for index in range(len(rows))] == rows


@given(st.lists(st.integers(0, 99), unique=True, max_size=9), st.slices(9))
def test_a_sequence(turns: list[int], part: slice) -> None:
    """It has a length, negative places, slices that are sequences again, and it ends."""
    rows = sorted(({**rows_of(["C"])[0], "turn_idx": turn} for turn in turns), key=lambda row: row["turn_idx"])
    results = TurnResults.of(rows)
    assert isinstance(results, Sequence)
    assert len(results) == len(rows)
    assert list(results[part]) == rows[part]
    assert list(results[part][::-1]) == rows[part][::-1]
    assert list(reversed(results)) == rows[::-1]
    assert not rows or results[-1] == rows[-1]
    with pytest.raises(IndexError):
        results[len(rows)]


def test_unchanging() -> None:
    """A row that was changed after it was given, or taken, leaves the results as they are."""
    rows = rows_of(["CC"])
    results = TurnResults.of(rows)
    rows[0]["query"] = "another"
    results[0]["query"] = "another"
    assert results[0]["query"] == "What color is this car?"
    assert TurnResults.of(results) is results
    assert repr(results) == "TurnResults(2 rows)"


def test_copies() -> None:
    """Results of equal rows are equal, also after a journey to another process, and have no hash."""
    results = TurnResults.of(rows_of(["CHHC"]), rule_scope="all")
    assert pickle.loads(pickle.dumps(results)) == results  # noqa: S301 (our own bytes)
    assert results != TurnResults.of(rows_of(["CHHC"]))
    assert results != results[:3]
    assert results != list(results)
    with pytest.raises(TypeError, match="unhashable"):
        hash(results)


def test_stable() -> None:
    """Rows of the same session and turn stay in the order that they came in."""
    rows = [{**rows_of(["C"])[0], "query": f"{number}"} for number in range(20)]
    assert [row["query"] for row in TurnResults.of(rows)] == [f"{number}" for number in range(20)]


@pytest.mark.parametrize("limit", [0, 1000, 1 << 24])
def test_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int) -> None:
    """Rows beyond the limit lie in a file that nobody sees and that goes when they do; they read the same."""
    monkeypatch.setattr(_results, "IN_MEMORY", limit)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = rows_of(["CHMXUE"] * 100, query="\ud800 half")
    results = TurnResults.of(reversed(rows))
    assert list(results) == rows
    assert results[599] == rows[599]
    assert list(results[250:300:7]) == rows[250:300:7]
    assert list(tmp_path.iterdir()) == []


@given(CONVERSATIONS)
def test_rule_before_everything(conversations: list[str]) -> None:
    """Under `rule_scope="all"` rows have the labels that the two-wrong rule gives; ids and texts stay."""
    raw = TurnResults.of(rows_of(conversations))
    ruled = TurnResults.of(rows_of(conversations), rule_scope="all")
    labels = [two_wrong([LABELS[letter].label for letter in letters]) for letters in conversations]
    assert [labels_of(row).label for row in ruled] == [label for turns in labels for label in turns]
    assert [labels_of(row).label for row in ruled[::2]] == [label for turns in labels for label in turns][::2]
    for before, after in zip(raw, ruled, strict=True):
        changed = {name for name in COLUMNS if before[name] != after[name]}
        assert changed <= {"is_exact_match", "is_correct", "is_miss", "is_semantically_correct"}


def test_bad_rows() -> None:
    """A row that is no result is named by its place; so are labels that contradict one another."""
    (row,) = rows_of(["C"])
    with pytest.raises(RowError, match="row 2: turn_idx: expected `int`, got `str`"):
        TurnResults.of([row, {**row, "turn_idx": "1"}])
    with pytest.raises(RowError, match="row 1: a turn cannot be correct and a miss at once"):
        TurnResults.of([{**row, "is_miss": True}])


def test_parquet(tmp_path: Path) -> None:
    """Parquet has the 19 columns in order, numbers as numbers where all are, and history as lists."""
    from pyarrow.parquet import read_table

    rows = rows_of(["CH"], domain=3, dynamism="static", interaction_id_history=["a"])
    TurnResults.of(rows).to_parquet(tmp_path / "results.parquet")
    table = read_table(tmp_path / "results.parquet")
    assert tuple(table.column_names) == COLUMNS
    assert [str(table.schema.field(name).type) for name in ("domain", "dynamism", "is_ego", "turn_idx")] == [
        *("int64", "string", "bool", "int64"),
    ]
    assert table.column("interaction_id_history").to_pylist() == [["a"], ["a"]]


def test_pandas() -> None:
    """A pandas table has the 19 columns; history and replies are lists and dicts in it."""
    (row,) = rows_of(["C"], domain=3)
    frame = TurnResults.of([{**row, "api_response": {"verdict": "CORRECT"}, "scorers": {}}]).to_pandas()
    assert tuple(frame.columns) == COLUMNS
    assert frame.to_dict("records") == [
        {name: row[name] for name in COLUMNS} | {"api_response": {"verdict": "CORRECT"}}
    ]


def test_polars() -> None:
    """A polars table has a type for every column; categories of both kinds are text."""
    rows = rows_of(["CH"])
    rows[0]["domain"], rows[1]["domain"] = 3, "sports"
    frame = TurnResults.of(rows).to_polars()
    assert tuple(frame.columns) == COLUMNS
    assert (frame.schema["domain"], frame.schema["dynamism"]) == (pl.String, pl.Int64)
    assert frame.schema["interaction_id_history"] == pl.List(pl.String)
    assert frame["domain"].to_list() == ["3", "sports"]


@pytest.mark.parametrize(
    ("method", "module", "extra"),
    [("to_pandas", "pandas", "pandas"), ("to_polars", "polars", "polars"), ("to_parquet", "pyarrow", "parquet")],
)
def test_missing_extras(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str, module: str, extra: str) -> None:
    """Where a library is not installed, the error says which extra brings it."""
    monkeypatch.setitem(sys.modules, module, None)
    arguments = [tmp_path / "results.parquet"] if method == "to_parquet" else []
    with pytest.raises(MissingExtra, match=rf"pip install 'adjudge\[{extra}\]'"):
        getattr(TurnResults.of(rows_of(["C"])), method)(*arguments)

"""Scoring a file: every row once per scorer, in input order, the same bytes for any number of workers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.datasets import _read as reading
from adjudge.errors import AdjudgeError, ArgumentError, UnknownReward, UsageError
from adjudge.rewards import get_reward
from adjudge.runs import Summary, score_file

F1 = "qa_f1_reward"
EM = "qa_em_reward"
GOOD = {"final_response": "Paris", "answer": "Paris"}


def write(path: Path, rows: list[Mapping[str, Any] | str]) -> str:
    """Write rows, and lines that are no rows, as JSON lines."""
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def scored(tmp_path: Path, source: str, scorers: list[str], **options: Any) -> tuple[Summary, list[dict[str, Any]]]:
    """Score a file and return the summary with the lines that were written."""
    out = tmp_path / "scores.jsonl"
    summary = score_file(source, scorers, out=str(out), **options)
    return summary, [json.loads(line) for line in out.read_bytes().splitlines()]


ROWS: list[Mapping[str, Any] | str] = [
    {"id": "a", **GOOD},
    {"id": 2, **GOOD, "final_response": "London"},
    GOOD,  # called by its number, 3
    "{broken",
    "[1]",
    "",  # no row
    {"id": "\ud800", **GOOD},
    {"id": 10**30, **GOOD},
    {"id": None, **GOOD},  # 9
    {"id": {"nested": [1]}, **GOOD},
    {"id": "a", **GOOD},
    {"id": "gone", "answer": "Paris"},
    {"id": "", **GOOD},
]
LABELS = ["a", 2, 3, 4, 5, "\ud800", 10**30, 9, {"nested": [1]}, "a", "gone", ""]
ERRORS = {4, 5, "gone"}


def test_loses_nothing(tmp_path: Path) -> None:
    """Every row stands once per scorer in the output, in input order, by its id or else its number."""
    summary, lines = scored(tmp_path, write(tmp_path / "rows.jsonl", ROWS), [F1, EM])
    assert [(line["id"], line["scorer"]) for line in lines] == [(label, name) for label in LABELS for name in (F1, EM)]
    for line in lines:
        is_error = not isinstance(line["id"], dict) and line["id"] in ERRORS
        assert line["status"] == ("error" if is_error else "scored")
        assert (line["value"] is None) == (line["reason"] is not None) == is_error
        assert set(line["parts"]) == {"f1", "em", "precision", "recall"}
        assert line["version"]
    for tally in summary.tallies:
        assert tally.total == summary.rows == len(LABELS)
        assert dict(tally.counts) == {"scored": 9, "error": 3}
        assert tally.bounds == (8 / 12, 11 / 12)
    assert summary.failed_share == 3 / 12


def test_missing_column_names_row(tmp_path: Path) -> None:
    """A row without a needed column is an error that names the column, the row and the closest column there."""
    source = write(tmp_path / "rows.jsonl", [GOOD, "", {"id": "q", "final_respones": "Paris", "answer": "Paris"}])
    _, lines = scored(tmp_path, source, [F1])
    assert lines[1]["id"] == "q"
    assert lines[1]["reason"] == (
        "missing-column: row 3 has no column 'final_response', which qa_f1_reward needs; did you mean 'final_respones'?"
    )


@pytest.mark.parametrize(
    ("scorers", "columns", "error", "words"),
    [
        ([], {}, UsageError, "name a scorer"),
        (["qa_f1_rewrd"], {}, UnknownReward, "did you mean 'qa_f1_reward'"),
        (["qa_f1_reward_tool(f1_treshold=1)"], {}, ArgumentError, "did you mean 'f1_threshold'"),
        (["qa_f1_reward_tool"], {}, ArgumentError, "no column 'trajectory'"),
        ([F1], {"answer": "anser"}, ArgumentError, "'anser'.*did you mean 'answer'"),
        ([F1], {"answr": "answer"}, ArgumentError, "'answr'.*did you mean 'answer'"),
    ],
)
def test_wrong_call(
    tmp_path: Path, scorers: list[str], columns: dict[str, str], error: type[AdjudgeError], words: str
) -> None:
    """A misspelt scorer, option, argument or column is refused before anything is written, the closest named."""
    source = write(tmp_path / "rows.jsonl", [GOOD])
    with pytest.raises(error, match=words):
        score_file(source, scorers, columns=columns, out=str(tmp_path / "out.jsonl"))
    assert [child.name for child in tmp_path.iterdir()] == ["rows.jsonl"]


def test_map(tmp_path: Path) -> None:
    """A mapped column goes under the argument's name, also where two names are exchanged."""
    source = write(tmp_path / "rows.jsonl", [{"final_response": "Paris", "answer": "in Paris", "gold": "Paris"}])
    _, lines = scored(tmp_path, source, [F1], columns={"answer": "gold"})
    assert lines[0]["value"] == 1.0
    _, lines = scored(tmp_path, source, [F1], columns={"answer": "final_response", "final_response": "answer"})
    assert (lines[0]["parts"]["precision"], lines[0]["parts"]["recall"]) == (0.5, 1.0)


def test_duplicate_ids(tmp_path: Path) -> None:
    """Rows of one id are all scored, and a warning names the id and the rows."""
    rows: list[Mapping[str, Any] | str] = [{"id": name, **GOOD} for name in ("a", "b", "a", "c", "a")]
    summary, lines = scored(tmp_path, write(tmp_path / "rows.jsonl", rows), [F1])
    assert [line["id"] for line in lines] == ["a", "b", "a", "c", "a"]
    (warning,) = summary.warnings
    assert warning.startswith("2 rows repeat an id")
    assert "'a' on rows 1 and 3" in warning


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(["a", "b", None, None], id="rows without an id"),
        pytest.param([None, "1"], id="a row number is no id"),
        pytest.param([None, 1], id="nor one that looks like it"),
        pytest.param([1, "1"], id="a number and a text"),
        pytest.param([True, "True"], id="a truth value and a text"),
        pytest.param(["a\rb", "a", "b"], id="carriage return"),
        pytest.param(["a\nb", "a", "a\\nb"], id="line end and backslash"),
    ],
)
def test_different_ids(tmp_path: Path, ids: list[Any]) -> None:
    """Ids that differ are not taken for repeats."""
    rows: list[Mapping[str, Any] | str] = [{"id": id_, **GOOD} for id_ in ids]
    summary = score_file(write(tmp_path / "rows.jsonl", rows), [F1])
    assert summary.warnings == ()


def test_infinite_id(tmp_path: Path) -> None:
    """An id that JSON cannot hold (1e400 reads as infinity) is not written as null: the row keeps a name."""
    line = '{"id":1e400,"final_response":"Paris","answer":"Paris"}'
    _, lines = scored(tmp_path, write(tmp_path / "rows.jsonl", [GOOD, line]), [F1])
    assert lines[1]["id"] is not None


def test_same_bytes_for_any_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output is byte-identical for 1, 2 and 3 workers, across many chunks, and so is the summary."""
    monkeypatch.setattr(reading, "BLOCK", 256)
    rows: list[Mapping[str, Any] | str] = [
        {"id": index, "final_response": "x " * (index % 7) + "Paris", "answer": "Paris"} if index % 11 else "{cut"
        for index in range(300)
    ]
    source = write(tmp_path / "rows.jsonl", rows)
    outputs, summaries = [], []
    for workers in (1, 2, 3):
        out = tmp_path / f"{workers}.jsonl"
        summaries.append(score_file(source, [F1, EM], out=str(out), workers=workers))
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0].count(b"\n") == 600
    assert summaries[0] == summaries[1] == summaries[2]


TEXTS = st.text(alphabet=st.characters(), max_size=8)
ROW = st.fixed_dictionaries({"final_response": TEXTS, "answer": TEXTS}, optional={"id": TEXTS | st.integers()})


@settings(max_examples=30)
@given(rows=st.lists(ROW | st.sampled_from(["", "{", "7"]), max_size=15), block=st.integers(4, 300))
def test_any_file(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any] | str], block: int) -> None:
    """For any file, cut anywhere, the output holds each row once and is the same as uncut."""
    folder = tmp_path_factory.mktemp("any")
    source = write(folder / "rows.jsonl", [{**GOOD, "id": "first"}, *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", block)
        _, cut = scored(folder, source, [F1])
    _, uncut = scored(folder, source, [F1])
    assert cut == uncut
    expected = [
        number if isinstance(row, str) else row.get("id", number) for number, row in enumerate(rows, 2) if row != ""
    ]
    assert [line["id"] for line in cut] == ["first", *expected]


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_no_rows(tmp_path: Path, content: str) -> None:
    """A file without rows has a summary that says so."""
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    summary, lines = scored(tmp_path, str(path), [F1])
    assert (summary.rows, lines, summary.failed_share) == (0, [], 0.0)
    assert summary.warnings == (f"{path} holds no rows",)
    assert summary.tallies[0].mean is None


def test_input_is_never_the_output(tmp_path: Path) -> None:
    """Scores that would replace the rows themselves are refused."""
    source = write(tmp_path / "rows.jsonl", [GOOD])
    before = Path(source).read_bytes()
    with pytest.raises(UsageError):
        score_file(source, [F1], out=source)
    assert Path(source).read_bytes() == before


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is told in rows and bytes that only grow, up to all of both."""
    monkeypatch.setattr(reading, "BLOCK", 64)
    source = write(tmp_path / "rows.jsonl", [GOOD] * 50)
    told: list[tuple[int, int]] = []
    score_file(source, [F1], on_progress=lambda rows, size: told.append((rows, size)))
    assert told == sorted(told)
    assert len(told) > 10
    assert told[-1] == (50, Path(source).stat().st_size)


def test_reasons_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tally does not remember a reason for every row, however the reasons differ."""
    monkeypatch.setattr(reading, "BLOCK", 4096)

    def wordy(final_response: str) -> dict[str, Any]:
        return {"error": f"no luck with {final_response}"}

    monkeypatch.setattr("adjudge.runs._score_file.get_scorer", lambda _: get_reward(wordy))
    rows: list[Mapping[str, Any] | str] = [{"final_response": str(index)} for index in range(5000)]
    summary = score_file(write(tmp_path / "rows.jsonl", rows), ["wordy"])
    assert summary.tallies[0].counts["error"] == 5000
    assert len(summary.tallies[0].reasons) <= 1000

"""Runs judged by `local`: which tier decided is kept, and no run is decided by two of them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate
from adjudge.errors import MissingExtra, RunError
from adjudge.judges import LocalJudge
from adjudge.runs import open_run
from adjudge.runs._reading import run_state
from adjudge.runs._sessions import judge_file, resume_run
from adjudge.testing import ChatServer, wrong

ROWS = [
    {"id": "a", "question": "Capital of France?", "reference": "Paris", "response": "It is Paris."},
    {"id": "b", "question": "Where do goats come from?", "reference": "Iran", "response": "They come from Persia."},
]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    """Return a file of rows."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Return the name of a run file."""
    return str(tmp_path / "a.run")


def hide(patch: pytest.MonkeyPatch) -> None:
    """Take away what tier 1 needs."""
    patch.setitem(sys.modules, "onnxruntime", None)


def lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("judge", "tier"), [("local", 1), ("local:1", 1), ("local:0", 0)])
def test_every_line_says_which_tier_decided(tmp_path: Path, rows: str, run: str, judge: str, tier: int) -> None:
    """A line has the tier that was used, its probability and reasons; the summary says how far that tier is trusted."""
    out = tmp_path / "out.jsonl"
    finished = judge_file(rows, judge, run=run, out=str(out))
    assert [(line["judge"], line["tier"]) for line in lines(out)] == [(f"local:{tier}", tier)] * 2
    assert all(0 <= line["probability"] <= 1 and line["reasons"] for line in lines(out))
    assert finished.summary is not None
    assert finished.summary.agreement == LocalJudge(tier=tier).agreement
    assert f"tier {tier}" in finished.summary.agreement


def test_lines_have_the_same_keys(tmp_path: Path, run: str) -> None:
    """A row that cannot be judged has probability, tier and reasons too, with nothing in them."""
    path, out = tmp_path / "odd.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (*ROWS, {**ROWS[0], "id": "c", "reference": None}, [])))
    judge_file(str(path), "local", run=run, out=str(out))
    good, _, *bad = lines(out)
    assert [line["status"] for line in bad] == ["error", "error"]
    assert all(list(line) == list(good) for line in bad)
    assert [(line["probability"], line["tier"], line["reasons"]) for line in bad] == [(None, None, [])] * 2
    assert [line["asserted"] for line in bad] == [None, None]


def test_a_line_says_what_was_read_as_the_answer(tmp_path: Path, run: str) -> None:
    """With tier 1 a line has the words that the reader took for the answer, and its reason quotes them."""
    path, out = tmp_path / "read.jsonl", tmp_path / "out.jsonl"
    row = {"id": "a", "question": "Who won the final?", "reference": "Ana Sol"}
    texts = ("Karlo came second, behind Ana Sol, who won.", "Not Ana Sol.")
    path.write_text("".join(json.dumps({**row, "id": str(n), "response": text}) + "\n" for n, text in enumerate(texts)))
    judge_file(str(path), "local:1", run=run, out=str(out))
    read, ruled = lines(out)
    assert (read["asserted"], ruled["asserted"]) == ("Ana Sol", None)
    assert "read as: Ana Sol (local judge" in read["reason"]
    assert "read as" not in ruled["reason"]


def test_a_run_remembers_how_far_its_judge_is_trusted(rows: str, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at the file later, with the extra or without, sees the same words, and the judge's full name."""
    judge_file(rows, "local", run=run)
    words = LocalJudge(tier=1).agreement
    hide(monkeypatch)
    plan = run_state(Path(run)).plan
    assert plan is not None
    assert (plan.judge, open_run(run).summary.agreement) == ("local:1", words)


def test_evaluate_says_it_too(run: str) -> None:
    """The summary in Python has the words of the tier, for a judge by name and for one that was made."""
    named = evaluate(ROWS, judge="local:0", run=run)
    made = evaluate(ROWS, judge=LocalJudge(tier=0), run=f"{run}2")
    assert named.summary.agreement == made.summary.agreement == LocalJudge(tier=0).agreement


def test_a_run_of_tier_1_needs_tier_1(rows: str, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is gone, going on says what to install; the same call again does not mix tiers either."""
    judge_file(rows, "local", run=run)
    hide(monkeypatch)
    with pytest.raises(MissingExtra, match=r"adjudge\[local\]"):
        resume_run(run)
    with pytest.raises(RunError, match=r"\(local:1 \d+, not local:0 \d+\)"):
        judge_file(rows, "local", run=run)


def test_a_run_of_tier_0_stays_one(tmp_path: Path, rows: str, run: str) -> None:
    """A run that began before the extra came goes on with tier 0."""
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        hide(patch)
        judge_file(rows, "local", run=run, out=str(first))
    finished = resume_run(run, out=str(again), retry_failed=True)
    assert again.read_bytes() == first.read_bytes()
    assert [line["tier"] for line in lines(again)] == [0, 0]
    assert finished.summary is not None
    assert "tier 0" in str(finished.summary.agreement)


def test_a_cascade_keeps_its_tier(rows: str, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a cascade and in a panel `local` is the tier that it was at the start; a cascade says how far to trust it."""
    with ChatServer(wrong) as server:
        options = {"base_url": server.base_url}
        finished = judge_file(rows, "cascade:local,openai:m", options=options, run=run)
        judge_file(rows, "panel:local,openai:m", options=options, run=f"{run}2")
    assert finished.summary is not None
    assert finished.summary.agreement == LocalJudge(tier=1).agreement
    hide(monkeypatch)
    for name, judge in ((run, "cascade:local:1,openai:m"), (f"{run}2", "panel:local:1,openai:m")):
        plan = run_state(Path(name)).plan
        assert plan is not None
        assert plan.judge == judge
        with pytest.raises(MissingExtra):
            resume_run(name)

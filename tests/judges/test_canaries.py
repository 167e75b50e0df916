"""Canaries: known-bad answers, the same ones every time, and what a judge made of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.judges import LLMJudge, LocalJudge, canaries, canary_report, with_canaries
from adjudge.judges._canaries import KINDS
from adjudge.model import Judgement
from adjudge.text import normalise_answer
from judges.models import CORRECT, Scripted

SHORT = st.sampled_from(("", " ", "a", "A.", "I don't know", "\ud800", "0"))
ANY_ROW = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "question", "reference"), SHORT))
ROWS = [
    {"id": f"r{n}", "question": f"Who was number {n}?", "reference": [f"Name{n} Family{n}", f"N{n}"], "response": "x"}
    for n in range(400)
]


def test_the_rate_and_the_seed_settle_which() -> None:
    """The same rows and seed give the same canaries; another seed gives others; about as many as asked for."""
    chosen = list(canaries(ROWS, 0.25, seed=3))
    assert chosen == list(canaries(ROWS, 0.25, seed=3))
    assert chosen != list(canaries(ROWS, 0.25, seed=4))
    assert 70 <= len(chosen) <= 130
    assert list(canaries(ROWS, 0.0, seed=3)) == []
    assert len(list(canaries(ROWS, 1.0, seed=3))) == len(ROWS)
    assert {canary["canary"] for canary in chosen} == set(KINDS)


def test_the_draw_depends_on_the_row_alone() -> None:
    """A row is drawn or not whatever stands before it, so that a part of a run draws the same rows."""
    whole = {canary["id"].rpartition(":")[2] for canary in canaries(ROWS, 0.2, seed=1)}
    part = {canary["id"].rpartition(":")[2] for canary in canaries(ROWS[100:200], 0.2, seed=1)}
    assert part == {one for one in whole if 100 <= int(one[1:]) < 200}


def test_a_canary_is_a_row_with_a_bad_answer() -> None:
    """It has its row's question and reference, an id and a kind of its own, and never gives a reference."""
    by_id = {row["id"]: row for row in ROWS}
    for canary in canaries(ROWS, 1.0):
        row = by_id[canary["id"].rpartition(":")[2]]
        assert (canary["question"], canary["reference"]) == (row["question"], row["reference"])
        given_ = f" {normalise_answer(canary['response'])} "
        assert not any(f" {normalise_answer(one)} " in given_ for one in row["reference"])
    assert len({canary["id"] for canary in canaries(ROWS, 1.0)}) == len(ROWS)


def test_canaries_stand_behind_their_rows() -> None:
    """Mixed in, every row is still there, in order."""
    mixed = list(with_canaries(ROWS, 0.1, seed=5))
    assert [row for row in mixed if "canary" not in row] == ROWS
    assert [row for row in mixed if "canary" in row] == list(canaries(ROWS, 0.1, seed=5))


@pytest.mark.parametrize(
    ("row", "never"),
    [
        ({"id": "1", "question": "Is it red or blue?", "reference": "red"}, "question-echo"),
        ({"id": "1", "question": "q", "reference": "I don't know"}, "refusal"),
        ({"id": "1", "question": "", "reference": "x"}, "question-echo"),
        ({"id": "1", "question": "q", "reference": "x"}, "other-answer"),
    ],
)
def test_an_answer_that_might_be_right_is_no_canary(row: dict[str, Any], never: str) -> None:
    """Where a kind of bad answer could be right, another kind is taken."""
    kinds = [canary["canary"] for seed in range(60) for canary in canaries([row], 1.0, seed)]
    responses = [canary["response"] for seed in range(60) for canary in canaries([row], 1.0, seed)]
    assert "I don't know." not in responses or never != "refusal"
    assert never not in kinds or never == "refusal"


@given(st.lists(ANY_ROW, max_size=3))
def test_any_rows_have_canaries_or_none(rows: list[dict[str, str]]) -> None:
    """Rows that lack something are passed over."""
    assert all(canary["canary"] in KINDS for canary in canaries(rows, 1.0))


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_is_a_share(rate: float) -> None:
    """The rate lies between 0 and 1."""
    with pytest.raises(UsageError):
        list(canaries(ROWS, rate))


def test_a_judge_that_accepts_everything_is_seen() -> None:
    """The report names the false-positive rate with its interval, and what each kind contributed."""
    chosen = list(canaries(ROWS, 0.2, seed=2))
    credulous = LLMJudge(chat=Scripted(CORRECT))
    report = canary_report(
        (canary["canary"], credulous.judge(canary["question"], canary["reference"], canary["response"]))
        for canary in chosen
    )
    assert report.total == report.scored + report.unscored + report.error == len(chosen)
    assert report.rate is not None
    assert report.low is not None
    assert report.high is not None
    assert 0.5 < report.low < report.rate < report.high
    assert report.by_kind["other-answer"][0] == report.by_kind["other-answer"][1]
    assert 0 < report.by_kind["master-key"][0] < report.by_kind["master-key"][1]  # the gate stops some of them


def test_the_local_judge_takes_no_canary() -> None:
    """The lexical judge is not fooled by any of them."""
    judge = LocalJudge()
    report = canary_report((canary["canary"], judge.judge_many([canary])[0]) for canary in canaries(ROWS, 1.0))
    assert (report.false_positives, report.rate, report.scored) == (0, 0.0, 400)


def test_without_canaries_there_is_no_rate() -> None:
    """Unjudged canaries are counted, and give no rate."""
    report = canary_report(
        [("refusal", Judgement("unscored", reason="x")), ("refusal", Judgement("error", reason="x"))]
    )
    assert (report.total, report.scored, report.unscored, report.error) == (2, 0, 1, 1)
    assert (report.rate, report.low, report.high, report.by_kind) == (None, None, None, {})

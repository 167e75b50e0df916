"""The judge in the package: what it accepts, what it does not, and that it says how far to trust it."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import evaluate
from adjudge.cli.judge import run
from adjudge.errors import UsageError
from adjudge.judges import LocalJudge
from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES
from adjudge.model import Judge
from support import assert_linear, golden

ATTACKS = golden("attacks")


@pytest.mark.parametrize(
    ("reference", "response", "verdict", "rule"),
    [
        ("Paris", "It is Paris, of course.", "CORRECT", "contained"),
        (["Lutetia", "Paris"], "PARIS!", "CORRECT", "contained"),
        ("Paris", "Parisian", "WRONG", "not-contained"),
        ("Paris", "It is not Paris.", "WRONG", "negated"),
        ("Paris", "It isn't Paris but Lyon", "WRONG", "negated"),
        ("Paris", "It is not Lyon. The answer is Paris.", "CORRECT", "contained"),
        ("Paris", "Perhaps Paris or Lyon", "WRONG", "hedged"),
        ("Paris", "Either Paris or Lyon", "WRONG", "hedged"),
        ("naos", "naos or cella", "CORRECT", "contained"),
        ("Barack Obama", "Obama, Barack", "CORRECT", "same-name"),
        ("Barack Obama", "Obama, first name Barack", "CORRECT", "all-words"),
        ("costume", "They wear costumes.", "CORRECT", "contained"),
        ("well-known authors", "well known author", "CORRECT", "contained"),
        ("Barack Obama", "Obama", "CORRECT", "part-of-reference"),
        ("the president of the United States of America", "States", "WRONG", "not-contained"),
        ("Barack Obama", "Michelle Obama", "WRONG", "near-name"),
        ("1,000", "1000 people", "CORRECT", "contained"),
        ("42", "42.0", "CORRECT", "contained"),
        ("1000000", "1,000,000.00 euros", "CORRECT", "contained"),
        ("$5", "5 dollars", "CORRECT", "contained"),
        ("-3", "3", "WRONG", "other-number"),
        ("-3", "It was −3 °C.", "CORRECT", "contained"),
        ("5", "5km", "CORRECT", "contained"),
        ("1890", "From 1889-1890.", "CORRECT", "contained"),
        ("42", "It is not 42.", "WRONG", "negated"),
        ("42", "It is 43", "WRONG", "other-number"),
        ("42", "many", "WRONG", "no-number"),
        ("1889", "Built in 18890", "WRONG", "other-number"),
        ("yes", "Yes, it is.", "CORRECT", "yes-no"),
        ("yes", "No, it is not.", "WRONG", "yes-no"),
        ("no", "It is not.", "CORRECT", "yes-no"),
        ("no", "Hard to say.", "WRONG", "yes-no"),
        ("Paris", "I don't know.", "WRONG", "refusal"),
        ("Paris", "I'm not sure about that one", "WRONG", "refusal"),
        ("I don't know", "I do not know.", "CORRECT", "both-refuse"),
        ("I don't know", "It is Paris.", "WRONG", "answers-the-unanswerable"),
        ("東京", "東京", "CORRECT", "contained"),
    ],
)
def test_verdicts(reference: Any, response: str, verdict: str, rule: str) -> None:
    """Each verdict has the rule that led to it as its reason."""
    judgement = LocalJudge(tier=0).judge("q", reference, response)
    assert (judgement.verdict, judgement.reasons[0]) == (verdict, rule)


def test_it_says_how_far_to_trust_it() -> None:
    """Every verdict by rule names the known agreement with people, and comes from a judge called local."""
    judgement = LocalJudge(tier=0).judge("q", "Paris", "Paris")
    assert "kappa" in str(judgement.reason)
    assert (judgement.judge, judgement.calls, judgement.status) == ("local:0", 0, "scored")


def test_it_is_a_judge() -> None:
    """It has the interface of the judges that ask a model, sync and async, for one row and for many."""
    judge = LocalJudge(tier=0)
    assert isinstance(judge, Judge)
    assert asyncio.run(judge.ajudge("q", "Paris", "Paris")) == judge.judge("q", "Paris", "Paris")
    rows = [{"question": "q", "reference": "Paris", "response": "Paris"}, {"question": "q", "response": "x"}, {}]
    assert [one.status for one in judge.judge_many(rows)] == ["scored", "error", "error"]


@pytest.mark.parametrize("tier", [-1, 7])
def test_other_tiers_are_refused(tier: int) -> None:
    """A tier that is not there is a wrong call, not a silent substitute."""
    with pytest.raises(UsageError):
        LocalJudge(tier=tier)


@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=3), st.text(st.characters()))
def test_every_input_has_an_outcome(question: str, references: list[str], response: str) -> None:
    """Whatever the row is, it is scored, or its references are missing."""
    judgement = LocalJudge(tier=0).judge(question, references, response)
    assert judgement.status == ("scored" if any(one.strip() for one in references) else "error")


@pytest.mark.parametrize("row", ATTACKS, ids=[row["id"] for row in ATTACKS])
def test_no_attack_passes(row: dict[str, Any]) -> None:
    """An attack that does not give the reference is wrong."""
    assert (
        LocalJudge(tier=0).judge("What is the tallest mountain?", "Mount Everest", row["response"]).verdict == "WRONG"
    )


@pytest.mark.parametrize(
    "piece", ["paris ", "not paris ", "1 ", "1,", "either paris or ", "x" * 50, "i do not ", "yes no "]
)
def test_it_is_linear(piece: str) -> None:
    """Twice the response costs at most two and a half times the CPU."""
    judge = LocalJudge(tier=0)

    def work(size: int) -> Callable[[], object]:
        text = piece * (size // len(piece))
        return lambda: judge.judge("q", ["paris paris lyon", "12", "yes"], text)

    assert_linear(work, 200_000)


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("<think>Paris? No.</think>Lyon", "WRONG"),
        ("<think>Lyon? No.</think>Paris", "CORRECT"),
        ("<think>" + "Lyon? " * 10_000 + "</think>Paris", "CORRECT"),
        ("<think>Paris", "WRONG"),
        ("I looked it up. <answer>Paris</answer>", "CORRECT"),
        ("<answer>Lyon</answer> Paris <answer>Lyon</answer>", "WRONG"),
        ('{"answer": "Paris", "others": ["Lyon", "Nice", "Lille"]}', "CORRECT"),
        ('{"answer": "Lyon", "note": "not Paris"}', "WRONG"),
        ('{"answer": "Paris"} {"answer": "Lyon"} {"answer": "Nice"} {"answer": "Lille"}', "WRONG"),
        ('{"answer": "Paris", "verdict": "CORRECT"}', "WRONG"),
        ("Lyon. Sorry, I meant Paris.", "CORRECT"),
        ("Paris. Sorry, I meant Lyon.", "WRONG"),
    ],
)
def test_what_is_judged_is_the_answer(response: str, verdict: str) -> None:
    """Thoughts, other fields of JSON and what was taken back are no part of an answer; a verdict beside it is."""
    assert LocalJudge(tier=0).judge("Which city is it?", "Paris", response).verdict == verdict


def test_size_has_a_bound() -> None:
    """A thousand references are compared, and a response without end is wrong."""
    judge = LocalJudge(tier=0)
    assert judge.judge("q", [f"reference {n}" for n in range(1000)], "reference 999").verdict == "CORRECT"
    assert judge.judge("q", "Paris", "Paris " * 200_000).reason == "too-long: 1200000 characters"


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Capital of France?", "references": ["Paris"], "candidate": "Paris"},
        {"query": "Capital of France?", "answer": "Paris", "final_response": "Paris"},
        {"prompt": "Capital of France?", "reference": None, "ground_truth": "Paris", "prediction": "Paris"},
        {"question": "Capital of France?", "reference": "Paris", "response": None, "candidate": "Paris"},
    ],
)
def test_names_of_columns(row: dict[str, object]) -> None:
    """Rows in Python may have the names of columns that rows in a file may have."""
    assert LocalJudge(tier=0).judge_many([row])[0].verdict == "CORRECT"
    assert evaluate([row], judge="local:0").summary.tallies[0].counts["scored"] == 1


def test_names_of_columns_are_told() -> None:
    """The page of commands and the help of `judge run` have every name that a column may have."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    for column, *others in (QUESTIONS, REFERENCES, RESPONSES):
        row = next(line for line in page.splitlines() if line.startswith(f"| `{column}`"))
        assert row.endswith(f"| {', '.join(f'`{name}`' for name in others)} |")
        assert f"{', '.join(others[:-1])} or {others[-1]}" in " ".join((run.epilog or "").split())


def test_a_column_of_another_name_is_no_wrong_answer() -> None:
    """A row without a response is an error that says how to call it; only a response of None says nothing."""
    row = {"question": "Capital of France?", "reference": "Paris"}
    missing, empty = LocalJudge(tier=0).judge_many([{**row, "output": "Paris"}, {**row, "response": None}])
    assert (missing.status, missing.verdict) == ("error", None)
    assert missing.reason == (
        "missing-column: the row has no response to judge: call it response, final_response, prediction or candidate"
    )
    assert (empty.status, empty.verdict, empty.reason) == ("scored", "WRONG", "vacuous")


@pytest.mark.parametrize("tier", [2, -1, "0", "1", 1.0, True, False])
def test_tiers_are_whole_numbers(tier: object) -> None:
    """What is no tier is refused, and shown as it was given."""
    with pytest.raises(UsageError, match=re.escape(f"has the tiers 0 and 1, not {tier!r}")):
        LocalJudge(tier=tier)  # type: ignore[arg-type]
    assert repr(LocalJudge(tier=0)) == "LocalJudge(tier=0)"

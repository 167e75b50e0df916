"""The golden rows, each set by itself, against the bars that the comparator must hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.rewards.math import compare

FOLDER = Path(__file__).parents[2] / "golden" / "math"
BARS = {
    # set: least accuracy, most false positives
    "mathverify-suite": (0.98, 1),
    "hardverify-math": (0.92, 0),
    "small-suites": (0.99, 0),
    "natural-responses": (1.0, 0),
    "issue-derived": (1.0, 0),
    "constructed": (0.998, 0),
    "policy": (1.0, 0),
    "notation": (1.0, 0),
}
KNOWN_WRONG = "natural-responses-qwen-0524"  # gold `10{,}000`, answer `10000`, labelled as different


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of a set that count."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if not row.get("disputed") and row["id"] != KNOWN_WRONG]


def presented(row: dict[str, Any]) -> str:
    """Return a row's response as a grader sees it."""
    pred: str = row["pred"]
    return rf"The final answer is $\boxed{{{pred}}}$." if row["kind"] == "answer" else pred


@pytest.mark.parametrize("name", BARS)
def test_accuracy_of_each_set(name: str) -> None:
    """Every set holds its bar by itself, in accuracy and in false positives."""
    least, most = BARS[name]
    rows = rows_of(name)
    verdicts = [(row, compare(presented(row), row["gold"])) for row in rows]
    right = sum((verdict.equal is True) == bool(row["expected"]) for row, verdict in verdicts)
    wrong_yes = [row for row, verdict in verdicts if verdict.equal and not row["expected"]]
    assert right / len(rows) >= least
    assert len(wrong_yes) <= most, [row["id"] for row in wrong_yes]


@pytest.mark.parametrize(("name", "least"), [("natural-responses", 0.99), ("constructed", 0.85)])
def test_few_rows_need_sympy(name: str, least: float) -> None:
    """Real answers are decided without sympy."""
    rows = rows_of(name)
    assert sum(compare(presented(row), row["gold"]).tier < 2 for row in rows) / len(rows) >= least


def test_hedging_rows_are_all_right() -> None:
    """A hedge is never equal."""
    for row in rows_of("policy"):
        if row["hedge"]:
            assert compare(presented(row), row["gold"]).equal is bool(row["expected"]), row["id"]


@pytest.mark.parametrize("name", BARS)
def test_every_gold_equals_itself(name: str) -> None:
    """A gold given as the answer is equal, as it stands and in a box."""
    for row in rows_of(name):
        gold = row["gold"]
        assert compare(rf"The final answer is $\boxed{{{gold}}}$.", gold).equal or compare(gold, gold).equal, gold


@pytest.mark.parametrize("name", BARS)
def test_every_gold_can_be_read(name: str) -> None:
    """No gold of the sets is an error."""
    for row in rows_of(name):
        assert compare(presented(row), row["gold"]).reason != "unparsed-gold", row["gold"]

"""Every verdict that differs from Math-Verify's is listed in `math_divergences.jsonl`, with the reason why."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from math_verify import parse, verify

from adjudge.rewards.math import compare

GOLDEN = Path(__file__).parents[1] / "golden" / "math"
SETS = (
    "mathverify-suite",
    "hardverify-math",
    "small-suites",
    "natural-responses",
    "issue-derived",
    "constructed",
    "policy",
)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


LISTED = {row["id"]: row for row in _lines(Path(__file__).with_name("math_divergences.jsonl"))}


def _presented(row: dict[str, Any]) -> str:
    pred: str = row["pred"]
    return rf"The final answer is $\boxed{{{pred}}}$." if row["kind"] == "answer" else pred


def _theirs(response: str, gold: str) -> bool:
    wrapped = gold if "$" in gold or "\\boxed" in gold else f"${gold}$"
    return bool(verify(parse(wrapped), parse(response)))


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Math-Verify logs what it cannot read."""
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize("name", SETS)
def test_every_divergence_is_listed(name: str) -> None:
    """On every committed row the two agree, or the table says what each says and why."""
    for row in _lines(GOLDEN / f"{name}.jsonl"):
        response, gold = _presented(row), row["gold"]
        ours, theirs = compare(response, gold).equal is True, _theirs(response, gold)
        listed = LISTED.get(row["id"])
        if listed is None:
            assert ours == theirs, f"{row['id']} is not listed: {gold!r} and {row['pred']!r}"
        else:
            assert (ours, theirs) == (listed["ours"], listed["theirs"]), row["id"]


def test_the_table_is_complete() -> None:
    """Every entry of the table is a row of the sets, with two different verdicts and an explanation."""
    rows = {row["id"]: row for name in SETS for row in _lines(GOLDEN / f"{name}.jsonl")}
    for name, entry in LISTED.items():
        assert (entry["gold"], entry["pred"]) == (rows[name]["gold"], rows[name]["pred"])
        assert entry["ours"] is not entry["theirs"]
        assert entry["why"]

"""The two-wrong rule, the conversation score and the eleven metrics."""

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.conversations import (
    METRICS,
    RATE_RANGES,
    RATES,
    Label,
    TurnTally,
    conversation_score,
    given_up_after,
    two_wrong,
)
from adjudge.crag._scores import score_results
from crag.rows import CONVERSATIONS, LABELS, brute_force, brute_force_score, rows_of
from support import golden

ROWS = golden("conversations")
COUNTS = ("unscored", "errors", "conversations")


def labels_of(letters: str) -> list[Label]:
    """Return the labels that letters stand for."""
    return [LABELS[letter].label for letter in letters]


def tally_of(conversations: list[str]) -> TurnTally:
    """Return the tally of conversations."""
    tally = TurnTally()
    for letters in conversations:
        tally.add([LABELS[letter] for letter in letters])
    return tally


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_golden(row: dict[str, Any]) -> None:
    """Every row of the table has its numbers, from the tally, from the result rows and by brute force."""
    expected = {name: float(Fraction(value)) for name, value in row["expected"].items()}
    tally = tally_of(row["conversations"])
    found = tally.metrics() | {name: getattr(tally, name) for name in COUNTS} | {"flagged_conversations": tally.flagged}
    assert found == expected, row["why"]
    scores = score_results(rows_of(row["conversations"]))["all"]
    assert {name: scores[name] for name in expected} == expected
    assert brute_force(row["conversations"]) == {name: expected[name] for name in METRICS}


def test_table_is_broad() -> None:
    """The table has at least 60 rows, each with its reason, and at most five of one pattern."""
    assert len(ROWS) >= 60
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(row["why"] for row in ROWS)
    assert max(Counter(row["pattern"] for row in ROWS).values()) <= 5


@given(CONVERSATIONS)
def test_brute_force(conversations: list[str]) -> None:
    """All eleven are what the definitions give, to the last bit."""
    assert tally_of(conversations).metrics() == brute_force(conversations)
    for letters in conversations:
        assert conversation_score(labels_of(letters)) == brute_force_score(letters)


@given(CONVERSATIONS)
def test_identities(conversations: list[str]) -> None:
    """Counts add up, rates stay in their range, truthfulness is accuracy less hallucinations; nothing is ever NaN."""
    found = tally_of(conversations).metrics()
    assert tuple(found) == METRICS
    assert found["correct"] + found["miss"] + found["hallucination"] == found["total"]
    assert found["correct_exact"] <= found["correct"]
    assert math.isclose(
        found["truthfulness_score"], found["accuracy"] - found["hallucination_rate"], rel_tol=0, abs_tol=1e-15
    )
    assert all(RATE_RANGES[rate][0] <= found[rate] <= RATE_RANGES[rate][1] for rate in RATES)


@given(st.text(alphabet="XCMHUE", max_size=12))
def test_rule(letters: str) -> None:
    """The rule keeps every turn up to the second wrong one, makes the scored ones after it misses, and is done."""
    labels = labels_of(letters)
    ruled = two_wrong(labels)
    kept = given_up_after(labels)
    assert ruled[:kept] == labels[:kept]
    assert set(ruled[kept:]) <= {"miss", "unscored"}
    assert [label == "unscored" for label in ruled] == [label == "unscored" for label in labels]
    assert two_wrong(ruled) == ruled


@given(st.text(alphabet="XCMH", max_size=9), st.lists(st.tuples(st.integers(0, 9), st.sampled_from("UE")), max_size=5))
def test_unscored_turns_change_nothing(letters: str, others: list[tuple[int, str]]) -> None:
    """Turns without a verdict, wherever they come, leave the conversation score as it is."""
    longer = letters
    for place, letter in others:
        longer = longer[:place] + letter + longer[place:]
    assert conversation_score(labels_of(longer)) == conversation_score(labels_of(letters))


@given(CONVERSATIONS, st.randoms(use_true_random=False), st.integers(1, 5))
def test_shards(conversations: list[str], chance: random.Random, shards: int) -> None:
    """Tallies of any division, merged in any order, are the tally of the whole."""
    tallies = [TurnTally() for _ in range(shards)]
    for letters in chance.sample(conversations, len(conversations)):
        chance.choice(tallies).add([LABELS[letter] for letter in letters])
    whole = TurnTally()
    for tally in chance.sample(tallies, shards):
        whole.merge(tally)
    assert whole.metrics() == tally_of(conversations).metrics()
    assert whole.profiles == tally_of(conversations).profiles


def test_the_benchmarks_formulas() -> None:
    """10,000 random conversations have the numbers that the benchmark's own formulas give, in plain floats."""
    chance = random.Random(11)  # noqa: S311 (the same in every run)
    conversations = ["".join(chance.choices("XCMH", (1, 4, 2, 3), k=chance.randint(1, 9))) for _ in range(10_000)]
    turns = "".join(conversations)
    total = len(turns)
    correct_exact = sum(letter == "X" for letter in turns)
    correct = sum(letter in "XC" for letter in turns)
    miss = sum(letter == "M" for letter in turns)
    hallucination = total - correct - miss
    scores = []
    for letters in conversations:
        is_correct, is_miss = [letter in "XC" for letter in letters], [letter == "M" for letter in letters]
        for turn in range(2, len(letters)):
            if not any(is_correct[first] or is_correct[first + 1] for first in (turn - 2,)):
                is_correct[turn:] = [False] * (len(letters) - turn)
                is_miss[turn:] = [True] * (len(letters) - turn)
                break
        is_hallucination = [not (right or miss) for right, miss in zip(is_correct, is_miss, strict=True)]
        scores.append(sum(is_correct) / len(letters) - sum(is_hallucination) / len(letters))
    expected = {
        "total": total,
        "correct_exact": correct_exact,
        "correct": correct,
        "miss": miss,
        "hallucination": hallucination,
        "exact_match": correct_exact / total,
        "accuracy": correct / total,
        "missing": miss / total,
        "hallucination_rate": hallucination / total,
        "truthfulness_score": (2 * correct + miss) / total - 1,
        "mean_multi_turn_conversation_score": sum(scores) / len(scores),
    }
    found = score_results(rows_of(conversations))["all"]
    assert {name: found[name] for name in METRICS} == pytest.approx(expected, abs=1e-12, rel=0)

"""What a turn is labelled: miss? exact? judge."""

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.conversations import (
    Labels,
    clean_text,
    is_exact,
    says_unknown,
    settle,
    unscored,
    verdict_labels,
)
from support import golden

ROWS = golden("turn_labels")
TEXT = st.text(alphabet=st.characters())


def name_of(labels: Labels | None) -> str | None:
    """Return what a row of the table calls the labels."""
    if labels is None:
        return None
    return "exact" if labels.is_exact_match else labels.label


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_golden(row: dict[str, Any]) -> None:
    """Every row of the table is settled as it says, or left to the judge."""
    assert name_of(settle(row["response"], row["ground_truth"])) == row["expected"], row["why"]


def test_table_is_broad() -> None:
    """The table has enough rows, each with its reason, and at most five of one pattern."""
    assert len(ROWS) >= 30
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(row["why"] for row in ROWS)
    assert max(Counter(row["pattern"] for row in ROWS).values()) <= 5


@given(TEXT)
def test_clean_text(text: str) -> None:
    """Nothing is left but letters, digits and white space, in lower case; white space stays, and once is enough."""
    cleaned = clean_text(text)
    assert all(character.isalnum() or character.isspace() for character in cleaned)
    assert [one for one in cleaned if one.isspace()] == [one for one in text.lower() if one.isspace()]
    assert clean_text(cleaned) == clean_text(cleaned.lower())


@given(TEXT, TEXT)
def test_settled(response: str, truth: str) -> None:
    """A miss says so and is not correct; exact is correct; what is settled is scored; never does text raise."""
    labels = settle(response, truth)
    assert (labels is None) == (not says_unknown(response) and not is_exact(response, truth))
    if labels is not None:
        assert labels.status == "scored"
        assert labels.is_miss == (says_unknown(response) and not says_unknown(truth))
        assert labels.is_correct == labels.is_semantically_correct == (not labels.is_miss)


@given(TEXT, TEXT, TEXT)
def test_unknown_anywhere(before: str, after: str, truth: str) -> None:
    """Whatever stands around it, "I don't know" is a miss, unless the ground truth says so too."""
    labels = settle(f"{before} I don’t know {after}", truth)
    assert labels is not None
    assert labels.is_miss == (not says_unknown(truth))


def test_judged() -> None:
    """A verdict makes a turn correct or wrong; without one it is neither, and no miss."""
    assert verdict_labels(correct=True) == Labels(is_correct=True, is_semantically_correct=True)
    assert verdict_labels(correct=False).label == "wrong"
    assert [unscored().status, unscored("error").status] == ["unscored", "error"]
    assert unscored().label == unscored("error").label == "unscored"


def test_contradictions() -> None:
    """Labels that contradict one another cannot be made."""
    made = Counter[str]()
    for exact, correct, miss, status in product([True, False], [True, False], [True, False], ["scored", "unscored"]):
        try:
            made[Labels(exact, correct, miss, correct, status).label] += 1  # type: ignore[arg-type]
        except ValueError as error:
            assert str(error).startswith("a turn cannot be ")  # noqa: PT017 (which of them raise is the point)
    assert made == {"correct": 2, "miss": 1, "wrong": 1, "unscored": 1}
    with pytest.raises(ValueError, match="of status 'done'"):
        Labels(status="done")  # type: ignore[arg-type]

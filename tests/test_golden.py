"""The golden tables: input, expected, why. One runner for each kind of row."""

from collections import Counter
from typing import Any

import pytest
from support import golden

from adjudge import rewards, text
from adjudge.rewards import get_reward

QA = golden("qa")
TEXT = golden("text")
NUMBERS = ("f1", "em", "precision", "recall")


def _ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize("row", QA, ids=_ids(QA))
def test_qa_called_directly(row: dict[str, Any]) -> None:
    """A direct call returns the seed's dict, and `tool_use` only where it is unknown."""
    result = getattr(rewards, row["reward"])(**row["args"])
    assert result == pytest.approx(row["expected"], abs=1e-12), row["why"]


@pytest.mark.parametrize("row", QA, ids=_ids(QA))
def test_qa_through_the_registry(row: dict[str, Any]) -> None:
    """The scorer gives the same numbers as the call; unknown tool use has no number."""
    scorer = get_reward(row["reward"])
    score = scorer.score({"trajectory": None, **row["args"]})
    expected = row["expected"]
    assert score.parts == pytest.approx({name: expected[name] for name in NUMBERS}, abs=1e-12), row["why"]
    if expected.get("tool_use") == "unknown":
        assert (score.status, score.value, score.reason) == ("unscored", None, "tool-use-unknown")
    else:
        assert score.status == "scored"
        assert score.value == pytest.approx(expected["reward"], abs=1e-12), row["why"]


@pytest.mark.parametrize("row", TEXT, ids=_ids(TEXT))
def test_text(row: dict[str, Any]) -> None:
    """Normalisation and extraction give what the table says."""
    assert getattr(text, row["function"])(**row["args"]) == row["expected"], row["why"]


@pytest.mark.parametrize(("rows", "least"), [(QA, 132), (TEXT, 60)])
def test_tables_are_broad(rows: list[dict[str, Any]], least: int) -> None:
    """A golden table has enough rows, each with its reason, and at most five of one pattern."""
    assert len(rows) >= least
    assert len(set(_ids(rows))) == len(rows)
    assert all(row["why"] for row in rows)
    assert max(Counter(row["pattern"] for row in rows).values()) <= 5

"""A Score is one of three outcomes and cannot be anything else."""

import dataclasses
import math
import pickle

import pytest

from adjudge.model import Provenance, Score


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_a_scored_score_is_a_finite_number(value: float | None) -> None:
    """NaN, the infinities and None are no scores."""
    with pytest.raises(ValueError, match="finite"):
        Score(value, "scored")


@pytest.mark.parametrize("status", ["unscored", "error"])
def test_a_fault_has_a_reason_and_no_number(status: str) -> None:
    """A fault cannot carry a number, and says why it is one."""
    make = Score.unscored if status == "unscored" else Score.error
    assert make("why").value is None
    with pytest.raises(ValueError, match="reason"):
        make("")
    with pytest.raises(ValueError, match="no value"):
        Score(0.0, status, "why")  # type: ignore[arg-type]


def test_there_is_no_fourth_status() -> None:
    """A status outside of the three is refused."""
    with pytest.raises(ValueError, match="status"):
        Score(None, "failed", "why")  # type: ignore[arg-type]


def test_scores_are_frozen_values() -> None:
    """A score cannot be changed, equals its copy and survives pickling."""
    score = Score.scored(0.5, parts={"f1": 0.5}, provenance=Provenance("qa_f1_reward", "1"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.value = 1.0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(score)) == score  # noqa: S301 (our own bytes)
    assert dataclasses.replace(score, value=0.25).parts == {"f1": 0.5}


def test_default_parts_are_not_shared() -> None:
    """Two scores without parts do not hold the same mapping."""
    assert Score.scored(1.0).parts is not Score.scored(1.0).parts

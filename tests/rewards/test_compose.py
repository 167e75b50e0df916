"""Compositions keep every member's value and parts, and leave unknown what is unknown."""

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.model import Score
from adjudge.rewards import Scorer, all_of, first_of, gated, reward, weighted

finite = st.floats(-10, 10)
outcomes = st.one_of(finite, st.sampled_from(["unscored", "error"]))


def says(name: str) -> Any:
    """Make a reward that returns what its column says: a number, or one of the faults."""

    def rule(**columns: Any) -> Any:
        outcome = columns[name]
        return Score.scored(outcome) if isinstance(outcome, float) else {outcome: "why"}

    return reward(name=name)(rule)


A, B = says("a"), says("b")


def row(a: Any, b: Any) -> dict[str, Any]:
    """Say what the two members return."""
    return {"a": a, "b": b}


@given(outcomes, outcomes)
def test_weighted_is_the_sum_or_nothing(a: Any, b: Any) -> None:
    """A sum needs all its parts; an error outranks an unscored."""
    score = weighted({A: 0.25, B: -2.0}).score(row(a, b))
    if isinstance(a, float) and isinstance(b, float):
        assert score.value == 0.25 * a - 2.0 * b
    else:
        assert score.status == ("error" if "error" in (a, b) else "unscored")
    assert score.parts == {"a": a if isinstance(a, float) else None, "b": b if isinstance(b, float) else None}


@given(outcomes, outcomes)
def test_all_of_is_decided_by_one_failure(a: Any, b: Any) -> None:
    """One member below the threshold is enough for 0; 1 needs them all."""
    score = all_of(A, B, threshold=0.5).score(row(a, b))
    known = [value for value in (a, b) if isinstance(value, float)]
    if any(value < 0.5 for value in known):
        assert score.value == 0.0
    elif len(known) == 2:
        assert score.value == 1.0
    else:
        assert score.value is None


@given(outcomes, outcomes)
def test_gated_needs_the_gate_and_only_then_the_reward(a: Any, b: Any) -> None:
    """A closed gate is 0 whatever the reward is; an open one gives the reward's outcome."""
    score = gated(A, B, threshold=0.5).score(row(a, b))
    if not isinstance(a, float):
        assert score.value is None
    elif a < 0.5:
        assert (score.value, score.reason) == (0.0, "gate-closed: a")
    else:
        assert score.value == (b if isinstance(b, float) else None)


@given(outcomes, outcomes)
def test_first_of_takes_the_first_that_could_be_scored(a: Any, b: Any) -> None:
    """The first number counts, and the reason says whose it is."""
    score = first_of(A, B).score(row(a, b))
    known = [(value, name) for value, name in ((a, "a"), (b, "b")) if isinstance(value, float)]
    if known:
        assert (score.value, score.reason) == (known[0][0], f"by: {known[0][1]}")
    else:
        assert score.value is None


def test_parts_of_members_are_kept_under_their_names() -> None:
    """Values and parts of the members are parts of the composition, declared where all are declared."""
    scorer = weighted({"qa_f1_reward": 0.5, all_of("qa_em_reward", "contains_reward"): 0.5})
    score = scorer.score({"final_response": "Paris", "answer": "Paris"})
    assert score.value == 1.0
    assert scorer.parts == tuple(score.parts)
    assert score.parts["qa_f1_reward.recall"] == 1.0
    assert score.parts["all_of(qa_em_reward, contains_reward).qa_em_reward.f1"] == 1.0
    assert scorer.range == (0.0, 1.0)


def test_a_member_may_stand_twice() -> None:
    """Members of one name are numbered."""
    scorer = all_of("qa_f1_reward", "qa_f1_reward", threshold=0.1)
    assert "qa_f1_reward#2.f1" in scorer.score({"final_response": "x", "answer": "x"}).parts


def test_compositions_may_be_async() -> None:
    """One async member makes the composition awaitable, and sync code can still ask it."""

    @reward
    async def slow(final_response: str) -> float:
        await asyncio.sleep(0)
        return 0.5

    scorer = weighted({slow: 1.0, "contains_reward": 1.0})
    rows = [{"final_response": "Paris", "answer": "Paris"}] * 3
    assert [score.value for score in scorer.score_many(rows)] == [1.5] * 3
    assert asyncio.run(scorer.ascore_many(rows)) == scorer.score_many(rows)


def test_missing_columns_of_members_are_missing() -> None:
    """A composition needs what its members need."""
    scorer = weighted({"qa_f1_reward": 1.0, "qa_f1_reward_tool": 1.0})
    assert scorer.columns == ("final_response", "answer", "trajectory")
    assert str(scorer.score({"final_response": "x", "answer": "x"}).reason).startswith(
        "missing-column: qa_f1_reward_tool"
    )


@pytest.mark.parametrize("make", [lambda: weighted({}), all_of, first_of, lambda: weighted({"qa_f1_reward": math.nan})])
def test_nonsense_is_refused(make: Any) -> None:
    """No members, or weights that are no numbers, are a wrong call."""
    with pytest.raises(UsageError):
        make()


def test_declared_ranges_are_combined() -> None:
    """The range of a composition follows from its members', where all declare one."""
    cases: list[tuple[Scorer, tuple[float, float] | None]] = [
        (weighted({"qa_f1_reward": -2.0, "length_penalty": 1.0}), (-3.0, 0.0)),
        (gated("format_reward", "length_penalty"), (-1.0, 0.0)),
        (first_of("qa_f1_reward", "length_penalty"), (-1.0, 1.0)),
        (weighted({"qa_f1_reward": 1.0, A: 1.0}), None),
    ]
    assert [scorer.range for scorer, _ in cases] == [span for _, span in cases]


def test_weights_are_a_mapping() -> None:
    """A list of scorers has no weights: the error says what is expected."""
    with pytest.raises(UsageError, match=r"mapping of scorers to weights.*got a list"):
        weighted(["qa_f1_reward", "format_reward"])  # type: ignore[arg-type]

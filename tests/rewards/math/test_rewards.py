"""The math rewards: the seed's shapes, three outcomes, options, many accepted answers."""

import asyncio
from typing import Any

import pytest

from adjudge.errors import ArgumentError, DataError
from adjudge.rewards import get_reward, math_equal_reward, math_equal_reward_tool
from adjudge.rewards.math import MathPolicy

TOOL = [{"role": "tool", "name": "calculator", "content": "4"}]


@pytest.mark.parametrize(
    ("response", "answer", "value"),
    [
        (r"So $\boxed{\frac{1}{2}}$", "0.5", 1.0),
        (r"So $\boxed{\frac{1}{3}}$", "0.5", 0.0),
        ("", "4", 0.0),
        (None, "4", 0.0),
        (4, 4, 1.0),
        (r"\boxed{4}", ["3", "4"], 1.0),
        (r"\boxed{41} or \boxed{42}", "42", 0.0),
    ],
)
def test_the_reward_is_a_float(response: Any, answer: Any, value: float) -> None:
    """1.0 for an equal answer, 0.0 otherwise, the same called directly and asked; other arguments are ignored."""
    assert math_equal_reward(response, answer, trajectory=[], choices=["A"]) == value
    score = get_reward("math_equal_reward").score({"final_response": response, "answer": answer, "choices": ["A"]})
    assert (score.status, score.value) == ("scored", value)


@pytest.mark.parametrize(
    ("trajectory", "response", "expected"),
    [
        (TOOL, r"\boxed{4}", {"reward": 1.0, "acc": 1.0}),
        (TOOL, r"\boxed{5}", {"reward": 0.1, "acc": 0.0}),
        ([], r"\boxed{4}", {"reward": 0.0, "acc": 1.0}),
        (None, r"\boxed{5}", {"reward": 0.0, "acc": 0.0}),
        (["2+2?", r"\boxed{4}"], r"\boxed{4}", {"reward": 0.0, "acc": 1.0, "tool_use": "unknown"}),
    ],
)
def test_the_tool_ladder(trajectory: Any, response: str, expected: dict[str, Any]) -> None:
    """0.0 without a tool, 0.1 with one and a wrong answer, 1.0 with one and a correct one; `acc` is honest always."""
    assert math_equal_reward_tool(response, "4", trajectory) == expected
    row = {"final_response": response, "answer": "4", "trajectory": trajectory}
    score = get_reward("math_equal_reward_tool").score(row)
    assert score.parts == {"acc": expected["acc"]}
    if "tool_use" in expected:
        assert (score.status, score.reason) == ("unscored", "tool-use-unknown")
    else:
        assert score.value == expected["reward"]


@pytest.mark.parametrize("answer", [r"\frac{1}{", "", None, [], ["4", r"\frac{1}{"]])
def test_a_gold_that_cannot_be_read_is_an_error(answer: Any) -> None:
    """It raises where the reward is called, and is an error row where it is asked, whatever the response is."""
    with pytest.raises(DataError):
        math_equal_reward(r"\boxed{7}", answer)
    row = {"final_response": r"\boxed{7}", "answer": answer, "trajectory": TOOL}
    for name in ("math_equal_reward", "math_equal_reward_tool"):
        score = get_reward(name).score(row)
        assert (score.status, score.value) == ("error", None)


def test_one_of_several_golds_is_enough() -> None:
    """An equal answer counts even where another gold cannot be read."""
    assert math_equal_reward(r"\boxed{4}", [r"\frac{1}{", "4"]) == 1.0


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (r"\boxed{5}", "mismatch"),
        ("Let me think about this for a while. " * 20, "no-answer"),
        (r"\boxed{9^{9^{9^9}}}", "too-large"),
    ],
)
def test_what_the_response_causes_is_scored_0_with_the_reason(response: str, code: str) -> None:
    """Nobody gains by breaking the comparison, and the reason says what happened."""
    score = get_reward("math_equal_reward").score({"final_response": response, "answer": "4"})
    assert (score.status, score.value) == ("scored", 0.0)
    assert str(score.reason).partition(":")[0] == code


def test_the_extracted_answer_is_noted() -> None:
    """The score shows what was taken as the answer."""
    score = get_reward("math_equal_reward").score({"final_response": r"so \boxed{4}.", "answer": "4"})
    assert score.notes == {"answer": "4"}


def test_the_policy_can_be_given() -> None:
    """As a `MathPolicy` or as a mapping, called directly or bound for all rows."""
    response = "After a long search through cases we find seven pairs, giving 7 and none other. " * 5 + "So it ends."
    for policy in (MathPolicy(extraction="lenient"), {"extraction": "lenient"}):
        assert math_equal_reward(response, "7") == 0.0
        assert math_equal_reward(response, "7", policy=policy) == 1.0
        scorer = get_reward("math_equal_reward", policy=policy)
        assert scorer.score({"final_response": response, "answer": "7"}).value == 1.0


@pytest.mark.parametrize(
    "options", [{"polcy": {}}, {"limits_s": 1.0}, {"policy": {"percnt": True}}, {"policy": 3}, {"limit_s": 0}]
)
def test_a_misspelt_or_senseless_option_is_refused(options: dict[str, Any]) -> None:
    """A close misspelling of an option is an error, though other arguments are ignored."""
    with pytest.raises(ArgumentError):
        math_equal_reward(r"\boxed{4}", "4", **options)


def test_a_misspelt_option_for_all_rows_is_refused() -> None:
    """The same holds where options are bound."""
    with pytest.raises(ArgumentError, match="did you mean 'policy'"):
        get_reward("math_equal_reward", polcy={})


def test_awaited_or_not_the_scores_are_the_same() -> None:
    """`ascore_many` gives what `score_many` gives, rows in order, faults in their places."""
    rows: list[Any] = [
        {"final_response": rf"\boxed{{{index}}}", "answer": str(index % 7), "trajectory": TOOL} for index in range(50)
    ]
    rows += [{"final_response": "x"}, {"final_response": r"\boxed{1}", "answer": r"\frac{1}{", "trajectory": []}]
    for name in ("math_equal_reward", "math_equal_reward_tool"):
        scorer = get_reward(name)
        assert asyncio.run(scorer.ascore_many(rows)) == scorer.score_many(rows)

"""The workflow check as a reward like every other."""

import asyncio
from typing import Any

import pytest

from adjudge.model import ToolCall, Trajectory
from adjudge.rewards import gated, get_reward
from adjudge.scenarios import workflow_reward

USED = [{"role": "tool", "name": "search", "content": "x"}]


@pytest.mark.parametrize(
    ("workflow", "trajectory", "status", "value"),
    [
        ({"tools_should_include": ["search"]}, USED, "scored", 1.0),
        ({"tools_should_exclude": ["search"]}, USED, "scored", 0.0),
        ({"tools_should_include": ["search"]}, ["a", "b"], "unscored", None),
        ({"tools_should_include": ["search"]}, Trajectory(complete=False), "unscored", None),
        ({"tools_should_include": "search"}, USED, "error", None),
        ({"tool_should_include": ["search"]}, USED, "error", None),
        ({"tools_should_include": ["search"]}, 3, "error", None),
    ],
)
def test_scores(workflow: Any, trajectory: Any, status: str, value: float | None) -> None:
    """A pass is 1, a fail 0 with the reason; an incomplete record is unscored, a senseless expectation an error."""
    scorer = get_reward("workflow_reward")
    row = {"workflow": workflow, "trajectory": trajectory}
    score = scorer.score(row)
    assert (score.status, score.value) == (status, value)
    assert set(score.parts) == {"agents", "tools", "clarification"}
    assert (score.reason is None) == (value == 1.0)
    assert asyncio.run(scorer.ascore(row)) == score


def test_direct_calls() -> None:
    """Called directly it is a function that returns a dict; without a number it says unscored."""
    assert workflow_reward(USED, {"tools_should_include": ["search"]}) == {
        "reward": 1.0,
        "agents": 1.0,
        "tools": 1.0,
        "clarification": None,
    }
    assert workflow_reward(USED, {"tools_should_include": []})["reason"].startswith("unlisted-called: ")
    assert "reward" not in workflow_reward(["a"], {"tools_should_include": []})


def test_as_a_gate() -> None:
    """It can be the gate of another reward, and have its expectation for all rows."""
    expected = get_reward("workflow_reward", workflow={"tools_should_include": ["search"]})
    both = gated(expected, "qa_f1_reward")
    row = {"final_response": "Paris", "answer": "Paris", "trajectory": USED}
    assert both.score(row).value == 1.0
    assert both.score({**row, "trajectory": []}).value == 0.0


def test_patterns_inside_an_event_loop() -> None:
    """A rule on arguments does not hold up the loop."""
    rule = {"tools_arguments": {"search": {"regex": {"q": "^x$"}}}}
    record = Trajectory(tool_calls=(ToolCall("search", {"q": "x"}, executed=True),))
    score = asyncio.run(get_reward("workflow_reward").ascore({"workflow": rule, "trajectory": record}))
    assert score.value == 1.0

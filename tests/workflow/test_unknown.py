"""What a record cannot show is undecided, with the reason; what it shows is judged as ever."""

from dataclasses import replace
from typing import Any

import pytest

from adjudge.model import Message, Question, ToolCall, Trajectory
from adjudge.workflow import check_workflow

RECORD = Trajectory(
    (Message("assistant", "Paris", name="research"),),
    (ToolCall("search", {"q": "Paris"}, "c1", "...", executed=True), ToolCall("fetch", {}, "c2", "", executed=True)),
    ("research",),
    "Paris",
)
QUESTIONS: tuple[Question, ...] = ("agents", "order", "tools", "arguments", "answer")
# An expectation that the record fails, and the questions that it rests on.
ASKED: list[tuple[dict[str, Any], set[Question]]] = [
    ({"agents_should_include": ["writer"]}, {"agents"}),
    ({"tools_should_include": ["calculator"]}, {"tools"}),
    ({"tools_should_include": ["fetch", "search"], "tools_order": "in_order"}, {"tools", "order"}),
    ({"tools_forbidden": [["search", "fetch"]]}, {"tools", "order"}),
    ({"tools_arguments": {"search": {"subset": {"q": "London"}}}}, {"tools", "arguments"}),
    ({"clarification_expected": True}, {"agents", "answer"}),
]


@pytest.mark.parametrize(("expectation", "needed"), ASKED)
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_record_cannot_show(question: Question, expectation: dict[str, Any], needed: set[Question]) -> None:
    """A question that the expectation rests on leaves it open; any other leaves the verdict as it was."""
    assert check_workflow(expectation, RECORD).passed is False
    result = check_workflow(expectation, replace(RECORD, unknown={question: "contents are off: set X"}))
    assert result.passed is (None if question in needed else False)
    if question in needed and "clarification_expected" not in expectation:
        assert result.reasons[0].endswith(": contents are off: set X")


AS_TOOLS = [
    ("researcher", "ask_researcher", None),
    ("Research Agent", "research", None),
    ("researcher", "researcher_tool", None),
    ("search", "web_search", False),
    ("researcher", "search", False),
]


@pytest.mark.parametrize(("agent", "tool", "passed"), AS_TOOLS)
def test_an_agent_that_may_have_been_a_tool(agent: str, tool: str, passed: bool | None) -> None:
    """Messages show an agent that was called as a tool as that tool: its agent is not missing for sure."""
    record = replace(RECORD, tool_calls=(ToolCall(tool, {}, "c1", "...", executed=True),))
    result = check_workflow({"agents_should_include": [agent], "unlisted": "ignore"}, record)
    assert result.passed is passed
    if passed is None:
        assert f"--map-agent {tool}={agent}" in result.reasons[0]
    # What else is wrong still fails.
    wanted = {"agents_should_include": [agent, "writer"], "unlisted": "ignore"}
    assert check_workflow(wanted, record).passed is False
    excluded = {"agents_should_include": [agent], "agents_should_exclude": ["research"], "unlisted": "ignore"}
    assert check_workflow(excluded, record).passed is (None if agent == "Research Agent" and passed else False)

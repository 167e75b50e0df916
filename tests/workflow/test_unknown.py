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
    ("researcher", "transfer_researcher", None),
    ("researcher", "delegate_to_researcher", None),
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


RULES: list[tuple[dict[str, Any], bool | None]] = [
    ({"agents_should_exclude": ["weather"]}, None),
    ({"agents_should_exclude": ["billing"]}, True),
    ({"agents_count": {"weather": 0}}, None),
    ({"agents_count": {"weather": 1}}, None),
    ({"agents_count": {"billing": 1}}, False),
    ({"agents_forbidden": [["weather"]]}, None),
    ({"agents_forbidden": [["triage", "...", "weather"]]}, None),
    ({"agents_forbidden": [["billing", "weather"]]}, True),
    ({"agents_forbidden": [["triage"], ["weather"]]}, False),
    ({"agents_should_include": ["triage", "writer", "weather"], "agents_order": "strict"}, None),
    ({"agents_should_include": ["weather", "triage"], "agents_order": "in_order"}, None),
    ({"agents_should_include": ["triage", "weather", "writer"], "agents_order": "in_order"}, None),
    ({"agents_should_include": ["writer", "triage", "weather"], "agents_order": "strict"}, False),
    ({"agents_should_include": ["triage", "billing", "weather"], "agents_order": "strict"}, False),
    # What the agent called is not in the record either.
    ({"agents_should_exclude": ["weather"], "tools_should_include": ["get_weather"], "unlisted": "ignore"}, None),
]


@pytest.mark.parametrize(("expectation", "passed"), RULES)
@pytest.mark.parametrize("tool", ["ask_weather", "weather", "weather_agent"])
def test_a_rule_on_an_agent_that_may_have_been_a_tool(
    tool: str, expectation: dict[str, Any], passed: bool | None
) -> None:
    """An agent that is expected, excluded, counted or ordered may have been called as the tool named after it."""
    calls = (ToolCall(tool, {"q": "Oslo?"}, "c1", "...", executed=True),)
    record = replace(RECORD, tool_calls=calls, agents_called=("triage", "writer"))
    result = check_workflow({"unlisted": "ignore", **expectation}, record)
    assert result.passed is passed
    if passed is None:
        assert f"--map-agent {tool}=weather" in result.reasons[0]


INSIDE: list[tuple[dict[str, Any], bool | None]] = [
    ({"tools_should_include": ["search", "fetch"]}, True),
    ({"tools_should_include": ["search", "fetch"], "unlisted": "fail"}, None),
    ({"tools_should_include": ["search", "fetch"], "tools_order": "strict"}, None),
    ({"tools_should_include": ["search", "fetch", "book"], "tools_order": "subset"}, None),
    ({"tools_should_include": ["search", "fetch"], "tools_order": "superset", "unlisted": "fail"}, True),
    ({"tools_should_include": ["search"], "unlisted": "fail"}, False),
    ({"tools_should_include": [], "unlisted": "fail"}, False),
    ({"agents_should_include": ["research"], "unlisted": "fail"}, True),
    ({"tools_should_include": ["search", "fetch"], "tools_order": "in_order"}, True),
    ({"tools_should_include": ["fetch", "search"], "tools_order": "in_order"}, None),
    ({"tools_should_include": ["fetch", "search"], "tools_order": "strict"}, False),
    ({"tools_should_include": ["search", "fetch", "search"], "tools_order": "strict"}, None),
    ({"tools_forbidden": [["search", "fetch"]]}, False),
    ({"tools_forbidden": [["delete"]]}, None),
    ({"tools_arguments": {"search": {"subset": {"q": "Paris"}}}}, True),
    ({"tools_arguments": {"search": {"subset": {"q": "Paris"}, "calls": "every"}}}, None),
    ({"tools_arguments": {"search": {"subset": {"q": "Rome"}, "calls": "every"}}}, False),
    ({"tools_arguments": {"search": {"subset": {"q": "Rome"}}}}, None),
]


@pytest.mark.parametrize(("expectation", "passed"), INSIDE)
def test_what_may_have_been_called_inside(expectation: dict[str, Any], passed: bool | None) -> None:
    """What an agent behind a tool called is more than the record has: a rule that more calls could change is open."""
    result = check_workflow({"unlisted": "ignore", **expectation}, replace(RECORD, unknown={"inside": "no trace"}))
    assert result.passed is passed
    if passed is None:
        assert result.reasons[0].endswith("may have been called inside another: no trace")


def test_a_closed_list_beside_a_tool_that_talks() -> None:
    """That nothing else was called behind a tool that talks is a guess: it passes, with a warning."""
    record = replace(RECORD, unknown={"behind": "tool 'fetch' may be an agent"})
    result = check_workflow({"tools_should_include": ["search", "fetch"]}, record)
    assert (result.passed, result.reasons) == (True, ())
    said = "may have been called where the record does not show it: tool 'fetch' may be an agent"
    assert [one.message for one in result.warnings] == [f"only 'search', 'fetch' may be called, and others {said}"]
    assert check_workflow({"tools_should_include": ["search", "fetch"], "unlisted": "ignore"}, record).warnings == ()


@pytest.mark.parametrize("more", [{}, {"tools_should_include": ["search"], "unlisted": "ignore"}])
def test_a_forbidden_tool_beside_a_tool_that_talks(more: dict[str, Any]) -> None:
    """That a forbidden tool was not called behind a tool that talks is a guess, too: it passes, with a warning."""
    record = replace(RECORD, unknown={"behind": "tool 'fetch' may be an agent"})
    result = check_workflow({"tools_should_exclude": ["delete", "drop"], **more}, record)
    assert (result.passed, result.reasons) == (True, ())
    said = "may have been called where the record does not show it: tool 'fetch' may be an agent"
    assert [one.message for one in result.warnings] == [f"'delete', 'drop' must not be called, and {said}"]
    # Without a doubt, and where it was seen, nothing is a guess.
    assert check_workflow({"tools_should_exclude": ["delete"], **more}, RECORD).warnings == ()
    assert check_workflow({"tools_should_exclude": ["fetch"], **more}, record).warnings == ()

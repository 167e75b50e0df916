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

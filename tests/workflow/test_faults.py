"""Expectations that make no sense are refused when they are made; odd records and patterns do no harm."""

from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.errors import AdjudgeError, UsageError
from adjudge.model import ToolCall, Trajectory
from adjudge.workflow import ArgumentRule, WorkflowExpectation, check_workflow, validate_workflow


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"agents_should_include": "research"}, "must be a list of names"),
        ({"tools_should_exclude": [1]}, "a name is text"),
        ({"tools_should_include": [""]}, "a name is text"),
        ({"unlisted": "warning"}, "did you mean 'warn'"),
        ({"unlisted": {"tool": "warn"}}, "did you mean 'tools'"),
        ({"tools_should_include": ["a"], "tools_order": "in-order"}, "did you mean 'in_order'"),
        ({"tools_order": "strict"}, "needs tools_should_include"),
        ({"tools_count": {"a": -1}}, "whole number"),
        ({"tools_count": {"a": True}}, "whole number"),
        ({"tools_count": {"a": {"min": 3, "max": 2}}}, "cannot both hold"),
        ({"tools_count": {"a": {"least": 3}}}, "min and max"),
        ({"tools_count": ["a"]}, "mapping of names"),
        ({"tools_forbidden": ["ab"]}, "must be a list of names"),
        ({"tools_forbidden": "ab"}, "list of sequences"),
        ({"tools_forbidden": [["...", "a"]]}, "begins and ends with a name"),
        ({"tools_arguments": ["a"]}, "mapping of tools"),
        ({"tools_arguments": {"a": {}}}, "exact, subset, regex or predicate"),
        ({"tools_arguments": {"a": {"regexp": {}}}}, "did you mean 'regex'"),
        ({"tools_arguments": {"a": {"regex": {"q": "("}}}}, "cannot be read"),
        ({"tools_arguments": {"a": {"regex": {"q": "a" * 2000}}}}, "at most 1000 characters"),
        ({"tools_arguments": {"a": {"regex": "x"}}}, "mapping of argument names"),
        ({"tools_arguments": {"a": {"exact": {}, "calls": "all"}}}, "'some' or 'every'"),
        ({"tools_arguments": {"a": {"predicate": "x"}}}, "must be a function"),
        ({"tools_arguments": {"a": "x"}}, "is a mapping"),
        ({"clarification_expected": "yes"}, "true or false"),
        ({"expected_answer_criteria": 1}, "must be text"),
    ],
)
def test_senseless_expectations(fields: dict[str, Any], message: str) -> None:
    """What makes no sense is refused, with what was meant."""
    with pytest.raises(UsageError, match=message):
        WorkflowExpectation(**fields)


def test_slips_of_the_pen() -> None:
    """A key that is nearly a field is an error, not an expectation that checks nothing; foreign keys are let be."""
    with pytest.raises(UsageError, match="did you mean 'tools_should_include'"):
        validate_workflow({"tool_should_include": ["a"]})
    assert validate_workflow({"id": 1, "question": "?", "tags": [], "repeats": 3, "scorers": []})["pass"] is True
    with pytest.raises(UsageError, match="must have fields such as tools_should_include; got int"):
        validate_workflow(3)


def test_objects_of_any_kind() -> None:
    """An object with the fields is an expectation, and so is a mapping that holds one under `workflow`."""
    one = SimpleNamespace(tools_should_include=["a"], agents_should_exclude=None)
    assert validate_workflow(one, tools_used=["a"])["tools"]["included"] == ["a"]
    assert validate_workflow({"workflow": {"tools_should_include": ["a"]}}, tools_used=("a",))["pass"] is True
    assert validate_workflow(one, tools_used=iter(["a"]))["pass"] is True
    with pytest.raises(UsageError, match="must be a list of names"):
        validate_workflow(one, tools_used="a")


def called(*arguments: str | dict[str, Any]) -> Trajectory:
    """Return a record in which the tool `search` was called with these."""
    return Trajectory(tool_calls=tuple(ToolCall("search", one, executed=True) for one in arguments))


def test_predicates() -> None:
    """A predicate decides; one that raises does not fit, and says what it raised."""
    rule = ArgumentRule(predicate=lambda arguments: arguments["k"] <= 5)
    expectation = WorkflowExpectation(tools_arguments={"search": rule})
    assert check_workflow(expectation, called('{"k": 3}')).passed is True
    assert check_workflow(expectation, called('{"k": 9}')).passed is False
    raised = check_workflow(expectation, called('{"\\u001b[31m": 1}'))
    assert raised.passed is False
    assert "KeyError" in raised.reasons[0]


def test_a_pattern_that_never_ends() -> None:
    """A pattern that a model's text makes hang is not a match, and the others are answered all the same."""
    rules = [{"regex": {"q": "(a+)+$"}}, {"regex": {"q": "a!$"}}]
    result = check_workflow({"tools_arguments": {"search": rules}}, called({"q": "a" * 60 + "!"}, {"q": "a"}))
    assert [finding.code for finding in result.findings] == []
    result = check_workflow({"tools_arguments": {"search": rules}}, called({"q": "a" * 60 + "!"}))
    assert [finding.code for finding in result.findings] == ["wrong-arguments"]
    assert "could not be matched in time" in result.reasons[0]


def test_arguments_beyond_all_bounds() -> None:
    """Arguments that are too large or nested too deeply fit nothing, and cost nothing."""
    rule = {"tools_arguments": {"search": {"regex": {"q": "a"}}}}
    for arguments in ('{"q": "' + "a" * (1 << 20) + '"}', {"q": "a" * 200_000}, '{"q": ' + "[" * 50_000):
        assert check_workflow(rule, called(arguments)).passed is False


def test_names_are_shown_and_not_obeyed() -> None:
    """A name with terminal codes, line ends or a million characters is one short printable line in a reason."""
    for name in ("\x1b[31mred", "a\nb", "x" * 1_000_000, "\u202eevil", "\ud800"):
        record = Trajectory(tool_calls=(ToolCall(name, executed=True),))
        (reason,) = check_workflow({"tools_should_include": []}, record).reasons
        assert reason.isprintable()
        assert len(reason) < 200


def test_records_that_are_none() -> None:
    """A record of no known form is an error that says so."""
    with pytest.raises(AdjudgeError, match="list of messages"):
        check_workflow({"tools_should_include": []}, 3)
    assert check_workflow({"tools_should_include": []}, None).passed is True


@pytest.mark.parametrize(
    ("count", "called", "words"),
    [
        (2, 1, "is expected 2 times and was called 1 time"),
        (1, 0, "is expected 1 time and was called 0 times"),
        ({"min": 1}, 0, "is expected at least 1 time and was called 0 times"),
        ({"max": 1}, 2, "is expected 0 to 1 time and was called 2 times"),
    ],
)
def test_once_is_one_time(count: Any, called: int, words: str) -> None:
    """Counts are said as a person says them."""
    record = Trajectory(tool_calls=(ToolCall("a", executed=True),) * called)
    assert check_workflow({"tools_count": {"a": count}}, record).reasons == (f"wrong-count: tool 'a' {words}",)

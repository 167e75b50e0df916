"""What holds for every expectation and every run."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adjudge.model import ToolCall, Trajectory
from adjudge.workflow import WorkflowExpectation, check_workflow, validate_workflow

NAME = st.sampled_from(["orchestrator", "research", "clarification", "synthesis", "a", "b", "c"])
NAMES = st.lists(NAME, max_size=6)
LISTS = st.none() | NAMES
POLICY = st.sampled_from(["fail", "warn", "ignore"])
ORDER = st.sampled_from(["strict", "in_order", "any_order", "subset", "superset"])
EXPECTATION = st.fixed_dictionaries(
    {
        "agents_should_include": LISTS,
        "agents_should_exclude": LISTS,
        "tools_should_include": LISTS,
        "tools_should_exclude": LISTS,
        "unlisted": POLICY,
    }
)
DIMENSION = {"pass", "included", "excluded", "missing", "unexpected"}


def found(expectation: Any, agents: list[str], tools: list[str]) -> dict[str, Any]:
    """Return the dict of an expectation and what was called."""
    return validate_workflow(expectation, agents_called=agents, tools_used=tools)


@given(EXPECTATION, NAMES, NAMES)
def test_keys(expectation: dict[str, Any], agents: list[str], tools: list[str]) -> None:
    """The dict has the keys that are promised and no others, and passes when both dimensions do."""
    workflow = found(expectation, agents, tools)
    assert set(workflow) == {"pass", "agents", "tools"}
    assert set(workflow["agents"]) == set(workflow["tools"]) == DIMENSION
    assert workflow["pass"] is (workflow["agents"]["pass"] and workflow["tools"]["pass"])


@given(EXPECTATION, NAMES, NAMES)
def test_the_lists_are_a_partition(expectation: dict[str, Any], agents: list[str], tools: list[str]) -> None:
    """Expected is included or missing, excluded is kept or broken, called is expected or not; no name twice."""
    workflow = found(expectation, agents, tools)
    for kind, called, always in (("agents", agents, {"orchestrator"}), ("tools", tools, set())):
        include, exclude = expectation[f"{kind}_should_include"], expectation[f"{kind}_should_exclude"]
        lists = {name: value for name, value in workflow[kind].items() if name != "pass"}
        assert all(len(names) == len(set(names)) for names in lists.values())
        included, missing, excluded, unexpected = (
            set(lists[name]) for name in ("included", "missing", "excluded", "unexpected")
        )
        assert not included & missing
        assert included | missing == set(include or ())
        assert not excluded & unexpected
        assert excluded | (unexpected & set(exclude or ())) == set(exclude or ())
        assert included == set(called) & set(include or ())
        if include is not None:
            assert set(called) == included | unexpected | (set(called) & always)
        else:
            assert unexpected == set(called) & set(exclude or ())


@given(EXPECTATION, NAMES, NAMES, st.randoms())
def test_the_order_of_calls_is_free(expectation: dict[str, Any], agents: list[str], tools: list[str], by: Any) -> None:
    """Without an order mode, neither the order nor the number of calls changes the verdict or a list's names."""
    once = found(expectation, agents, tools)
    agents, tools = agents * 2, tools * 2
    by.shuffle(agents)
    by.shuffle(tools)
    other = found(expectation, agents, tools)
    assert other["pass"] is once["pass"]
    for kind in ("agents", "tools"):
        assert {name: set(value) for name, value in other[kind].items() if name != "pass"} == {
            name: set(value) for name, value in once[kind].items() if name != "pass"
        }
        assert other[kind]["included"] == once[kind]["included"]
        assert other[kind]["missing"] == once[kind]["missing"]


@given(NAMES, NAMES, NAMES)
def test_explicit_beats_implicit(include: list[str], exclude: list[str], called: list[str]) -> None:
    """An agent that is always expected is unexpected when it is excluded, and required when it is included."""
    excluded = found(
        {"agents_should_include": include, "agents_should_exclude": [*exclude, "orchestrator"]},
        [*called, "orchestrator"],
        [],
    )
    assert "orchestrator" in excluded["agents"]["unexpected"]
    assert excluded["pass"] is False
    without = [name for name in called if name != "orchestrator"]
    required = found({"agents_should_include": [*include, "orchestrator"]}, without, [])
    assert "orchestrator" in required["agents"]["missing"]


@given(NAMES, NAMES)
def test_the_order_modes_are_nested(expected: list[str], called: list[str]) -> None:
    """Strict passes in order too, in order passes in any order, and that is a subset and a superset at once."""
    passes = {
        order: found({"tools_should_include": expected, "tools_order": order}, [], called)["pass"]
        for order in ("strict", "in_order", "any_order", "subset", "superset")
    }
    assert passes["strict"] <= passes["in_order"] <= passes["any_order"]
    assert passes["any_order"] == (passes["subset"] and passes["superset"])


@given(EXPECTATION, NAMES, NAMES, st.none() | st.booleans(), st.none() | st.text(max_size=60))
def test_every_failure_has_a_reason(
    expectation: dict[str, Any], agents: list[str], tools: list[str], clarification: bool | None, reply: str | None
) -> None:
    """A result has reasons exactly when it does not pass, and each is one printable line."""
    calls = tuple(ToolCall(name, executed=True) for name in tools)
    record = Trajectory(tool_calls=calls, agents_called=tuple(agents), final_response=reply)
    result = check_workflow({**expectation, "clarification_expected": clarification}, record)
    assert bool(result.reasons) is not result.passed
    assert all(reason.isprintable() for reason in result.reasons)


@given(EXPECTATION, NAMES, NAMES)
def test_an_incomplete_record_decides_nothing(expectation: dict[str, Any], agents: list[str], tools: list[str]) -> None:
    """Where anything is expected, a record with parts missing neither passes nor fails, and claims no absence."""
    calls = tuple(ToolCall(name, executed=True) for name in tools)
    record = Trajectory(tool_calls=calls, agents_called=tuple(agents), complete=False)
    result = check_workflow(expectation, record)
    is_stated = any(expectation[name] is not None for name in expectation if name != "unlisted")
    assert result.passed is (None if is_stated else True)
    for kind in ("agents", "tools"):
        assert result.workflow[kind]["missing"] == result.workflow[kind]["excluded"] == []


@given(EXPECTATION, ORDER)
def test_an_expectation_is_itself(expectation: dict[str, Any], order: str) -> None:
    """An expectation that is made of an expectation, or of an object that has one, is the same."""
    expectation = {
        **expectation,
        "tools_should_include": expectation["tools_should_include"] or [],
        "tools_order": order,
    }
    one = WorkflowExpectation(**expectation)
    assert WorkflowExpectation.of(one) is one
    assert WorkflowExpectation.of(expectation) == one

    class Scenario:
        workflow = one

    assert WorkflowExpectation.of(Scenario()) is one

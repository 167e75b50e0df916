"""What an answer, a scenario or a model is called by mistake is named with what was meant."""

from typing import Any

import pytest

from adjudge.agents import get_agent, to_trajectory
from adjudge.agents._shape import AnswerFields
from adjudge.errors import DataError, UsageError, closest_model
from adjudge.judges import get_judge
from adjudge.model import Case
from adjudge.rewards import get_scorer
from adjudge.scenarios import Scenario, run_scenario


@pytest.mark.parametrize(
    ("answer", "question", "key"),
    [
        ({"tool_used": ["s"]}, "tools", "tool_used"),
        ({"tools_called": ["s"]}, "tools", "tools_called"),
        ({"tools": ["s"]}, "tools", "tools"),
        ({"agent_called": ["a"]}, "agents", "agent_called"),
        ({"agents": ["a"]}, "agents", "agents"),
    ],
)
def test_fields_of_an_answer(answer: dict[str, Any], question: str, key: str) -> None:
    """A field under another name is not read, and not taken for none: the reason says what to call it."""
    record = to_trajectory(Case("1", "?"), {"response": "x", **answer})
    unknown = {str(name): reason for name, reason in record.unknown.items()}
    wanted = "tools_used" if question == "tools" else "agents_called"
    assert unknown[question] == f"the agent's answer has {key!r}: call it {wanted}, or say --field {wanted}={key}"
    result = run_scenario(
        {"id": "s", "question": "?", f"{question}_should_include": ["s"]}, lambda _: {"response": "x", **answer}
    )
    assert (result["pass"], f"call it {wanted}" in result["reasons"][0]) == (None, True)


def test_other_fields() -> None:
    """Keys that are like none of the fields are no hint, and a field that is there needs none."""
    record = to_trajectory(Case("1", "?"), {"response": "x", "usage": {}, "tools_used": [], "tool_used": ["s"]})
    assert (record.tools_used, "tools" in record.unknown) == ((), False)
    assert "agents_called, messages" in record.unknown["agents"]


def test_fields_that_are_not_there() -> None:
    """An answer without tools says what to return, and one in which they are null that a list is meant."""
    plain, null = (to_trajectory(Case("1", "?"), {"response": "x", **more}) for more in ({}, {"tools_used": None}))
    assert "return tools_used (an empty list for none)" in plain.unknown["tools"]
    assert "return tools_used" in to_trajectory(Case("1", "?"), "x").unknown["tools"]
    assert null.unknown["tools"] == "tools_used is null in the agent's answer: return a list, an empty one for none"
    null = to_trajectory(Case("1", "?"), {"response": "x", "agents_called": None})
    assert "agents_called is null" in null.unknown["agents"]


def test_a_place_that_is_not_there() -> None:
    """A place that was named wrongly is named, with how far it can be followed."""
    fields = AnswerFields({"tools_used": "$.steps[*].tool", "agents_called": "$.team"})
    answer = {"response": "x", "step": [], "team": ["a"]}
    unknown = fields.find_missing(answer, fields.apply(answer))
    assert list(unknown) == ["tools"]
    assert "nothing at $.steps[*].tool, where --field tools_used is; there it has" in unknown["tools"]


def test_names_of_tools_are_not_requests() -> None:
    """`tools_used` says what ran: what was asked for and did not run is not in it, also where nothing ran."""
    for used in ([], ["weather"]):
        record = to_trajectory(Case("1", "?"), {"response": "x", "tools_used": used})
        assert get_scorer("tools_requested", tools=["cancel"]).score({"trajectory": record}).status == "unscored"
    # Messages show what was asked for.
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "x"}]
    record = to_trajectory(Case("1", "?"), {"messages": messages})
    assert get_scorer("tools_requested", tools=["cancel"]).score({"trajectory": record}).value == 0.0


def test_no_response() -> None:
    """An answer without a response names what it has, and how its place is said."""
    with pytest.raises(DataError, match=r"it has 'outputs', 'id': name its place with --field response=PATH"):
        to_trajectory(Case("1", "?"), {"outputs": [], "id": 7})


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tool_used", "tools_should_include"),
        ("tools", "tools_should_include"),
        ("agents_called", "agents_should_include"),
        ("query", "question"),
        ("expected_answer", "references"),
        ("criteria", "expected_answer_criteria"),
        ("timeout", "deadline"),
        ("repeat", "repeats"),
    ],
)
def test_keys_of_a_scenario(key: str, meant: str) -> None:
    """A key that other tools have is refused with the one that is meant."""
    with pytest.raises(UsageError, match=f"a scenario has no '{key}'; did you mean '{meant}'"):
        Scenario.of({"id": "s", "question": "?", key: "x"})


@pytest.mark.parametrize(("key", "meant"), [("min", "threshold"), ("args", "arguments"), ("treshold", "threshold")])
def test_keys_of_a_scorer(key: str, meant: str) -> None:
    """The same for the scorers of a scenario."""
    with pytest.raises(UsageError, match=f"not '{key}'; did you mean '{meant}'"):
        Scenario("s", "?", scorers=[{"name": "is_json", key: 1}])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        ("o3-mini", "openai:o3-mini"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("gemini/gemini-2.5-pro", "litellm:gemini/gemini-2.5-pro"),
        ("qwen2.5-7b", "openai:qwen2.5-7b"),
    ],
)
def test_models_without_their_kind(name: str, meant: str) -> None:
    """A bare model is named with its kind, wherever an agent, a judge or a scorer is asked for."""
    for ask in (get_agent, get_judge, get_scorer):
        with pytest.raises(UsageError, match=f"did you mean '{meant}'"):
            ask(name)
    assert closest_model("local") == closest_model("my_agent:gpt-4o") == ""


OBJECTS = {"response": "x", "agents_called": [{"name": "research"}], "tools_used": [{"name": "search"}, "read"]}


def test_names_in_objects() -> None:
    """An object with a name is that name; a single text is a list of one."""
    record = to_trajectory(Case("1", "?"), OBJECTS)
    assert (record.agents_called, record.tools_used) == (("research",), ("search", "read"))
    assert to_trajectory(Case("1", "?"), {"response": "x", "agents_called": "research"}).agents_called == ("research",)


@pytest.mark.parametrize("field", ["agents_called", "tools_used", "sources"])
@pytest.mark.parametrize("value", [[None], [{"id": 3}], [7], {"search": 1}, 3])
def test_names_that_are_none(field: str, value: Any) -> None:
    """What is not a name does not become one: nobody was called `None`."""
    for more in ({}, {"messages": [{"role": "assistant", "content": "x"}]}):
        with pytest.raises(DataError, match=f"{field} of the agent's answer must"):
            to_trajectory(Case("1", "?"), {"response": "x", field: value, **more})


def test_tools_beside_messages() -> None:
    """Messages may be only what the user saw: tools that the answer names were used, each as often as it says."""
    call = {"id": "c", "function": {"name": "search", "arguments": '{"q": 1}'}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "..."},
        {"role": "assistant", "content": "x"},
    ]
    answer = {"response": "x", "messages": messages, "tools_used": ["search", "search", "read"]}
    record = to_trajectory(Case("1", "?"), answer)
    assert record.tools_used == ("search", "search", "read")
    assert (record.tool_calls or ())[0].arguments == {"q": 1}
    seen = to_trajectory(Case("1", "?"), {**answer, "messages": messages[2:]})
    assert seen.tools_used == ("search", "search", "read")


def test_an_error_beside_nothing() -> None:
    """An answer that says nothing but what went wrong is an error, not a bad answer."""
    with pytest.raises(DataError, match="is an error: model overloaded"):
        to_trajectory(Case("1", "?"), {"response": "", "error": "model overloaded"})
    assert to_trajectory(Case("1", "?"), {"response": "x", "error": None}).final_response == "x"

"""Names of agents that a record cannot know: given by its reader, they decide what was called."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.model import Message, ToolCall, Trajectory
from adjudge.traces import AgentNames, Record, Span, assemble, load, map_agents, read_agent_names
from adjudge.workflow import check_workflow

SPANS = (
    Span("1", None, "agent", "team", 1, 90),
    Span("2", "1", "other", "call_model", 2, 40),
    Span("3", "2", "llm", "chat", 3, 30, output=(Message("assistant", "Paris"),)),
    Span("4", "1", "other", "review", 41, 80),
    Span("5", "4", "llm", "chat", 42, 70, output=(Message("assistant", "It is Paris."),)),
)
NAMES: list[tuple[AgentNames, tuple[str, ...]]] = [
    ({}, ("team",)),
    ({"call_model": "research"}, ("team", "research")),
    ({"call_model": "research", "review": "critic", "team": None}, ("research", "critic")),
    ({"call_model": "critic", "review": "critic", "team": None}, ("critic",)),
    ({"team": None}, ()),
    ({"team": None, "*": "assistant"}, ("assistant",)),
    ({"somebody": "else"}, ("team",)),
]


@pytest.mark.parametrize(("names", "agents"), NAMES)
def test_names_of_spans(names: AgentNames, agents: tuple[str, ...]) -> None:
    """Spans become agents by their names, take the names that they are given, and stop being agents."""
    found = assemble(Record("r", SPANS), agents=names)
    assert found.agents_called == agents
    assert ("agents" in found.unknown) is not bool(agents)
    assert {message.name for message in found.messages} - {None} <= set(agents)


def test_nobody_is_named() -> None:
    """Messages without names are undecided, until whoever wrote them is given a name."""
    chat = [{"role": "user", "content": "Capital?"}, {"role": "assistant", "content": "Paris"}]
    wanted = {"agents_should_include": ["research"]}
    result = check_workflow(wanted, load(chat))
    assert (result.passed, result.reasons[0].endswith("say --map-agent '*=NAME'")) == (None, True)
    assert check_workflow(wanted, load(chat, agents={"*": "research"})).passed is True
    assert check_workflow(wanted, load(chat, agents={"*": "writer"})).passed is False


def test_whoever_has_no_name() -> None:
    """Beside agents with names, one without is called where it first wrote."""
    chat = [{"role": "assistant", "content": "Ask."}, {"role": "assistant", "name": "research", "content": "Paris"}]
    assert load(chat, agents={"*": "lead"}).agents_called == ("lead", "research")
    assert load(chat[::-1], agents={"*": "lead"}).agents_called == ("research", "lead")


def test_an_agent_called_as_a_tool() -> None:
    """A tool that is an agent is not a tool; it comes where it was first called."""
    call = {"id": "c1", "type": "function", "function": {"name": "ask_researcher", "arguments": "{}"}}
    chat = [
        {"role": "assistant", "name": "lead", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Paris"},
        {"role": "assistant", "name": "writer", "content": "It is Paris."},
    ]
    found = load(chat, agents={"ask_researcher": "researcher"})
    assert (found.agents_called, found.tools_used) == (("lead", "researcher", "writer"), ())
    never_run = load(chat[:1], agents={"ask_researcher": "researcher"})
    assert (never_run.agents_called, never_run.tool_calls) == (("lead",), ())


WRONG: list[tuple[Any, str]] = [
    ("research", "must be a table of names"),
    ({"": "research"}, "a name must be text"),
    ({"a": ""}, "must be the name of an agent"),
    ({"a": True}, "must be the name of an agent"),
    ({"a": 3}, "must be the name of an agent"),
    ({"a": "no"}, "write false, without quotes"),
    ({"a": "Off"}, "write false, without quotes"),
    ({"a": "b", "b": "c"}, "is given another name itself"),
    ({"a": "b", "b": None}, "is given another name itself"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_wrong_names(given: Any, message: str) -> None:
    """What is not a name, and what would depend on how often it is looked up, is refused."""
    with pytest.raises(UsageError, match=message):
        read_agent_names(given)


LETTERS = st.sampled_from("abcd")
TABLES = st.dictionaries(LETTERS | st.just("*"), LETTERS | st.none(), max_size=4)
RECORDS = st.builds(
    lambda agents, tools: Trajectory(
        tuple(Message("assistant", "x", name=agent) for agent in agents),
        tuple(ToolCall(tool, executed=True) for tool in tools),
        tuple(dict.fromkeys(agent for agent in agents if agent)),
    ),
    st.lists(LETTERS | st.none(), max_size=4),
    st.lists(LETTERS, max_size=3),
)


@settings(max_examples=2_000)
@given(RECORDS, TABLES)
def test_names_are_given_once(record: Trajectory, table: dict[str, str | None]) -> None:
    """Giving the names again changes nothing, and no ignored name is left."""
    try:
        names = read_agent_names(table)
    except UsageError:
        return
    once = map_agents(record, names)
    assert map_agents(once, names) == once
    assert not {name for name, agent in names.items() if agent is None} & set(once.agents_called)


def test_whoever_has_no_name_spoke_before_the_handoff() -> None:
    """In a list without names, the agent that was handed over to speaks from then on, and nobody else does."""
    items = [
        {"role": "user", "content": "Weather in Oslo?"},
        {"type": "function_call", "call_id": "1", "name": "transfer_to_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": '{"assistant": "weather"}'},
        {"type": "function_call", "call_id": "2", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "2", "output": "Sunny"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is sunny."}]},
    ]
    assert load(items).agents_called == ("weather",)
    assert "agents" in load(items).unknown
    found = load(items, agents={"*": "triage"})
    assert found.agents_called == ("triage", "weather")
    assert found.tools_used == ("get_weather",)
    assert [one.name for one in found.messages if one.role == "assistant"] == ["triage", "weather", "weather"]

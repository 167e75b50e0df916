"""What frameworks hand to their users as messages, read as what happened: right, undecided, or an error; never a guess.

The lists were recorded from the packages with a scripted model behind them, and beside each is what was counted there.
"""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.rewards import max_tool_calls, tools_f1, tools_requested
from adjudge.traces import load, load_messages
from adjudge.workflow import check_workflow
from support import GOLDEN

LINES = (GOLDEN / "frameworks" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in map(json.loads, LINES)}


@pytest.mark.parametrize("name", ROWS)
def test_what_happened(name: str) -> None:
    """Agents, tools with their arguments, and the answer come out as they were, or are unknown with what to do.

    Of an agent behind a tool (`behind` of the row) the list has the tool, and not what the agent did.
    """
    row, found = ROWS[name], load(ROWS[name]["messages"])
    assert sorted(found.unknown) == row["unknown"]
    tools = [{"name": call.name, "arguments": call.arguments} for call in found.tool_calls or ()]
    is_behind = "behind" in row
    if "inside" in found.unknown or is_behind:
        # What is there is right; what is not may have been inside.
        assert [one for one in row["agents"] if one in found.agents_called] == list(found.agents_called)
        assert [one["name"] for one in row["tools"]][: len(tools)] == [one["name"] for one in tools]
    elif "agents" not in found.unknown:
        assert list(found.agents_called) == row["agents"]
    if found.unknown.keys().isdisjoint({"tools", "inside"}):
        assert is_behind or tools == row["tools"]
        assert all(call.requested and call.executed for call in found.tool_calls or ())
    if "answer" not in found.unknown:
        assert found.final_response == row["answer"]


@pytest.mark.parametrize("name", ROWS)
def test_no_false_verdict(name: str) -> None:
    """The right expectation never fails; a wrong one never passes, and fails where the list can show it.

    An agent behind a tool is one that the names say, or that the scenario names and the tool is named after. Where a
    tool was asked something in words, it may be any agent that is expected.
    """
    row = ROWS[name]
    is_renamed = "forecast" in row.get("behind", {})
    found = load(row["messages"], agents={"*": "triage", **row["behind"]} if is_renamed else ())
    is_inside = "inside" in row["unknown"] or "behind" in row
    team = {"agents_should_include": row["agents"]} if "behind" in row else {}
    for kind in ("agents", "tools"):
        names = [one["name"] if isinstance(one, dict) else one for one in row[kind]]
        is_known = kind not in found.unknown and not (is_inside and kind == "tools")
        may_be_any = kind == "agents" and "others" in found.unknown
        right = {**team, f"{kind}_should_include": list(dict.fromkeys(names)) or None, "unlisted": "ignore"}
        passed = check_workflow(right, found).passed
        assert passed in ((True,) if is_known or not names else (None,)) or (is_inside and passed is None)
        wrong = {**team, f"{kind}_should_include": ["nobody"], "unlisted": "ignore"}
        assert check_workflow(wrong, found).passed is (False if is_known and not may_be_any else None)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if "inside" in row["unknown"] or "behind" in row])
def test_what_was_seen_counts(name: str) -> None:
    """What ran inside an agent is open; what the list shows is not: expected it passes, forbidden it fails."""
    row, found = ROWS[name], load(ROWS[name]["messages"])
    if behind := row.get("behind"):
        found = replace(found, unknown=load(row["messages"], agents=behind).unknown)
        assert "inside" in found.unknown
    for tool in found.tools_used:
        assert check_workflow({"tools_should_include": [tool], "unlisted": "ignore"}, found).passed is True
        assert check_workflow({"tools_should_exclude": [tool]}, found).passed is False
        assert check_workflow({"tools_should_include": []}, found).passed is False
        assert check_workflow({"tools_count": {tool: [2, None]}}, found).passed is None
        assert check_workflow({"tools_count": {tool: [0, 0]}}, found).passed is False
    assert check_workflow({"tools_should_exclude": ["delete"]}, found).passed is None
    # That nothing else was called rests on what is not in the list.
    assert check_workflow({"tools_should_include": found.tools_used}, found).passed is None
    assert check_workflow({"tools_arguments": {"delete": {"exact": {}}}}, found).passed is None
    assert check_workflow({"tools_arguments": {"delete": {"exact": {}, "calls": "every"}}}, found).passed is None
    assert check_workflow({"tools_forbidden": [["delete"]]}, found).passed is None
    assert max_tool_calls(found, calls=9).get("unscored")
    assert tools_requested(found, tools=["delete"]).get("unscored")
    assert tools_f1(found, tools=["delete"]).get("unscored")


def test_who_a_tool_is() -> None:
    """A tool is an agent where names say so, or its call, or perhaps where a scenario has an agent of its name."""
    messages = ROWS["openai-agents.agent_as_tool_renamed"]["messages"]
    wanted = {"tools_should_include": ["get_weather"], "unlisted": "ignore"}
    assert check_workflow(wanted, load(messages)).passed is None
    assert check_workflow(wanted, load(messages, agents={"forecast": None})).passed is False
    named = load(messages, agents={"forecast": "weather"})
    assert (named.agents_called, check_workflow(wanted, named).passed) == (("weather",), None)
    call = {"id": "c", "function": {"name": "lookup", "arguments": '{"city": "Oslo"}'}}
    plain: list[dict[str, Any]] = [
        {"role": "assistant", "name": "triage", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Sunny"},
    ]
    assert check_workflow(wanted, load(plain)).passed is False
    assert check_workflow(wanted, load(plain, agents={"lookup": "weather"})).passed is None
    expected = {**wanted, "agents_should_include": ["triage", "Lookup Agent"]}
    assert check_workflow(expected, load(plain)).passed is None
    started = {"id": "c", "function": {"name": "lookup", "arguments": '{"subagent_type": "weather"}'}}
    plain[0] = {**plain[0], "tool_calls": [started]}
    assert "--ignore-agent 'lookup'" in check_workflow(wanted, load(plain)).reasons[0]
    assert check_workflow(wanted, load(plain, agents={"lookup": None})).passed is False


def _asked(name: str | None, tool: str, arguments: str, *after: dict[str, Any]) -> list[dict[str, Any]]:
    """Return messages of an agent that called one tool."""
    speaker = {} if name is None else {"name": name}
    call = {"id": "a", "function": {"name": tool, "arguments": arguments}}
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", **speaker, "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "found"},
        *after,
        {"role": "assistant", **speaker, "content": "Done."},
    ]


def test_an_agent_that_a_call_starts() -> None:
    """The agent that `subagent_type` names was called, in its place; what it did is open."""
    arguments = '{"description": "Find it", "subagent_type": "researcher"}'
    found = load(_asked("main", "task", arguments, {"role": "assistant", "name": "writer", "content": "x"}))
    assert (found.agents_called, found.tools_used) == (("main", "researcher", "writer"), ("task",))
    assert list(found.unknown) == ["inside"]
    found = load(_asked("main", "task", arguments))
    for wanted, passed in (
        ({"agents_should_include": ["main", "researcher"]}, True),
        ({"agents_should_exclude": ["researcher"]}, False),
        ({"agents_should_include": ["main"]}, False),
        ({"tools_should_include": ["task", "search"]}, None),
    ):
        assert check_workflow({"always_expected": [], **wanted}, found).passed is passed
    # A call that was not executed starts nobody; nor does a tool that is said not to be an agent.
    assert load(_asked("main", "task", arguments)[:2]).agents_called == ("main",)
    ignored = load(_asked("main", "task", arguments), agents={"task": None})
    assert (ignored.agents_called, dict(ignored.unknown)) == (("main",), {})


@pytest.mark.parametrize("name", ["desk", None])
def test_a_name_for_whoever_has_none_says_nothing_of_tools(name: str | None) -> None:
    """`*` names who speaks: any tool that was asked in words may still be an agent."""
    messages = _asked(name, "translate", '{"input": "Good morning"}')
    wanted = {"agents_should_include": ["desk", "spanish"], "always_expected": []}
    found = load(messages, agents={"*": "desk"})
    assert (found.agents_called, list(found.unknown)) == (("desk",), ["others"])
    assert check_workflow(wanted, found).passed is None
    known = load(messages, agents={"*": "desk", "translate": None})
    assert (dict(known.unknown), check_workflow(wanted, known).passed) == ({}, False)
    named = load(messages, agents={"*": "desk", "translate": "spanish"})
    assert check_workflow(wanted, named).passed is True


ORDINARY = {
    "input": "calculator lookup requests_post run_code translate",
    "task": "create_task add_todo planner_notes",
    "request": "http_request refund",
    "question": "ask_docs ask_database consult_manual find_expert find_specialist delegate_ticket get_assistant",
    "name": "assign_agent create_agent parse_user_agent set_user_agent find_real_estate_agent get_insurance_agent",
}


@pytest.mark.parametrize(("argument", "name"), [(key, one) for key, tools in ORDINARY.items() for one in tools.split()])
def test_an_ordinary_tool(argument: str, name: str) -> None:
    """Neither a tool's name nor its arguments make it an agent: a list of ordinary tools decides.

    Only an expected agent that was not seen may be one that was asked something in words, until names are given.
    """
    call = {"id": "c", "function": {"name": name, "arguments": json.dumps({argument: "x"})}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "name": "triage", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "assistant", "name": "triage", "content": "Done."},
    ]
    found = load(messages)
    assert list(found.unknown) == ([] if argument == "name" else ["others"])
    assert check_workflow({"tools_should_exclude": ["delete"]}, found).passed is True
    assert check_workflow({"tools_should_include": ["delete"], "unlisted": "ignore"}, found).passed is False
    team = {"agents_should_include": ["triage"], "agents_should_exclude": ["writer"]}
    assert check_workflow({**team, "tools_should_include": [name]}, found).passed is True
    wanted = {"agents_should_include": ["desk"], "unlisted": "ignore"}
    assert check_workflow(wanted, found).passed is (False if argument == "name" else None)
    assert check_workflow(wanted, load(messages, agents={name: None})).passed is False
    assert check_workflow(wanted, load(messages, agents={name: "desk"})).passed is True
    assert check_workflow(wanted, load(messages, agents={"consult": "other"})).passed is False


def test_what_an_expected_agent_may_have_called() -> None:
    """Where an expected agent may be behind a tool of any name, a tool that is missing may have been called there."""
    call = {"id": "c", "function": {"name": "consult_travel", "arguments": '{"query": "Oslo?"}'}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "name": "triage", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Sunny"},
        {"role": "assistant", "name": "triage", "content": "Sunny"},
    ]
    wanted = {"agents_should_include": ["desk"], "tools_should_include": ["get_weather"], "unlisted": "ignore"}
    result = check_workflow(wanted, load(messages))
    assert (result.workflow["agents"]["pass"], result.workflow["tools"]["pass"]) == (None, None)
    assert "--map-agent 'consult_travel'=NAME" in result.reasons[0]
    barred = {"agents_should_exclude": ["desk"], "tools_should_include": ["get_weather"], "unlisted": "ignore"}
    assert check_workflow(barred, load(messages)).passed is False
    assert check_workflow({"agents_should_exclude": ["desk"]}, load(messages)).passed is True


SPOKEN = {"query": "Is it cold in Oslo?", "question": "Oslo?", "request": "Weather in Oslo", "task": "Find it"}


def _unnamed(tool: str, argument: str, asked: str, answered: str) -> list[dict[str, Any]]:
    """Return messages without any name of an agent, in which one tool was asked and answered."""
    call = {"id": "c", "function": {"name": tool, "arguments": json.dumps({argument: asked})}}
    return [
        {"role": "user", "content": "Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": answered},
        {"role": "assistant", "content": "It is cold."},
    ]


@pytest.mark.parametrize("argument", SPOKEN)
@pytest.mark.parametrize("name", [None, "triage"])
def test_a_tool_that_talks(name: str | None, argument: str) -> None:
    """A tool that was asked and answered in words may be an agent: what is missing may have run inside it.

    What is forbidden is decided, as for any list of ordinary tools; names of tools end the doubt.
    """
    messages = _unnamed("consult_travel_desk", argument, SPOKEN[argument], "It is 3 degrees in Oslo.")
    messages = [{**one, "name": name} if name and one["role"] == "assistant" else one for one in messages]
    found = load(messages)
    rules: list[dict[str, Any]] = [
        {"tools_should_include": ["get_weather"]},
        {"tools_should_include": ["get_weather", "consult_travel_desk"]},
        {"tools_count": {"get_weather": 1}},
        {"tools_arguments": {"get_weather": {"exact": {}}}},
    ]
    for wanted in rules:
        result = check_workflow(wanted, found)
        assert result.passed is None
        assert "--ignore-agent 'consult_travel_desk'" in result.reasons[0]
        assert check_workflow(wanted, load(messages, agents={"consult_travel_desk": "desk"})).passed is None
        assert check_workflow(wanted, load(messages, agents={"consult_travel_desk": None})).passed is False
    # Nothing is missing: then a tool that nobody expects is one, whatever it says.
    assert check_workflow({"tools_should_include": []}, found).passed is False
    assert check_workflow({"tools_should_exclude": ["consult_travel_desk"]}, found).passed is False
    assert check_workflow({"tools_should_exclude": ["delete"]}, found).passed is True
    assert check_workflow({"tools_arguments": {"delete": {"exact": {}, "calls": "every"}}}, found).passed is True
    assert tools_f1(found, tools=["get_weather"]).get("unscored")
    assert tools_requested(found, tools=["get_weather"]).get("unscored")
    assert tools_f1(found, tools=["consult_travel_desk"])["reward"] == 1


PLAIN = [
    ("search", "query", "oslo weather", "It is 3 degrees in Oslo."),
    ("search", "query", "Is it cold in Oslo?", '[{"title": "Oslo today", "text": "It is cold."}]'),
    ("calculator", "input", "2 + 2", "4"),
    ("run_code", "input", "print(1)", "{'out': 'it is one'}"),
    ("get_weather", "city", "Oslo", "It is 3 degrees in Oslo."),
    ("create_task", "task", "Buy milk", "OK"),
]


@pytest.mark.parametrize(("tool", "argument", "asked", "answered"), PLAIN)
def test_a_tool_that_does_not_talk(tool: str, argument: str, asked: str, answered: str) -> None:
    """A list without names decides which tools ran, where none of them was asked and answered as an agent is."""
    found = load(_unnamed(tool, argument, asked, answered))
    assert check_workflow({"tools_should_include": ["fetch"]}, found).passed is False
    assert check_workflow({"tools_should_include": ["fetch", tool]}, found).passed is False
    assert check_workflow({"tools_should_include": [tool], "tools_should_exclude": ["delete"]}, found).passed is True


def test_a_tool_that_may_be_the_missing_agent() -> None:
    """A tool that nobody expects may be the agent that is expected; another one is a tool that nobody expects."""
    messages = _unnamed("consult_travel_desk", "query", "oslo", "cold")
    team = {"agents_should_include": ["desk"], "tools_should_include": []}
    for names, passed in (
        ({}, None),
        ({"consult_travel_desk": "desk"}, None),  # which may have called tools that the list does not have
        ({"*": "desk"}, False),
        ({"consult_travel_desk": None, "*": "desk"}, False),
    ):
        assert check_workflow(team, load(messages, agents=names)).passed is passed
    named = _unnamed("weather", "city", "Oslo", "cold")
    team = {"agents_should_include": ["triage", "weather"], "tools_should_include": ["get_weather"]}
    result = check_workflow(team, load(named, agents={"*": "triage"}))
    assert (result.passed, {finding.code for finding in result.findings}) == (None, {"incomplete-trace"})
    other = _unnamed("delete_files", "city", "Oslo", "cold")
    assert check_workflow(team, load(other, agents={"*": "triage"})).passed is False


def test_the_agents_of_openai_agents_as_tools() -> None:
    """A tool whose only argument is `input` is how OpenAI Agents calls an agent: what ran inside is open."""
    messages = ROWS["openai-agents.agent_as_tool_renamed"]["messages"]
    barred = {"tools_should_exclude": ["get_weather"]}
    assert check_workflow(barred, load(messages)).passed is None
    for names, passed in (({"*": "triage"}, None), ({"forecast": None}, True), ({"forecast": "weather"}, None)):
        assert check_workflow(barred, load(messages, agents=names)).passed is passed
    # An ordinary function with a name of its own for what it is given.
    city = json.loads(json.dumps(messages).replace('\\"input\\"', '\\"city\\"'))
    assert check_workflow(barred, load(city)).passed is True


def test_a_list_that_begins_with_a_result() -> None:
    """A result comes after its call: a list that begins with one was cut, and what is not there is open."""
    messages = _unnamed("search", "q", "oslo", "cold")
    for whole, part in ((messages, messages[2:]), (ROWS["openai-agents.two_tools"]["messages"],) * 2):
        cut = load(part if part is not whole else [one for one in whole if one.get("type") != "function_call"][1:])
        assert check_workflow({"tools_should_exclude": ["delete"]}, cut).passed is None
        assert check_workflow({"tools_should_include": ["fetch"], "unlisted": "ignore"}, cut).passed is None
        assert check_workflow({"tools_should_exclude": ["delete"]}, load(whole)).passed is True


def test_a_list_that_was_cut() -> None:
    """Without the question, what a list of LangChain's messages does not show may have been cut off."""
    messages = next(row["messages"] for name, row in ROWS.items() if name == "langchain-create-agent.two_tools")
    whole, cut = load(messages), load(messages[-3:])
    assert messages[0]["type"] == "human"
    assert len(cut.tools_used) < len(whole.tools_used)
    for tool in whole.tools_used:
        wanted = {"tools_should_include": [tool], "unlisted": "ignore"}
        assert check_workflow(wanted, cut).passed is (True if tool in cut.tools_used else None)
    assert check_workflow({"tools_should_exclude": ["delete"]}, cut).passed is None
    assert check_workflow({"agents_should_include": ["nobody"]}, cut).passed is None


@pytest.mark.parametrize("name", ["pydantic-ai.two_tools", "smolagents.two_tools"])
def test_a_list_of_a_framework_that_begins_with_the_question(name: str) -> None:
    """What pydantic-ai and smolagents return begins with the question: a list without it was cut."""
    messages = ROWS[name]["messages"]
    tools = [tool["name"] for tool in ROWS[name]["tools"]]
    for last in (messages[-3:], messages[-2:], messages[1:]):
        cut = load_messages(last)
        assert check_workflow({"tools_should_exclude": ["delete"]}, cut).passed is None
        for tool in tools:
            wanted = {"tools_should_include": [tool], "unlisted": "ignore"}
            assert check_workflow(wanted, cut).passed is (True if tool in cut.tools_used else None)
    assert check_workflow({"tools_should_exclude": ["delete"]}, load(messages)).passed is True


def test_an_answer_alone() -> None:
    """An answer without its question shows no tools, as a text does; with the question, none were called."""
    answer = {"role": "assistant", "content": "Sunny."}
    wanted = {"tools_should_include": ["get_weather"]}
    assert check_workflow(wanted, load([answer])).passed is None
    assert check_workflow(wanted, load([{"role": "user", "content": "?"}, answer])).passed is False


def test_an_agent_that_speaks_where_it_is_a_tool() -> None:
    """A tool that is an agent of the list is not a tool; whoever expects it as one is told to expect the agent."""
    found = load(ROWS["autogen.agent_tool"]["messages"])
    assert (found.agents_called, found.tools_used) == (("boss", "researcher"), ("get_weather",))
    result = check_workflow({"tools_should_include": ["researcher", "get_weather"]}, found)
    assert (result.passed, "expect it among the agents" in result.reasons[0]) == (None, True)


def test_who_was_handed_over_to_is_known_where_nobody_else_is() -> None:
    """A handoff names its agent even where no message names its speaker; it is not a tool."""
    found = load(ROWS["openai-agents.handoff_chain"]["messages"])
    assert list(found.agents_called) == ROWS["openai-agents.handoff_chain"]["agents"][1:]
    assert not [name for name in found.tools_used if name.startswith("transfer_to_")]


GEMINI = [
    {"role": "user", "parts": [{"text": "Weather?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"result": "sun"}}}]},
    {"role": "model", "parts": [{"text": "I think.", "thought": True}, {"text": "Sun."}]},
]


def test_contents_of_gemini() -> None:
    """Calls of Gemini are parts with one key; they have no ids, and a thought is not an answer."""
    found = load(GEMINI)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls or ()] == [
        ("get_weather", {"city": "Oslo"}, '{"result":"sun"}')
    ]
    assert found.final_response == "Sun."


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"role": "robot", "content": "x"}, "message 1 has the role 'robot', which is not known"),
        (
            {"role": "assistant", "content": [{"type": "tool-invocation", "toolName": "search", "args": {}}]},
            "message 1 has a part of kind 'tool_invocation', which is not known",
        ),
        ({"role": "assistant", "content": [{"type": "x", "name": "f", "arguments": {}}]}, "a part of kind 'x'"),
        ({"role": "assistant", "parts": [{"toolThing": {"name": "f"}}]}, "a part of kind 'tool_thing'"),
        ({"role": "assistant", "body": [{"call": "search"}]}, "neither content nor calls, but 'body'"),
        ({"source": "a", "type": "NewEvent", "content": "x"}, "AutoGen's type 'NewEvent', which is not known"),
        ({"role": "\x1b[2Jx", "content": "x"}, r"the role '\\x1b"),
    ],
)
def test_what_is_not_known_is_an_error(message: dict[str, Any], words: str) -> None:
    """A role, a part or a key that could hold a call and is not known is an error, not a run without tools."""
    with pytest.raises(TrajectoryError, match=words):
        load([{"role": "user", "content": "q"}, message], format="chat")


def test_parts_that_hold_no_call_are_kept() -> None:
    """An image, a file or a part that nobody knows and that has nothing of a call stays in the message."""
    parts = [{"type": "image_url", "image_url": {"url": "u"}}, {"type": "hologram", "data": "x"}, {"cachePoint": {}}]
    assert len(load([{"role": "user", "content": parts}]).messages[0].content or ()) == 3


class Model:
    """A message as a framework's pydantic model has it."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""
        return self._fields


@dataclass
class Part:
    """A part as pydantic-ai has it."""

    tool_name: str
    args: dict[str, Any]
    tool_call_id: str
    part_kind: str = "tool-call"


@dataclass
class Response:
    """A message as pydantic-ai has it."""

    parts: list[Part]
    kind: str = "response"
    extra: dict[str, Any] = field(default_factory=dict)


def test_objects_of_frameworks() -> None:
    """Objects are read like what they write: pydantic models by `model_dump`, dataclasses by their fields."""
    found = load(
        [
            Model(type="human", content="q"),
            Model(type="ai", content="", name="a", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "1"}]),
            Model(type="tool", content="r", tool_call_id="1"),
            Model(type="ai", content="done", name="a"),
        ]
    )
    assert (found.agents_called, found.tools_used, found.final_response) == (("a",), ("f",), "done")
    assert load([Response([Part("f", {"x": 1}, "1")])]).tools_requested == ("f",)


def test_a_summary_of_a_graph_is_undecided() -> None:
    """A supervisor that keeps only an agent's last words does not show its tools; the reason names the option."""
    found = load(ROWS["langgraph-supervisor.handoff"]["messages"])
    assert "output_mode='full_history'" in found.unknown["tools"]


@pytest.mark.parametrize("is_whole", [True, False])
def test_an_expert_that_called_no_tool(is_whole: bool) -> None:
    """Where the list has what one expert called, it has all messages: another one that called nothing only spoke."""

    def said(name: str, text: str, *tools: str) -> list[dict[str, Any]]:
        calls = [{"id": f"{name} {tool}", "name": tool, "args": {}, "type": "tool_call"} for tool in tools]
        results = [{"type": "tool", "name": tool, "tool_call_id": f"{name} {tool}", "content": "4"} for tool in tools]
        return [{"type": "ai", "name": name, "content": text, "tool_calls": calls}, *results]

    messages: list[dict[str, Any]] = [{"type": "human", "content": "What is twice 2, and who are you?"}]
    for expert, tools in (("talker", ()), ("math", ("calculator",) if is_whole else ())):
        messages += [*said("supervisor", "", f"transfer_to_{expert}"), *said(expert, "", *tools)]
        messages += [*said(expert, "I am done."), *said(expert, "", "transfer_back_to_supervisor")]
    found = load([*messages, *said("supervisor", "4, a bot.")])
    assert ("tools" in found.unknown) is not is_whole
    rule = {"tools_should_include": ["calculator"], "tools_should_exclude": ["delete"]}
    assert check_workflow(rule, found).passed is (True if is_whole else None)


UNREAD = [
    ({"toolInvocations": [{"state": "result", "toolName": "search"}]}, "'toolInvocations'"),
    ({"executed_tools": [{"name": "search"}]}, "'executed_tools'"),
    ({"intermediate_steps": [["search", "..."]]}, "'intermediate_steps'"),
    ({"toolCalls": [{"name": "search"}]}, "'toolCalls'"),
    ({"function_calls": [{"name": "search"}]}, "'function_calls'"),
]


@pytest.mark.parametrize(("more", "key"), UNREAD)
def test_calls_where_nobody_looks(more: dict[str, Any], key: str) -> None:
    """A key that nobody reads and that could hold calls is an error: without them there would seem to be none."""
    with pytest.raises(TrajectoryError, match=f"{key}, which is not known and could hold calls"):
        load([{"role": "user", "content": "?"}, {"role": "assistant", "content": "done", **more}])


def test_calls_beside_the_messages() -> None:
    """Calls belong into messages; a record of our own has them beside, with everything else."""
    messages = [{"role": "assistant", "name": "r", "content": "done"}]
    with pytest.raises(TrajectoryError, match="tool_calls beside its messages"):
        load({"messages": messages, "tool_calls": [{"name": "search"}]})
    assert load({"messages": messages, "tool_calls": []}).agents_called == ("r",)


def test_several_conversations(tmp_path: Path) -> None:
    """A file with a conversation in each line is not one run."""
    line = json.dumps({"messages": [{"role": "assistant", "content": "x"}]})
    (tmp_path / "all.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(TrajectoryError, match="holds 2 conversations"):
        load(tmp_path / "all.jsonl")


def test_a_result_of_nobody() -> None:
    """A result that names neither its call nor its tool leaves the tools unknown: none is called ''."""
    found = load([{"role": "tool", "tool_call_id": "2", "content": "x"}, {"role": "assistant", "content": "y"}])
    assert ("tools" in found.unknown, found.tools_used) == (True, ())


def test_a_tool_that_transfers() -> None:
    """A tool with arguments is not a handoff, whatever it says that it did."""
    call = {"id": "c", "function": {"name": "transfer_to_savings", "arguments": '{"amount": 5}'}}
    chat = [
        {"role": "assistant", "name": "bank", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Successfully transferred to savings"},
        {"role": "assistant", "name": "bank", "content": "Done."},
    ]
    found = load(chat)
    assert (found.agents_called, found.tools_used) == (("bank",), ("transfer_to_savings",))


def test_other_single_objects() -> None:
    """A refusal is what was said, a message alone is a message, and a response that has not ended decides nothing."""
    assert load([{"role": "assistant", "content": None, "refusal": "No."}]).final_response == "No."
    use = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
    message = {"type": "message", "role": "assistant", "content": [use], "stop_reason": "tool_use"}
    assert load(message).tools_requested == ("search",)
    found = load({"object": "response", "status": "incomplete", "output": []})
    assert found.unknown.keys() >= {"agents", "tools", "answer"}


def _langchain(*after: dict[str, Any], tool: str = "search", **result: Any) -> list[dict[str, Any]]:
    """Return LangChain's messages of a question, one call and its result, and what came after."""
    call = {"name": tool, "args": {"city": "Oslo"}, "id": "c", "type": "tool_call"}
    return [
        {"type": "human", "content": "?"},
        {"type": "ai", "content": "", "name": "triage", "tool_calls": [call]},
        {"type": "tool", "content": "Sunny.", "name": tool, "tool_call_id": "c", "status": "success", **result},
        *after,
    ]


DONE = {"type": "ai", "content": "Done.", "name": "triage", "tool_calls": []}
NOT_EXECUTED = [
    "User rejected the tool call for `search` with id c",
    "User rejected the tool call for `search` with reason: no",
    "Tool call limit exceeded. Do not call 'search' again.",
    "Tool call limit exceeded. Do not make additional tool calls.",
    "Error: search is not a valid tool, try one of [fetch].",
    "Tool call search with id c could not be executed - arguments were malformed or truncated.",
]


@pytest.mark.parametrize("words", NOT_EXECUTED)
def test_a_call_that_was_refused(words: str) -> None:
    """What LangChain writes in place of a result, as an error, is not one: its call was requested and not executed."""
    refused = _langchain(DONE, content=words, status="error")
    serialised = [{"type": one["type"], "data": one} for one in refused]
    for messages in (refused, serialised):
        found = load(messages)
        assert (found.tools_requested, found.tools_used) == (("search",), ())
        assert check_workflow({"tools_should_include": ["search"]}, found).passed is False
        assert check_workflow({"tools_should_exclude": ["search"]}, found).passed is True
        assert words in [message.text for message in found.messages]
    # A tool may say the same, or fail with words of its own.
    assert load(_langchain(DONE, content=words)).tools_used == ("search",)
    assert load(_langchain(DONE, content=f"I read: {words}", status="error")).tools_used == ("search",)
    assert load(_langchain(DONE, content="Error: no connection", status="error")).tools_used == ("search",)


def test_an_answer_that_is_a_call() -> None:
    """The answer of LangChain's ToolStrategy is the answer, and not a tool; nor are the attempts before it."""
    words = "Returning structured response: city='Oslo'"
    found = load(_langchain(tool="Report", content=words))
    assert (found.tools_requested, found.tools_used, found.final_response) == ((), (), '{"city":"Oslo"}')
    again = {"name": "Report", "args": {"city": "Rome"}, "id": "d", "type": "tool_call"}
    more: list[dict[str, Any]] = [
        {"type": "ai", "content": "", "name": "triage", "tool_calls": [again]},
        {"type": "tool", "content": words, "name": "Report", "tool_call_id": "d", "status": "success"},
    ]
    found = load(_langchain(*more, tool="Report", content="Error: Failed to parse structured output"))
    assert (found.tools_requested, found.final_response) == ((), '{"city":"Rome"}')
    assert load(_langchain(*more)).tools_used == ("search",)
    # Whoever goes on has not answered: a tool said so.
    found = load(_langchain(DONE, tool="Report", content=words))
    assert (found.tools_used, found.final_response) == (("Report",), "Done.")


def test_a_list_that_begins_with_a_summary() -> None:
    """What was done before a summary of LangChain is not in the list: undecided, but what is there counts."""
    about = {"additional_kwargs": {"lc_source": "summarization"}}
    summary = {"type": "human", "content": "Here is a summary of the conversation to date:", **about}
    for first in (summary, {"type": "human", "data": summary}):
        found = load([first, *_langchain(DONE)[1:]])
        assert "the messages before a summary are gone" in found.unknown["tools"]
        for wanted in ({"tools_should_include": ["fetch"]}, {"tools_should_exclude": ["fetch"]}):
            assert check_workflow(wanted, found).passed is None
        assert check_workflow({"agents_should_include": ["writer"]}, found).passed is None
        assert check_workflow({"tools_should_exclude": ["search"]}, found).passed is False
    assert list(load(_langchain(DONE)).unknown) == ["others"]


def test_a_tool_that_is_not_the_agent_of_its_name() -> None:
    """A tool that is said not to be an agent is an ordinary one, also where the scenario names an agent like it."""
    messages = _langchain(DONE, tool="ask_weather")
    wanted = {"agents_should_include": ["triage"], "agents_should_exclude": ["weather"]}
    assert check_workflow(wanted, load(messages)).passed is None
    assert check_workflow(wanted, load(messages, agents={"ask_weather": None})).passed is True
    assert check_workflow(wanted, load(messages, agents={"ask_weather": "weather"})).passed is False
    missing = {"agents_should_include": ["weather"], "unlisted": "ignore"}
    # Now it is not the tool: what is open is whether an agent of the graph left no message.
    ordinary = check_workflow(missing, load(messages, agents={"ask_weather": None}))
    assert (ordinary.passed, "ask_weather" in ordinary.reasons[0]) == (None, False)
    usual = [{"role": "user", "content": "?"}, *_asked("triage", "ask_weather", '{"city": "Oslo"}')[1:]]
    assert check_workflow(missing, load(usual)).passed is None
    assert check_workflow(missing, load(usual, agents={"ask_weather": None})).passed is False

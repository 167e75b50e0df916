"""Shapes that the services and SDKs write beside the plain ones: hosted tools, alternatives, nested spans."""

import json
from typing import Any

import pytest

from adjudge.model import ToolCall
from adjudge.traces import load, missing
from adjudge.traces._values import loose
from traces.encodings import TRACE, value_of

USER = {"role": "user", "content": "q"}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return OTLP spans, each the parent of the next."""
    found = []
    for number, span in enumerate(spans, 1):
        attributes = [{"key": key, "value": value_of(value)} for key, value in span.items() if key != "parent"]
        ids = {"traceId": TRACE, "spanId": f"{number:016x}"}
        parent = span.get("parent", number - 1)
        ids["parentSpanId"] = f"{parent:016x}" if parent else ""
        times = {"startTimeUnixNano": str(number), "endTimeUnixNano": "100"}
        found.append({**ids, "name": "step", **times, "attributes": attributes})
    return {"resourceSpans": [{"scopeSpans": [{"spans": found}]}]}


def export(identity: str, parent: str | None, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a span of the Agents SDK."""
    times = {"started_at": "2026-01-01T00:00:01", "ended_at": "2026-01-01T00:00:02"}
    return {"object": "trace.span", "id": identity, "parent_id": parent, "span_data": data, **times, **more}


# --- tools that the service itself runs


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "x"}},
            ToolCall("web_search", {"type": "search", "query": "x"}, "w", "", executed=True),
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "weather", "server_label": "s", "arguments": "{}", "output": "sun"},
            ToolCall("weather", {}, "m", "sun", executed=True),
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "weather", "arguments": "{}", "output": None, "error": "down"},
            ToolCall("weather", {}, "m", "down", executed=True),
        ),
        (
            {"type": "file_search_call", "id": "f", "queries": ["x"], "results": [{"text": "passage"}]},
            ToolCall("file_search", {"queries": ["x"]}, "f", "passage", executed=True),
        ),
        (
            {"type": "code_interpreter_call", "id": "c", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
            ToolCall("code_interpreter", {"code": "1+1"}, "c", '[{"type":"logs","logs":"2"}]', executed=True),
        ),
        (
            {"type": "image_generation_call", "id": "i", "status": "completed", "result": "aGk="},
            ToolCall("image_generation", "", "i", "", executed=True),
        ),
        (
            {"type": "web_search_call", "id": "w", "status": "in_progress"},
            ToolCall("web_search", "", "w"),
        ),
    ],
)
def test_hosted_tools_of_the_responses_api(item: dict[str, Any], call: ToolCall) -> None:
    """A tool that the service runs is requested and executed by its one item; no other item becomes a message."""
    asides = [{"type": "reasoning", "id": "r", "summary": []}, {"type": "mcp_list_tools", "id": "l", "tools": []}]
    for record in ([USER, *asides, item, ANSWER], {"object": "response", "output": [*asides, item, ANSWER]}):
        found = load(record)
        assert found.tool_calls == (call,)
        assert (found.agents_called, found.final_response) == ((), "done")
        assert all(message.text or message.tool_calls or message.tool_call_id for message in found.messages)


def test_tools_that_the_caller_runs_for_the_responses_api() -> None:
    """Shell and computer calls are requests, and executed where their output follows."""
    shell = {"type": "local_shell_call", "id": "i", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}}
    assert load([USER, shell]).tools_used == ()
    assert load([USER, shell]).tools_requested == ("local_shell",)
    found = load([USER, shell, {"type": "local_shell_call_output", "call_id": "c", "output": "a b"}, ANSWER])
    assert [(call.name, call.result) for call in found.tool_calls or ()] == [("local_shell", "a b")]


def test_server_tools_and_mcp_of_anthropic() -> None:
    """Calls and results that stand in one message are calls that were requested and executed, in order."""
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "mcp_tool_use", "id": "m", "name": "echo", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m", "content": [{"type": "text", "text": "hello"}]},
        {"type": "text", "text": "answer"},
    ]
    found = load([USER, {"role": "assistant", "content": content}])
    assert found.tools_requested == found.tools_used == ("web_search", "echo")
    assert (found.tool_calls or ())[1].result == "hello"
    assert found.final_response == "answer"


# --- what a model wrote


def test_of_alternatives_the_first_counts() -> None:
    """Where a model was asked for several choices, the first is its reply, and only that one asks for tools."""
    other = {"role": "assistant", "content": "second", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    choices = [{"index": 1, "message": other}, {"index": 0, "message": {"role": "assistant", "content": "first"}}]
    found = load({"choices": choices})
    assert (found.final_response, found.tools_requested) == ("first", ())


def test_a_message_of_reasoning_only_is_no_reply() -> None:
    """Reasoning is left out, also where a message holds nothing else."""
    thought = {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}]}
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "yes"}]}, thought]
    found = load(otlp({"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said)}))
    assert (found.final_response, len(found.messages)) == ("yes", 1)


def test_calls_whose_arguments_are_no_json_are_requests_in_langchain() -> None:
    """LangChain keeps a call with broken arguments apart; it was asked for all the same."""
    broken = {"name": "f", "args": "{x", "id": "c", "error": "bad", "type": "invalid_tool_call"}
    message = {"type": "ai", "data": {"content": "", "tool_calls": [], "invalid_tool_calls": [broken]}}
    assert load([message], "chat").tool_calls == (ToolCall("f", "{x", "c"),)


# --- spans


def test_a_handoff_that_failed_calls_nobody() -> None:
    """A handoff span that names no agent, because the handoff failed, is no called agent."""
    agent = export("a", None, {"type": "agent", "name": "triage"})
    failed = export("h", "a", {"type": "handoff", "from_agent": "triage", "to_agent": None}, error={"message": "boom"})
    assert load([agent, failed]).agents_called == ("triage",)


@pytest.mark.parametrize("arguments", [None, '{"city": "Rome"}'])
def test_a_tool_seen_from_further_in_counts_once(arguments: str | None) -> None:
    """A tool's span inside one of the same tool, as MCP's client and server write them, is the same call."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"}
    outer = {**tool, "gen_ai.tool.call.id": "c", "gen_ai.tool.call.arguments": '{"city": "Rome"}'}
    given = {"gen_ai.tool.call.arguments": arguments} if arguments else {}
    inner = {**tool, **given, "mcp.method.name": "tools/call", "gen_ai.tool.call.result": "sun"}
    found = load(otlp(outer, inner, inner))
    assert found.tool_calls == (ToolCall("weather", {"city": "Rome"}, "c", "sun", requested=False, executed=True),)


@pytest.mark.parametrize("change", [{"gen_ai.tool.call.id": "d"}, {"gen_ai.tool.call.arguments": '{"n": 1}'}])
def test_a_tool_that_calls_itself_counts_twice(change: dict[str, str]) -> None:
    """A tool's span inside one of the same tool with an id or arguments of its own is another call."""
    outer = {"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c", "gen_ai.tool.call.arguments": '{"n": 2}'}
    assert load(otlp(outer, {"gen_ai.tool.name": "f", **change})).tools_used == ("f", "f")


def test_the_answer_that_older_langfuse_sdks_give_to_the_trace() -> None:
    """`langfuse.trace.output` of the root, as SDKs 3 and 4 write it, is the run's answer where the root has none."""
    root = {"langfuse.observation.type": "span", "langfuse.trace.output": "whole"}
    said = {"langfuse.observation.type": "generation", "langfuse.observation.output": '{"role": "assistant", '}
    said["langfuse.observation.output"] += '"content": "part"}'
    assert load(otlp(root, said)).final_response == "whole"


@pytest.mark.parametrize(
    "end", ["Par", "\\", "\\u00", '"', '": tru', '": -', '": 1.', '": 1e', '": nul', '": {', '": 2']
)
def test_json_that_ends_too_early_is_cut_wherever_it_ends(end: str) -> None:
    """A value that an attribute's limit cut off is known, in whatever the cut falls."""
    assert loose('{"q": "x", "k' + end)[1]
    document = otlp({"gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": '{"q": "x", "k' + end})
    found = load(document)
    assert (found.tools_used, found.complete, missing(document)) == (("f",), True, ())
    assert found.unknown["arguments"] == "those of 'f' end too early"


@pytest.mark.parametrize("text", ["{q: Paris}", "{'a': 1}", '{"a" 1}', '{"a": 1}}', '{"a": tru}', '{"a": .5}', "[1] 2"])
def test_json_that_is_wrong_is_not_cut(text: str) -> None:
    """Arguments that a model wrote wrongly are whole."""
    assert not loose(text)[1]


# --- sources


OBSERVATION = {"id": "o", "traceId": "t", "type": "RETRIEVER", "name": "r", "startTime": 1, "endTime": 2}
RUN = {"id": "1", "run_type": "retriever", "name": "r", "start_time": 1, "end_time": 2, "inputs": {"query": "x"}}
RETRIEVED: dict[str, Any] = {
    "openinference": otlp(
        {
            "openinference.span.kind": "RETRIEVER",
            "input.value": "bridge",
            "retrieval.documents.0.document.content": "Opened in 1932.",
            "retrieval.documents.0.document.id": "d1",
            "retrieval.documents.0.document.score": 1,
            "retrieval.documents.1.document.id": "d2",
        }
    ),
    "gen_ai": otlp(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.documents": [{"content": "Opened in 1932.", "id": "d1"}, {"id": "d2", "score": 1}],
        }
    ),
    "langfuse attributes": otlp(
        {
            "langfuse.observation.type": "retriever",
            "langfuse.observation.output": '[{"page_content": "Opened in 1932.", "metadata": {}}, "d2"]',
        }
    ),
    "langfuse": [
        {**OBSERVATION, "output": {"documents": [{"text": "Opened in 1932."}, {"id": "d2"}]}},
    ],
    "langsmith": {
        **RUN,
        "outputs": {"documents": [{"page_content": "Opened in 1932.", "metadata": {}, "type": "Document"}, "d2"]},
    },
}


@pytest.mark.parametrize("name", RETRIEVED)
def test_what_a_retriever_found_are_the_sources(name: str) -> None:
    """Documents of a retriever's span are the sources, by their text, else by their name; a retriever is no tool."""
    found = load(RETRIEVED[name])
    assert found.sources == ("Opened in 1932.", "d2")
    assert (found.tools_used, found.complete) == ((), True)


# --- what frameworks wrap around calls and results


def test_arguments_as_langfuse_observes_a_function() -> None:
    """A function that `@observe` made a tool has its keyword arguments in `kwargs`: they are the call's arguments."""

    def call(n: int) -> dict[str, Any]:
        return {"id": f"c{n}", "function": {"name": "f", "arguments": f'{{"n": {n}}}'}}

    times = {"traceId": "t", "startTime": 2, "endTime": 3}
    said = {"role": "assistant", "tool_calls": [call(1), call(2)]}
    tools = [
        {**times, "id": str(n), "type": "TOOL", "name": "f", "startTime": 5 - n, "output": f"r{n}"}
        | {"input": {"args": [], "kwargs": {"n": n}}}
        for n in (1, 2)
    ]
    found = load([{**times, "id": "g", "type": "GENERATION", "startTime": 1, "output": said}, *tools])
    assert [(call.id, call.result) for call in found.tool_calls or ()] == [("c1", "r1"), ("c2", "r2")]


@pytest.mark.parametrize("is_serialised", [True, False])
@pytest.mark.parametrize("dialect", ["openinference", "langfuse"])
def test_a_result_that_is_a_message_of_langchain(dialect: str, is_serialised: bool) -> None:
    """A tool's output that is LangChain's message of a result names the call and holds the text."""
    message: dict[str, Any] = {"content": "found", "type": "tool", "name": "f", "tool_call_id": "c"}
    output = json.dumps({"lc": 1, "id": ["ToolMessage"], "kwargs": message} if is_serialised else message)
    attributes = {
        "openinference": {"openinference.span.kind": "TOOL", "tool.name": "f", "output.value": output},
        "langfuse": {"langfuse.observation.type": "tool", "langfuse.observation.output": output},
    }
    (call,) = load(otlp(attributes[dialect])).tool_calls or ()
    assert (call.id, call.result) == ("c", "found")


def test_arguments_and_results_as_pydantic_ai_wrote_them() -> None:
    """`tool_arguments` and `tool_response` of a `gen_ai` tool span are the call's, where the newer names are not."""
    names = {"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c"}
    found = load(otlp({**names, "tool_arguments": '{"x": 1}', "tool_response": "r"}))
    assert found.tool_calls == (ToolCall("f", {"x": 1}, "c", "r", requested=False, executed=True),)


TOOL = {"openinference.span.kind": "TOOL", "tool.name": "f"}


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"kwargs": {"x": 1}}', {"x": 1}),
        ('{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"x": 1}}', {"x": 1}),
        ('{"args": [1], "kwargs": {"y": 2}}', {"x": 1, "y": 2}),
        ('{"args": [1, 2, 3], "kwargs": {}}', {"args": [1, 2, 3], "kwargs": {}}),
        ('{"kwargs": {"x": 1}, "y": 2}', {"kwargs": {"x": 1}, "y": 2}),
    ],
)
def test_arguments_by_position_and_by_name(given: str, arguments: object) -> None:
    """Arguments that are wrapped as Python's are taken out; by position they get the names of the tool's parameters."""
    (call,) = load(otlp({**TOOL, "input.value": given, "tool.parameters": '{"x": {}, "y": {}}'})).tool_calls or ()
    assert call.arguments == arguments


def test_the_id_that_adk_gives_to_a_tool_that_raised() -> None:
    """A placeholder in the place of a call's id is not an id: the call is the one that was requested."""
    parts = [{"type": "tool_call", "id": "c", "name": "f", "arguments": {}}]
    asks = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps([{"parts": parts}])}
    ran = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "<not specified>"}
    (call,) = load(otlp(asks, {**ran, "parent": 0})).tool_calls or ()
    assert (call.id, call.requested, call.executed) == ("c", True, True)


def test_delegating_is_calling_an_agent() -> None:
    """CrewAI's tools that ask a coworker call that agent; the tools inside are the coworker's."""
    asks = {**TOOL, "tool.name": "Ask question to coworker", "input.value": '{"question": "?", "coworker": "Cook"}'}
    found = load(
        otlp({"openinference.span.kind": "AGENT", "graph.node.id": "Chef"}, asks, {**TOOL, "input.value": "{}"})
    )
    assert (found.agents_called, found.tools_used) == (("Chef", "Cook"), ("f",))


def test_agents_that_ag2_adds_and_numbers() -> None:
    """AG2's own agents are not the user's, and the number after the agent in the name of a handoff is not its name."""
    agents = [{"gen_ai.operation.name": "invoke_agent", "ag2.span.type": "agent"} for _ in range(3)]
    names = ("chat_manager", "_Group_Tool_Executor", "billing")
    ran = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "transfer_to_billing_1"}
    spans = [{**one, "gen_ai.agent.name": name} for one, name in zip(agents, names, strict=True)]
    found = load(otlp(*spans, {**ran, "gen_ai.tool.call.arguments": "{}"}))
    assert (found.agents_called, found.tools_used) == (("billing",), ())


def test_what_a_user_writes_names_no_agent() -> None:
    """LlamaIndex's event names the agent at its end; the same words in a message are only words."""
    event = "AgentSetup(input=[Message(text=\"current_agent_name='x')\")], current_agent_name='cook')"
    step: dict[str, Any] = {"openinference.span.kind": "CHAIN", "input.value": json.dumps({"ev": event})}
    document = otlp(step)
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = "AgentWorkflow.run_agent_step"
    assert load(document).agents_called == ("cook",)


def test_an_agent_that_only_its_class_names() -> None:
    """An agent of smolagents without a name is called as its class: which one it is, nobody can tell."""
    document = otlp({"openinference.span.kind": "AGENT", "output.value": "Paris"})
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = "CodeAgent.run"
    found = load(document)
    assert (found.agents_called, found.final_response) == ((), "Paris")
    assert "agents" in found.unknown


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('{"raw": "Paris", "tasks_output": []}', "Paris"),
        ('{"raw": "Paris"}', None),
        ("StopEvent(result=AgentOutput(response='Par...", None),
        ("Paris (the city)", "Paris (the city)"),
        ('{"trajectory": {}, "reasoning": "r", "answer": "Paris"}', None),
    ],
)
def test_what_frameworks_wrap_around_an_answer(answer: str, text: str | None) -> None:
    """The answer of a crew is its raw text; how an object looks in Python is not an answer."""
    assert load(otlp({"openinference.span.kind": "CHAIN", "output.value": answer})).final_response == text


@pytest.mark.parametrize("given", [{"messages": [["user", "q"]]}, {"messages": [3]}, {"input": [1, 2]}])
def test_what_a_step_is_given_is_no_model_call(given: Any) -> None:
    """A step's input may be anything: LangSmith writes it where messages stand, and its span is kept."""
    step = {"gen_ai.operation.name": "chain", "langsmith.span.kind": "chain", "gen_ai.prompt": json.dumps(given)}
    model = {"gen_ai.operation.name": "chat", "gen_ai.completion": json.dumps([{"role": "assistant", "content": "Hi"}])}
    record = otlp(step, model)
    assert missing(record) == ()
    assert load(record).final_response == "Hi"


def test_a_message_as_a_pair() -> None:
    """LangChain takes a message as its role and its text."""
    given, said = {"messages": [["human", "2+2?"]]}, [{"role": "assistant", "content": "4"}]
    model = {"gen_ai.operation.name": "chat", "gen_ai.prompt": json.dumps(given), "gen_ai.completion": json.dumps(said)}
    assert [(one.role, one.content) for one in load(otlp(model)).messages] == [("user", "2+2?"), ("assistant", "4")]


@pytest.mark.parametrize(("kind", "name"), [("tool-getWeather", {}), ("dynamic-tool", {"toolName": "getWeather"})])
def test_parts_of_ui_messages(kind: str, name: dict[str, str]) -> None:
    """A part of Vercel's UI messages is a call with its result; one without output was requested and never ran."""
    call = {"type": kind, **name, "toolCallId": "c", "state": "output-available", "input": {"city": "Oslo"}}
    states: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({"output": {"sky": "clear"}}, ("getWeather",)),
        ({"state": "output-error", "errorText": "no connection"}, ("getWeather",)),
        ({"state": "output-error", "errorText": "no city", "rawInput": "{"}, ()),
        ({"state": "input-available"}, ()),
    ]
    for more, used in states:
        parts = [{"type": "step-start"}, {**call, **more}, {"type": "text", "text": "Sunny."}]
        found = load(
            [{"role": "user", "parts": [{"type": "text", "text": "?"}]}, {"role": "assistant", "parts": parts}]
        )
        assert (found.tools_requested, found.tools_used) == (("getWeather",), used)
        assert found.final_response == "Sunny."


def test_custom_tool_calls() -> None:
    """A custom tool of Chat Completions is given a text in place of arguments."""
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    chat = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "assistant", "content": "One."},
    ]
    found = load(chat)
    assert found.tool_calls is not None
    assert [(one.name, one.arguments, one.executed) for one in found.tool_calls] == [("sql", "SELECT 1", True)]

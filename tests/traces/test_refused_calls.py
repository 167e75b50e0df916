"""Calls of LangChain's agents that were refused, changed or interrupted, as instrumentations write them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from adjudge.model import Trajectory
from adjudge.traces import load
from adjudge.workflow import check_workflow

_METADATA = '{"lc_agent_name": "clerk", "langgraph_node": "%s", "langgraph_checkpoint_ns": "%s:1"}'
_EDIT = (
    "Note: a human reviewer replaced this tool call before it ran. The call recorded in your message is the one you "
    "produced, not the one that executed. This was intentional and authorized. Do not re-issue your original call. "
    'Executed instead: book with arguments {"city": "Milan"}.\n\nTool response:\nBooked.'
)
REFUSED = [
    "User rejected the tool call for `book` with reason: Too expensive",
    "User rejected the tool call for `book` with id c2",
    "Tool call limit exceeded. Do not call 'book' again.",
    "Error: book is not a valid tool, try one of [rate].",
    "Tool call book with id c2 could not be executed - arguments were malformed or truncated.",
]


def _span(number: int, name: str, attributes: Mapping[str, str], *events: str) -> dict[str, Any]:
    held = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    times: dict[str, Any] = {"startTimeUnixNano": str(number * 10), "endTimeUnixNano": str(number * 10 + 5)}
    found = []
    for event in events:
        kind, _, message = event.partition(": ")
        about = {"exception.type": kind, "exception.message": message}
        pairs = [{"key": key, "value": {"stringValue": value}} for key, value in about.items() if value]
        found.append({"name": "exception", "timeUnixNano": "1", "attributes": pairs})
        times |= {"status": {"code": 2, "message": message}} if message else {}
    top = {} if number == 0 else {"parentSpanId": f"{1:016x}"}
    return {"traceId": "a" * 32, "spanId": f"{number + 1:016x}", "name": name, **times, **top} | {
        "attributes": held,
        "events": found,
    }


def _openinference(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Trajectory:
    """Return what a trace shows whose model calls were given ever more of the messages."""
    spans = [_span(0, "clerk", {"openinference.span.kind": "CHAIN"})]
    spans[0]["endTimeUnixNano"] = "9999"
    for number, message in enumerate(messages, 1):
        if message["role"] == "assistant":
            about = {"openinference.span.kind": "LLM", "metadata": _METADATA % ("model", "model")}
            sides = [("input", index, one) for index, one in enumerate(messages[: number - 1])]
            for side, index, one in (*sides, ("output", 0, message)):
                start = f"llm.{side}_messages.{index}.message."
                about |= {start + key: one[key] for key in ("role", "content", "tool_call_id") if key in one}
                if "call" in one:
                    identity, name, arguments = one["call"]
                    start += "tool_calls.0.tool_call."
                    about |= {f"{start}id": identity, f"{start}function.name": name}
                    about[f"{start}function.arguments"] = json.dumps(arguments)
            spans.append(_span(number * 10, "M", about))
    for tool in tools:
        about = {"openinference.span.kind": "TOOL", "metadata": _METADATA % ("tools", "tools")}
        about |= {"tool.name": tool["name"], "input.value": tool["given"]}
        if "id" in tool:
            data = {"content": "ok", "type": "tool", "tool_call_id": tool["id"], "status": "success"}
            about["output.value"] = json.dumps({"type": "tool", "data": data})
        spans.append(_span(tool["at"], tool["name"], about, *tool.get("events", ())))
    return load({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


def _openllmetry(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Trajectory:
    node = "traceloop.association.properties.langgraph_node"
    spans = [_span(0, "invoke_agent clerk", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"})]
    spans[0]["endTimeUnixNano"] = "9999"

    def written(one: Mapping[str, Any]) -> dict[str, Any]:
        if "call" in one:
            part = dict(zip(("id", "name", "arguments"), one["call"], strict=True))
            return {"role": one["role"], "parts": [{"type": "tool_call", **part}]}
        if one["role"] == "tool":
            part = {"type": "tool_call_response", "id": one["tool_call_id"], "response": one["content"]}
            return {"role": "tool", "parts": [part]}
        return {"role": one["role"], "parts": [{"type": "text", "content": one["content"]}]}

    for number, message in enumerate(messages, 1):
        if message["role"] == "assistant":
            about = {"gen_ai.operation.name": "chat", node: "model"}
            about["gen_ai.input.messages"] = json.dumps([written(one) for one in messages[: number - 1]])
            about["gen_ai.output.messages"] = json.dumps([written(message)])
            spans.append(_span(number * 10, "M.chat", about))
    for tool in tools:
        about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool["name"], node: "tools"}
        given: Any = tool["given"]
        inputs = json.loads(given) if given.startswith("{") else {tool["key"]: given}
        kwargs = {"name": None, "tool_call_id": tool.get("id")}
        held: dict[str, Any] = {
            "input_str": repr(inputs),
            "tags": [],
            "metadata": {},
            "inputs": inputs,
            "kwargs": kwargs,
        }
        about["gen_ai.tool.call.arguments"] = json.dumps(held)
        spans.append(_span(tool["at"], f"execute_tool {tool['name']}", about, *tool.get("events", ())))
    return load({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


def _conversation(words: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Book it"},
        {"role": "assistant", "call": ("c1", "rate", {"currency": "EUR"})},
        {"role": "tool", "tool_call_id": "c1", "content": "1.1"},
        {"role": "assistant", "call": ("c2", "book", arguments)},
        {"role": "tool", "tool_call_id": "c2", "content": words},
        {"role": "assistant", "content": "Done."},
    ]


RATE = {"name": "rate", "given": "EUR", "key": "currency", "id": "c1", "at": 25}
READERS = [_openinference, _openllmetry]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("words", REFUSED)
def test_a_refused_call_was_not_executed(read: Any, words: str) -> None:
    """LangChain's own words in the place of a result are none, where the tool has no span."""
    found = read(_conversation(words, {"city": "Rome"}), [RATE])
    assert (found.tools_requested, found.tools_used) == (("rate", "book"), ("rate",))
    assert not found.unknown
    # A tool that ran may say the same.
    ran = {"name": "book", "given": "Rome", "key": "city", "id": "c2", "at": 45}
    assert read(_conversation(words, {"city": "Rome"}), [RATE, ran]).tools_used == ("rate", "book")


@pytest.mark.parametrize("read", READERS)
def test_a_result_without_a_span_is_open(read: Any) -> None:
    """What a policy or a person wrote in a tool's place does not show whether the tool ran."""
    found = read(_conversation("Blocked by policy", {"city": "Rome"}), [RATE])
    assert "'book' has a result and no span" in found.unknown["tools"]
    assert check_workflow({"tools_should_exclude": ["book"]}, found).passed is None
    assert check_workflow({"tools_should_include": ["rate", "book"]}, found).passed is None
    # Where no tool has a span, the instrumentation writes none.
    assert read(_conversation("Booked", {"city": "Rome"}), []).tools_used == ("rate", "book")


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("more", [{}, {"nights": 2}])
def test_a_call_that_a_person_changed(read: Any, more: Mapping[str, Any]) -> None:
    """The arguments with which a tool ran count, not those that the model asked for."""
    asked = {"city": "Rome", **more}
    given = json.dumps({"city": "Milan", **more}) if more else "Milan"
    ran = {"name": "book", "given": given, "key": "city", "id": "c2", "at": 45}
    found = read(_conversation(_EDIT, asked), [RATE, ran])
    assert found.tool_calls[1].arguments == {"city": "Milan", **more}
    # Where contents were not sent, nobody knows.
    if read is _openinference:
        hidden = read(_conversation(_EDIT, asked), [RATE, {**ran, "given": "__REDACTED__"}])
        assert "a person changed call 'book'" in hidden.unknown["arguments"]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("error", "used", "unknown"),
    [
        ("pydantic_core._pydantic_core.ValidationError: 1 validation error for book\ncity\n  Field required", 1, []),
        ("pydantic_core._pydantic_core.ValidationError: 2 validation errors for bookSchema\ncity\n  Field", 1, []),
        # It may be the type of the tool's arguments, or one that the tool uses.
        ("pydantic_core._pydantic_core.ValidationError: 1 validation error for Trip\ncity", 1, ["inside"]),
        ("ValueError: no connection", 2, []),
    ],
)
def test_arguments_that_do_not_fit_in_traces(read: Any, error: str, used: int, unknown: list[str]) -> None:
    """LangChain opens the span of a tool before it reads the arguments: where they do not fit, the tool never ran."""
    words = "Error invoking tool 'book' with kwargs {'town': 'Rome'} with error:\n city: Field required"
    refused = {"name": "book", "given": "Rome", "key": "town", "at": 45, "events": [error]}
    found = read(_conversation(words, {"town": "Rome"}), [RATE, refused])
    assert found.tools_used == ("rate", "book")[:used]
    assert found.tools_requested == ("rate", "book")
    assert sorted(found.unknown) == unknown
    verdict = None if unknown else used == 2
    assert check_workflow({"tools_should_include": ["rate", "book"]}, found).passed is verdict
    assert check_workflow({"tools_should_exclude": ["book"]}, found).passed is (None if unknown else not verdict)


_SCHEMA = '{"properties": {"city": {"type": "string"}, "nights": {"type": "integer"}}, "required": ["city"]}'


@pytest.mark.parametrize(
    ("given", "schema", "passed"),
    [
        ('{"city": ', None, False),
        ("[1]", None, False),
        ('{"town": "Rome"}', None, None),
        ('{"town": "Rome"}', _SCHEMA, False),
        ('{"city": "Rome"}', _SCHEMA, True),
        ('{"city": "Rome", "nights": "many"}', _SCHEMA, None),
        ("__REDACTED__", _SCHEMA, None),
    ],
)
def test_errors_of_openai_agents(given: str, schema: str | None, passed: bool | None) -> None:
    """OpenAI Agents says the same of a tool that failed and of arguments that do not fit: its schema tells them."""
    words = "An error occurred while running the tool. Please try again."
    about = {"openinference.span.kind": "TOOL", "tool.name": "book", "input.value": given, "output.value": words}
    about |= {} if schema is None else {"tool.parameters": schema}
    spans = [_span(0, "clerk", {"openinference.span.kind": "AGENT", "agent.name": "clerk"}), _span(1, "book", about)]
    spans[0]["endTimeUnixNano"] = "99"
    spans[1]["status"] = {"code": 2, "message": "Error running tool (non-fatal)"}
    scope = {"name": "openinference.instrumentation.openai_agents"}
    found = load({"resourceSpans": [{"scopeSpans": [{"scope": scope, "spans": spans}]}]})
    assert check_workflow({"tools_should_include": ["book"]}, found).passed is passed
    assert check_workflow({"tools_should_exclude": ["book"]}, found).passed is (None if passed is None else not passed)


def test_what_a_framework_adds_to_arguments() -> None:
    """Arguments that nobody asked for, or that are written as texts, are no change."""
    ran = {"name": "book", "given": '{"city": "Rome", "nights": "2", "state": {}}', "id": "c2", "at": 45}
    found = _openinference(_conversation("Booked", {"city": "Rome", "nights": 2}), [RATE, ran])
    assert found.tool_calls is not None
    assert found.tool_calls[1].arguments == {"city": "Rome", "nights": 2}


@pytest.mark.parametrize(("name", "questions"), [("book", ["arguments"]), ("ask", ["arguments", "tools"])])
def test_a_changed_call_in_messages(name: str, questions: list[str]) -> None:
    """Messages do not show the arguments with which a changed call ran; nor its tool, where that was changed too."""
    call = {"id": "c", "function": {"name": "book", "arguments": '{"city": "Rome"}'}}
    chat = [
        {"role": "user", "content": "Book it"},
        {"role": "assistant", "name": "clerk", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": _EDIT.replace("book with", f"{name} with")},
        {"role": "assistant", "name": "clerk", "content": "Done."},
    ]
    assert sorted(load(chat).unknown) == questions
    rule = {"tools_should_include": ["book"], "tools_arguments": {"book": {"subset": {"city": "Rome"}}}}
    assert check_workflow(rule, load(chat)).passed is None


def test_an_interrupt_inside_a_tool() -> None:
    """A tool that waits for a person is called again when it goes on: one call, whose first span has no id."""
    kind = "langgraph.errors.GraphInterrupt"
    pay: dict[str, Any] = {"name": "pay", "given": '{"amount": 5}'}
    chat: list[dict[str, Any]] = [
        {"role": "user", "content": "Pay"},
        {"role": "assistant", "call": ("c1", "pay", {"amount": 5})},
        {"role": "tool", "tool_call_id": "c1", "content": "paid"},
        {"role": "assistant", "content": "Done."},
    ]
    found = _openinference(chat, [{**pay, "at": 22, "events": [kind]}, {**pay, "at": 25, "id": "c1"}])
    assert found.tools_used == ("pay",)


@pytest.mark.parametrize("read", READERS)
def test_answers_that_did_not_fit_in_traces(read: Any) -> None:
    """The answer of a ToolStrategy is not a tool, nor is an attempt that did not fit its schema."""
    words = "Error: Failed to parse structured output for tool 'book': 1 validation error"
    chat = [*_conversation(words, {"city": 1})[:-1], {"role": "assistant", "call": ("c3", "book", {"city": "Rome"})}]
    found = read(chat, [RATE])
    assert (found.tools_requested, found.tools_used, sorted(found.unknown)) == (("rate",), ("rate",), ["answer"])


@pytest.mark.parametrize("name", ["final_result", "trip_report"])
@pytest.mark.parametrize("is_function", [False, True])
def test_output_tools_of_pydantic_ai(name: str, *, is_function: bool) -> None:
    """A tool by which a model gives its answer is not a tool, whatever its name, as the request's parameters say."""
    parameters = json.dumps({"function_tools": [{"name": "rate"}], "output_tools": [{"name": name}]})
    about = {"gen_ai.operation.name": "chat", "model_request_parameters": parameters}

    def asks(identity: str, tool: str) -> str:
        part = {"type": "tool_call", "id": identity, "name": tool, "arguments": {"city": "Rome"}}
        return json.dumps([{"role": "assistant", "parts": [part]}])

    answer = {"type": "tool_call_response", "id": "c2", "name": name, "result": [{"type": "int_parsing"}]}
    given = json.dumps([*json.loads(asks("c2", name)), {"role": "user", "parts": [answer]}])
    spans = [
        _span(0, "invoke_agent ops", {"gen_ai.operation.name": "invoke_agent", "final_result": '{"city":"Rome"}'}),
        _span(1, "chat", {**about, "gen_ai.output.messages": asks("c1", "rate")}),
        _span(2, "running tool", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "rate"}),
        _span(3, "chat", {**about, "gen_ai.output.messages": asks("c2", name)}),
        _span(5, "chat", {**about, "gen_ai.input.messages": given, "gen_ai.output.messages": asks("c3", name)}),
    ]
    if is_function:
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": "c3"}
        spans.append(_span(6, "running output function", tool))
    spans[0]["endTimeUnixNano"] = "99"
    found = load({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "pydantic-ai"}, "spans": spans}]}]})
    assert (found.tools_requested, found.tools_used) == (("rate",), ("rate",))

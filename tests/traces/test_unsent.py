"""What spans should hold and do not is unknown, with what to do about it: it is never a bad agent."""

from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall, Trajectory
from adjudge.traces import Record, Span, SpanKind, assemble, load
from adjudge.traces._frameworks import how_to_send
from traces.encodings import value_of

CALL = ToolCall("search", {"q": "a"}, "c1")
ASKS = Message("assistant", None, (CALL,))


def run(*spans: Span) -> Trajectory:
    """Assemble spans."""
    return assemble(Record("t", spans))


def span(identity: str, kind: SpanKind, start: int, parent: str | None = None, **more: Any) -> Span:
    """Return a span that is called as its kind is."""
    return Span(identity, parent, kind, more.pop("name", kind), start, more.pop("end", start + 1), **more)


def says(start: int, *messages: Message, **more: Any) -> Span:
    """Return a model call; without messages, one whose reply was not sent."""
    return span(f"llm {start}", "llm", start, output=messages, **more)


AGENT = span("a", "agent", 0, end=99)


def test_a_reply_that_was_not_sent() -> None:
    """Where the last model call holds no reply, the answer is unknown: an earlier reply is not the last one."""
    found = run(AGENT, says(1, Message("assistant", "Let me see."), parent="a"), says(3, parent="a", unsent="do this"))
    assert (found.final_response, found.unknown) == (None, {"answer": "do this"})


def test_an_agent_says_what_its_model_calls_do_not() -> None:
    """Where no reply was sent, what an agent answered is the answer; of several, the last."""
    other = span("b", "agent", 5, end=7, text="Rome")
    found = run(span("r", "other", 0, end=99), span("a", "agent", 1, "r", text="Paris"), says(2, parent="a"), other)
    assert (found.final_response, dict(found.unknown)) == ("Rome", {})


def test_a_run_that_failed_has_no_answer() -> None:
    """A run that ended in an error gave no answer, and that is known."""
    assert run(span("a", "agent", 0, error="boom"), says(1, parent="a")).unknown == {}
    assert run(AGENT, says(1, parent="a", error="boom")).unknown == {}


def test_a_call_seen_from_further_out_is_not_silent() -> None:
    """A model call with another one inside is the same call: one of them holding the reply is enough."""
    inner = says(2, Message("assistant", "Paris"), parent="llm 1")
    found = run(AGENT, says(1, parent="a"), inner)
    assert (found.final_response, dict(found.unknown)) == ("Paris", {})
    found = run(AGENT, says(1, Message("assistant", "Paris"), parent="a"), says(2, parent="llm 1"))
    assert (found.final_response, dict(found.unknown)) == ("Paris", {})


def test_what_a_tool_said_may_be_the_answer() -> None:
    """Where the last model call only asked for tools and they ran, nobody can tell what was answered."""
    tool = span("t", "tool", 3, "a", name="search", call_id="c1")
    assert "answer" in run(AGENT, says(1, ASKS, parent="a"), tool).unknown
    assert run(AGENT, says(1, ASKS, parent="a")).unknown == {}  # it was never executed


def test_arguments_that_were_not_sent() -> None:
    """A tool's arguments are unknown where neither its span nor a request has them; where one has, they are known."""
    tool = span("t", "tool", 3, "a", name="search", call_id="c1", unsent="do this")
    reply = says(5, Message("assistant", "Paris"), parent="a")
    assert run(AGENT, tool, reply).unknown == {"arguments": "do this"}
    assert run(AGENT, says(1, ASKS, parent="a"), tool, reply).unknown == {}


def test_tools_that_cannot_be_seen() -> None:
    """Model calls alone, without replies, cannot show tools; beside spans of agents, tools would have spans as well."""
    assert set(run(says(1)).unknown) == {"tools", "arguments", "answer"}
    assert set(run(AGENT, says(1, parent="a")).unknown) == {"answer"}
    blind = span("b", "agent", 0, text="Paris", is_blind=True, unsent="do this")
    assert run(blind).unknown == {"tools": "do this", "arguments": "do this"}
    assert run(blind, says(1, Message("assistant", "Paris"), parent="b")).unknown == {}


def test_a_tool_of_the_framework_is_not_a_tool() -> None:
    """The tool by which a framework ends a run is not used or requested; its text is the answer."""
    ends = span("t", "tool", 3, "a", name="search", call_id="c1", is_internal=True, text="Paris")
    found = run(span("r", "other", 0, end=99), says(1, ASKS), ends)
    assert (found.tool_calls, found.final_response) == ((), "Paris")


def test_the_words_of_the_model_count() -> None:
    """An answer that differs from the model's words only in the white space around it is these words."""
    found = run(span("a", "agent", 0, end=99, text="Paris.\n"), says(1, Message("assistant", "Paris."), parent="a"))
    assert found.final_response == "Paris."


def test_one_span_for_all_turns_of_an_agent() -> None:
    """A model call with the tools inside it is several: what it was given is its own, in the order of the requests."""
    first = Message("assistant", None, (ToolCall("find", {}, "c1"),))
    last = ToolCall("book", {"n": 2}, "c2")
    given = (first, Message("tool", "x", tool_call_id="c1"), Message("assistant", None, (last,)))
    all_of_it = span("m", "llm", 1, "a", input=given, output=(Message("assistant", "Booked.", (last,)),))
    tools = [span(f"t{n}", "tool", 1 + n, "m", name=name, call_id=f"c{n}") for n, name in ((1, "find"), (2, "book"))]
    found = run(AGENT, all_of_it, *tools)
    assert (found.tools_requested, found.tools_used) == (("find", "book"), ("find", "book"))
    assert found.final_response == "Booked."


def test_agents_inside_an_agent_that_is_one_call() -> None:
    """Where one span is all of an agent's model calls, another such span inside it is another agent's."""
    outer = span("o", "llm", 1, end=9, is_whole=True, text="Rome", output=(Message("assistant", "Rome"),))
    inner = span("i", "llm", 2, "o", is_whole=True, text="x", output=(ASKS, Message("tool", "r", tool_call_id="c1")))
    found = run(outer, inner)
    assert (found.tools_used, found.final_response) == (("search",), "Rome")
    assert assemble(Record("t", (outer, inner)), agents=["llm"]).agents_called == ("llm",)


# --- traces of one run


def trace(number: int, *links: int, parent: int = 0, scope: str = "", **attributes: Any) -> dict[str, Any]:
    """Return a document with one span of one trace, which links to others."""
    found = {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
    }
    times = {"name": "step", "startTimeUnixNano": str(number), "endTimeUnixNano": str(number + 1)}
    held = [{"key": key.replace("__", "."), "value": value_of(value)} for key, value in attributes.items()]
    linked = [{"traceId": f"{link:032x}", "spanId": f"{link:016x}"} for link in links]
    spans = [{**found, **times, "attributes": held, "links": linked}]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": spans}]}]}


def agent(name: str) -> dict[str, Any]:
    """Return the attributes of an agent that answers with its name."""
    said = f'[{{"role": "assistant", "parts": [{{"type": "text", "content": "{name}"}}]}}]'
    return {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": name, "gen_ai__output__messages": said}


@pytest.mark.parametrize(
    "second",
    [
        trace(2, 1, **agent("b")),
        trace(2, parent=1, **agent("b")),
        trace(2, gen_ai__conversation__id="c", **agent("b")),
    ],
    ids=["link", "parent", "conversation"],
)
def test_traces_of_one_run(second: dict[str, Any]) -> None:
    """Traces that are linked, or of one conversation, are one run; one of them can be asked for."""
    documents = [trace(1, gen_ai__conversation__id="c", **agent("a")), second]
    found = load(documents)
    assert (found.agents_called, found.complete) == (("a", "b"), True)
    assert load(documents, trace=f"{1:032x}").agents_called == ("a",)


def test_a_session_is_more_than_a_run() -> None:
    """Runs may share a session: those of a user, of a day, or all of them where nobody set one."""
    with pytest.raises(TrajectoryError, match="holds 2 runs"):
        load([trace(number, session__id="default", **agent("a")) for number in (1, 2)])


def test_a_trace_in_which_nobody_did_anything() -> None:
    """A trace that only builds agents is not a run."""
    built = trace(1, gen_ai__operation__name="create_agent", gen_ai__agent__name="a")
    assert load([built, trace(2, **agent("a"))]).agents_called == ("a",)


def test_runs_that_nothing_joins() -> None:
    """Several runs are refused with what to do: name one, or put a span around what is one."""
    with pytest.raises(
        TrajectoryError, match=r"holds 2 runs .* say which with trace=; if they are one run, put a span"
    ):
        load([trace(1, **agent("a")), trace(2, **agent("b"))])


def field(number: int, content: bytes) -> bytes:
    """Return a protobuf field of bytes."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def test_scopes_and_links_in_protobuf() -> None:
    """Protobuf holds the same: who wrote a span, and which traces it leads to."""

    def request(number: int, *links: int) -> bytes:
        name = field(9, field(1, b"gen_ai.operation.name") + field(2, field(1, b"chat")))
        span_ = field(1, bytes([0] * 15 + [number])) + field(2, bytes([0] * 7 + [number])) + name
        span_ += b"".join(field(13, field(1, bytes([0] * 15 + [link]))) for link in links)
        span_ += bytes([7 << 3 | 1]) + number.to_bytes(8, "little") + bytes([8 << 3 | 1]) + (9).to_bytes(8, "little")
        return field(1, field(2, field(1, field(1, b"agent_framework")) + field(2, span_)))

    found = load([request(1), request(2, 1)], format="otlp-protobuf")
    assert found.unknown["answer"] == how_to_send("agent_framework")


# --- what to do


@pytest.mark.parametrize("scope", ["gcp.vertex.agent", "agent_framework", "autogen-core", "some.other", ""])
def test_what_to_do(scope: str) -> None:
    """The reason names the switch of the instrumentation that wrote the span."""
    chat = trace(1, scope=scope, gen_ai__operation__name="chat")
    assert load(chat).unknown["answer"] == how_to_send(scope)
    assert how_to_send(scope) in load({**chat, "more": 1}).unknown.values()  # read in the slower way


def test_responses_of_the_agents_sdk() -> None:
    """The SDK's own export of a response has no messages: the answer is unknown, with what to do."""
    times = {"started_at": "2026-01-01T00:00:01", "ended_at": "2026-01-01T00:00:02"}
    export = {"object": "trace.span", "id": "1", "trace_id": "t", "span_data": {"type": "response"}, **times}
    assert "tracing processor" in load([export]).unknown["answer"]


# --- contents that instrumentations leave out or write over

CHAT = {"gen_ai__operation__name": "chat"}
RAN: dict[str, Any] = {
    "gen_ai__operation__name": "execute_tool",
    "gen_ai__tool__name": "f",
    "gen_ai__tool__call__id": "c",
}
HIDDEN = "__REDACTED__"


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference__span__kind": "LLM", "output__value": HIDDEN},
        {
            "openinference__span__kind": "LLM",
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": HIDDEN,
        },
        {"openinference__span__kind": "AGENT", "agent__name": "a", "output__value": HIDDEN},
        {**CHAT, "gen_ai__output__messages": '[{"role": "assistant", "parts": [{"type": "text"}]}]'},
        {"gcp__vertex__agent__llm_request": "{}", "gcp__vertex__agent__llm_response": "{}", **CHAT},
        {
            **CHAT,
            "gen_ai__output__messages": '[{"role": "assistant", "parts": [{"type": "tool_call", "name": "end"}]}]',
        },
    ],
    ids=["openinference", "its text", "its agent", "pydantic-ai", "adk", "pydantic-ai's structure"],
)
def test_a_hidden_answer_is_unknown(attributes: dict[str, Any]) -> None:
    """What instrumentations write in the place of a hidden reply is not the reply, and not an empty one."""
    found = load(trace(1, **attributes))
    assert (found.final_response, "answer" in found.unknown) == (None, True)


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference__span__kind": "TOOL", "tool__name": "f", "input__value": HIDDEN, "output__value": HIDDEN},
        {**RAN, "gcp__vertex__agent__tool_call_args": "{}", "gcp__vertex__agent__tool_response": "{}"},
        RAN,
    ],
    ids=["openinference", "adk", "gen_ai"],
)
def test_hidden_arguments_are_unknown(attributes: dict[str, Any]) -> None:
    """What is written in the place of hidden arguments is not the arguments: not a text, and not none."""
    found = load(trace(1, **attributes))
    assert (found.tools_used, "arguments" in found.unknown) == (("f",), True)


def test_arguments_that_are_empty_are_known() -> None:
    """A call without arguments that has a result was sent with its contents."""
    result: dict[str, Any] = {
        "gcp__vertex__agent__tool_call_args": "{}",
        "gcp__vertex__agent__tool_response": '{"result": 1}',
    }
    assert "arguments" not in load(trace(1, **RAN, **result)).unknown
    assert "arguments" not in load(trace(1, **RAN, gen_ai__tool__call__arguments="{}")).unknown


def test_an_empty_reply_is_a_reply() -> None:
    """A model that says nothing said nothing: that is its answer."""
    empty: dict[str, Any] = {
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": "",
    }
    found = load(trace(1, openinference__span__kind="LLM", **empty))
    assert (found.final_response, "answer" in found.unknown) == ("", False)

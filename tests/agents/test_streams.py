"""Answers that are streamed: put together when they are whole, an error when they are not."""

import json
from typing import Any

import pytest

from adjudge.agents import HttpAgent
from adjudge.errors import AdjudgeError, DataError
from adjudge.http import Limits
from adjudge.workflow import check_workflow
from agent_server import Reply, respond, serving

EVENTS = "text/event-stream; charset=utf-8"


def data(*payloads: Any) -> bytes:
    """Return payloads as events; texts as they are, everything else as JSON."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in payloads]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def delta(text: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a part of an answer, as OpenAI sends it."""
    return {"choices": [{"index": 0, "delta": {"content": text}, **more}]}


WHOLE = {
    "openai": data(delta("Par"), delta("is"), "[DONE]"),
    "openai, finished": data(delta("Par"), delta("is"), delta(finish_reason="stop"), {"choices": [], "usage": {}}),
    "open after done": data(delta("Paris")) + b"data: [DONE]\n",
    "anthropic": data(
        {"type": "message_start", "message": {"role": "assistant"}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Par"}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "is"}},
        {"type": "message_stop"},
    ),
    "responses": data(
        {"type": "response.reasoning.delta", "delta": "France, so ..."},
        {"type": "response.output_text.delta", "delta": "Paris"},
        {"type": "response.output_text.done", "text": "Paris"},
        {"type": "response.completed"},
    ),
    "objects": data({"delta": "Par"}, {"delta": "is"}),
    "tokens": data({"token": "Par"}, {"token": "is"}, {"type": "ping"}),
    "whole at the end": data({"content": "Par"}, {"content": "is"}, {"content": "Paris"}),
    "events without data": data({"delta": "Paris"}) + b"event: end\ndata:\n\n",
    "one object": data({"response": "Paris"}),
    "the text so far": data({"response": "P"}, {"response": "Par"}, {"response": "Paris"}),
    "choices out of order": data(
        {"choices": [{"index": 1, "delta": {"content": "Rome"}}, {"index": 0, "delta": {"content": "Paris"}}]},
        {"choices": [{"index": 1, "finish_reason": "stop"}, {"index": 0, "finish_reason": "stop"}]},
    ),
    "JSON texts": data('"Par"', '"is"'),
    "plain": b": comment\nid: 7\ndata: Par\n\nretry: 5\ndata:is\n\n",
    "CRLF": b"\xef\xbb\xbfdata: Par\r\n\r\ndata: is\r\n\r\n",
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_streams(name: str) -> None:
    """The parts of a stream are one answer."""
    with serving(lambda _: Reply(WHOLE[name], EVENTS)) as url:
        assert respond(HttpAgent(url)).final_response == "Paris"


def test_plain_text() -> None:
    """Words that look like JSON are words; spaces and line ends of a plain text stay."""
    body = b"data: The\n\ndata:  answer\n\ndata:  is \n\ndata: 42\n\ndata: .\ndata: Sure\n\n"
    with serving(lambda _: Reply(body, EVENTS)) as url:
        assert respond(HttpAgent(url)).final_response == "The answer is 42.\nSure"


BROKEN = {
    "a second completion without its end": (
        data(delta("Let me look. "), delta(finish_reason="tool_calls"), delta("Par")),
        "before the agent said that it was done",
    ),
    "without its end": (data(delta("Par")), "before the agent said that it was done"),
    "anthropic without its end": (WHOLE["anthropic"].split(b'data: {"type": "message_stop"')[0], "that it was done"),
    "half an object": (data({"delta": "Par"}, '{"delta": "i'), "some of its events are JSON objects"),
    "half a line": (data({"delta": "Par"}) + b'data: {"del', "in the middle of a line"),
    "an error": (data(delta("Par"), {"error": {"message": "overloaded"}}), "reports an error: .*overloaded"),
    "an error event": (data(delta("Par")) + b"event: error\ndata: out of memory\n\n", "an error: out of memory"),
    "nothing": (b": ping\n\n", "it holds no text"),
    "no text": (data({"type": "ping"}), "--field response=PATH"),
    "two texts": (data({"message": "starting"}, {"token": "Paris"}), "under message and token: name the answer"),
    "withheld": (data(delta("Par"), delta(finish_reason="content_filter")), "withheld by a content filter"),
    "lists": (data('[{"type": "AIMessageChunk", "content": "Par"}, {}]'), "JSON lists, which are not known"),
    "texts of two events": (
        b'event: status\ndata: "searching"\n\nevent: token\ndata: "Paris"\n\n',
        r"several events \(status and token\)",
    ),
    "not UTF-8": (b"data: \xff\n\n", "not UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_streams(name: str) -> None:
    """A stream that breaks off, or whose answer is not plain, is an error and never half an answer."""
    body, why = BROKEN[name]
    with serving(lambda _: Reply(body, EVENTS)) as url, pytest.raises(DataError, match=why):
        respond(HttpAgent(url))


def test_a_connection_that_breaks() -> None:
    """A connection that ends before the reply does is an error, however whole its events look."""
    reply = Reply(data({"delta": "Par"}), EVENTS, missing=10)
    with serving(lambda _: reply) as url, pytest.raises(AdjudgeError, match="stopped in the middle"):
        respond(HttpAgent(url, limits=Limits(attempts=1)))


def test_a_connection_that_stays_open() -> None:
    """Nobody waits for more once a stream has said that it is done."""
    reply = Reply(data(delta("Paris"), "[DONE]"), EVENTS, missing=10)
    with serving(lambda _: reply) as url:
        assert respond(HttpAgent(url, limits=Limits(attempts=1))).final_response == "Paris"


def test_fields_of_a_stream() -> None:
    """A field has its place in every event: texts are joined, of the others the last one counts."""
    body = data({"d": {"t": "Par"}, "n": {"message": "x"}}, {"d": {"t": "is"}}, {"used": [{"tool": "search"}]})
    fields = {"response": "$.d.t", "tools_used": "$.used[*].tool"}
    with serving(lambda _: Reply(body, EVENTS)) as url:
        record = respond(HttpAgent(url, fields=fields))
    assert (record.final_response, record.tools_used) == ("Paris", ("search",))


def test_fields_beside_the_text() -> None:
    """An event may have the fields of an answer under their usual names."""
    body = data({"token": "Paris"}, {"agents_called": ["guide"], "tools_used": ["search"], "trace_id": "t1"})
    with serving(lambda _: Reply(body, EVENTS)) as url:
        record = respond(HttpAgent(url))
    assert (record.agents_called, record.tools_used, record.trace_id) == (("guide",), ("search",), "t1")


def test_calls_of_a_stream() -> None:
    """Calls of tools, of which each event has a part, are put together."""
    parts = [
        {"index": 0, "id": "c1", "function": {"name": "search", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"q": '}},
        {"index": 0, "function": {"arguments": '"France"}'}},
    ]
    body = data(*({"choices": [{"delta": {"tool_calls": [one]}}]} for one in parts), delta("Paris"), "[DONE]")
    with serving(lambda _: Reply(body, EVENTS)) as url:
        record = respond(HttpAgent(url))
    (call,) = record.tool_calls or ()
    assert (call.name, call.arguments, record.final_response) == ("search", {"q": "France"}, "Paris")


@pytest.mark.parametrize(
    ("more", "passed"), [([], None), ([{"tools_used": ["search"]}], True), ([{"tools_used": []}], False)]
)
def test_calls_without_results(more: list[Any], passed: bool | None) -> None:
    """Deltas show what the model asked for, not what the agent ran: that is unknown, unless another event says it."""
    asked = {"index": 0, "id": "c1", "function": {"name": "search", "arguments": "{}"}}
    body = data({"choices": [{"delta": {"tool_calls": [asked]}}]}, delta("Paris"), *more, "[DONE]")
    with serving(lambda _: Reply(body, EVENTS)) as url:
        record = respond(HttpAgent(url))
    found = check_workflow({"tools_should_include": ["search"]}, record)
    assert found.passed is passed
    if passed is None:
        assert found.requested_not_executed == ()
        assert check_workflow({"tools_should_exclude": ["search"]}, record).passed is None


def test_a_stream_without_tools() -> None:
    """Events that hold nothing that is known of tools say how to send it; so does a place that is not there."""
    body = data({"type": "tool_start", "name": "search"}, delta("Paris"), "[DONE]")
    with serving(lambda _: Reply(body, EVENTS)) as url:
        assert "send one with tools_used or messages" in respond(HttpAgent(url)).unknown["tools"]
        named = respond(HttpAgent(url, fields={"tools_used": "$.tool"}))
        assert "nothing at $.tool, where --field tools_used is" in named.unknown["tools"]
    with serving(lambda _: Reply(b'{"response": "Paris", "steps": []}', "application/json")) as url:
        named = respond(HttpAgent(url, fields={"tools_used": "$.step[*].name"}))
        assert "there it has 'response', 'steps'" in named.unknown["tools"]
    with serving(lambda _: Reply(b'{"messages": [{"role": "assistant", "content": "x"}]}', "application/json")) as url:
        shown = respond(HttpAgent(url, fields={"tools_used": "$.tool"}))
        assert "--field" not in str(dict(shown.unknown))


def test_calls_of_several_completions() -> None:
    """An index that is used again with another id is another call; calls without a text are an empty response."""
    parts = [
        {"index": 0, "id": "c1", "function": {"name": "search", "arguments": "{}"}},
        {"index": 0, "id": "c2", "function": {"name": "re"}},
        {"index": 0, "id": "c2", "function": {"name": "ad", "arguments": "{}"}},
    ]
    body = data(*({"choices": [{"delta": {"tool_calls": [one]}}]} for one in parts), "[DONE]")
    with serving(lambda _: Reply(body, EVENTS)) as url:
        record = respond(HttpAgent(url))
    assert (record.tools_requested, record.final_response) == (("search", "read"), "")


def test_json_lines() -> None:
    """JSON lines are read in the same way."""
    with serving(lambda _: Reply(b'{"delta": "Par"}\n{"delta": "is"}', "application/x-ndjson")) as url:
        assert respond(HttpAgent(url)).final_response == "Paris"


def test_a_key_in_pieces() -> None:
    """A key that an agent repeats word by word is taken out of the whole."""
    agent_key = {"x-api-key": "sk-0123456789abcdef"}
    body = data(*({"delta": agent_key["x-api-key"][at : at + 4]} for at in range(0, 20, 4)))
    with serving(lambda _: Reply(body, EVENTS)) as url:
        assert respond(HttpAgent(url, headers=agent_key)).final_response == "***"

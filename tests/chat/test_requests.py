"""What is sent, and what is learnt when it is rejected."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from adjudge.chat import AnthropicClient, BadRequest, ChatClient
from adjudge.model import ChatModel, ChatReply, ChatRequest, Message, ToolCall
from adjudge.testing import ChatServer, correct, wrong
from chat.asking import VERDICT_SCHEMA, ask, question

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def test_it_is_a_chat_model() -> None:
    """Both clients have the shape that judges and runs ask for, and a name for provenance."""
    assert isinstance(ChatClient("gpt"), ChatModel)
    assert ChatClient("gpt").name == "openai:gpt"
    assert AnthropicClient("claude").name == "anthropic:claude"


def test_the_body() -> None:
    """Messages, tool calls, images and limits go out as the interface has them; what is not set is not sent."""
    request = ChatRequest(
        "other",
        (
            Message("system", "Be brief."),
            Message("user", ({"type": "text", "text": "What is this?"}, IMAGE)),
            Message("assistant", None, (ToolCall("look", {"at": 1}, "c1"),)),
            Message("tool", "a cat", tool_call_id="c1"),
            Message("user", "lone \ud800 half", name="bob"),
        ),
        max_tokens=9,
        temperature=0.0,
    )
    with ChatServer("x") as server:
        ask(server, request)
        body = server.calls[0].json
    assert body.pop("messages") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, IMAGE]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}],
        },
        {"role": "tool", "content": "a cat", "tool_call_id": "c1"},
        {"role": "user", "content": "lone \ud800 half", "name": "bob"},
    ]
    assert body == {"model": "other", "max_tokens": 9, "temperature": 0.0}


@pytest.mark.parametrize("kind", [ChatClient, AnthropicClient])
def test_structured_output(kind: type[ChatClient]) -> None:
    """A schema is asked for as structured output, and the reply is JSON of it."""
    with ChatServer(wrong) as server:
        reply = ask(server, question(schema=VERDICT_SCHEMA), kind=kind)
        assert server.calls[0].schema == VERDICT_SCHEMA
    assert json.loads(reply.text or "")["verdict"] == "WRONG"


@pytest.mark.parametrize(("kind", "name"), [(ChatClient, "response_format"), (AnthropicClient, "tools")])
def test_endpoints_without_structured_output(kind: type[ChatClient], name: str) -> None:
    """An endpoint that rejects the schema is asked in words instead, and from then on at once."""
    with ChatServer(correct, rejects=(name,)) as server:

        async def run() -> tuple[list[ChatReply], bool]:
            async with kind("m", base_url=server.base_url) as client:
                assert client.structured
                request = question(schema=VERDICT_SCHEMA)
                return [await client.complete(request) for _ in range(3)], client.structured

        replies, structured = asyncio.run(run())
        assert [reply.text for reply in replies] == ["CORRECT"] * 3
        assert not structured
        assert server.counts.calls == 4
        first, *others = server.calls
        assert name in first.json
        for call in others:
            assert name not in call.json
            assert '"enum": ["CORRECT", "WRONG"]' in call.prompt


def test_many_at_once_learn_together() -> None:
    """Calls that are rejected at the same time are each asked again once, and none fails."""
    with ChatServer("x", rejects=("response_format", "max_tokens", "temperature")) as server:

        async def run() -> None:
            async with ChatClient("m", base_url=server.base_url) as client:
                request = question(schema=VERDICT_SCHEMA, max_tokens=5, temperature=0.0)
                await asyncio.gather(*(client.complete(request) for _ in range(10)))
                await client.complete(request)

        asyncio.run(run())
        last = server.calls[-1].json
        assert server.counts.calls <= 10 * 4 + 1
    assert last["max_completion_tokens"] == 5
    assert not {"response_format", "max_tokens", "temperature"} & set(last)


def test_a_rejection_of_something_else() -> None:
    """A 400 about something that was not sent, or cannot be left out, is raised after one call."""
    with ChatServer("x", rejects=("messages",)) as server:
        with pytest.raises(BadRequest, match="messages"):
            ask(server, question(schema=VERDICT_SCHEMA))
        assert server.counts.calls == 1


def test_the_messages_interface() -> None:
    """Anthropic gets its own headers, the system text apart, images in its shape and always a limit on tokens."""
    request = ChatRequest(
        "claude", (Message("system", "Be brief."), Message("user", ({"type": "text", "text": "Hm"}, IMAGE)))
    )
    with ChatServer("x") as server:
        reply = ask(server, request, kind=AnthropicClient, api_key="k")
        (call,) = server.calls
    assert reply.text == "x"
    assert call.path == "/v1/messages"
    assert (call.headers["x-api-key"], call.headers["anthropic-version"]) == ("k", "2023-06-01")
    assert call.json == {
        "model": "claude",
        "max_tokens": 4096,
        "system": "Be brief.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hm"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ],
            }
        ],
    }


def test_nothing_heavy_at_import() -> None:
    """Importing the clients loads no HTTP library; that happens with the first question."""
    import subprocess
    import sys

    code = "import sys, adjudge.chat, adjudge.http; print('aiohttp' in sys.modules, 'msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


class Picky(ChatClient):
    """A client of an endpoint that answers some bodies with a 400; it keeps what was sent."""

    sent: list[dict[str, Any]]
    complain: Callable[[dict[str, Any]], str | None]

    async def _send(self, data: bytes, left_s: float) -> ChatReply:
        del left_s
        body = json.loads(data)
        self.sent.append(body)
        words = self.complain(body)
        if words is None:
            return ChatReply("fine")
        error = BadRequest("the server answered 400")
        error.detail = words
        raise error


def picky(complain: Callable[[dict[str, Any]], str | None]) -> Picky:
    """Return a client whose endpoint complains in words, without naming a parameter."""
    client = Picky("m", base_url="http://127.0.0.1:1")
    client.sent, client.complain = [], complain
    return client


def test_a_quoted_prompt_changes_no_other_request() -> None:
    """An error that quotes the prompt of one row costs that row, and no other request anything."""
    client = picky(lambda body: f"bad prompt: {text}" if "temperature" in (text := str(body["messages"])) else None)
    for _ in range(3):
        with pytest.raises(BadRequest):
            asyncio.run(client.complete(question("What is the temperature?", temperature=0.0)))
    reply = asyncio.run(client.complete(question("Capital?", temperature=0.0)))
    assert client.sent[-1]["temperature"] == 0.0
    assert reply.left_out == ()


def test_words_are_believed_after_two_questions() -> None:
    """An endpoint that rejects a part in words is believed once two questions were answered without it."""
    client = picky(lambda body: "temperature is not supported" if "temperature" in body else None)
    replies = [asyncio.run(client.complete(question(f"{n}?", temperature=0.0))) for n in range(4)]
    assert [reply.left_out for reply in replies] == [("temperature",)] * 4
    assert ["temperature" in body for body in client.sent] == [True, False, True, False, False, False]

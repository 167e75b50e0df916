"""Reading what a server sends, whatever it is."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.chat import AnthropicClient, ChatClient, ChatError, MalformedReply
from adjudge.chat._anthropic import AnthropicShape, read_message
from adjudge.chat._faults import read_reply
from adjudge.chat._key import Key
from adjudge.chat._openai import OpenAIShape, read_completion
from adjudge.http import Again, HttpReply
from adjudge.model import ChatReply
from adjudge.testing import ChatServer, Fault, Reply
from chat.asking import ask
from support import assert_linear

READERS = pytest.mark.parametrize("read", [read_completion, read_message])
Read = Callable[[str], ChatReply]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
names = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "text",
        "usage",
        "refusal",
        "finish_reason",
        "stop_reason",
        "type",
        "name",
        "input",
        "prompt_tokens",
        "input_tokens",
        "error",
        "tool_use",
        "reply",
    ]
)
values = st.recursive(
    scalars | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=12,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(st.fixed_dictionaries({"message": values})) | values,
        "content": values,
        "usage": values,
    },
)


@READERS
@given(body=bodies.map(json.dumps) | values.map(json.dumps) | st.text())
def test_any_reply_is_read_or_malformed(read: Read, body: str) -> None:
    """Whatever the JSON, it is a reply whose fields have their types and can be written to a file, or malformed."""
    try:
        reply = read(body)
    except MalformedReply:
        return
    for text in (reply.text, reply.refusal, reply.finish_reason):
        assert text is None or text.encode() is not None
    for number in (reply.prompt_tokens, reply.completion_tokens):
        assert number is None or (type(number) is int and number >= 0)
    assert reply.raw == body


@given(status=st.integers(100, 999), body=st.binary(), key=st.none() | st.just("1"))
def test_any_status_and_bytes(status: int, body: bytes, key: str | None) -> None:
    """Whatever status comes with whatever bytes, there is a reply, another attempt or one of our errors."""
    for shape in (OpenAIShape(), AnthropicShape()):
        try:
            outcome = read_reply(HttpReply(status, {}, body), shape.read, Key(key, "NONE"))
        except ChatError:
            continue
        assert isinstance(outcome, Again | ChatReply)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"choices": null}',
        '{"choices": []}',
        '{"choices": [null]}',
        '{"choices": [{}]}',
        '{"choices": [{"message": null}]}',
        '{"choices": [{"message": {"content": 5}}]}',
        '{"choices": [{"message": {"content": [5]}}]}',
        '{"choices": [{"message": {"content": "a", "refusal": {}}}]}',
        '{"choices": [{"message": {"content": "a"}, "finish_reason": 1}]}',
        '{"error": {"message": "overloaded"}}',
        '{"choices": [{"message": {"content": NaN}}]}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"choices": ' + "9" * 10_000 + "}",
    ],
    ids=lambda body: body[:40],
)
def test_malformed(body: str) -> None:
    """What is no chat reply is said to be none."""
    with pytest.raises(MalformedReply):
        read_completion(body)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "Paris"}, "Paris"),
        ({"content": ""}, ""),
        ({"content": None}, None),
        ({}, None),
        (
            {"content": [{"type": "text", "text": "Pa"}, {"type": "image_url"}, {"type": "text", "text": "ris"}]},
            "Paris",
        ),
        ({"content": []}, None),
        ({"content": "a\ud800b"}, "a�b"),
    ],
)
def test_text(message: dict[str, Any], expected: str | None) -> None:
    """Text, parts of text, null and half a surrogate pair are read; the last is replaced."""
    assert read_completion(json.dumps({"choices": [{"message": message}]})).text == expected


@pytest.mark.parametrize("kind", [ChatClient, AnthropicClient])
def test_what_is_no_error(kind: type[ChatClient]) -> None:
    """Null content and refusals come back as replies, after one call; so does an echo of the prompt."""
    for fault, text, refusal in (
        ("null", None, None),
        ("refusal", None, "I cannot help with that."),
        ("echo", "Capital of France?", None),
    ):
        with ChatServer(Fault(fault)) as server:
            reply = ask(server, kind=kind)
            assert (reply.text, reply.refusal) == (text, refusal)
            assert server.counts.calls == 1


@pytest.mark.parametrize("kind", [ChatClient, AnthropicClient])
def test_tokens_and_raw(kind: type[ChatClient]) -> None:
    """Tokens used, the reason for stopping and the body as it came are part of the reply."""
    with ChatServer(Reply("Paris", prompt_tokens=7, completion_tokens=3)) as server:
        reply = ask(server, kind=kind)
    assert (reply.prompt_tokens, reply.completion_tokens) == (7, 3)
    assert reply.finish_reason in ("stop", "end_turn")
    assert "Paris" in json.dumps(json.loads(reply.raw))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: '{"choices": [{"message": {"content": "' + "a" * n + '"}}]}',
        lambda n: '{"choices": [{"message": {"content": "' + "\\ud800" * (n // 6) + '"}}]}',
        lambda n: '{"choices": [{"message": {"content": [' + '{"text":"a"},' * (n // 13) + "{}]}}]}",
        lambda n: '{"choices": [{"message": {"content": "' + '\\"{' * (n // 3),
        lambda n: "<" * n,
        lambda n: " " * n,
    ],
    ids=["long", "surrogates", "parts", "unclosed", "tags", "spaces"],
)
def test_reading_is_linear(make: Callable[[int], str]) -> None:
    """Twice the reply costs at most two and a half times the CPU, up to a megabyte."""

    def work(size: int) -> Callable[[], object]:
        reply = HttpReply(200, {}, make(size).encode())
        return lambda: read_reply(reply, read_completion, Key("sk-key", "NONE"))

    assert_linear(work, 500_000)


def test_a_byte_order_mark_is_no_text() -> None:
    """A reply that begins with a byte order mark is read as if it had none."""
    body = b'\xef\xbb\xbf{"choices": [{"message": {"content": "Paris"}}]}'
    reply = read_reply(HttpReply(200, {}, body), read_completion, Key("k", "K"))
    assert isinstance(reply, ChatReply)
    assert reply.text == "Paris"

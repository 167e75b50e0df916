"""Conversations: Chat Completions messages, items of the Responses API, and lists of segments of either."""

from collections.abc import Mapping, Sequence

from adjudge.model import Message
from adjudge.traces._messages import read_messages
from adjudge.traces._spans import Record, Span
from adjudge.traces._values import mapping, sequence


def decode_chat(data: object) -> list[Record]:
    """Read messages, segments of messages (lists, or objects with `messages`), or an object that holds them."""
    if isinstance(data, Mapping):
        data = data.get("messages", [data] if "role" in data else data)
    if isinstance(data, Mapping):
        return _record(read_messages(data, "the reply", "assistant"))
    messages: list[Message] = []
    items = sequence(data, "the conversation")
    for index, item in enumerate(items):
        held = item.get("messages") if isinstance(item, Mapping) and "role" not in item else item
        if isinstance(held, Sequence) and not isinstance(held, str | bytes):
            messages.extend(read_messages(list(held), f"segment {index}"))
    if not messages and items:
        messages.extend(read_messages(list(items), "the conversation"))
    return _record(tuple(messages))


def decode_responses(data: object) -> list[Record]:
    """Read items of the Responses API: a list, a response, or an object with `input` and `output`."""
    if not isinstance(data, Mapping):
        return _record(read_messages(list(sequence(data, "the items")), "the items"))
    found = mapping(data, "the response")
    given = {key: found[key] for key in ("input", "instructions") if found.get(key) is not None}
    start = read_messages({"input": [], **given}, "input") if given else ()
    return _record(start + read_messages(found.get("output"), "output", "assistant"))


def _record(messages: tuple[Message, ...]) -> list[Record]:
    return [Record("", (Span("chat", None, "llm", "chat", 0, 0, output=messages),))]

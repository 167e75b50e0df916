"""What an agent did, from a row whose messages have their tools in parts, or under other roles.

    {"role": "ipython", "content": "x"}                                           a result, as {"role": "tool"}
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", ...}]}      a call, as Anthropic writes it
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}    its result
    {"role": "model", "parts": [{"functionCall": {"name": "search"}}]}            a call, as Gemini writes it

A role or a part that is not known may be a tool's: then the record cannot show all tools that were called.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adjudge.model import Message, ToolCall, Trajectory
from adjudge.text.values import plain

_RESULTS = frozenset({"tool", "function", "ipython", "observation", "environment"})
_SPEAKERS = frozenset({"system", "developer", "user", "human", "assistant", "ai", "gpt", "model", "unknown"})
_CALL_PARTS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "function_call"})
_RESULT_PARTS = ("tool_result", "tool-result", "function_call_output")
_SAID_PARTS = (
    *("text", "refusal", "thinking", "reasoning", "image", "audio", "video", "file", "document"),
    *("input_text", "output_text", "input_image", "input_audio", "input_file", "redacted_thinking"),
)
_SAID_KEYS = frozenset({"text", "inlineData", "inline_data", "fileData", "file_data"})
_UNKNOWN = "{} is not known, and may be a tool's"


def record_of(trajectory: object) -> Trajectory:
    """Return what an agent did, in whatever form a row has it."""
    if isinstance(trajectory, Trajectory):
        return trajectory
    trajectory = plain(trajectory)
    record = Trajectory.from_messages(trajectory)
    if isinstance(trajectory, str) and not trajectory.strip():
        return replace(record, unknown={"tools": "the record is an empty text"})
    if record.tool_calls is None or all(map(_is_plain, record.messages)):
        return record
    messages: list[Message] = []
    unknown = dict(record.unknown)
    for message in record.messages:
        read, fault = _read(message)
        messages += read
        if fault is not None:
            unknown["tools"] = _UNKNOWN.format(fault)
    return Trajectory(tuple(messages), final_response=record.final_response, complete=record.complete, unknown=unknown)


def _is_plain(message: Message) -> bool:
    """Say whether a message has a role that is known, and its tools where `Trajectory` looks for them."""
    is_text = message.content is None or isinstance(message.content, str)
    return is_text and message.role in ("system", "user", "assistant", "tool") and "parts" not in message.extra


def _read(message: Message) -> tuple[list[Message], str | None]:
    """Return a message with its calls and results where `Trajectory` looks for them, and what in it is not known."""
    role = message.role.casefold()
    fault = None if role in _RESULTS or role in _SPEAKERS else f"the role {message.role!r}"
    calls = list(message.tool_calls)
    known = {call.id for call in calls if call.id is not None}
    results: list[Message] = []
    for part in _parts(message):
        call, result = _call_in(part), _result_in(part)
        if result is not None:
            results.append(result)
        elif call is not None:
            # Some writers give a call twice: as a part, and beside the parts.
            if call.id is None or call.id not in known:
                calls.append(call)
        elif not _is_said(part):
            fault = f"a part of the type {part.get('type')!r}"
    if role in _RESULTS:
        return results or [replace(message, role="tool")], fault
    # A service runs some tools itself: their results follow the calls in the same message.
    return [replace(message, tool_calls=tuple(calls)), *results], fault


def _parts(message: Message) -> Iterable[Mapping[str, Any]]:
    if isinstance(message.content, tuple):
        yield from message.content
    beside = message.extra.get("parts")
    if isinstance(beside, Sequence) and not isinstance(beside, str):
        yield from (part for part in beside if isinstance(part, Mapping))


def _call_in(part: Mapping[str, Any]) -> ToolCall | None:
    given = _first(part, "functionCall", "function_call")
    if part.get("type") not in _CALL_PARTS and not isinstance(given, Mapping):
        return None
    call = given if isinstance(given, Mapping) else part
    name = _first(call, "name", "toolName", "tool_name")
    return ToolCall(_text(name) or "", id=_text(_first(call, "id", "call_id", "toolCallId", "tool_call_id")))


def _result_in(part: Mapping[str, Any]) -> Message | None:
    given = _first(part, "functionResponse", "function_response")
    # Of its own tools Anthropic's service says which one it was: `web_search_tool_result`.
    if not str(part.get("type")).endswith(_RESULT_PARTS) and not isinstance(given, Mapping):
        return None
    result = given if isinstance(given, Mapping) else part
    identity = _text(_first(result, "tool_use_id", "id", "call_id", "toolCallId", "tool_call_id"))
    name = _text(_first(result, "name", "toolName", "tool_name"))
    return Message("tool", "", tool_call_id=identity, name=name)


def _is_said(part: Mapping[str, Any]) -> bool:
    """Say whether a part is something said or shown, and not done."""
    kind = part.get("type")
    if kind is None:
        return not _SAID_KEYS.isdisjoint(part)
    return str(kind).removesuffix("_url") in _SAID_PARTS


def _first(part: Mapping[str, Any], *names: str) -> object:
    return next((part[name] for name in names if part.get(name) is not None), None)


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) else None

"""The parts of a message, in the spelling of any framework: text, a call of a tool, its result, or a thought.

A part names its kind (`type`, or `part_kind` of pydantic-ai, `block_type` of LlamaIndex, `content_type` of Semantic
Kernel), or is an object with one key that is the kind:

    {"type": "tool_use", "id": "c1", "name": "search", "input": {}}         {"part_kind": "tool-call", "tool_name": ...}
    {"toolUse": {"toolUseId": "c1", "name": "search", "input": {}}}         {"functionCall": {"name": "search", ...}}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from adjudge.traces._values import first

_KIND_KEYS = ("type", "part_kind", "block_type", "content_type")
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal", "user_prompt", "system_prompt"})
_CALLS = frozenset(
    {"tool_use", "tool_call", "server_tool_use", "server_tool_call", "mcp_tool_use", "function_call"}
    | {"builtin_tool_call", "native_tool_call", "mcp_server_tool_call"}
)
_RESULTS = frozenset(
    {"tool_result", "tool_call_response", "tool_call_result", "server_tool_call_response", "function_result"}
    | {"function_response", "tool_return", "builtin_tool_return", "native_tool_return"}
)
_RESULT_END = "_tool_result"  # of the tools that a service runs: web_search_tool_result, mcp_server_tool_result, ...
_THOUGHTS = frozenset(
    {
        "reasoning",
        "thinking",
        "redacted_thinking",
        "text_reasoning",
        "reasoning_content",
        "thought",
        "thought_signature",
    }
)
_HARMLESS = frozenset({"function_approval_request", "function_approval_response", "tool_reference", "usage"})
_NAMES = ("name", "tool_name", "toolName")
_ARGUMENTS = ("arguments", "args", "input", "tool_kwargs", "server_tool_call")
_IDENTITIES = ("tool_call_id", "tool_use_id", "toolUseId", "call_id", "id")
_ANSWERS = ("response", "result", "output", "content", "server_tool_call_response", "exception")

PartKind = Literal["text", "call", "result", "thought", "other"]


@dataclass(frozen=True, slots=True)
class MessagePart:
    """One part: its kind, and for a call or a result the object that describes it."""

    kind: PartKind
    body: Mapping[str, Any]
    name: object = None
    identity: object = None

    @property
    def arguments(self) -> object:
        return first(self.body, *_ARGUMENTS)

    @property
    def answer(self) -> object:
        return first(self.body, *_ANSWERS)


def read_part(part: Mapping[str, Any]) -> MessagePart:
    """Return what a part is."""
    named, body = _name_and_body(part)
    kind = kind_of_part(named)
    # A retry that pydantic-ai asks for is the result of the tool that it names, else a plain request.
    if named == "retry_prompt":
        kind = "result" if body.get("tool_name") is not None else "text"
    if kind == "text" and body.get("thought") is True:  # Gemini's
        kind = "thought"
    if kind not in ("call", "result"):
        return MessagePart(kind, part)
    origin = body.get("origin")  # Haystack keeps the call beside its result
    about = origin if isinstance(origin, Mapping) else body
    return MessagePart(kind, body, first(about, *_NAMES), first(about, *_IDENTITIES))


def kind_of_part(name: str | None) -> PartKind:
    """Return what the name of a kind means; a part without one is a text."""
    if name is None or name in _TEXTS:
        return "text"
    if name in _CALLS:
        return "call"
    if name in _RESULTS or name.endswith(_RESULT_END):
        return "result"
    return "thought" if name in _THOUGHTS else "other"


def strange_kind(part: Mapping[str, Any]) -> str | None:
    """Return the kind of a part that is not known and could hold a call, or its result; None of any other.

    >>> strange_kind({"type": "image_url"}), strange_kind({"type": "tool_invocation", "toolName": "search"})
    (None, 'tool_invocation')
    """
    named, body = _name_and_body(part)
    if named is None or kind_of_part(named) != "other" or named in _HARMLESS:
        return None
    words = set(re.split(r"[^a-z]+", named))
    looks_so = not words.isdisjoint({"tool", "call", "function", "action", "invocation", "use"})
    has_both = first(body, *_NAMES) is not None and first(body, *_ARGUMENTS[:3]) is not None
    return named if looks_so or has_both else None


def _name_and_body(part: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
    """Return a part's kind in one spelling, `tool_call` of `tool-call` and `toolCall`, and the object with the rest."""
    for key in _KIND_KEYS:
        kind = part.get(key)
        if isinstance(kind, str):
            return _spell(kind), part
    # Without a kind, the one key that holds an object is it; Gemini and Bedrock have more keys beside it.
    held = [(key, value) for key, value in part.items() if isinstance(value, Mapping)]
    for key, value in held:
        name = _spell(key)
        if kind_of_part(name) in ("call", "result", "thought") or len(part) == 1:
            return name, value
    return None, part


def _spell(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind[:80]).replace("-", "_").lower()

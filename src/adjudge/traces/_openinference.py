"""OpenInference: the attributes that Phoenix and its instrumentations write.

`openinference.span.kind` says what a span is, `llm.input_messages.N.message.*` and `llm.output_messages.N.message.*`
hold the messages, `input.value` and `output.value` whatever went in and came out.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from adjudge.traces._dialects import Facts
from adjudge.traces._flat import numbered
from adjudge.traces._messages import read_messages
from adjudge.traces._otlp import Raw
from adjudge.traces._spans import Kind
from adjudge.traces._values import arguments_of, as_text, loose, text

_KINDS: dict[str, Kind] = {"AGENT": "agent", "LLM": "llm", "TOOL": "tool", "GUARDRAIL": "aside", "EVALUATOR": "aside"}
_HANDOFF = "handoff to "


def read_openinference(raw: Raw, where: str) -> Facts | None:
    """Read a span's OpenInference attributes, where it has any."""
    named = raw.attributes.get("openinference.span.kind")
    if not isinstance(named, str):
        return None
    facts = Facts(_KINDS.get(named.upper(), "other"))
    attributes = raw.attributes
    if facts.kind == "llm":
        facts.input = _messages(facts, attributes, "input", where)
        facts.output = _messages(facts, attributes, "output", where)
    elif facts.kind == "tool" and raw.name.startswith(_HANDOFF) and "tool.name" not in attributes:
        facts.kind, facts.name = "handoff", raw.name.removeprefix(_HANDOFF)
    elif facts.kind == "tool":
        facts.name = text(attributes.get("tool.name"), f"{where}: tool.name") or raw.name
        for key in ("tool_call.id", "tool.id"):
            facts.call_id = facts.call_id or text(attributes.get(key), f"{where}: {key}") or None
        if attributes.get("input.value") is not None:
            facts.arguments, _ = arguments_of(facts.whole("input.value", attributes["input.value"]))
        if attributes.get("output.value") is not None:
            facts.result = _said(attributes)
    else:
        agent = text(attributes.get("agent.name"), f"{where}: agent.name")
        facts.name = agent if facts.kind == "agent" else None
        value, _ = loose(attributes.get("output.value"))
        facts.text = _said(attributes) if isinstance(value, str) else None
    return facts


def _said(attributes: Mapping[str, Any]) -> str:
    """Return `output.value` as text; JSON that is one text is that text."""
    value = attributes["output.value"]
    if isinstance(value, str) and attributes.get("output.mime_type") == "application/json" and value[:1] == '"':
        decoded, _ = loose(f"[{value}]")
        if isinstance(decoded, list) and len(decoded) == 1 and isinstance(decoded[0], str):
            return decoded[0]
    return as_text(value)


def _messages(facts: Facts, attributes: Mapping[str, Any], side: str, where: str) -> Any:
    """Read the messages of one side; where there are none, what went in or came out may be messages."""
    role = "user" if side == "input" else "assistant"
    key = f"llm.{side}_messages"
    found = [_message(facts, item.get("message"), key, role) for item in numbered(attributes, key)]
    if found:
        return read_messages(found, f"{where}: {key}", role)
    return read_messages(facts.whole(f"{side}.value", attributes.get(f"{side}.value")), f"{where}: {side}.value", role)


def _message(facts: Facts, item: object, key: str, role: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        return {"role": role, "content": None}
    parts = [_part(facts, part, key) for part in _list(item.get("contents"))]
    calls = [_call(facts, part.get("tool_call"), key) for part in _list(item.get("tool_calls"))]
    if item.get("function_call_name"):
        calls.append({"name": item["function_call_name"], "arguments": item.get("function_call_arguments_json")})
    content = item.get("content")
    return {
        "role": item.get("role") or role,
        "content": parts if parts and content is None else content,
        "tool_calls": [call for call in calls if call is not None],
        "tool_call_id": item.get("tool_call_id"),
        "name": item.get("name"),
    }


def _list(found: object) -> Iterable[Mapping[Any, Any]]:
    if not isinstance(found, dict):
        return ()
    return [found[key] for key in sorted(key for key in found if isinstance(key, int)) if isinstance(found[key], dict)]


def _part(facts: Facts, part: Mapping[Any, Any], key: str) -> Mapping[str, Any]:
    body = part.get("message_content")
    held = body if isinstance(body, dict) else {}
    kind = held.get("type", "text")
    call = _call(facts, part.get("tool_call"), key)
    if kind == "tool_use" and call is not None:
        return {"type": "tool_use", **call}
    return {"type": kind, **{name: value for name, value in held.items() if isinstance(name, str) and name != "type"}}


def _call(facts: Facts, found: object, key: str) -> dict[str, Any] | None:
    if not isinstance(found, dict):
        return None
    function = found.get("function")
    held = function if isinstance(function, dict) else {}
    arguments = held.get("arguments")
    facts.whole(f"{key} (arguments of {held.get('name')})", arguments)
    return {"id": found.get("id"), "name": held.get("name"), "arguments": arguments}

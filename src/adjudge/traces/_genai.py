"""OpenTelemetry's `gen_ai.*` conventions: the current ones and the older ones that instrumentations still write.

Messages stand, by age, in `gen_ai.input.messages` and `gen_ai.output.messages` (attributes, or the event
`gen_ai.client.inference.operation.details`), in one event a message (`gen_ai.user.message`, `gen_ai.choice`), in
`gen_ai.prompt` and `gen_ai.completion` (attributes or events), or in numbered attributes (`gen_ai.prompt.0.role`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from adjudge.model import Message
from adjudge.traces._documents import documents
from adjudge.traces._facts import Facts
from adjudge.traces._flat import numbered
from adjudge.traces._messages import Known, read_messages
from adjudge.traces._otlp import Event, Raw
from adjudge.traces._spans import Kind, Span
from adjudge.traces._values import arguments_of, as_text, text

_KINDS: dict[str, Kind] = {
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "generate": "llm",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "agent_handoff": "handoff",
}
_TRACELOOP: dict[str, Kind] = {"agent": "agent", "tool": "tool", "handoff": "handoff"}
_DETAILS = "gen_ai.client.inference.operation.details"
_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


def read_genai(raw: Raw, where: str, known: Known) -> Facts | None:
    """Read a span's `gen_ai.*` attributes and events, where it has any."""
    names = " ".join(("", *raw.attributes, *(event.name for event in raw.events)))
    if " gen_ai." not in names and " traceloop." not in names:  # much faster than to ask each name
        return None
    facts = Facts(_kind(raw.attributes))
    attributes = raw.attributes
    for event in raw.events:
        if event.name == _DETAILS or event.name.startswith("gen_ai.content."):
            attributes = {**attributes, **event.attributes}
    if facts.kind != "tool":
        _read_messages(facts, attributes, raw.events, where, known)
    if facts.kind is None and facts.output:
        facts.kind = "llm"
    if facts.kind == "tool":
        _read_tool(facts, attributes, raw, where)
    elif facts.kind == "agent":
        name = text(attributes.get("gen_ai.agent.name"), f"{where}: gen_ai.agent.name")
        facts.name = name or _entity(attributes) or raw.name.removeprefix("invoke_agent").strip() or "agent"
        facts.text = _last_text(facts.output)
        facts.input = facts.output = ()  # a model call inside says it too, and says it once
    elif attributes.get("gen_ai.retrieval.documents") is not None:
        facts.sources = documents(facts.whole("gen_ai.retrieval.documents", attributes["gen_ai.retrieval.documents"]))
    elif facts.kind == "handoff":
        facts.name = as_text(attributes.get("gen_ai.handoff.to_agent")) or raw.name
    return facts


def noted(span: Span, events: list[Event]) -> Span:
    """Return a span with the messages that log records of it hold, where it has none itself."""
    raw = Raw("", span.id, None, span.name, None, None, {}, events)
    facts = read_genai(raw, f"log records of span {span.id}", {})
    if facts is None or span.kind not in ("llm", "other"):
        return span
    return replace(
        span,
        kind="llm" if facts.output else span.kind,
        input=span.input or facts.input,
        output=span.output or facts.output,
        faults=(*span.faults, *facts.faults),
    )


def _kind(attributes: Mapping[str, Any]) -> Kind | None:
    if attributes.get("gen_ai.handoff.to_agent") is not None:
        return "handoff"
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        return _KINDS.get(operation, "other")
    traceloop = attributes.get("traceloop.span.kind")
    if isinstance(traceloop, str):
        return _TRACELOOP.get(traceloop, "other")
    if "gen_ai.tool.name" in attributes or "gen_ai.tool.call.id" in attributes:
        return "tool"
    return None


def _entity(attributes: Mapping[str, Any]) -> str | None:
    name = attributes.get("traceloop.entity.name")
    return name if isinstance(name, str) else None


def _read_tool(facts: Facts, attributes: Mapping[str, Any], raw: Raw, where: str) -> None:
    name = text(attributes.get("gen_ai.tool.name"), f"{where}: gen_ai.tool.name")
    facts.name = name or _entity(attributes) or raw.name.removeprefix("execute_tool").strip()
    facts.call_id = text(attributes.get("gen_ai.tool.call.id"), f"{where}: gen_ai.tool.call.id") or None
    for key in ("gen_ai.tool.call.arguments", "traceloop.entity.input", "tool_arguments"):
        if attributes.get(key) is not None:
            facts.arguments, _ = arguments_of(facts.whole(key, attributes[key]))
            break
    for key in ("gen_ai.tool.call.result", "traceloop.entity.output", "tool_response"):
        if attributes.get(key) is not None:
            facts.result = as_text(attributes[key])
            break


def _read_messages(
    facts: Facts, attributes: Mapping[str, Any], events: Iterable[Event], where: str, known: Known
) -> None:
    given, said = attributes.get("gen_ai.input.messages"), attributes.get("gen_ai.output.messages")
    if given is not None or said is not None:
        facts.input = facts.messages("gen_ai.input.messages", given, where, "user", known)
        facts.output = facts.messages("gen_ai.output.messages", said, where, "assistant", known)
        system = facts.whole("gen_ai.system_instructions", attributes.get("gen_ai.system_instructions"))
        if system is not None:
            parts = system if isinstance(system, list) else [system]
            facts.input = read_messages([{"role": "system", "parts": parts}], where) + facts.input
        return
    facts.input, facts.output = _from_events(events, where)
    if facts.input or facts.output:
        return
    for key, role in (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant")):
        value: object = attributes.get(key)
        if value is None:
            value = [_plain(item, role) for item in numbered(attributes, key)]
        found = facts.messages(key, value, where, role, known)
        if key == "gen_ai.prompt":
            facts.input = found
        else:
            facts.output = found


def _from_events(events: Iterable[Event], where: str) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Read the conventions up to 1.36: one event a message, in the order in which they were noted."""
    given: list[Mapping[str, Any]] = []
    said: list[Mapping[str, Any]] = []
    for event in sorted(events, key=lambda event: event.time):
        if event.name in _ROLES:
            given.append({**event.attributes, "role": event.attributes.get("role") or _ROLES[event.name]})
        elif event.name == "gen_ai.choice" and event.attributes.get("index", 0) in (0, "0", None):
            said.append(
                {**event.attributes, "role": "assistant"} if "message" not in event.attributes else event.attributes
            )
    return read_messages(given, f"{where}: its events"), read_messages(said, f"{where}: gen_ai.choice", "assistant")


def _plain(item: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    """Return a message of numbered attributes in the usual shape."""
    calls = item.get("tool_calls")
    return {
        "role": role,
        **item,
        "tool_calls": [calls[key] for key in sorted(calls)] if isinstance(calls, dict) else calls,
    }


def _last_text(messages: tuple[Message, ...]) -> str | None:
    for message in reversed(messages):
        if message.role == "assistant" and message.text:
            return message.text
    return None

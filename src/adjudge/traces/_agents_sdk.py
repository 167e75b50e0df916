"""OpenAI Agents SDK: spans as `span.export()` gives them to a tracing processor, and traces as `trace.export()` does.

    {"object": "trace.span", "id": "...", "trace_id": "...", "parent_id": null, "span_data": {"type": "agent", ...}}

A `response` span exports no messages, only an id: what the model asked for is then unknown, what was executed is not. A
processor of one's own that adds `response` and `input` to the span data is read in full.
"""

from collections.abc import Mapping
from typing import Any

from adjudge.traces._messages import Known, read_messages
from adjudge.traces._spans import Kind, Record, Span
from adjudge.traces._values import arguments_of, as_text, first, identity, instant, loose, mapping, sequence, text

_KINDS: dict[str, Kind] = {
    "agent": "agent",
    "function": "tool",
    "generation": "llm",
    "response": "llm",
    "handoff": "handoff",
    "guardrail": "aside",
}


def decode_agents_sdk(data: object) -> list[Record]:
    """Read a list of exports, or what the SDK's exporter sends (`{"data": [...]}`)."""
    if isinstance(data, Mapping):
        data = data.get("data", [data])
    traces: dict[str, list[Span]] = {}
    known: Known = {}
    for index, item in enumerate(sequence(data, "the record")):
        where = f"item {index}"
        export = mapping(item, where)
        if export.get("object") == "trace":
            traces.setdefault(identity(export.get("id"), f"{where}.id"), [])
            continue
        trace = text(export.get("trace_id"), f"{where}.trace_id") or ""
        traces.setdefault(trace, []).append(_span(export, where, known))
    return [Record(trace, tuple(spans)) for trace, spans in traces.items()]


def _span(export: Mapping[str, Any], where: str, known: Known) -> Span:
    data = mapping(export.get("span_data"), f"{where}.span_data")
    named = text(data.get("type"), f"{where}.span_data.type") or "custom"
    kind = _KINDS.get(named, "other")
    if kind == "handoff" and data.get("to_agent") is None:
        kind = "other"  # it failed before it was known to whom
    end = instant(export.get("ended_at"), f"{where}.ended_at")
    name = data.get("to_agent") if kind == "handoff" else data.get("name")
    arguments, result, given, said = None, None, None, None
    if kind == "tool":
        arguments = arguments_of(data.get("input"))[0]
        result = None if data.get("output") is None else as_text(data["output"])
    elif kind == "llm":
        response = data.get("response")
        given, said = data.get("input"), response if isinstance(response, Mapping) else data.get("output")
    return Span(
        identity(export.get("id"), f"{where}.id"),
        text(export.get("parent_id"), f"{where}.parent_id") or None,
        kind,
        text(name, f"{where}: name") or named,
        instant(export.get("started_at"), f"{where}.started_at"),
        end,
        text(first(data, "call_id", "tool_call_id"), f"{where}: call id") or None,
        arguments,
        result,
        _error(export.get("error")),
        read_messages(given, f"{where}: input", "user", known),
        read_messages(said, f"{where}: output", "assistant", known),
        faults=_faults(data, given, said, end),
    )


def _faults(data: Mapping[str, Any], given: object, said: object, end: int | None) -> tuple[str, ...]:
    faults = [] if end is not None else ["it has not ended"]
    if loose(data.get("input"))[1] or loose(given)[1] or loose(said)[1]:
        faults.append("its input or output is cut off")
    return tuple(faults)


def _error(error: object) -> str | None:
    if error is None:
        return None
    found = error.get("message") if isinstance(error, Mapping) else error
    return as_text(found) or "error"

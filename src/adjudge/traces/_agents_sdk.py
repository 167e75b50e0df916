"""OpenAI Agents SDK: spans as `span.export()` gives them to a tracing processor, and traces as `trace.export()` does.

    {"object": "trace.span", "id": "...", "trace_id": "...", "parent_id": null, "span_data": {"type": "agent", ...}}

A `response` span exports no messages, only an id: what the model asked for is then unknown, what was executed is not. A
custom processor that adds `response` and `input` to the span data is read in full.
"""

from collections.abc import Mapping

from adjudge.traces._messages import MessageCache, read_messages
from adjudge.traces._refusals import ran_with_error
from adjudge.traces._spans import NOT_ENDED, Record, Span, SpanKind
from adjudge.traces._usage import read_usage
from adjudge.traces._values import RecordPart, arguments_of, as_text, loose, sequence

_UNSENT = "the SDK exports no messages of a response: add `response` to the span's data in a tracing processor"
_REJECTED = "was manually rejected by user."
_KINDS: dict[str, SpanKind] = {
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
    cache: MessageCache = {}
    for index, item in enumerate(sequence(data, "the record")):
        export = RecordPart(item, f"item {index}")
        if export.get("object") == "trace":
            traces.setdefault(export.identity("id"), [])
        else:
            traces.setdefault(export.text("trace_id") or "", []).append(_span(export, cache))
    return [Record(trace, tuple(spans)) for trace, spans in traces.items()]


def _span(export: RecordPart, cache: MessageCache) -> Span:
    where = export.where
    data = RecordPart(export.get("span_data"), f"{where}.span_data")
    kind_name = data.text("type") or "custom"
    kind = _KINDS.get(kind_name, "other")
    if kind == "handoff" and data.get("to_agent") is None:
        kind = "other"  # it failed before its target was known
    end = export.time("ended_at")
    arguments, result, given, said, usage = None, None, None, None, None
    if kind == "tool":
        arguments = arguments_of(data.get("input"))
        result = None if data.get("output") is None else as_text(data.get("output"))
    elif kind == "llm":
        # A processor may have added the whole response, which also has the calls of the service's own tools.
        response = data.get("response")
        usage = read_usage(data.get("usage"), response.get("usage") if isinstance(response, Mapping) else None)
        given, said = data.get("input"), response if isinstance(response, Mapping) else data.get("output")
    faults = [] if end is not None else [NOT_ENDED]
    # What a tool was given may be a model's mistake.
    if kind == "llm" and (loose(given)[1] or loose(said)[1]):
        faults.append("its input or output is cut off")
    error = export.get("error")
    ran = how_it_ran(as_text(error), data.get("input"), data.get("output"))
    if error is not None:
        error = as_text(error.get("message") if isinstance(error, Mapping) else error) or "error"
    return Span(
        export.identity("id"),
        export.text("parent_id") or None,
        kind,
        data.text("to_agent" if kind == "handoff" else "name") or kind_name,
        export.time("started_at"),
        end,
        data.text("call_id", "tool_call_id") or None,
        arguments,
        result,
        error,
        read_messages(given, f"{where}: input", "user", cache),
        read_messages(said, f"{where}: output", "assistant", cache),
        faults=tuple(faults),
        usage=usage,
        unsent=_UNSENT if kind_name == "response" and said is None else None,
        ran=ran if kind == "tool" else True,
        has_tools=True,
    )


def how_it_ran(error: str, given: object, said: object, schema: object = None) -> bool | None:
    """Return whether the SDK's span of a tool shows that it ran: `Span.ran`.

    The SDK opens the span before it asks for an approval. Without contents a span has no input either.
    """
    if error and _REJECTED in error:
        return False
    if error and said is not None:
        return ran_with_error(as_text(said), given, schema)
    return True if said is not None or error or given is None else None

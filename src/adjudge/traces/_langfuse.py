"""Langfuse: observations as its API gives them, and as its SDK writes them into OTLP attributes.

    {"id": "...", "traceId": "...", "type": "TOOL", "name": "search", "parentObservationId": "...", "input": ..., ...}

The API's answers may be a trace with its observations, pages of observations (all of them, in a list), or a plain list.
"""

from collections.abc import Mapping
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.traces._documents import documents
from adjudge.traces._facts import Facts
from adjudge.traces._messages import Known
from adjudge.traces._otlp import Raw
from adjudge.traces._spans import Kind, Record, Span
from adjudge.traces._values import (
    arguments_of,
    as_text,
    first,
    identity,
    instant,
    loose,
    mapping,
    sequence,
    text,
    tool_message,
)

_KINDS: dict[str, Kind] = {
    "AGENT": "agent",
    "GENERATION": "llm",
    "TOOL": "tool",
    "GUARDRAIL": "aside",
    "EVALUATOR": "aside",
}
_PREFIX = "langfuse.observation"
_AS_ROOT, _APP_ROOT = "langfuse.internal.as_root", "langfuse.internal.is_app_root"


def is_root(attributes: Mapping[str, Any]) -> bool:
    """Say whether Langfuse's SDK marks a span as the first of its trace; the parent that it names may be nobody."""
    return attributes.get(_AS_ROOT) in (True, "true") or attributes.get(_APP_ROOT) in (True, "true")


def read_langfuse_attributes(raw: Raw, where: str, known: Known) -> Facts | None:
    """Read the attributes of Langfuse's SDK, where a span has them."""
    attributes = raw.attributes
    named = attributes.get(f"{_PREFIX}.type")
    if not isinstance(named, str):
        return None
    metadata, _ = loose(attributes.get(f"{_PREFIX}.metadata"))
    call = attributes.get(f"{_PREFIX}.metadata.tool_call_id") or _call_id(metadata)
    given, said = attributes.get(f"{_PREFIX}.input"), attributes.get(f"{_PREFIX}.output")
    facts = _facts(named, given, said, text(call, f"{where}: tool_call_id"), where, known)
    if facts.text is None and said is None and facts.kind in ("agent", "other"):
        answer = attributes.get("langfuse.trace.output")  # SDKs before 5
        facts.text = answer if isinstance(answer, str) and isinstance(loose(answer)[0], str) else None
    return facts


def _call_id(metadata: object) -> object:
    return metadata.get("tool_call_id") if isinstance(metadata, Mapping) else None


def _facts(named: str, given: object, said: object, call: str | None, where: str, known: Known) -> Facts:
    facts = Facts(_KINDS.get(named.upper(), "other"))
    if facts.kind == "llm":
        facts.input = facts.messages("input", given, where, "user", known)
        facts.output = facts.messages("output", said, where, "assistant", known)
    elif facts.kind == "tool":
        facts.call_id = call or None
        if given is not None:
            facts.arguments, _ = arguments_of(_by_name(facts.whole("input", given)))
        facts.result = None if said is None else as_text(said)
        message = tool_message(loose(said)[0])
        if message is not None:
            facts.call_id = facts.call_id or text(message[0], f"{where}: tool_call_id")
            facts.result = message[1]
    elif named.upper() == "RETRIEVER":
        facts.sources = documents(said)
    elif isinstance(said, str) and isinstance(loose(said)[0], str):
        facts.text = said
    return facts


def _by_name(given: object) -> object:
    """Return the arguments by name of a function that Langfuse's `@observe` has made a tool."""
    if isinstance(given, Mapping) and given.keys() == {"args", "kwargs"} and not given["args"]:
        return given["kwargs"]
    return given


def decode_langfuse(data: object) -> list[Record]:
    """Read a trace, pages of observations, or a list of observations."""
    spans: dict[str, list[Span]] = {}
    pages: list[Mapping[str, Any]] = []
    faults: list[str] = []
    known: Known = {}
    top = None
    for item, where in _observations(data, pages):
        if isinstance(item, str):
            raise TrajectoryError(f"{where} is only an observation's id; ask the API for the trace itself")
        observation = mapping(item, where)
        if isinstance(data, Mapping) and "observations" in data:
            top = identity(data.get("id"), "the trace's id")
        span = _span(observation, where, top, known)
        trace = text(first(observation, "traceId", "trace_id"), f"{where}.traceId") or top or ""
        spans.setdefault(trace, []).append(span)
    if isinstance(data, Mapping) and "observations" in data:
        top = identity(data.get("id"), "the trace's id")
        spans.setdefault(top, []).append(_trace_span(data, top))
    faults.extend(_missing_pages(pages, {span.id for each in spans.values() for span in each}))
    return [Record(trace, tuple(found), tuple(faults)) for trace, found in spans.items()]


def _observations(data: object, pages: list[Mapping[str, Any]]) -> Any:
    """Give every observation with its place, and note the pages."""
    if isinstance(data, Mapping):
        if "observations" in data:
            yield from _placed(data["observations"], "observations")
        elif "data" in data:
            pages.append(data)
            yield from _placed(data["data"], "data")
        else:
            yield data, "the observation"
        return
    for index, item in enumerate(sequence(data, "the record")):
        if isinstance(item, Mapping) and "data" in item and "traceId" not in item:
            pages.append(item)
            yield from _placed(item["data"], f"page {index}")
        elif isinstance(item, list | tuple):
            yield from _placed(item, f"page {index}")
        else:
            yield item, f"observation {index}"


def _placed(items: object, where: str) -> Any:
    return [(item, f"{where}[{index}]") for index, item in enumerate(sequence(items, where))]


def _trace_span(trace: Mapping[str, Any], top: str) -> Span:
    start = instant(trace.get("timestamp"), "the trace's timestamp")
    said = trace.get("output")
    answer = said if isinstance(said, str) and isinstance(loose(said)[0], str) else None
    return Span(top, None, "other", text(trace.get("name"), "the trace's name") or "", start, start, text=answer)


def _span(observation: Mapping[str, Any], where: str, top: str | None, known: Known) -> Span:
    named = text(observation.get("type"), f"{where}.type") or "SPAN"
    metadata, _ = loose(observation.get("metadata"))
    call = text(_call_id(metadata), f"{where}: tool_call_id")
    facts = _facts(named, observation.get("input"), observation.get("output"), call, where, known)
    end = instant(first(observation, "endTime", "end_time"), f"{where}.endTime")
    if end is None and named.upper() != "EVENT":
        facts.faults.append("it has not ended")
    if facts.kind == "llm" and "input" not in observation and "output" not in observation:
        facts.faults.append("its input and output were not asked for (fields=core,basic,io)")
    error = text(first(observation, "statusMessage", "status_message"), f"{where}.statusMessage")
    is_error = observation.get("level") == "ERROR"
    return Span(
        identity(observation.get("id"), f"{where}.id"),
        text(first(observation, "parentObservationId", "parent_observation_id"), f"{where}: parent") or top,
        facts.kind or "other",
        text(observation.get("name"), f"{where}.name") or "",
        instant(first(observation, "startTime", "start_time"), f"{where}.startTime"),
        end,
        facts.call_id,
        facts.arguments,
        facts.result,
        (error or "error") if is_error else None,
        facts.input,
        facts.output,
        facts.text,
        tuple(facts.faults),
        is_entry=observation.get("isRootObservation") is True and top is None,
        sources=facts.sources,
    )


def _missing_pages(pages: list[Mapping[str, Any]], found: set[str]) -> list[str]:
    """Say whether pages are missing: by the number of items that they promise, or because none is the last."""
    totals, is_last = [0], not pages
    for page in pages:
        meta = page.get("meta")
        held = meta if isinstance(meta, Mapping) else {}
        total = first(held, "totalItems", "total_items")
        if isinstance(total, int):
            totals.append(total)
        is_last = is_last or not held.get("cursor")
    if max(totals) > len(found):
        return [f"{len(found)} of {max(totals)} observations are here: pages are missing"]
    return [] if is_last else ["the last page is missing"]

"""Langfuse: observations as its API gives them, and as its SDK writes them into OTLP attributes.

    {"id": "...", "traceId": "...", "type": "TOOL", "name": "search", "parentObservationId": "...", "input": ..., ...}

The API's answers may be a trace with its observations, pages of observations (all of them, in a list), or a plain list.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.errors import TrajectoryError
from adjudge.traces._facts import Facts
from adjudge.traces._messages import MessageCache
from adjudge.traces._otlp import OtlpSpan
from adjudge.traces._spans import NOT_ENDED, Record, Span, SpanKind
from adjudge.traces._usage import read_usage
from adjudge.traces._values import (
    RecordPart,
    as_text,
    call_arguments,
    documents_of,
    first,
    loose,
    sequence,
    text,
    unquoted,
)

_KINDS: dict[str, SpanKind] = {
    "AGENT": "agent",
    "GENERATION": "llm",
    "TOOL": "tool",
    "GUARDRAIL": "aside",
    "EVALUATOR": "aside",
}
_PREFIX = "langfuse.observation"
_ROOT_MARKS = ("langfuse.internal.as_root", "langfuse.internal.is_app_root")


def is_root(attributes: Mapping[str, Any]) -> bool:
    """Say whether Langfuse's SDK marks a span as the first of its trace; the parent that it names may not exist."""
    return any(attributes.get(mark) in (True, "true") for mark in _ROOT_MARKS)


def read_langfuse_attributes(span: OtlpSpan, where: str, cache: MessageCache) -> Facts | None:
    """Read the attributes of Langfuse's SDK, where a span has them."""
    attributes = span.attributes
    kind_name = attributes.get(f"{_PREFIX}.type")
    if not isinstance(kind_name, str):
        return None
    call_id = attributes.get(f"{_PREFIX}.metadata.tool_call_id") or _call_id(attributes.get(f"{_PREFIX}.metadata"))
    call_id = unquoted(call_id)  # SDK 5 writes every value of the metadata as JSON
    given, said = attributes.get(f"{_PREFIX}.input"), attributes.get(f"{_PREFIX}.output")
    facts = _facts(kind_name, given, said, text(call_id, f"{where}: tool_call_id"), where, cache)
    if facts.text is None and said is None and facts.kind in ("agent", "other"):
        facts.text = _plain_text(attributes.get("langfuse.trace.output"))  # SDKs before 5
    return facts


def _call_id(metadata: object) -> object:
    found, _ = loose(metadata)
    return found.get("tool_call_id") if isinstance(found, Mapping) else None


def _plain_text(value: object) -> str | None:
    """Return a value that is text and not JSON."""
    return value if isinstance(value, str) and isinstance(loose(value)[0], str) else None


def _facts(kind_name: str, given: object, said: object, call: str | None, where: str, cache: MessageCache) -> Facts:
    facts = Facts(_KINDS.get(kind_name.upper(), "other"))
    if facts.kind == "llm":
        facts.input = facts.messages("input", given, where, "user", cache)
        facts.output = facts.messages("output", said, where, "assistant", cache)
    elif facts.kind == "tool":
        facts.call_id = call or None
        if given is not None:
            facts.arguments = call_arguments(facts.whole("input", given))
        if said is not None:
            facts.set_result(loose(said)[0], as_text(said), where)
    elif kind_name.upper() == "RETRIEVER":
        facts.sources = documents_of(said)
    else:
        facts.text = _plain_text(said)
    return facts


def decode_langfuse(data: object) -> list[Record]:
    """Read a trace, pages of observations, or a list of observations."""
    spans: dict[str, list[Span]] = {}
    pages: list[Mapping[str, Any]] = []
    cache: MessageCache = {}
    trace = RecordPart(data, "the trace") if isinstance(data, Mapping) and "observations" in data else None
    for item, where in _observations(data, pages):
        if isinstance(item, str):
            raise TrajectoryError(f"{where} is only an observation's id; ask the API for the trace itself")
        top = None if trace is None else trace.identity("id")
        observation = RecordPart(item, where)
        span = _span(observation, top, cache)
        spans.setdefault(observation.text("traceId", "trace_id") or top or "", []).append(span)
    # A trace is itself the span around its observations, and its output is the run's answer.
    if trace is not None:
        top = trace.identity("id")
        start = trace.time("timestamp")
        answer = _plain_text(trace.get("output"))
        whole = Span(top, None, "other", trace.text("name") or "", start, start, text=answer)
        spans.setdefault(top, []).append(whole)
    faults = _missing_pages(pages, {span.id for each in spans.values() for span in each})
    return [Record(name, tuple(found), tuple(faults)) for name, found in spans.items()]


def _observations(data: object, pages: list[Mapping[str, Any]]) -> Iterator[tuple[Any, str]]:
    """Give every observation with its place, and collect the pages."""
    for index, item in enumerate([data] if isinstance(data, Mapping) else sequence(data, "the record")):
        held, where = item, f"page {index}"
        if isinstance(item, Mapping) and "observations" in item and item is data:
            held, where = item["observations"], "observations"
        # An observation in a list may have a `data` of its own, beside its `traceId`.
        elif isinstance(item, Mapping) and "data" in item and (item is data or "traceId" not in item):
            pages.append(item)
            held = item["data"]
        elif not isinstance(item, list | tuple):
            yield item, f"observation {index}"
            continue
        for number, one in enumerate(sequence(held, where)):
            yield one, f"{where}[{number}]"


def _span(observation: RecordPart, top: str | None, cache: MessageCache) -> Span:
    data = observation.data
    kind_name = observation.text("type") or "SPAN"
    call = text(_call_id(data.get("metadata")), f"{observation.where}: tool_call_id")
    facts = _facts(kind_name, data.get("input"), data.get("output"), call, observation.where, cache)
    end = observation.time("endTime", "end_time")
    if end is None and kind_name.upper() != "EVENT":
        facts.faults.append(NOT_ENDED)
    if facts.kind == "llm":
        prices = first(data, "costDetails", "cost_details")
        total = {"cost": prices.get("total")} if isinstance(prices, Mapping) else None
        facts.usage = read_usage(first(data, "usageDetails", "usage_details"), data.get("usage"), total, _own(data))
    if facts.kind == "llm" and "input" not in data and "output" not in data:
        facts.faults.append("its input and output were not asked for (fields=core,basic,io)")
    error = observation.text("statusMessage", "status_message") or "error"
    return facts.to_span(
        observation.identity("id"),
        observation.text("parentObservationId", "parent_observation_id") or top,
        observation.text("name") or "",
        start=observation.time("startTime", "start_time"),
        end=end,
        error=error if data.get("level") == "ERROR" else None,
        is_entry=data.get("isRootObservation") is True and top is None,
    )


def _own(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an observation without its input and output, whose names are also those of counts."""
    return {key: value for key, value in data.items() if key not in ("input", "output")}


def _missing_pages(pages: list[Mapping[str, Any]], found: set[str]) -> list[str]:
    """Say whether pages are missing: by the number of items that they promise, or because none is the last."""
    # Pages by number say how many items there are, pages by cursor name the next one.
    most, is_last = 0, not pages
    for page in pages:
        meta = page.get("meta")
        about = meta if isinstance(meta, Mapping) else {}
        total = first(about, "totalItems", "total_items")
        most = max(most, total) if isinstance(total, int) else most
        is_last = is_last or not about.get("cursor")
    if most > len(found):
        return [f"{len(found)} of {most} observations are here: pages are missing"]
    return [] if is_last else ["the last page is missing"]

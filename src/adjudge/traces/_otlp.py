"""OTLP as JSON: the documents that OpenTelemetry exporters send and the collector writes to files.

    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "...", "spanId": "...", "attributes": [...]}]}]}]}

Keys may be in snake case, ids in base64, numbers in text, as the various writers have them. Log records of the same
trace (`resourceLogs`), in which some instrumentations put the messages, are joined to their spans.
"""

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from adjudge.errors import TrajectoryError
from adjudge.traces._spans import Record, Span
from adjudge.traces._typed import OtlpDocument, TypedSpan
from adjudge.traces._values import DEPTH, as_text, first, kind_of, mapping, sequence, text

_HEX = frozenset("0123456789abcdef")
_REMOTE = 0x300  # the flags say whether the parent is remote, and it is
_TIME = re.compile(r"[0-9]{1,24}").fullmatch
_ERROR = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})


@dataclass(slots=True)
class Event:
    """Something that was noted during a span: its name, its attributes, and what a log record has as its body."""

    name: str
    attributes: Mapping[str, Any]
    time: int = 0


@dataclass(slots=True)
class Raw:
    """A span as OTLP has it, its attributes as plain values, before a dialect is read from them."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: int | None
    end: int | None
    attributes: Mapping[str, Any]
    events: list[Event] = field(default_factory=list)
    error: str | None = None
    dropped: int = 0
    is_entry: bool = False


def decode_otlp(data: object) -> list[Record]:
    """Read one document, or a list of them."""
    documents = data if isinstance(data, list | tuple) else [data]
    raws: list[Raw] = []
    notes: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for index, document in enumerate(documents):
        where = f"document {index}" if len(documents) > 1 else "the document"
        raws.extend(raw_spans(document, where))
        for key, event in log_events(document, where):
            notes[key].append(event)
    for raw in raws:
        raw.events.extend(notes.pop((raw.trace, raw.id), ()))
    return records(raws)


def records(raws: Iterable[Raw]) -> list[Record]:
    """Group spans by trace, each read in its dialect."""
    from adjudge.traces._dialects import read_span

    traces: dict[str, list[Span]] = {}
    known: dict[Any, Any] = {}
    for raw in raws:
        traces.setdefault(raw.trace, []).append(read_span(raw, known))
    return [Record(trace, tuple(spans)) for trace, spans in traces.items()]


def raw_spans(document: object, where: str, rejected: list[str] | None = None) -> Iterator[Raw]:
    """Give the spans of one document; one that cannot be read raises or, where there is a list for it, is noted."""
    for scope, place in _scopes(document, "resourceSpans", "scopeSpans", where):
        for index, span in enumerate(sequence(scope.get("spans"), f"{place}.spans")):
            spot = f"{place}.spans[{index}]"
            try:
                raw = _typed(span, spot) if isinstance(span, TypedSpan) else _raw(mapping(span, spot), spot)
            except TrajectoryError as error:
                if rejected is None:
                    raise
                rejected.append(error.message)
            else:
                yield raw


def log_events(document: object, where: str) -> Iterator[tuple[tuple[str, str], Event]]:
    """Give the log records of one document that belong to a span, with trace and span id."""
    for scope, place in _scopes(document, "resourceLogs", "scopeLogs", where):
        logs = first(scope, "logRecords", "log_records")
        for index, item in enumerate(sequence(logs, f"{place}.logRecords")):
            spot = f"{place}.logRecords[{index}]"
            log = mapping(item, spot)
            trace = hex_id(first(log, "traceId", "trace_id"), f"{spot}.traceId")
            span = hex_id(first(log, "spanId", "span_id"), f"{spot}.spanId")
            if trace and span:
                attributes = _attributes(log.get("attributes"), f"{spot}.attributes")
                name = text(first(log, "eventName", "event_name"), f"{spot}.eventName")
                body = _any_value(log.get("body"), f"{spot}.body", 0) if log.get("body") is not None else None
                time = _number(first(log, "timeUnixNano", "time_unix_nano"), f"{spot}.timeUnixNano")
                yield (trace, span), log_event(as_text(name), attributes, body, time)


def log_event(name: str, attributes: Mapping[str, Any], body: object, time: int) -> Event:
    """Return a log record as an event: its body stands among its attributes."""
    more = body if isinstance(body, Mapping) else {} if body is None else {"content": body}
    return Event(name or as_text(attributes.get("event.name")), {**attributes, **more}, time)


def _scopes(document: object, outer: str, inner: str, where: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    if isinstance(document, OtlpDocument):
        if outer == "resourceSpans":
            for index, each in enumerate(document.resource_spans):
                for number, one in enumerate(each.scope_spans):
                    yield {"spans": one.spans}, f"{where}: {outer}[{index}].{inner}[{number}]"
        return
    top = mapping(document, where)
    for index, resource in enumerate(sequence(first(top, outer, _snake(outer)), f"{where}: {outer}")):
        place = f"{where}: {outer}[{index}]"
        held = mapping(resource, place)
        scopes = first(held, inner, _snake(inner), "instrumentationLibrarySpans")
        for number, scope in enumerate(sequence(scopes, f"{place}.{inner}")):
            yield mapping(scope, f"{place}.{inner}[{number}]"), f"{place}.{inner}[{number}]"


def _snake(name: str) -> str:
    return name.replace("S", "_s").replace("L", "_l")


def _typed(span: TypedSpan, where: str) -> Raw:
    """Return a span that is written as nearly all are; any other is read in the slower way."""
    start, end = span.start_time_unix_nano, span.end_time_unix_nano
    if (
        not (_is_plain(span.trace_id, 32) and _is_plain(span.span_id, 16))
        or not (_is_plain(span.parent_span_id, 16) or not span.parent_span_id)
        or not (isinstance(start, int) or _TIME(start))
        or not (isinstance(end, int) or _TIME(end))
    ):
        return _raw(msgspec.to_builtins(span), where)
    attributes: dict[str, Any] = {}
    for pair in span.attributes:
        value = pair.value
        if value is not None and value.string_value is not None:
            attributes[pair.key] = value.string_value
        else:
            attributes[pair.key] = _any_value(msgspec.to_builtins(value), f"{where}.attributes: {pair.key}", 0)
    events, dropped = _events(span.events, where)
    return Raw(
        span.trace_id,
        span.span_id,
        span.parent_span_id or None,
        span.name,
        int(start) or None,
        int(end) or None,
        attributes,
        events,
        _error(span.status, f"{where}.status"),
        span.dropped_attributes_count + span.dropped_events_count + dropped,
        span.flags & _REMOTE == _REMOTE,
    )


def _is_plain(identity: str, length: int) -> bool:
    return len(identity) == length and _HEX.issuperset(identity) and identity.count("0") < length


def _raw(span: Mapping[str, Any], where: str) -> Raw:
    trace = hex_id(first(span, "traceId", "trace_id"), f"{where}.traceId")
    identity = hex_id(first(span, "spanId", "span_id"), f"{where}.spanId")
    if not trace or not identity:
        raise TrajectoryError(f"{where} has no {'spanId' if trace else 'traceId'}")
    dropped = _number(first(span, "droppedAttributesCount", "dropped_attributes_count"), f"{where}: dropped attributes")
    dropped += _number(first(span, "droppedEventsCount", "dropped_events_count"), f"{where}: dropped events")
    events, more = _events(span.get("events"), where)
    return Raw(
        trace,
        identity,
        hex_id(first(span, "parentSpanId", "parent_span_id"), f"{where}.parentSpanId"),
        text(span.get("name"), f"{where}.name") or "",
        _number(first(span, "startTimeUnixNano", "start_time_unix_nano"), f"{where}.startTimeUnixNano") or None,
        _number(first(span, "endTimeUnixNano", "end_time_unix_nano"), f"{where}.endTimeUnixNano") or None,
        _attributes(span.get("attributes"), f"{where}.attributes"),
        events,
        _error(span.get("status"), f"{where}.status"),
        dropped + more,
        _number(span.get("flags"), f"{where}.flags") & _REMOTE == _REMOTE,
    )


def _events(items: object, where: str) -> tuple[list[Event], int]:
    """Return the events of a span, and how many of their attributes were dropped."""
    found = []
    dropped = 0
    for index, item in enumerate(sequence(items, f"{where}.events")):
        event = _event(mapping(item, f"{where}.events[{index}]"), f"{where}.events[{index}]")
        found.append(event[0])
        dropped += event[1]
    return found, dropped


def _event(event: Mapping[str, Any], where: str) -> tuple[Event, int]:
    found = Event(
        text(event.get("name"), f"{where}.name") or "",
        _attributes(event.get("attributes"), f"{where}.attributes"),
        _number(first(event, "timeUnixNano", "time_unix_nano"), f"{where}.timeUnixNano"),
    )
    return found, _number(first(event, "droppedAttributesCount", "dropped_attributes_count"), f"{where}: dropped")


def _error(status: object, where: str) -> str | None:
    if status is None:
        return None
    found = mapping(status, where)
    code = found.get("code")
    if not isinstance(code, str | int) or code not in _ERROR:
        return None
    return text(found.get("message"), f"{where}.message") or "error"


def hex_id(value: object, where: str) -> str | None:
    """Return an id in hexadecimal digits; an empty one, or one of zeros, is none."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise TrajectoryError(f"{where} must be text, got {kind_of(value)}")
    found = value.lower()
    if len(found) in (16, 32) and _HEX.issuperset(found):
        return found if found.strip("0") else None
    try:
        decoded = base64.b64decode(value, validate=True).hex()
    except (binascii.Error, ValueError):
        decoded = ""
    return (decoded if len(decoded) in (16, 32) else found) or None


def _number(value: object, where: str) -> int:
    if value is None or value == "":
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TrajectoryError(f"{where} must be a number, got {kind_of(value)}")


def _attributes(items: object, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(items, list):
        try:
            found = {pair["key"]: pair["value"]["stringValue"] for pair in items}  # the usual case: nothing but texts
        except (KeyError, TypeError, IndexError):
            found = {}
        if len(found) == len(items) and all(type(key) is str for key in found):
            return found
        found = {}
    if isinstance(items, Mapping):  # as some writers have them: already plain
        return {str(key): value for key, value in items.items()}
    for index, item in enumerate(sequence(items, where)):
        pair = item if isinstance(item, dict) else mapping(item, f"{where}[{index}]")
        key, value = pair.get("key"), pair.get("value")
        if not isinstance(key, str):
            raise TrajectoryError(f"{where}[{index}] has no 'key'")
        if isinstance(value, dict) and len(value) == 1 and isinstance(plain := value.get("stringValue"), str):
            found[key] = plain
        else:
            found[key] = _any_value(value, f"{where}[{index}]", 0)
    return found


def _any_value(value: object, where: str, depth: int) -> Any:
    """Return an AnyValue as a plain value."""
    if depth > DEPTH:
        raise TrajectoryError(f"{where} is nested too deeply")
    if not isinstance(value, Mapping) or not value:
        return value or None
    key, inner = next(iter(value.items()))
    match str(key).replace("_v", "V"):
        case "arrayValue":
            values = sequence(mapping(inner, where).get("values"), where)
            return [_any_value(each, where, depth + 1) for each in values]
        case "kvlistValue":
            return _pairs(mapping(inner, where).get("values"), where, depth + 1)
        case "intValue" if isinstance(inner, str) and inner.lstrip("-").isdigit() and len(inner) < 25:
            return int(inner)
        case "stringValue" | "boolValue" | "intValue" | "doubleValue" | "bytesValue":
            return inner
    return dict(value)


def _pairs(items: object, where: str, depth: int) -> dict[str, Any]:
    found = {}
    for item in sequence(items, where):
        pair = mapping(item, where)
        found[as_text(pair.get("key"))] = _any_value(pair.get("value"), where, depth)
    return found

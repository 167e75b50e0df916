"""OTLP as JSON: the documents that OpenTelemetry exporters send and the collector writes to files.

    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "...", "spanId": "...", "attributes": [...]}]}]}]}

Keys may be in snake case, ids in base64, numbers in text, as the various writers have them. Log records of the same
trace (`resourceLogs`), in which some instrumentations put the messages, are joined to their spans.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from adjudge.errors import TrajectoryError
from adjudge.traces._values import DEPTH, RecordPart, as_text, first, kind_of, mapping, read_json, sequence

_BEGINNING = re.compile(rb'\s*\{\s*"resourceSpans"')
_HEX = frozenset("0123456789abcdef")
REMOTE = 0x300  # the flags say whether the parent is remote, and it is
_TIME = re.compile(r"[0-9]{1,24}").fullmatch
_ERROR = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})


@dataclass(slots=True)
class OtlpEvent:
    """Something that happened during a span: its name, its attributes, and what a log record has as its body."""

    name: str
    attributes: Mapping[str, Any]
    time: int = 0


@dataclass(slots=True)
class OtlpSpan:
    """A span as OTLP has it, its attributes as plain values, before a dialect is read from them.

    `scope` is the instrumentation that wrote it, `links` are the traces that it refers to.
    """

    trace: str
    id: str
    parent: str | None
    name: str
    start: int | None
    end: int | None
    attributes: Mapping[str, Any]
    events: list[OtlpEvent] = field(default_factory=list)
    error: str | None = None
    dropped: int = 0
    is_entry: bool = False
    scope: str = ""
    links: tuple[str, ...] = ()


# OTLP in JSON, in the form that nearly all writers give it: msgspec decodes it in one step, which is much faster. What
# deviates in anything (keys in snake case, log records, a wrong type) is read as plain JSON, which takes every form and
# says what is wrong.


class _AnyValue(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An AnyValue."""

    string_value: str | None = None
    int_value: Any = None
    bool_value: Any = None
    double_value: Any = None
    array_value: Any = None
    kvlist_value: Any = None
    bytes_value: Any = None


class _Attribute(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An attribute."""

    key: str
    value: _AnyValue | None = None


class _TypedSpan(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A span, with everything that OTLP 1.9 has."""

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: str | int = 0
    end_time_unix_nano: str | int = 0
    attributes: list[_Attribute] = []
    events: list[Any] = []
    status: Any = None
    flags: int = 0
    dropped_attributes_count: int = 0
    dropped_events_count: int = 0
    kind: Any = None
    trace_state: Any = None
    links: Any = None
    dropped_links_count: Any = None


class _Scope(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    spans: list[_TypedSpan] = []
    scope: Any = None
    schema_url: Any = None


class _Resource(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    scope_spans: list[_Scope] = []
    resource: Any = None
    schema_url: Any = None


class OtlpDocument(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """An export request, as it is sent or written to a file."""

    resource_spans: list[_Resource]


_DECODER = msgspec.json.Decoder(OtlpDocument)


def read_otlp_json(content: bytes, where: str) -> Any:
    """Read a document: typed where it is the usual one of spans, else as plain JSON."""
    if _BEGINNING.match(content):
        try:
            return _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # ValidationError is one too
            pass
    return read_json(content, where)


def iter_otlp_spans(document: object, where: str, reject: Callable[[str], object] | None = None) -> Iterator[OtlpSpan]:
    """Give the spans of one document; why one cannot be read is raised or, given `reject`, handed to that."""
    for scope in _scopes(document, "resourceSpans", "scopeSpans", where):
        name = _scope_name(scope.get("scope"))
        for index, item in enumerate(scope.items("spans")):
            place = f"{scope.where}.spans[{index}]"
            try:
                span = _typed_span(item, place) if isinstance(item, _TypedSpan) else _span(RecordPart(item, place))
            except TrajectoryError as error:
                if reject is None:
                    raise
                reject(error.message)
            else:
                span.scope = name
                yield span


def iter_otlp_logs(document: object, where: str) -> Iterator[tuple[tuple[str, str], OtlpEvent]]:
    """Give the log records of one document that belong to a span, with trace and span id."""
    for scope in _scopes(document, "resourceLogs", "scopeLogs", where):
        for index, item in enumerate(scope.items("logRecords", "log_records")):
            log = RecordPart(item, f"{scope.where}.logRecords[{index}]")
            trace, span = _hex_id(log, "traceId", "trace_id"), _hex_id(log, "spanId", "span_id")
            if trace and span:
                body = log.get("body")
                yield (
                    (trace, span),
                    log_event(
                        log.text("eventName", "event_name") or "",
                        _attributes(log),
                        None if body is None else _any_value(body, f"{log.where}.body", 0),
                        _number(log, "timeUnixNano", "time_unix_nano"),
                    ),
                )


def log_event(name: str, attributes: Mapping[str, Any], body: object, time: int) -> OtlpEvent:
    """Return a log record as an event: its body is among its attributes."""
    more = body if isinstance(body, Mapping) else {} if body is None else {"content": body}
    return OtlpEvent(name or as_text(attributes.get("event.name")), {**attributes, **more}, time)


def _scopes(document: object, outer: str, inner: str, where: str) -> Iterator[RecordPart]:
    # The typed form holds spans only: a document with log records is read as plain JSON.
    if isinstance(document, OtlpDocument):
        if outer == "resourceSpans":
            for index, each in enumerate(document.resource_spans):
                for number, one in enumerate(each.scope_spans):
                    yield RecordPart(
                        {"spans": one.spans, "scope": one.scope}, f"{where}: {outer}[{index}].{inner}[{number}]"
                    )
        return
    top = mapping(document, where)
    for index, item in enumerate(sequence(first(top, outer, _snake(outer)), f"{where}: {outer}")):
        resource = RecordPart(item, f"{where}: {outer}[{index}]")
        for number, scope in enumerate(resource.items(inner, _snake(inner), "instrumentationLibrarySpans")):
            yield RecordPart(scope, f"{resource.where}.{inner}[{number}]")


def _scope_name(scope: object) -> str:
    name = scope.get("name") if isinstance(scope, Mapping) else None
    return name if isinstance(name, str) else ""


def _snake(name: str) -> str:
    return name.replace("S", "_s").replace("L", "_l")


def _typed_span(span: _TypedSpan, where: str) -> OtlpSpan:
    """Return a span that is written as nearly all are; any other is read in the slower way."""
    start, end = span.start_time_unix_nano, span.end_time_unix_nano
    if (
        not (_is_plain(span.trace_id, 32) and _is_plain(span.span_id, 16))
        or not (_is_plain(span.parent_span_id, 16) or not span.parent_span_id)
        or not (isinstance(start, int) or _TIME(start))
        or not (isinstance(end, int) or _TIME(end))
    ):
        return _span(RecordPart(msgspec.to_builtins(span), where))
    attributes: dict[str, Any] = {}
    for pair in span.attributes:
        value = pair.value
        if value is not None and value.string_value is not None:
            attributes[pair.key] = value.string_value
        else:
            attributes[pair.key] = _any_value(msgspec.to_builtins(value), f"{where}.attributes: {pair.key}", 0)
    events, dropped = _events(span.events, where)
    return OtlpSpan(
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
        span.flags & REMOTE == REMOTE,
        links=_links(span.links, where) if span.links else (),
    )


def _is_plain(identity: str, length: int) -> bool:
    return len(identity) == length and _HEX.issuperset(identity) and identity.count("0") < length


def _span(span: RecordPart) -> OtlpSpan:
    trace, identity = _hex_id(span, "traceId", "trace_id"), _hex_id(span, "spanId", "span_id")
    if not trace or not identity:
        raise TrajectoryError(f"{span.where} has no {'spanId' if trace else 'traceId'}")
    events, dropped = _events(span.get("events"), span.where)
    dropped += _number(span, "droppedAttributesCount", "dropped_attributes_count")
    dropped += _number(span, "droppedEventsCount", "dropped_events_count")
    return OtlpSpan(
        trace,
        identity,
        _hex_id(span, "parentSpanId", "parent_span_id"),
        span.text("name") or "",
        _number(span, "startTimeUnixNano", "start_time_unix_nano") or None,
        _number(span, "endTimeUnixNano", "end_time_unix_nano") or None,
        _attributes(span),
        events,
        _error(span.get("status"), f"{span.where}.status"),
        dropped,
        _number(span, "flags") & REMOTE == REMOTE,
        links=_links(span.get("links"), span.where),
    )


def _events(items: object, where: str) -> tuple[list[OtlpEvent], int]:
    """Return the events of a span, and how many of their attributes were dropped."""
    found = []
    dropped = 0
    for index, item in enumerate(sequence(items, f"{where}.events")):
        event = RecordPart(item, f"{where}.events[{index}]")
        time = _number(event, "timeUnixNano", "time_unix_nano")
        found.append(OtlpEvent(event.text("name") or "", _attributes(event), time))
        dropped += _number(event, "droppedAttributesCount", "dropped_attributes_count")
    return found, dropped


def _links(items: object, where: str) -> tuple[str, ...]:
    """Return the ids of the traces that a span's links lead to."""
    found = []
    for index, item in enumerate(sequence(items, f"{where}.links")):
        trace = _hex_id(RecordPart(item, f"{where}.links[{index}]"), "traceId", "trace_id")
        if trace:
            found.append(trace)
    return tuple(found)


def _error(value: object, where: str) -> str | None:
    if value is None:
        return None
    status = RecordPart(value, where)
    code = status.get("code")
    if not isinstance(code, str | int) or code not in _ERROR:
        return None
    return status.text("message") or "error"


def _hex_id(part: RecordPart, *keys: str) -> str | None:
    return hex_id(part.get(*keys), f"{part.where}.{keys[0]}")


def hex_id(value: object, where: str) -> str | None:
    """Return an id in hexadecimal digits; an empty one, or one of zeros, is none."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise TrajectoryError(f"{where} must be text, got {kind_of(value)}")
    # By the standard ids are hexadecimal in JSON; some writers use protobuf's own mapping, which is base64.
    found = value.lower()
    if len(found) in (16, 32) and _HEX.issuperset(found):
        return found if found.strip("0") else None
    try:
        decoded = base64.b64decode(value, validate=True).hex()
    except (binascii.Error, ValueError):
        decoded = ""
    return (decoded if len(decoded) in (16, 32) else found) or None


def _number(part: RecordPart, *keys: str) -> int:
    value = part.get(*keys)
    if value is None or value == "":
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TrajectoryError(f"{part.where}.{keys[0]} must be a number, got {kind_of(value)}")


def _attributes(part: RecordPart) -> dict[str, Any]:
    items, where = part.get("attributes"), f"{part.where}.attributes"
    if isinstance(items, Mapping):  # as some writers have them: already plain
        return {str(key): value for key, value in items.items()}
    found: dict[str, Any] = {}
    for index, item in enumerate(sequence(items, where)):
        pair = mapping(item, f"{where}[{index}]")
        key, value = pair.get("key"), pair.get("value")
        if not isinstance(key, str):
            raise TrajectoryError(f"{where}[{index}] has no 'key'")
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
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case "intValue":
            is_text = isinstance(inner, str) and inner.lstrip("-").isdigit() and len(inner) < 25
            return int(inner) if is_text else inner
        case "arrayValue":
            values = sequence(mapping(inner, where).get("values"), where)
            return [_any_value(each, where, depth + 1) for each in values]
        case "kvlistValue":
            pairs = [mapping(each, where) for each in sequence(mapping(inner, where).get("values"), where)]
            return {as_text(pair.get("key")): _any_value(pair.get("value"), where, depth + 1) for pair in pairs}
    return dict(value)

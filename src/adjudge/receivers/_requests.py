"""Export requests of OTLP/HTTP: bodies in, spans out; and the answers, in the encoding of the request.

Nothing here trusts a body: it is unpacked up to a limit, and a span that cannot be read is rejected alone.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from adjudge.chat import cleaned
from adjudge.errors import TrajectoryError
from adjudge.model import to_json
from adjudge.receivers._whole import ReceiverError
from adjudge.traces import (
    OtlpEvent,
    OtlpSpan,
    Span,
    add_log_events,
    iter_otlp_logs,
    iter_otlp_spans,
    iter_protobuf_logs,
    iter_protobuf_spans,
    read_json,
    read_otlp_json,
    read_otlp_span,
)

Encoding: TypeAlias = Literal["json", "protobuf"]

CONTENT_TYPES: dict[str, Encoding] = {
    "application/json": "json",
    "application/x-protobuf": "protobuf",
    "application/protobuf": "protobuf",
}
PACKINGS = ("", "identity", "gzip", "deflate")
_SESSIONS = ("session.id", "langfuse.session.id", "gen_ai.conversation.id")
_LONGEST_SESSION = 200
_INVALID_ARGUMENT = 3  # google.rpc.Code
_HEX = frozenset("0123456789abcdef")


class Arrival(NamedTuple):
    """A span, the trace that it belongs to, and the session that it names."""

    trace: str
    span: Span
    session: str | None


class Note(NamedTuple):
    """A log record, and the trace and the span that it belongs to."""

    trace: str
    span: str
    event: OtlpEvent


@dataclass(frozen=True, slots=True)
class Batch:
    """What a request holds: spans or log records, why others were rejected, and how many bytes each of them took."""

    arrivals: list[Arrival]
    rejected: list[str]
    size: int
    notes: list[Note] = field(default_factory=list)
    is_logs: bool = False


class RequestTooLarge(ReceiverError):
    """A request is larger than its limit."""

    default_code = "too-large"


def unpack(body: bytes, packing: str, largest: int) -> bytes:
    """Undo gzip or deflate, up to a limit."""
    if packing in ("", "identity"):
        return body
    # One byte more than allowed is enough to see that a body is too large: a bomb is never unpacked whole.
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        plain = unpacker.decompress(body, largest + 1)
    except zlib.error:
        raise ReceiverError(f"the body is not {packing}", code="bad-body") from None
    if len(plain) > largest:
        raise RequestTooLarge(f"the body is larger than {largest:,} bytes")
    if not unpacker.eof:
        raise ReceiverError(f"the body stops in the middle of its {packing}", code="bad-body")
    return plain


def read_request(body: bytes, encoding: Encoding) -> Batch:
    """Return the spans of a request; raise for a body that is not an export request."""
    rejected: list[str] = []
    arrivals = []
    try:
        for raw in _raws(body, encoding, rejected):
            try:
                arrivals.append(_arrival(raw))
            except TrajectoryError as error:
                rejected.append(error.message)
    except RecursionError:
        raise ReceiverError("the body is nested too deeply", code="bad-body") from None
    return Batch(arrivals, rejected, len(body) // max(1, len(arrivals)))


def read_logs(body: bytes, encoding: Encoding) -> Batch:
    """Return the log records of a request that hold messages (`gen_ai.*`); others are accepted and ignored."""
    rejected: list[str] = []
    notes = []
    try:
        found = (
            iter_protobuf_logs(body)
            if encoding == "protobuf"
            else iter_otlp_logs(read_json(body, "the body"), "the body")
        )
        for (trace, span), event in found:
            # Agents also log other things: those are not an error, and not ours.
            if event.name.startswith("gen_ai."):
                try:
                    # Tried on an empty span: a record that cannot be read is rejected now, not when its trace is asked
                    # for.
                    add_log_events(Span(span, None, "llm", ""), [event])
                    notes.append(Note(trace, span, event))
                except TrajectoryError as error:
                    rejected.append(error.message)
    except RecursionError:
        raise ReceiverError("the body is nested too deeply", code="bad-body") from None
    return Batch([], rejected, len(body) // max(1, len(notes)), notes, is_logs=True)


def _raws(body: bytes, encoding: Encoding, rejected: list[str]) -> Iterable[OtlpSpan]:
    if encoding == "protobuf":
        return iter_protobuf_spans(body, rejected)
    return iter_otlp_spans(read_otlp_json(body, "the body"), "the body", rejected)


def _arrival(raw: OtlpSpan) -> Arrival:
    for name, value, length in (("trace", raw.trace, 32), ("span", raw.id, 16)):
        if len(value) != length or not _HEX.issuperset(value) or not value.strip("0"):
            raise TrajectoryError(f"{value[:40]!a} is not a {name} id")
    # A session is a key of the store, so a very long one is not taken.
    named = (raw.attributes.get(key) for key in _SESSIONS)
    session = next((one for one in named if isinstance(one, str) and 0 < len(one) <= _LONGEST_SESSION), None)
    return Arrival(raw.trace, read_otlp_span(raw, {}), session)


def acceptance(batch: Batch, encoding: Encoding) -> bytes:
    """Return the answer to a request that was taken: empty, or a partial success."""
    if not batch.rejected:
        return b"{}" if encoding == "json" else b""
    count, why = len(batch.rejected), cleaned(batch.rejected[0])
    if encoding == "json":
        what = "rejectedLogRecords" if batch.is_logs else "rejectedSpans"
        return to_json({"partialSuccess": {what: str(count), "errorMessage": why}})
    return _field(1, _number(1, count) + _field(2, why.encode("utf-8", "replace")))


def refusal(why: str, encoding: Encoding) -> bytes:
    """Return the answer to a request that was refused: a google.rpc.Status."""
    message = cleaned(why)
    if encoding == "json":
        return to_json({"code": _INVALID_ARGUMENT, "message": message})
    return _number(1, _INVALID_ARGUMENT) + _field(2, message.encode("utf-8", "replace"))


def _number(number: int, value: int) -> bytes:
    return bytes([number << 3]) + _varint(value)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])

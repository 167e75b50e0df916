"""Export requests of OTLP/HTTP: bodies in, spans out; and the answers, in the encoding of the request.

Nothing here trusts a body: it is unpacked up to a limit, and a span that cannot be read is rejected alone.
"""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import blake2b
from sys import getsizeof
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
# A character above U+FFFF: in UTF-8, or in an escape, whose backslash may be escaped itself.
_WIDE = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}|(?:\\|5[cC])u[dD][89abAB]")

# Bytes of memory, measured: what the store keeps beside a span or a record (its places in sets, lists and
# dictionaries), and what a value of a body takes at most while the body is decoded.
_SPAN = 600
_NOTE = 500
_VALUE: dict[Encoding, int] = {"json": 200, "protobuf": 100}
LARGEST = 96 << 20


class Arrival(NamedTuple):
    """A span, the trace that it belongs to, the session that it names, and the memory that it takes."""

    trace: str
    span: Span
    session: str | None
    size: int


class Note(NamedTuple):
    """A log record, the trace and the span that it belongs to, what tells it from others, and its memory."""

    trace: str
    span: str
    event: OtlpEvent
    digest: bytes
    size: int


@dataclass(slots=True)
class Batch:
    """What a request holds: spans or log records; how many others were rejected, and why the first of them was.

    `most` is the memory that all of them together may take.
    """

    most: int
    arrivals: list[Arrival] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    is_logs: bool = False
    size: int = 0
    rejected: int = 0
    why: str = ""

    def reject(self, why: str) -> None:
        """Count something that cannot be read; of millions of reasons one is kept."""
        self.rejected += 1
        self.why = self.why or why

    def spend(self, size: int) -> int:
        """Count the memory of one more span or record, and return it."""
        self.size += size
        if self.size > self.most:
            raise RequestTooLarge(f"what the body holds takes more than {self.most:,} bytes of memory")
        return size


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


def weigh(value: object) -> int:
    """Return the bytes of memory that a decoded value takes, with everything in it.

    >>> weigh("a" * 1000) > 1000, weigh([{}] * 1000) > 50_000
    (True, True)
    """
    total = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one is None:
            continue
        total += getsizeof(one)
        if isinstance(one, Mapping):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
        elif is_dataclass(one):
            waiting.extend(getattr(one, each.name) for each in fields(one))
    return total


def _check_values(body: bytes, encoding: Encoding, most: int) -> None:
    """Refuse a body whose values may take too much memory while they are decoded.

    JSON is decoded as a whole: `[[],[],...` takes twenty times its bytes. A protobuf message is decoded span by span.
    """
    # A value in JSON follows one of three marks, and texts in protobuf may be JSON that is decoded too; there, an
    # element of a list follows the tag of field 1, written in one byte or in more.
    marks = b",[{" if encoding == "json" else b",[{\n\x8a"
    values = sum(body.count(mark) for mark in marks)
    # One emoji, plain or escaped, makes every character of its text take four bytes; other letters, two. What texts
    # take while they are made is measured: seven times the bytes of the body, or three times.
    factor = 1 if body.isascii() and b"\\u" not in body else 7
    room = most - values * _VALUE[encoding]
    if factor * len(body) > room >= 3 * len(body) and not _WIDE.search(body):
        return
    if factor * len(body) > room:
        raise RequestTooLarge(
            f"the {len(body):,} bytes and {values:,} values of the body take more than {most:,} bytes of memory"
        )


def read_request(body: bytes, encoding: Encoding, most: int = LARGEST) -> Batch:
    """Return the spans of a request, in at most so much memory; raise for a body that is not an export request."""
    _check_values(body, encoding, most)
    batch = Batch(most, size=len(body))
    try:
        for raw in _raws(body, encoding, batch):
            try:
                batch.arrivals.append(_arrival(raw, batch))
            except TrajectoryError as error:
                batch.reject(error.message)
    except RecursionError:
        raise ReceiverError("the body is nested too deeply", code="bad-body") from None
    return batch


def read_logs(body: bytes, encoding: Encoding, most: int = LARGEST) -> Batch:
    """Return the log records of a request that hold messages (`gen_ai.*`); others are accepted and ignored."""
    _check_values(body, encoding, most)
    batch = Batch(most, is_logs=True, size=len(body))
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
                    digest = blake2b(repr(event).encode("utf-8", "replace"), digest_size=16).digest()
                    batch.notes.append(Note(trace, span, event, digest, batch.spend(_NOTE + weigh(event))))
                except TrajectoryError as error:
                    batch.reject(error.message)
    except RecursionError:
        raise ReceiverError("the body is nested too deeply", code="bad-body") from None
    return batch


def _raws(body: bytes, encoding: Encoding, batch: Batch) -> Iterable[OtlpSpan]:
    if encoding == "protobuf":
        return iter_protobuf_spans(body, batch.reject)
    return iter_otlp_spans(read_otlp_json(body, "the body"), "the body", batch.reject)


def _arrival(raw: OtlpSpan, batch: Batch) -> Arrival:
    for name, value, length in (("trace", raw.trace, 32), ("span", raw.id, 16)):
        if len(value) != length or not _HEX.issuperset(value) or not value.strip("0"):
            raise TrajectoryError(f"{value[:40]!a} is not a {name} id")
    # A session is a key of the store, so a very long one is not taken.
    named = (raw.attributes.get(key) for key in _SESSIONS)
    session = next((one for one in named if isinstance(one, str) and 0 < len(one) <= _LONGEST_SESSION), None)
    span = read_otlp_span(raw, {})
    return Arrival(raw.trace, span, session, batch.spend(_SPAN + weigh(span)))


def acceptance(batch: Batch, encoding: Encoding) -> bytes:
    """Return the answer to a request that was taken: empty, or a partial success."""
    if not batch.rejected:
        return b"{}" if encoding == "json" else b""
    count, why = batch.rejected, cleaned(batch.why)
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

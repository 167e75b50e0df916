"""OTLP in protobuf, read without the protobuf package.

The few messages of a trace need five field types, about a hundred lines. The package would be an extra that many
applications pin to a version of their own. `make oracle` compares the two on spans of the real SDK.
"""

import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import IO, Any

from adjudge.errors import TrajectoryError
from adjudge.traces._otlp import REMOTE, OtlpEvent, OtlpSpan, log_event
from adjudge.traces._values import DEPTH

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_SHORT = 1_000  # bytes of an attribute that is kept


def iter_frames(file: IO[bytes], where: str) -> Iterator[bytes]:
    """Give the messages of a collector's file, each of which follows its length."""
    here = file.tell()
    end = file.seek(0, 2)
    file.seek(here)
    while size := file.read(4):
        length = int.from_bytes(size, "big")
        # Four bytes may claim four gigabytes: room is made for what is there only.
        if len(size) < 4 or length > end - file.tell():
            raise TrajectoryError(f"{where}: the file ends within a protobuf message")
        yield file.read(length)


def iter_protobuf_spans(data: bytes, reject: Callable[[str], object] | None = None) -> Iterator[OtlpSpan]:
    """Give the spans of one export request; why one cannot be read is raised or, given `reject`, handed to that."""
    for scope, start, end in _leaves(data, "Spans"):
        try:
            span = _span(data, start, end)
        except TrajectoryError as error:
            if reject is None:
                raise
            reject(error.message)
        else:
            span.scope = scope
            yield span


def iter_protobuf_logs(data: bytes) -> Iterator[tuple[tuple[str, str], OtlpEvent]]:
    """Give the log records of one export request that belong to a span, with trace and span id."""
    for _, start, end in _leaves(data, "Logs"):
        message = _Message(data, start, end, "LogRecord", attributes=6)
        trace, span = message.hex(9), message.hex(10)
        if trace.strip("0") and span.strip("0"):
            body = _value(data, *message.places[5], 0) if 5 in message.places else None
            yield (trace, span), log_event(message.text(12), message.attributes, body, message.numbers.get(1, 0))


def _leaves(data: bytes, kind: str) -> Iterator[tuple[str, int, int]]:
    """Give the scope of each span or log record of a request, and where it begins and ends."""
    for number, start, end in _fields(data, 0, len(data), "the request"):
        if number == 1 and end >= 0:
            for inner, begin, stop in _fields(data, start, end, f"Resource{kind}"):
                if inner == 2 and stop >= 0:
                    scope = ""  # protobuf writes fields by their numbers, so it is known before what it wrote
                    for leaf, head, tail in _fields(data, begin, stop, f"Scope{kind}"):
                        if leaf == 1 and tail >= 0:
                            scope = _Message(data, head, tail, "InstrumentationScope").text(1)
                        elif leaf == 2 and tail >= 0:
                            yield scope, head, tail


def _fields(data: bytes, start: int, end: int, name: str) -> Iterator[tuple[int, int, int]]:
    """Give each field: its number, and where its bytes begin and end; for a number, the number and -1."""
    here = start
    while here < end:
        tag = data[here]
        here += 1
        if tag > 127:
            tag, here = _varint(data, here - 1, end, name)
        wire = tag & 7
        if wire == _LENGTH:
            size = data[here] if here < end else 128
            here += 1
            if size > 127:
                size, here = _varint(data, here - 1, end, name)
            if here + size > end:
                raise TrajectoryError(f"protobuf, byte {here}: {name} ends before its field {tag >> 3}")
            yield tag >> 3, here, here + size
            here += size
        elif wire == _VARINT:
            value, here = _varint(data, here, end, name)
            yield tag >> 3, value, -1
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
            if here + size > end:
                raise TrajectoryError(f"protobuf, byte {here}: {name} ends before its field {tag >> 3}")
            yield tag >> 3, int.from_bytes(data[here : here + size], "little"), -1
            here += size
        else:
            raise TrajectoryError(f"protobuf, byte {here - 1}: {name} has a field of the unknown type {wire}")


def _varint(data: bytes, here: int, end: int, name: str) -> tuple[int, int]:
    value = shift = 0
    while here < end and shift < 70:
        byte = data[here]
        here += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, here
        shift += 7
    raise TrajectoryError(f"protobuf, byte {here}: {name} has a number that does not end")


class _Message:
    """The fields of a message by their numbers, the last where one is repeated; `attributes` is the field of those."""

    __slots__ = ("attributes", "data", "numbers", "places", "repeated")

    def __init__(
        self, data: bytes, start: int, end: int, name: str, *, attributes: int = 0, repeated: tuple[int, ...] = ()
    ) -> None:
        self.data = data
        self.numbers: dict[int, int] = {}
        self.places: dict[int, tuple[int, int]] = {}  # where texts, ids and messages begin and end
        self.repeated: dict[int, list[tuple[int, int]]] = {each: [] for each in repeated}
        self.attributes: dict[str, Any] = {}
        for number, head, tail in _fields(data, start, end, name):
            if tail < 0:
                self.numbers[number] = head
            elif number == attributes:  # nearly all of them
                known = _known_text(data[head:tail]) if tail - head <= _SHORT else None
                if known is not None:
                    self.attributes[known[0]] = known[1]
                else:
                    _pair(data, head, tail, self.attributes, 0)
            elif number in repeated:
                self.repeated[number].append((head, tail))
            else:
                self.places[number] = head, tail

    def hex(self, number: int) -> str:
        head, tail = self.places.get(number, (0, 0))
        return self.data[head:tail].hex()

    def text(self, number: int) -> str:
        return _text(self.data, *self.places.get(number, (0, 0)))


def _span(data: bytes, start: int, end: int) -> OtlpSpan:
    span = _Message(data, start, end, "Span", attributes=9, repeated=(11, 13))
    trace, identity = span.hex(1), span.hex(2)
    if not trace or not identity:
        raise TrajectoryError(f"protobuf, byte {start}: a Span has no {'span_id' if trace else 'trace_id'}")
    numbers = span.numbers
    dropped = numbers.get(10, 0) + numbers.get(12, 0)
    events = []
    for place in span.repeated[11]:
        event = _Message(data, *place, "Event", attributes=3)
        events.append(OtlpEvent(event.text(2), event.attributes, event.numbers.get(1, 0)))
        dropped += event.numbers.get(4, 0)
    error = None
    if 15 in span.places:
        status = _Message(data, *span.places[15], "Status")
        error = (status.text(2) or "error") if status.numbers.get(3) == 2 else None
    return OtlpSpan(
        trace,
        identity,
        span.hex(4) or None,
        span.text(5),
        numbers.get(7) or None,
        numbers.get(8) or None,
        span.attributes,
        events,
        error,
        dropped,
        numbers.get(16, 0) & REMOTE == REMOTE,
        links=tuple(_Message(data, *place, "Link").hex(1) for place in span.repeated[13]),
    )


@lru_cache(maxsize=4096)  # most attributes are seen again and again; at most 10 MB, see _SHORT
def _known_text(pair: bytes) -> tuple[str, str] | None:
    """Return name and value of an attribute that is a short text; None of any other."""
    end = len(pair)
    middle = 2 + pair[1] if end > 1 else end  # where the name ends, if it is short and first
    if middle + 3 >= end or pair[0] != 10 or pair[1] > 127 or pair[middle] != 18:
        return None
    head = middle + 2 if pair[middle + 1] < 128 else middle + 3
    size, start = (pair[head + 1], head + 2) if head + 1 < end else (0, 0)
    if size > 127 and start < end:
        size, start = size & 127 | pair[start] << 7, start + 1
    if pair[head : head + 1] != b"\n" or start + size != end:
        return None
    try:
        return pair[2:middle].decode(), pair[start:].decode()
    except UnicodeDecodeError:
        return None  # the slow way says where


def _pair(data: bytes, start: int, end: int, into: dict[str, Any], depth: int) -> None:
    key, value = "", None
    for number, head, tail in _fields(data, start, end, "KeyValue"):
        if tail < 0:
            continue
        if number == 1:
            key = _text(data, head, tail)
        elif number == 2:
            value = _value(data, head, tail, depth)
    into[key] = value


def _value(data: bytes, start: int, end: int, depth: int) -> Any:
    if depth > DEPTH:
        raise TrajectoryError(f"protobuf, byte {start}: a value is nested too deeply")
    found: Any = None
    for number, head, tail in _fields(data, start, end, "AnyValue"):
        if number == 1 and tail >= 0:
            found = _text(data, head, tail)
        elif number == 2:
            found = bool(head)
        elif number == 3:
            found = head - (1 << 64) if head >> 63 else head
        elif number == 4 and tail < 0:
            found = struct.unpack("<d", head.to_bytes(8, "little"))[0]
        elif number == 5 and tail >= 0:
            inner = _fields(data, head, tail, "ArrayValue")
            found = [_value(data, begin, stop, depth + 1) for each, begin, stop in inner if each == 1 and stop >= 0]
        elif number == 6 and tail >= 0:
            found = {}
            for each, begin, stop in _fields(data, head, tail, "KeyValueList"):
                if each == 1 and stop >= 0:
                    _pair(data, begin, stop, found, depth + 1)
        elif number == 7 and tail >= 0:
            found = data[head:tail].hex()
    return found


def _text(data: bytes, start: int, end: int) -> str:
    try:
        return data[start:end].decode()
    except UnicodeDecodeError:
        raise TrajectoryError(f"protobuf, byte {start}: a text is not UTF-8") from None

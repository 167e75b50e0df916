"""What an endpoint holds is counted as what it takes in memory: the bound is true, whatever the spans look like."""

import gc
import gzip
import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adjudge.receivers import EndpointLimits, OtlpEndpoint
from adjudge.receivers._requests import RequestTooLarge, read_logs, read_request
from adjudge.receivers._store import SpanStore
from receivers.spans import document, post, span, span_id, trace_id

HELD = 32 << 20
FOLDER = Path(__file__).parent.parent
RANDOM = Random(7)  # noqa: S311 (not a secret)


def packed(spans: list[Any]) -> bytes:
    """Return an export request in JSON."""
    return json.dumps(document(spans)).encode()


def field(number: int, content: bytes) -> bytes:
    """Return a protobuf field of bytes."""
    size, found = len(content), bytearray([number << 3 | 2])
    while size > 127:
        found.append(size & 127 | 128)
        size >>= 7
    return bytes([*found, size]) + content


def tiny() -> bytes:
    """Return spans that are nothing but ids, each of a trace of its own: least bytes for most objects."""
    return packed([{"traceId": trace_id(), "spanId": span_id(1), "endTimeUnixNano": "2"} for _ in range(4000)])


def tiny_protobuf() -> bytes:
    """Return the same in protobuf."""
    spans = (field(2, field(1, os.urandom(16)) + field(2, os.urandom(8))) for _ in range(5000))
    return field(1, field(2, b"".join(spans)))


def attributes() -> bytes:
    """Return spans with many attributes, of which few are kept."""
    return packed([span(trace_id(), 1, attributes={f"gen_ai.x{n}": "abc" for n in range(50)}) for _ in range(200)])


def messages() -> bytes:
    """Return model calls with many small messages, as JSON in a text."""
    trace, found = trace_id(), []
    for number in range(1, 150):
        given = json.dumps([{"role": "user", "content": str(RANDOM.random())} for _ in range(100)])
        found.append(span(trace, number, attributes={"gen_ai.operation.name": "chat", "gen_ai.input.messages": given}))
    return packed(found)


def arguments() -> bytes:
    """Return a tool call with arguments of empty lists: twenty times their bytes in memory."""
    text = '{"a":[' + ",".join(["[]"] * 30_000) + "]}"
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": text}
    return packed([span(trace_id(), 1, attributes=named)])


def values() -> bytes:
    """Return an attribute of empty objects."""
    value: dict[str, Any] = {"arrayValue": {"values": [{}] * 30_000}}
    return packed([span(trace_id(), 1, events=[], flags=1) | {"attributes": [{"key": "x", "value": value}]}])


def records() -> bytes:
    """Return log records with small bodies."""
    body = {"kvlistValue": {"values": [{"key": f"k{n}", "value": {"intValue": str(n)}} for n in range(10)]}}
    trace = trace_id()
    logs = [{"traceId": trace, "spanId": span_id(n), "eventName": "gen_ai.choice", "body": body} for n in range(1, 800)]
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}).encode()


def junk() -> bytes:
    """Return spans that are numbers, each of which is rejected."""
    return packed([0] * 50_000)


def large_emoji() -> bytes:
    """Return a text that is too large for the bound only because of one character in it."""
    text = "\U0001f600" + "a" * 3_500_000
    return json.dumps(document([span(trace_id(), 1, attributes={"gen_ai.tool.name": text})])).encode()


def many_values() -> bytes:
    """Return a body that is refused once it is unpacked: a million empty values."""
    value: dict[str, Any] = {"arrayValue": {"values": [{}] * 1_000_000}}
    return packed([span(trace_id(), 1) | {"attributes": [{"key": "x", "value": value}]}])


SHAPES: list[Callable[[], bytes]] = [tiny, tiny_protobuf, attributes, messages, arguments, values, records, junk]
REFUSED: list[Callable[[], bytes]] = [large_emoji, many_values]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("shape", SHAPES + REFUSED, ids=lambda shape: str(shape.__name__))
def test_memory_stays_within_one_and_a_half_times_the_bound(shape: Callable[[], bytes]) -> None:
    """Eight clients that send several times what may be held, plain or packed, cost at most 1.5 times the bound."""
    command = [sys.executable, "-m", "receivers.holding", str(HELD)]
    with subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        url = url.replace("traces", "logs") if shape is records else url
        kind = "application/x-protobuf" if shape is tiny_protobuf else "application/json"

        def send_one(number: int) -> int:
            body = shape()
            if number % 2:
                return post(url, gzip.compress(body, 1), content_type=kind, Content_Encoding="gzip")[0]
            return post(url, body, content_type=kind)[0]

        with ThreadPoolExecutor(8) as pool:
            answers = set(pool.map(send_one, range(20)))
        child.stdin.write("\n")
        child.stdin.flush()
        growth = int(child.stdout.readline().split()[0])
        child.stdin.close()
        child.wait(30)
    assert (200 in answers) == (shape in SHAPES)
    assert growth < 1.5 * HELD


@pytest.mark.parametrize("body", [b'{"a":[' + b"[]," * 2_000_000, b"," * 20_000_000], ids=["lists", "commas"])
def test_values_that_would_take_too_much_are_not_decoded(body: bytes) -> None:
    """A body is refused by how many values it may hold, before one of them is made."""
    with pytest.raises(Exception, match="bytes of memory"):
        read_request(body, "json")


@pytest.mark.parametrize("is_escaped", [True, False])
@pytest.mark.parametrize(("letter", "width"), [("a", 1), ("é", 2), ("語", 2), ("\U0001f600", 4)])
def test_a_text_counts_as_what_it_takes_in_memory(letter: str, width: int, is_escaped: bool) -> None:
    """One letter makes every character of its text take more: a body is refused by that before it is decoded."""
    found = document([span(trace_id(), 1, attributes={"gen_ai.tool.name": letter + "a" * 100_000})])
    body = json.dumps(found, ensure_ascii=is_escaped).encode()
    room = len(body) * (2 * width - 1)
    assert read_request(body, "json", room + 500_000).arrivals
    with pytest.raises(RequestTooLarge, match="bytes of memory"):
        read_request(body, "json", room - 1)


def test_an_image_is_not_taken_for_an_emoji() -> None:
    """Base64 and random ids, in which any letters and bytes follow one another, count as what they are."""
    image = b64encode(RANDOM.randbytes(300_000)).decode()
    body = packed([span(trace_id(), 1, attributes={"gen_ai.tool.name": image})])
    assert read_request(body, "json", 2 * len(body) + 10_000).arrivals


def test_a_refused_body_is_not_kept() -> None:
    """Once a request is refused nothing of it is held, even before Python looks for circles."""
    gc.collect()
    gc.disable()
    try:
        with OtlpEndpoint(limits=EndpointLimits(held_bytes=HELD)) as endpoint:
            for _ in range(3):
                status, _ = post(endpoint.url, gzip.compress(many_values(), 1), Content_Encoding="gzip")
                assert status == 413
            kept = [one for one in gc.get_objects() if isinstance(one, RequestTooLarge) and one.__traceback__]
    finally:
        gc.enable()
    assert kept == []


def test_of_many_rejected_spans_one_reason_is_kept() -> None:
    """A request of fifty thousand things that are not spans is counted, and one sentence is kept."""
    batch = read_request(junk(), "json")
    assert (batch.rejected, batch.arrivals) == (50_000, [])
    assert "spans[0]" in batch.why


def test_dropping_traces_takes_the_same_time_for_each() -> None:
    """Each of many dropped traces is found at once, not behind the places of those dropped before."""
    store = SpanStore(1)
    batch = read_request(packed([{"traceId": trace_id(), "spanId": span_id(1)} for _ in range(50_000)]), "json")
    store.add(batch.arrivals)  # hours if each were looked for
    assert (len(store), store.evicted) == (0, 50_000)


def test_log_records_of_one_span() -> None:
    """Many log records of one span are told apart by a digest, not each compared with all; one sent twice is one."""
    logs = [
        {"traceId": "a" * 32, "spanId": span_id(1), "eventName": "gen_ai.choice", "body": {"stringValue": str(n)}}
        for n in range(30_000)
    ]
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": logs * 2}]}]}).encode()
    store = SpanStore(EndpointLimits().held_bytes)
    store.add((), read_logs(body, "json").notes)
    assert len(store._held["a" * 32].notes[span_id(1)]) == 30_000

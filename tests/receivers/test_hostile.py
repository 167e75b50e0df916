"""The local OTLP endpoint takes whatever is sent to it, answers in OTLP's own words, and goes on."""

import gzip
import json
import socket
import time
import zlib
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError
from adjudge.receivers import EndpointLimits, OtlpEndpoint
from adjudge.receivers._requests import Batch, acceptance, read_request, refusal
from receivers.spans import agent, document, post, send, span, story, trace_id

PROTOBUF = "application/x-protobuf"


def still_serves(endpoint: OtlpEndpoint) -> bool:
    """Send a good trace, and say whether it is taken."""
    trace = trace_id()
    send(endpoint.url, *story(trace))
    return endpoint.wait(trace, settle=0.02).complete


GARBAGE: list[tuple[bytes, str, int]] = [
    (b"", "application/json", 400),
    (b"{", "application/json", 400),
    (b"null", "application/json", 400),
    (b"[]", "application/json", 400),
    (b'{"resourceSpans": 3}', "application/json", 400),
    (b'{"resourceSpans": [{"scopeSpans": {}}]}', "application/json", 400),
    (b"[" * 100_000, "application/json", 400),
    (b'{"a":' * 50_000, "application/json", 400),
    (b"\xff\xfe\x00", "application/json", 400),
    (b"\xff" * 100, PROTOBUF, 400),
    (b"\x0a\xff\xff\xff\xff\x0f", PROTOBUF, 400),
    (b"\x0a\x05hello", PROTOBUF, 400),
    (b"{}", "text/plain", 415),
    (b"{}", "multipart/form-data", 415),
]


@pytest.mark.parametrize(("body", "content_type", "status"), GARBAGE)
def test_garbage_is_refused(body: bytes, content_type: str, status: int) -> None:
    """What is no export request is answered with a 4xx and a Status in the request's encoding."""
    with OtlpEndpoint() as endpoint:
        got, answer = post(endpoint.url, body, content_type=content_type)
        assert got == status
        if content_type != PROTOBUF:
            assert json.loads(answer)["code"] == 3
        assert endpoint.counts.refused == 1
        assert still_serves(endpoint)


@pytest.mark.parametrize("body", [b"", b"\x0a\x00", b"\x0a\x02\x12\x00"])
def test_an_empty_protobuf_request_is_a_request(body: bytes) -> None:
    """A request without spans is fine, and its answer is the empty message."""
    with OtlpEndpoint() as endpoint:
        assert post(endpoint.url, body, content_type=PROTOBUF) == (200, b"")


def bad_spans(trace: str) -> list[Any]:
    """Return spans that cannot be read, each for a reason of its own."""
    return [
        None,
        7,
        {},
        span(trace, 5) | {"traceId": "0" * 32},
        span(trace, 5) | {"traceId": "g" * 32},
        span(trace, 5) | {"traceId": trace + trace},
        span(trace, 5) | {"spanId": "x" * 5000},
        span(trace, 5) | {"startTimeUnixNano": "soon"},
        span(trace, 5) | {"attributes": [{"value": {}}]},
        span(trace, 5) | {"attributes": 3},
        span(trace, 5) | {"events": [3]},
        span(trace, 5) | {"status": 3},
        span(trace, 5) | {"name": {"a": 1}},
    ]


def test_bad_spans_are_rejected_by_themselves() -> None:
    """Spans that cannot be read are counted in a partial success; the good ones beside them are taken."""
    trace = trace_id()
    bad = bad_spans(trace)
    with OtlpEndpoint() as endpoint:
        status, answer = post(endpoint.url, document([*bad, *story(trace)]))
        partial = json.loads(answer)["partialSuccess"]
        assert (status, partial["rejectedSpans"]) == (200, str(len(bad)))
        assert partial["errorMessage"]
        assert endpoint.wait(trace, settle=0.02).complete
        assert (endpoint.counts.spans, endpoint.counts.rejected) == (3, len(bad))


def field(number: int, content: bytes) -> bytes:
    """Return a protobuf field of bytes."""
    size, found = len(content), bytearray([number << 3 | 2])
    while size > 127:
        found.append(size & 127 | 128)
        size >>= 7
    return bytes([*found, size]) + content


def test_a_partial_success_in_protobuf() -> None:
    """The same in protobuf: the count stands in field 1 of field 1, the reason in its field 2."""
    good = field(1, bytes(range(1, 17))) + field(2, bytes(range(1, 9))) + field(5, b"fine")
    spans = field(2, good) + field(2, b"") + field(2, field(1, bytes(16)) + field(2, bytes(8)))
    with OtlpEndpoint() as endpoint:
        status, answer = post(endpoint.url, field(1, field(2, spans)), content_type=PROTOBUF)
        assert (status, answer[0], answer[2:4]) == (200, 0x0A, b"\x08\x02")
        assert b"no trace_id" in answer
        assert (endpoint.counts.spans, endpoint.counts.rejected) == (1, 2)


def test_bombs_are_not_unpacked() -> None:
    """A body that unpacks to more than the bound is refused with 413 after no more than the bound."""
    bomb = gzip.compress(bytes(50_000_000))
    with OtlpEndpoint(limits=EndpointLimits(request_bytes=100_000)) as endpoint:
        assert post(endpoint.url, bomb, Content_Encoding="gzip")[0] == 413
        assert post(endpoint.url, b" " * 100_001)[0] == 413
        assert still_serves(endpoint)


@pytest.mark.parametrize(
    ("packing", "body", "status"),
    [
        ("gzip", b"{}", 400),
        ("gzip", gzip.compress(b"{}", mtime=0)[:-9], 400),
        ("deflate", zlib.compress(b"{}")[:-5], 400),
        ("br", b"{}", 415),
        ("gzip, gzip", b"{}", 415),
    ],
)
def test_bad_packing_is_refused(packing: str, body: bytes, status: int) -> None:
    """A body that is not packed as it says, or in a way that nobody asked for, is refused."""
    with OtlpEndpoint() as endpoint:
        assert post(endpoint.url, body, Content_Encoding=packing)[0] == status
        assert still_serves(endpoint)


def test_other_paths_and_methods() -> None:
    """Only the path of traces is there, and only for POST."""
    with OtlpEndpoint() as endpoint:
        assert post(f"{endpoint.base_url}/v1/metrics", b"{}")[0] == 404
        assert raw(endpoint, b"GET /v1/traces HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").startswith(
            b"HTTP/1.1 405"
        )


def raw(endpoint: OtlpEndpoint, sent: bytes, *, read: bool = True) -> bytes:
    """Send bytes as they are."""
    parts = urlsplit(endpoint.base_url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30) as connection:
        connection.sendall(sent)
        return connection.recv(100) if read else b""


def test_broken_http() -> None:
    """Bytes that are no HTTP, chunks that are none, and bodies that stop in the middle harm nobody."""
    head = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with OtlpEndpoint() as endpoint:
        assert raw(endpoint, b"\x16\x03\x01\x02\x00 hello\r\n\r\n").startswith(b"HTTP/1.")
        raw(endpoint, head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", read=False)
        raw(endpoint, head + b"Content-Length: 1000\r\n\r\n{", read=False)
        assert still_serves(endpoint)


HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"


def connect(endpoint: OtlpEndpoint, sent: bytes) -> socket.socket:
    """Open a connection and send the beginning of a request."""
    parts = urlsplit(endpoint.base_url)
    connection = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)
    connection.sendall(sent)
    return connection


def test_slow_bodies_give_way() -> None:
    """A body that does not arrive is given up in time; where too many are under way, the oldest is given up at once."""
    with OtlpEndpoint(limits=EndpointLimits(at_once=2, read_s=2.5)) as endpoint:
        slow = [connect(endpoint, HEAD)]
        while len(endpoint._collector._reading) < 1:
            time.sleep(0.01)
        slow.append(connect(endpoint, HEAD))
        while len(endpoint._collector._reading) < 2:
            time.sleep(0.01)
        assert post(endpoint.url, b'{"resourceSpans": []}')[0] == 200
        assert slow[0].recv(12) == b"HTTP/1.1 408"
        assert slow[1].recv(12) == b"HTTP/1.1 408"
        for connection in slow:
            connection.close()
        assert still_serves(endpoint)


def test_seventy_slow_bodies_do_not_starve_anybody() -> None:
    """While seventy clients send a byte now and then, another one is served at once, each time."""
    with OtlpEndpoint() as endpoint:
        slow = [connect(endpoint, HEAD) for _ in range(70)]
        while len(endpoint._collector._reading) < 64:
            time.sleep(0.01)
        for _ in range(3):
            assert still_serves(endpoint)
            for connection in slow[20:]:
                connection.sendall(b" ")
        for connection in slow:
            connection.close()


def test_a_crowd_is_asked_to_wait() -> None:
    """Where more arrives at once than may be held, a request gets a 503 with a time to wait."""
    with OtlpEndpoint(limits=EndpointLimits(held_bytes=1)) as endpoint:
        endpoint._collector._arrived = 1 << 20
        status, answer = post(endpoint.url, b'{"resourceSpans": []}')
        assert (status, json.loads(answer)["message"]) == (503, "busy: too much arrives at once")


def test_headers_that_do_not_arrive() -> None:
    """A connection whose headers are not there in time is closed, and so is one that says nothing."""
    with OtlpEndpoint(limits=EndpointLimits(header_s=0.2)) as endpoint:
        silent, slow = connect(endpoint, b""), connect(endpoint, HEAD[:40])
        assert silent.recv(1) == b""
        assert slow.recv(1) == b""
        silent.close()
        slow.close()
        assert still_serves(endpoint)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "127.0.0.1:4318"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "LOCALHOST.:1"}, 200),
        ({"Host": "[::1]:4318"}, 200),
        ({"Host": "evil.example:4318"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Host": "10.0.0.1"}, 421),
        ({"Host": "[::1"}, 421),
        ({"Host": "localhost:4318, evil.example"}, 421),
        ({"Host": "localhost/evil"}, 421),
        ({"Host": "localhost?evil"}, 421),
        ({"Host": "user@localhost"}, 421),
        ({"Host": "127.0.0.1:port"}, 421),
        ({"Host": "127.0.0.1:"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 421),
        ({"Host": "localhost:1", "Origin": "http://evil.example"}, 403),
        ({"Host": "localhost:1", "Origin": "https://localhost:1"}, 403),
        ({"Host": "localhost:1", "Origin": "null"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200),
    ],
)
def test_web_pages_cannot_send_spans(headers: dict[str, str], status: int) -> None:
    """Only a request to this machine's own name is answered, and none from a page of another site."""
    with OtlpEndpoint() as endpoint:
        got, answer = post(endpoint.url, b'{"resourceSpans": []}', **headers)
        assert got == status
        if status != 200:
            assert answer.startswith(b"This server ")
            assert endpoint.counts.requests == 0


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://evil.example/v1/traces", 421),
        ("http://evil.example@localhost/v1/traces", 421),
        ("http://localhost@evil.example/v1/traces", 421),
        ("https://evil.example:4318/v1/traces", 421),
        ("http://localhost:1/v1/traces", 200),
    ],
)
def test_a_host_in_the_first_line(target: str, status: int) -> None:
    """A request that names another host in its first line is refused, whatever its `Host` header says."""
    body = b'{"resourceSpans": []}'
    head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close"
    with OtlpEndpoint() as endpoint:
        connection = connect(endpoint, f"POST {target} HTTP/1.1\r\n{head}\r\n\r\n".encode() + body)
        assert connection.recv(20).startswith(f"HTTP/1.1 {status} ".encode())
        connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"POST ::error::pwned HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST http://[\x1b[31m::error::pwn HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\x9b31m HTTP/1.1\r\nHost: localhost\r\nX: \x1b[31m\r\n\r\n",
        b"POST ##vso[task.complete] HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nabcd",
        HEAD.replace(b"Content-Length: 10", b"Transfer-Encoding: chunked") + b"zz\r\nabc\r\n0\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 40_000 + b"\r\n",
        b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"\x16\x03\x01 not HTTP at all\r\n\r\n",
    ],
)
def test_what_is_not_http_leaves_no_word_in_the_log(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A request that is not HTTP is refused; nothing of it, nor a traceback, reaches the terminal."""
    with OtlpEndpoint() as endpoint:
        connection = connect(endpoint, b"")
        with suppress(ConnectionError):
            connection.sendall(sent)
            assert connection.recv(20).startswith(b"HTTP/1.")
        connection.close()
        assert still_serves(endpoint)
    assert caplog.records == []


def test_a_server_on_all_addresses_answers_to_every_name() -> None:
    """Bound to all addresses, an endpoint cannot know its names; pages of other sites are refused all the same."""
    with OtlpEndpoint("0.0.0.0") as endpoint:  # noqa: S104 (what is tested)
        url = endpoint.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104 (same)
        assert post(url, b'{"resourceSpans": []}', Host="host.docker.internal:4318")[0] == 200
        assert post(url, b'{"resourceSpans": []}', Host="evil.example", Origin="http://page.example")[0] == 403


def test_hostile_text_is_inert() -> None:
    """Names and reasons are kept as text and answered on one line."""
    trace = trace_id()
    name = "\x1b[2J<script>{{sources}}\n=cmd()"
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, agent(trace, 1, name, **{"session.id": "s" * 5000}))
        assert endpoint.wait(trace, settle=0.02).agents_called == (name,)
        _, answer = post(endpoint.url, document([span("\x1b[2J\n" * 9, 1)]))
        assert "\x1b" not in json.loads(answer)["partialSuccess"]["errorMessage"]


def test_circles_and_deep_traces() -> None:
    """Spans that are each other's parents never make a whole trace; a very deep one does."""
    circle, deep = trace_id(), trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, span(circle, 1, 2), span(circle, 2, 1))
        assert not endpoint.wait(circle, timeout=0.1).complete
        send(endpoint.url, *(span(deep, number, number - 1 or None) for number in range(1, 5000)))
        assert endpoint.wait(deep, settle=0.02).complete


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300), st.sampled_from(["json", "protobuf"]))
def test_no_body_brings_anything_but_an_answer(body: bytes, encoding: Any) -> None:
    """Any bytes are a batch or an error of ours, and either can be answered."""
    answer = None
    try:
        answer = acceptance(read_request(body, encoding), encoding)
    except AdjudgeError as error:
        answer = refusal(error.reason, encoding)
    assert answer is not None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from([*span("a" * 32, 1, 2), "events", "status", "flags"]), values))
def test_no_span_brings_anything_but_an_answer(change: dict[str, Any]) -> None:
    """A span with any JSON in its fields is taken or rejected."""
    body = json.dumps(document([{**span("a" * 32, 1, 2), **change}])).encode()
    batch = read_request(body, "json")
    assert isinstance(batch, Batch)
    assert len(batch.arrivals) + batch.rejected == 1

"""Whatever a body holds: refused, or an error of its row; never a fault of the server, and the next row is right."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.serve import RewardServer
from serve.serving import TOKEN, Client, serving

ROW = {"final_response": "Paris", "answer": "Paris"}
GOOD = json.dumps(ROW).encode()

REFUSED = {
    "empty": b"",
    "no JSON": b"rows",
    "a list": b"[]",
    "rows is an object": b'{"rows": {}}',
    "rows is null": b'{"rows": null}',
    "no rows": b'{"scorer": "qa_f1_reward"}',
    "a scorer that is a number": b'{"rows": [], "scorer": 1}',
    "cut short": b'{"rows": [{"final_response": "Pa',
    "bytes": bytes(range(256)),
    "a byte order mark": b'\xef\xbb\xbf{"rows": []}',
    "two objects": b'{"rows": []}{"rows": []}',
    "deep": b'{"rows": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
}
ERRORS = {
    "null": b"null",
    "a number": b"1",
    "a text": b'"Paris"',
    "a list": b"[]",
    "empty": b"{}",
    "deep": b'{"final_response": ' + b"[" * 900 + b"]" * 900 + b', "answer": "Paris"}',
    "numbers for texts": b'{"final_response": 1, "answer": {"a": []}}',
    "a huge number": b'{"final_response": "Paris", "answer": ' + b"9" * 5000 + b"}",
    "a row that tells what it is": b'{"value": 1.0, "status": "scored", "scores": [1]}',
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Serve with a limit of a megabyte."""
    with serving(tmp_path_factory.mktemp("hostile"), "--scorer", "qa_f1_reward", "--max-bytes", "1000000") as found:
        yield found


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("path", ["/score", "/get_reward", "/verify"])
def test_what_is_no_request_is_refused(client: Client, path: str, body: bytes) -> None:
    """A body without rows is 400, with what is wrong in one line."""
    reply = client.ask("POST", path, body)
    assert reply.status == 400 or (path == "/verify" and reply.status == 200 and reply.json["reward"] == 0.0), reply
    assert client.scores([ROW])[0]["value"] == 1.0


@pytest.mark.parametrize("row", ERRORS.values(), ids=ERRORS)
def test_what_is_no_row_is_an_error_in_its_place(client: Client, row: bytes) -> None:
    """A row that cannot be scored is an error, and the rows beside it are scored."""
    body = b'{"rows": [' + b",".join([GOOD, row, GOOD]) + b"]}"
    reply = client.ask("POST", "/score", body)
    assert reply.status == 200, reply
    scores = reply.json["scores"]
    assert [one["status"] for one in scores] == ["scored", "error", "scored"]
    assert scores[1]["value"] is None
    assert scores[1]["parts"] == dict.fromkeys(scores[0]["parts"])
    lines = client.ask("POST", "/score", GOOD + b"\n" + row + b"\n" + GOOD, Content_Type="application/x-ndjson")
    assert [json.loads(line) for line in lines.body.splitlines()] == scores


def test_a_name_that_comes_twice_has_its_last_value(client: Client) -> None:
    """As in files of rows, the last of two values counts."""
    body = b'{"rows": [{"final_response": "Lyon", "answer": "Paris", "final_response": "Paris"}]}'
    assert client.ask("POST", "/score", body).json["scores"][0]["value"] == 1.0


def test_lone_surrogates_and_constants(client: Client) -> None:
    """The escape of half a character is a text; NaN and Infinity are not JSON."""
    for more in (b'"final_response": "\\ud800 Paris"', b'"final_response": "Paris", "x": 1e999'):
        row = b'{"answer": "Paris", ' + more + b"}"
        assert client.ask("POST", "/score", b'{"rows": [' + row + b"]}").json["scores"][0]["status"] == "scored", row
    for constant in (b"NaN", b"Infinity", b"-Infinity"):
        reply = client.ask("POST", "/score", b'{"rows": [{"final_response": ' + constant + b', "answer": "Paris"}]}')
        assert reply.status == 400 or reply.json["scores"][0]["status"] == "error"
    # Python writes NaN for an empty cell: the other rows of the post have their scores.
    good = b'{"final_response": "Paris", "answer": "Paris"}'
    body = b'{"rows": [' + good + b', {"final_response": "Paris", "answer": "Paris", "meta": NaN}, ' + good + b"]}"
    statuses = [one["status"] for one in client.ask("POST", "/score", body).json["scores"]]
    assert (statuses[0], statuses[2]) == ("scored", "scored")
    assert statuses[1] in ("scored", "error")


def test_a_hundred_megabytes_are_refused_before_they_are_read(client: Client) -> None:
    """A body over the limit is refused by its length, or where it passes the limit, without being kept."""
    head = f"POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
    for length in ("Content-Length: 100000000", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", client.port), timeout=30) as connection:
            connection.sendall(f"{head}{length}\r\n\r\n".encode())
            sent = b"x" * 65536
            with suppress(OSError):  # it hangs up
                for _ in range(1600):
                    connection.sendall(b"10000\r\n" + sent + b"\r\n" if "chunked" in length else sent)
            connection.settimeout(15)
            with suppress(OSError):  # the answer may be lost with the connection
                assert b" 413 " in connection.recv(65536)
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    most = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert most < 200_000  # kB
    assert client.scores([ROW])[0]["value"] == 1.0


HEAD = f"POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
BROKEN = {
    "a chunk of no length": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk that is longer than it says": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}{}\r\n0\r\n\r\n",
    "a length that is no number": b"Content-Length: many\r\n\r\n{}",
    "a negative length": b"Content-Length: -1\r\n\r\n{}",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a body that ends early": b"Content-Length: 200\r\n\r\n{",
    "lines that end early": b"Content-Type: application/x-ndjson\r\nContent-Length: 200\r\n\r\n{}\n{",
    "lines in a chunk of no length": b"Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
}


@pytest.mark.parametrize("rest", BROKEN.values(), ids=BROKEN)
def test_what_is_not_http_is_not_a_fault_of_ours(client: Client, rest: bytes) -> None:
    """A body that is not framed, or whose sender goes, is refused or dropped: it is never a 500."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as connection:
        connection.sendall(HEAD + rest)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        with suppress(ConnectionError):
            while part := connection.recv(65536):
                answer += part
    assert answer == b"" or answer[9:12] in (b"400", b"200"), answer
    # A stream that was cut has no end.
    assert answer[9:12] != b"200" or not answer.endswith(b"0\r\n\r\n"), answer
    assert client.scores([ROW])[0]["value"] == 1.0
    assert not any('status="500"' in name for name in client.metrics())


def test_a_client_that_waits_is_told_to_send(client: Client) -> None:
    """`Expect: 100-continue`, which curl sends with large bodies, is answered before the body is read."""
    body = b'{"rows": [' + GOOD + b"]}"
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as connection:
        connection.sendall(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert b'"value":1.0' in connection.recv(65536)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_json_is_answered(client: Client, value: object) -> None:
    """Whatever JSON there is in place of rows, of a row or of a column: 200 with one outcome a row, or 400."""
    bodies = (value, {"rows": value}, {"rows": [value]}, {"rows": [{"final_response": value, "answer": value}]})
    for number, body in enumerate(bodies):
        reply = client.ask("POST", "/score", json.dumps(body).encode())
        assert reply.status in (200, 400), (body, reply)
        if number > 1 and reply.status == 200:
            (score,) = reply.json["scores"]
            assert (score["value"] is None) == (score["status"] != "scored")


def test_headers_that_do_not_come_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection whose first headers do not come is closed; one that was used may be kept for the next request."""
    monkeypatch.setattr("adjudge.serve._server.HEADER_S", 0.3)
    asyncio.run(_ask_slowly())


async def _ask_slowly() -> None:
    async with RewardServer(["qa_f1_reward"]).serving() as port:
        _, used = kept = await asyncio.open_connection("127.0.0.1", port)
        used.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert await kept[0].readuntil(b'"ok"}')
        reader, slow = await asyncio.open_connection("127.0.0.1", port)
        slow.write(b"POST /score HTTP/1.1\r\nHo")
        async with asyncio.timeout(20):
            assert await reader.read() == b""
        used.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert await kept[0].readuntil(b'"ok"}')
        used.close()
        slow.close()

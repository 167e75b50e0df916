"""The pooled client against real sockets."""

import asyncio
import gzip
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError, UsageError
from adjudge.http import (
    BadStatus,
    ClientClosed,
    ConnectionFailed,
    DeadlineExceeded,
    HttpClient,
    HttpError,
    HttpReply,
    Limits,
    ReplyTooLarge,
    ReplyUnreadable,
    Request,
    attempt_watch,
)
from adjudge.testing import ChatServer, Fault, Limit
from chat.asking import left_behind


def request(server: ChatServer, body: bytes = b"{}") -> Request:
    """Return a request of the scripted server."""
    return Request(f"{server.base_url}/chat/completions", body)


async def until_in_flight(server: ChatServer, number: int) -> None:
    """Wait until that many calls have reached the server."""
    while server.counts.in_flight < number:  # noqa: ASYNC110 (the server is in another thread)
        await asyncio.sleep(0.01)


def fetch(url: str, **limits: float) -> HttpReply:
    """Fetch once on a loop of its own."""

    async def run() -> HttpReply:
        async with HttpClient(Limits(**limits)) as client:  # type: ignore[arg-type]
            return await client.fetch(Request(url, b"{}"))

    return asyncio.run(run())


@asynccontextmanager
async def raw_server(reply: bytes, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve the same bytes to everybody, then close."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


def against_raw(reply: bytes, **limits: float) -> HttpReply:
    """Fetch from a server that sends these bytes."""

    async def run() -> HttpReply:
        async with raw_server(reply) as url, HttpClient(Limits(**limits)) as client:  # type: ignore[arg-type]
            return await client.fetch(Request(url, b"{}"))

    return asyncio.run(run())


def response(body: bytes, *headers: str) -> bytes:
    """Return an HTTP response."""
    return "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


def test_several_loops_in_a_row() -> None:
    """One client works on one event loop after another, and leaves neither descriptors nor threads."""
    with ChatServer("x") as server:
        client = HttpClient()

        async def run() -> int:
            return (await client.fetch(request(server))).status

        assert left_behind(lambda: [asyncio.run(run()) for _ in range(3)]) == (0, 0)


def test_cancelled_calls_leave_nothing() -> None:
    """Calls cancelled while they wait, connect or read give back their place, and the next one is served."""
    with ChatServer(lambda call: Fault("hang") if b"hang" in call.body else "x") as server:

        async def run() -> None:
            async with HttpClient(Limits(in_flight=4)) as client:
                calls = [asyncio.ensure_future(client.fetch(request(server, b'{"a": "hang"}'))) for _ in range(12)]
                await until_in_flight(server, 4)
                for call in calls:
                    call.cancel()
                assert all(
                    isinstance(one, asyncio.CancelledError)
                    for one in await asyncio.gather(*calls, return_exceptions=True)
                )
                replies = await asyncio.gather(*(client.fetch(request(server)) for _ in range(12)))
                assert {reply.status for reply in replies} == {200}

        assert left_behind(lambda: asyncio.run(run())) == (0, 0)
        assert server.counts.max_in_flight <= 4


def test_the_limit_on_calls_at_once() -> None:
    """However many calls are made, no more than `in_flight` reach the server at once."""
    with ChatServer("x", latency_s=0.02) as server:

        async def run() -> None:
            async with HttpClient(Limits(in_flight=5)) as client:
                await asyncio.gather(*(client.fetch(request(server)) for _ in range(60)))

        asyncio.run(run())
        assert server.counts.calls == 60
        assert server.counts.max_in_flight == 5


def test_transient_failures_pass() -> None:
    """What may pass is tried again until it has."""
    with ChatServer([Fault("500"), Fault("reset"), Fault("close"), Fault("429"), Fault("408"), "x"]) as server:
        assert fetch(f"{server.base_url}/chat/completions").status == 200
        assert server.counts.calls == 6
        assert server.counts.repeats == 5


@pytest.mark.parametrize(
    ("kind", "error"), [("503", BadStatus), ("reset", ConnectionFailed), ("cut-off", ConnectionFailed)]
)
def test_attempts_are_bounded(kind: str, error: type[HttpError]) -> None:
    """After the last attempt the failure is raised, and says how many there were."""
    with ChatServer(Fault(kind)) as server:
        with pytest.raises(error, match="3 attempts"):
            fetch(f"{server.base_url}/chat/completions", attempts=3)
        assert server.counts.calls == 3


@pytest.mark.parametrize("status", ["301", "302", "307", "400", "401", "404", "422"])
def test_what_does_not_pass_is_not_repeated(status: str) -> None:
    """A redirect is not followed and a refusal is final."""
    with ChatServer(Fault(status)) as server:
        with pytest.raises(BadStatus) as caught:
            fetch(f"{server.base_url}/chat/completions")
        assert caught.value.status == int(status)
        assert server.counts.calls == 1


def test_nobody_listens() -> None:
    """A port where nobody listens is a failed connection."""
    with ChatServer("x") as server:
        url = server.base_url
    with pytest.raises(ConnectionFailed):
        fetch(url, attempts=2)


@pytest.mark.parametrize(
    "fault",
    [Fault("429", retry_after=1), Fault("503", retry_after="0.8"), Fault("429", retry_after_ms=900)],
    ids=["seconds", "fraction", "milliseconds"],
)
def test_everybody_waits_as_asked(fault: Fault) -> None:
    """After one call is told to wait, no call to that endpoint is made until the time is over."""
    moments: list[float] = []

    def script(call: object) -> str | Fault:
        moments.append(time.monotonic())
        return fault if len(moments) == 1 else "x"

    with ChatServer(script) as server:

        async def run() -> None:
            async with HttpClient() as client:
                first = asyncio.ensure_future(client.fetch(request(server)))
                while not moments or server.counts.in_flight:  # noqa: ASYNC110 (the server is in another thread)
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.2)  # by then the client has read the reply
                await asyncio.gather(first, *(client.fetch(request(server)) for _ in range(5)))

        asyncio.run(run())
    assert len(moments) == 7
    assert min(moments[1:]) - moments[0] >= 0.75


def test_what_is_left_is_not_used_up_at_once() -> None:
    """Once a reply says that two calls are left for a second, the next two do not start together."""
    moments: list[float] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        moments.append(time.monotonic())
        writer.write(response(b"x", "x-ratelimit-remaining-requests: 2", "x-ratelimit-reset-requests: 1s"))
        await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with server, HttpClient() as client:
            await client.fetch(Request(url, b"{}"))
            await asyncio.gather(*(client.fetch(Request(url, b"{}")) for _ in range(2)))

    asyncio.run(run())
    assert moments[2] - moments[1] >= 0.3


@pytest.mark.parametrize("wait", ["86400", "Fri, 31 Dec 2100 23:59:59 GMT", "9" * 400])
def test_a_day_is_too_long(wait: str) -> None:
    """A server that asks to wait for longer than is sensible gets no second call, and the error comes at once."""
    with ChatServer(Fault("429", retry_after=wait)) as server:
        start = time.monotonic()
        with pytest.raises(BadStatus, match="asks to wait"):
            fetch(f"{server.base_url}/chat/completions")
        assert time.monotonic() - start < 60
        assert server.counts.calls == 1


@pytest.mark.parametrize("kind", ["hang", "slow"])
def test_the_deadline_is_total(kind: str) -> None:
    """Bytes that trickle in do not extend the deadline, nor do attempts."""
    with ChatServer(Fault(kind)) as server:
        with pytest.raises(DeadlineExceeded, match="the last: timeout"):
            fetch(f"{server.base_url}/chat/completions", attempt_timeout_s=0.7, deadline_s=2.0)
        assert 2 <= server.counts.calls <= 3


def test_a_wait_beyond_the_deadline_is_not_waited() -> None:
    """A wait that would end after the deadline is given up at once."""
    with ChatServer(Fault("429", retry_after=50)) as server:
        start = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            fetch(f"{server.base_url}/chat/completions", deadline_s=40)
        assert time.monotonic() - start < 20


class Waiting:
    """Watches a request, and says how often it has waited for its turn."""

    def __init__(self) -> None:
        self.turns = 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a wait."""
        self.turns += 1
        yield

    def begin(self, attempt: int) -> None:
        """Hear of an attempt."""

    def failed(self, attempt: int, error: AdjudgeError) -> None:
        """Hear of a failure."""


async def behind_another(server: ChatServer, watch: Waiting | None) -> HttpReply:
    """Ask with a second of time, behind a call that holds the only place for longer."""
    async with HttpClient(Limits(in_flight=1, attempts=1, attempt_timeout_s=2.0)) as client:
        first = asyncio.create_task(client.fetch(request(server)))
        await until_in_flight(server, 1)
        attempt_watch.set(watch)
        try:
            return await client.fetch(request(server), deadline_s=1.0)
        finally:
            with pytest.raises(HttpError):
                await first


def test_waiting_for_a_turn_is_not_the_time_of_a_watched_request() -> None:
    """Whoever watches a request is told of the wait for its turn, which does not use up the deadline."""
    watch = Waiting()
    with ChatServer([Fault("hang"), "x"]) as server:
        assert asyncio.run(behind_another(server, watch)).status == 200
    assert watch.turns == 1


def test_nobody_waits_for_a_turn_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a watch the wait counts; with one, patience has an end, and the error says what it was spent on."""
    with ChatServer([Fault("hang"), "x"]) as server:
        with pytest.raises(DeadlineExceeded, match=r"0 attempts$"):
            asyncio.run(behind_another(server, None))
        assert server.counts.calls == 1
    monkeypatch.setattr("adjudge.http._sending._PATIENCE_S", 0.0)
    monkeypatch.setattr("adjudge.http._sending._PATIENCE", 0.2)
    with ChatServer([Fault("hang"), "x"]) as server:
        with pytest.raises(DeadlineExceeded, match=r"0 attempts, with 1\.[2-9]\d* s of waiting for a turn"):
            asyncio.run(behind_another(server, Waiting()))
        assert server.counts.calls == 1


def test_large_replies_are_cut_off() -> None:
    """A reply over the bound is not read to its end, whether it says how long it is or not."""
    body = b"a" * 1_000_000
    assert len(against_raw(response(body), max_reply_bytes=1_000_000).body) == 1_000_000
    with pytest.raises(ReplyTooLarge):
        against_raw(response(body), max_reply_bytes=999_999)
    with pytest.raises(ReplyTooLarge):
        against_raw(b"HTTP/1.1 200 OK\r\n\r\n" + body, max_reply_bytes=999_999)


def test_packed_replies() -> None:
    """A packed reply is unpacked within the bound; a bomb and a broken one are errors."""
    packed = "Content-Encoding: gzip"
    assert against_raw(response(gzip.compress(b"hello"), packed)).body == b"hello"
    with pytest.raises(ReplyTooLarge):
        against_raw(response(gzip.compress(b"a" * 50_000_000), packed))
    for broken in (b"hello", gzip.compress(b"hello" * 99)[:20]):
        with pytest.raises(ReplyUnreadable):
            against_raw(response(broken, packed))
    with pytest.raises(ReplyUnreadable):
        against_raw(response(b"hello", "Content-Encoding: br"))


@pytest.mark.parametrize("reply", [b"SSH-2.0-OpenSSH_9\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\x00\xff\xfe\r\n\r\n"])
def test_what_is_not_http(reply: bytes) -> None:
    """A server that does not speak HTTP ends in a typed error."""
    with pytest.raises(HttpError):
        against_raw(reply, attempts=2)


def test_a_closed_client() -> None:
    """Closing tells whoever is under way or waits, and later calls are refused."""
    with ChatServer(Fault("hang")) as server:

        async def run() -> list[object]:
            client = HttpClient(Limits(in_flight=2))
            calls = [asyncio.ensure_future(client.fetch(request(server))) for _ in range(6)]
            await until_in_flight(server, 2)
            await client.close()
            ends: list[object] = list(await asyncio.gather(*calls, return_exceptions=True))
            with pytest.raises(ClientClosed):
                await client.fetch(request(server))
            return ends

        assert {type(end) for end in asyncio.run(run())} == {ClientClosed}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_certificates_are_checked(tmp_path: Path) -> None:
    """A server whose certificate nobody vouches for is not talked to, and not tried again."""
    files = {"-keyout": tmp_path / "key.pem", "-out": tmp_path / "cert.pem"}
    names = [word for option, path in files.items() for word in (option, str(path))]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", *names],  # noqa: S607 (found above)
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["-out"], files["-keyout"])

    async def run() -> HttpReply:
        async with raw_server(response(b"x"), context) as url, HttpClient() as client:
            return await client.fetch(Request(url, b"{}"))

    with pytest.raises(ConnectionFailed) as caught:
        asyncio.run(run())
    assert caught.value.code == "tls"


@pytest.mark.parametrize(
    "limits", [{"in_flight": 0}, {"attempts": 0}, {"deadline_s": -1}, {"deadline_s": float("nan")}]
)
def test_senseless_limits(limits: dict[str, float]) -> None:
    """A limit that lets nothing through is refused before anything is sent."""
    with pytest.raises(UsageError):
        Limits(**limits)  # type: ignore[arg-type]


def test_what_the_server_carries_is_found() -> None:
    """Against a server with a limit of its own every call is answered, few are refused and its limit is used."""
    with ChatServer("x", latency_s=0.05, limit=Limit(in_flight=10), process=True) as server:

        async def run() -> None:
            async with HttpClient(Limits(in_flight=64)) as client:

                def start(number: int) -> Awaitable[HttpReply]:
                    return client.fetch(request(server, b"%d" % number))

                await asyncio.gather(*(start(number) for number in range(300)))
                shares = []
                # A round beside a busy neighbour says little: the best of three counts.
                for first in (300, 700, 1100):
                    before = server.counts
                    await asyncio.gather(*(start(number) for number in range(first, first + 400)))
                    after = server.counts
                    shares.append((after.refused - before.refused) / (after.calls - before.calls))
                    if shares[-1] <= 0.05:
                        break
                assert min(shares) <= 0.05

        asyncio.run(run())
        assert server.counts.max_in_flight > 10

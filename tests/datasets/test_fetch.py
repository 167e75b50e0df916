"""Images from the web: from named hosts only, never from a private address, never by a redirect elsewhere."""

import asyncio
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest

from adjudge.datasets import read_conversations
from adjudge.datasets._fetch import HOPS, ImageFetcher
from adjudge.errors import AdjudgeError, RowError, UsageError
from adjudge.http import AddressRefused, BadStatus, HttpError, Limits, ReplyTooLarge
from crag.pictures import png, row

LIMITS = Limits(in_flight=1, attempts=2, attempt_timeout_s=5, deadline_s=5, max_wait_s=1, max_reply_bytes=10_000)


class Web(BaseHTTPRequestHandler):
    """A few pages."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer by the path."""
        self.asked.append(self.path)
        port = int(self.headers["Host"].rpartition(":")[2])
        places = {
            "/moved": "/a.png",
            "/out": f"http://localhost:{port}/a.png",
            "/metadata": "http://169.254.169.254/latest",
            "/file": "file:///etc/passwd",
            "/round": "/round",
        }
        status = 302 if self.path in places else 404 if self.path == "/none" else 200
        body = b"x" * 20_000 if self.path == "/large" else png() if status == 200 else b""
        self.send_response(status)
        if self.path in places:
            self.send_header("Location", places[self.path])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Serve pages on a real socket."""
    Web.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def fetcher(port: int) -> ImageFetcher:
    """Return a fetcher that may call the test's own server, which no user can allow."""
    return ImageFetcher([f"127.0.0.1:{port}"], allow_private=True, limits=LIMITS)


def test_an_allowed_host_is_fetched(port: int) -> None:
    """What stands there is the image, also after a redirect to the same host, also inside an event loop."""
    fetch = fetcher(port)
    assert fetch(f"http://127.0.0.1:{port}/a.png") == png()
    assert fetch(f"http://127.0.0.1:{port}/moved") == png()

    async def inside() -> bytes:
        return fetch(f"http://127.0.0.1:{port}/a.png")

    assert asyncio.run(inside()) == png()


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("/out", AddressRefused, "images are not fetched from localhost"),
        ("/metadata", AddressRefused, "images are not fetched from 169.254.169.254"),
        ("/file", AddressRefused, "only http and https"),
        ("/round", AddressRefused, f"more than {HOPS} redirects"),
        ("/none", BadStatus, "the server answered 404"),
        ("/large", ReplyTooLarge, "larger than 10,000 bytes"),
    ],
)
def test_what_is_not_fetched(port: int, path: str, error: type[HttpError], message: str) -> None:
    """Redirects out, to private addresses and to files, redirects without end, errors and large replies are refused."""
    with pytest.raises(error, match=message):
        fetcher(port)(f"http://127.0.0.1:{port}{path}")
    assert set(Web.asked) == {path}


@pytest.mark.parametrize(
    "url",
    [
        "http://other.example/a.png",
        "http://127.0.0.1/a.png",
        "http://127.0.0.1:1/a.png",
        "https://127.0.0.1/a.png",
        "file:///etc/passwd",
        "ftp://127.0.0.1/a.png",
        "http://user:secret@127.0.0.1/a.png",
        "",
    ],
)
def test_other_addresses_are_not_called(port: int, url: str) -> None:
    """Another host, another port, another scheme, a password: refused before anything is sent, and not repeated."""
    with pytest.raises(AddressRefused) as caught:
        fetcher(port)(url)
    assert "secret" not in caught.value.message
    assert Web.asked == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433"])
def test_no_user_can_allow_a_private_address(port: int, host: str) -> None:
    """A private address stays refused when it is named, however it is spelt, and nothing is sent."""
    url = f"http://{host}:{port}/a.png"
    (read,) = read_conversations([row(None, image_url=url)], allow_hosts=[f"{host}:{port}"])
    assert read.image is not None
    with pytest.raises(RowError, match=r"^row 1: image: .*(public address|cannot be read)") as caught:
        read.image.load()
    assert caught.value.code == "bad-image"
    assert Web.asked == []


def test_a_name_that_turns_private_is_refused(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is the address that is connected to, not the name."""
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *args, **kwargs: real("127.0.0.1", *args, **kwargs))
    with pytest.raises(AddressRefused, match="no public address"):
        ImageFetcher([f"images.example:{port}"], limits=LIMITS)(f"http://images.example:{port}/a.png")
    assert Web.asked == []


def test_nothing_is_fetched_unless_allowed(port: int) -> None:
    """A row with nothing but a URL has an image that cannot be had, and the message says what to do."""
    (read,) = read_conversations([row(None, image_url=f"http://127.0.0.1:{port}/a.png")])
    assert read.image is not None
    with pytest.raises(RowError, match="not fetched from the web unless allow_hosts names their host"):
        read.image.load()
    (read,) = read_conversations([row("https://b.example/a.png")], allow_hosts=["a.example"])
    assert read.image is not None
    with pytest.raises(RowError, match=r"images are not fetched from b\.example: name it in allow_hosts"):
        read.image.load()
    assert Web.asked == []


def test_an_image_in_the_row_is_taken_before_its_url() -> None:
    """Where a row has both, nothing is fetched."""
    (read,) = read_conversations([row(png(), image_url="https://example.org/a.png")])
    assert read.image is not None
    assert read.image.load() is not None
    assert read.conversation.metadata["is_ego"] is False


@pytest.mark.parametrize("hosts", ["example.org", ["*"], [""], ["http://example.org"], ["a b"], [":"]])
def test_hosts_are_names(hosts: list[str]) -> None:
    """`allow_hosts` takes a list of names, no patterns and no addresses with a scheme."""
    with pytest.raises(UsageError, match="allow_hosts"):
        read_conversations([], allow_hosts=hosts)


def test_names_have_one_spelling(port: int) -> None:
    """Upper case and a final dot make no other host."""
    with pytest.raises(AdjudgeError) as caught:
        ImageFetcher(["Images.Example."], limits=LIMITS)("http://images.EXAMPLE./a.png")
    assert "allow_hosts" not in caught.value.message

"""The proxy and the certificates that the environment names."""

import asyncio
import gc
import socket
import traceback
import warnings
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp  # noqa: F401 (it reads SSL_CERT_FILE when it is imported: here, before any test sets it)
import pytest

from adjudge.agents import get_agent
from adjudge.chat import ChatClient, ChatError
from adjudge.errors import AdjudgeError
from adjudge.http import HttpClient, Limits, Request
from adjudge.http._proxy import Proxies
from adjudge.model import Case, ChatRequest, Message
from adjudge.receivers import LangfuseReceiver
from chat.proxying import HOST, Certificates, Listener, ProxyServer

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD")
PASSWORD = "p@ss/word-0123456789"  # noqa: S105 (not one)
QUOTED = "p%40ss%2Fword-0123456789"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without any of the variables."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Make certificates once."""
    made = Certificates.make(tmp_path_factory.mktemp("certificates"))
    if made is None:
        pytest.skip("there is no openssl")
    return made


@pytest.fixture
def plain() -> Iterator[Listener]:
    """Serve a model without TLS."""
    with Listener() as server:
        yield server


def ask(base_url: str, **limits: float) -> str | None:
    """Ask a model at an address."""
    options = {"attempts": 2, "deadline_s": 20.0, **limits}

    async def work() -> str | None:
        async with ChatClient("m", base_url=base_url, api_key="sk-0123456789", **options) as client:  # type: ignore[arg-type]
            return (await client.complete(ChatRequest("m", (Message("user", "?"),)))).text

    return asyncio.run(work())


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_a_tunnel(name: str, certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """An https address is asked for by CONNECT, with the name, and TLS goes through to the server itself."""
    monkeypatch.setenv("SSL_CERT_FILE", certificates.authority)
    with Listener(certificates.context()) as server, ProxyServer(target=server.port) as proxy:
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert ask(f"https://{HOST}/v1") == "Paris"
        assert proxy.lines == [f"CONNECT {HOST}:443 HTTP/1.1"]
        assert "sk-0123456789" not in proxy.heads[0]
        assert "authorization: bearer sk-0123456789" in server.heads[0].lower()
        assert "proxy" not in server.heads[0].lower()


def test_a_tunnel_to_somebody_else(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a proxy a certificate is checked against the name that was asked for; nothing is sent to another."""
    monkeypatch.setenv("SSL_CERT_FILE", certificates.authority)
    with Listener(certificates.context()) as server, ProxyServer(target=server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(ChatError) as caught:
            ask("https://another.test/v1")
        assert caught.value.code == "tls"
        assert server.heads == []


def test_a_proxy_with_tls(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection to the proxy may itself be TLS, for plain requests and for tunnels."""
    monkeypatch.setenv("SSL_CERT_FILE", certificates.authority)
    with (
        Listener(certificates.context()) as server,
        Listener() as open_server,
        ProxyServer(certificates.context(), target=server.port) as tunnel,
        ProxyServer(certificates.context(), target=open_server.port) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"https://127.0.0.1:{tunnel.port}")
        monkeypatch.setenv("HTTP_PROXY", f"https://127.0.0.1:{proxy.port}")
        assert ask(f"https://{HOST}/v1") == "Paris"
        assert ask(f"http://{HOST}/v1") == "Paris"
        assert (len(tunnel.heads), len(proxy.heads)) == (1, 1)


def test_a_slow_end_leaves_no_socket(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tunnel through TLS to the proxy is two connections: the client waits until the outer one has ended, too."""
    monkeypatch.setenv("SSL_CERT_FILE", certificates.authority)
    with (
        Listener(certificates.context()) as server,
        ProxyServer(certificates.context(), target=server.port, lag_s=0.5) as proxy,
        warnings.catch_warnings(record=True) as left,
    ):
        warnings.simplefilter("always")
        monkeypatch.setenv("HTTPS_PROXY", f"https://127.0.0.1:{proxy.port}")
        assert ask(f"https://{HOST}/v1") == "Paris"
        gc.collect()
    assert [str(one.message) for one in left if one.category is ResourceWarning] == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_plain_request(name: str, plain: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    """An http address is asked for with its whole URL, of models and of agents alike; a proxy needs no scheme."""
    with ProxyServer(target=plain.port) as proxy:
        monkeypatch.setenv(name, f"127.0.0.1:{proxy.port}")
        assert ask(f"http://{HOST}/v1") == "Paris"

        async def work() -> str | None:
            agent = get_agent(f"http://{HOST}/chat")
            found = await agent.respond(Case("1", "?"), ())
            await agent.aclose()  # type: ignore[attr-defined]
            return found.final_response

        assert asyncio.run(work()) == "Paris"
        assert proxy.lines == [f"POST http://{HOST}/{path} HTTP/1.1" for path in ("v1/chat/completions", "chat")]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_credentials(scheme: str, certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user name and a password in the proxy's URL go to the proxy, and not to the server."""
    monkeypatch.setenv("SSL_CERT_FILE", certificates.authority)
    secret = b64encode(f"user:{PASSWORD}".encode()).decode()
    with (
        Listener(certificates.context() if scheme == "https" else None) as server,
        ProxyServer(target=server.port, secret=secret) as proxy,
    ):
        monkeypatch.setenv("ALL_PROXY", f"http://user:{QUOTED}@127.0.0.1:{proxy.port}")
        assert ask(f"{scheme}://{HOST}/v1") == "Paris"
        assert scheme == "http" or secret not in server.heads[0]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(("status", "code", "calls"), [(407, "proxy", 1), (403, "proxy", 1), (502, "proxy", 2)])
def test_a_proxy_that_refuses(scheme: str, status: int, code: str, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the proxy answers is said to be the proxy's, by its address and without its password; 502 is tried again.

    A plain request cannot tell whether proxy or server answered, but for 407.
    """
    echo = f"no entry for user:{PASSWORD} {b64encode(f'user:{PASSWORD}'.encode()).decode()} {QUOTED}"
    with ProxyServer(status=status, echo=echo) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://user:{QUOTED}@127.0.0.1:{proxy.port}")
        with pytest.raises(ChatError) as caught:
            ask(f"{scheme}://{HOST}/v1")
        assert len(proxy.heads) == calls
        if scheme == "https" or status == 407:
            assert caught.value.code == code
            assert f"the proxy 127.0.0.1:{proxy.port}" in caught.value.message
    shown = "".join(traceback.format_exception(caught.value))
    for secret in (PASSWORD, QUOTED, b64encode(PASSWORD.encode()).decode()[:-3]):
        assert secret not in shown


def test_no_proxy_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that cannot be reached is named without its password."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:{QUOTED}@127.0.0.1:9")
    with pytest.raises(ChatError, match=r"^the proxy 127\.0\.0\.1:9: .*refused") as caught:
        ask(f"https://{HOST}/v1")
    assert caught.value.code == "proxy"
    assert "word" not in "".join(traceback.format_exception(caught.value))


def test_a_silent_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing comes back, the error names the proxy too: either may be the cause."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:{QUOTED}@127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(ChatError, match=r"^model\.test \(through the proxy 127\.0\.0\.1:\d+\) did not") as caught:
            ask(f"https://{HOST}/v1", attempts=1, attempt_timeout_s=0.2)
    assert (caught.value.code, "word" in str(caught.value)) == ("timeout", False)


@pytest.mark.parametrize("url", ["socks5://user:pass-word@h:1080", "http://", "http://u:pass-word@h:99999", "ftp://h"])
def test_proxies_that_cannot_be_used(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that is none of HTTP's is refused when it would be used, and its URL is not shown."""
    monkeypatch.setenv("HTTPS_PROXY", url)
    with pytest.raises(ChatError, match="HTTPS_PROXY cannot be used") as caught:
        ask(f"https://{HOST}/v1")
    assert caught.value.code == "bad-proxy"
    assert "pass-word" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]"])
def test_never_for_this_machine(host: str, plain: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    """No spelling of a loopback address goes through a proxy."""
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert Proxies.from_environment().find(urlsplit(f"http://{host}:80/")) is None
    if host in ("127.0.0.1", "localhost"):
        assert ask(f"http://{host}:{plain.port}/v1") == "Paris"


@pytest.mark.parametrize(
    ("exempt", "url", "direct"),
    [
        ("*", "https://api.test/", True),
        ("other.test, *", "https://api.test/", True),
        ("", "https://api.test/", False),
        ("api.test", "https://api.test/", True),
        ("api.test", "https://eu.api.test/", True),
        ("API.Test", "https://api.TEST/", True),
        (".test", "https://api.test/", True),
        (".api.test", "https://eu.api.test/", True),
        ("pi.test", "https://api.test/", False),
        ("api.test.", "https://api.test/", False),
        ("api.test:8443", "https://api.test:8443/", True),
        ("api.test:8443", "https://api.test/", False),
        ("a.test b.test\tc.test", "https://b.test/", True),
        ("10.0.0.0/8", "https://10.1.2.3/", True),
        ("10.0.0.0/8", "https://11.1.2.3/", False),
        ("10.1.2.3", "https://10.1.2.3:8000/", True),
        ("192.168.7.1/24", "http://192.168.7.200/", True),
        ("fd00::/8", "http://[fd00::1]:8000/", True),
        ("[fd00::1]", "http://[fd00::1]:8000/", True),
        ("fd00::/8", "http://[fe00::1]/", False),
        ("nonsense/99,:::,/", "https://api.test/", False),
    ],
)
def test_no_proxy(exempt: str, url: str, direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_PROXY names hosts, suffixes, ports, addresses and networks as curl and requests understand them."""
    monkeypatch.setenv("ALL_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", exempt)
    assert (Proxies.from_environment().find(urlsplit(url)) is None) is direct


def test_each_scheme_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY is for http alone, and counts more than ALL_PROXY; lower case counts more than upper case."""
    monkeypatch.setenv("HTTP_PROXY", "http://upper.test:1")
    monkeypatch.setenv("http_proxy", "http://lower.test:1")
    found = Proxies.from_environment()
    assert found.find(urlsplit("https://api.test/")) is None
    one = found.find(urlsplit("http://api.test/"))
    assert one is not None
    assert one.url == "http://lower.test:1"


def test_read_when_the_client_is_made(plain: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client keeps to what the environment said when it was made."""
    with ProxyServer(target=plain.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        client = ChatClient("m", base_url=f"http://{HOST}/v1")
        monkeypatch.delenv("HTTP_PROXY")
        assert asyncio.run(client.complete(ChatRequest("m", (Message("user", "?"),)))).text == "Paris"
        assert len(proxy.heads) == 1


def test_receivers_and_guarded_clients_use_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Receivers of traces use no proxy, nor does a client that keeps to public addresses: it looks names up."""
    with ProxyServer(status=502) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")

        async def guarded() -> None:
            async with HttpClient(Limits(attempts=1), allow_private=False, proxied=True) as client:
                await client.fetch(Request(f"http://{HOST}/"))

        with pytest.raises(AdjudgeError):
            asyncio.run(guarded())
        receiver = LangfuseReceiver(f"http://{HOST}", public_key="p", secret_key="s", limits=Limits(attempts=1))  # noqa: S106
        with pytest.raises(AdjudgeError):
            receiver.fetch("0" * 32, timeout=0.1)
        assert proxy.heads == []


def test_certificates(certificates: Certificates, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server with a certificate of one's own is trusted with SSL_CERT_FILE, also where that is set late."""
    with Listener(certificates.context()) as server:
        url = f"https://127.0.0.1:{server.port}/v1"
        with pytest.raises(ChatError) as caught:
            ask(url)
        assert caught.value.code == "tls"
        monkeypatch.setenv("SSL_CERT_FILE", certificates.authority)
        assert ask(url) == "Paris"
    (tmp_path / "empty.pem").write_text("nothing")
    for path in (tmp_path / "missing.pem", tmp_path / "empty.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        with pytest.raises(ChatError, match=path.name) as caught:
            ask("https://127.0.0.1:9/v1")
        assert caught.value.code == "tls"

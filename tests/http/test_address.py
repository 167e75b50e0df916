"""Which addresses may be called."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.http import AddressRefused, HttpClient, Limits, Request, check_url, is_public
from adjudge.testing import ChatServer


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "unix:///run/x.sock",
        "//example.org/",
        "http://",
        "http://user:secret@example.org/",
        "http://example.org:99999/",
        "http://[::1/",
        "http://example.org/\r\nX: y",
        "http://exa mple.org/",
        "",
    ],
)
def test_urls_that_are_never_called(url: str) -> None:
    """Only http and https, with a host, without credentials and without control characters; the error shows no URL."""
    with pytest.raises(AddressRefused) as caught:
        check_url(url)
    assert "secret" not in str(caught.value)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    """Whatever stands in a row, the guard lets it pass or refuses it, and raises nothing else."""
    try:
        check_url(text, allow_private=False)
    except AddressRefused:
        return
    assert text.lower().startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104 (an address, not a binding)
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::a00:1", False),
        ("2002:7f00:1::", False),
        ("not an address", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    """An address is public if the internet routes it, whichever way it is wrapped."""
    assert is_public(address) is public


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1"])
def test_private_hosts_are_not_reached(host: str) -> None:
    """Where private addresses are not allowed no spelling of one is called, and nothing is retried."""

    async def call(url: str) -> None:
        async with HttpClient(Limits(attempts=1), allow_private=False) as client:
            await client.fetch(Request(url, b"{}"))

    with ChatServer("secret") as server:
        url = server.base_url.replace("127.0.0.1", host)
        with pytest.raises(AddressRefused):
            asyncio.run(call(f"{url}/chat/completions"))
        assert server.counts.calls == 0

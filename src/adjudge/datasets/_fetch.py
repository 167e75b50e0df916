"""Images from the web, and only from hosts that the user named: a row cannot make us call anything else.

Addresses that are not public are never called, whatever name they go by; redirects are followed among the allowed hosts
only; a reply over the bound is not read.
"""

import asyncio
from collections.abc import Iterable
from threading import Thread
from urllib.parse import urljoin, urlsplit

from adjudge.errors import Caught, UsageError
from adjudge.http import AddressRefused, BadStatus, HttpClient, HttpReply, Limits, Request, check_url, is_transient
from adjudge.http import Again as TryAgain

LARGEST_IMAGE = 20_000_000  # bytes
HOPS = 3  # redirects in a row
LIMITS = Limits(in_flight=1, attempts=3, attempt_timeout_s=30.0, deadline_s=60.0, max_reply_bytes=LARGEST_IMAGE)
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)


class ImageFetcher:
    """Fetches images over http and https from `hosts`: names such as `upload.wikimedia.org`, or `name:port`."""

    def __init__(self, hosts: Iterable[str], *, allow_private: bool = False, limits: Limits = LIMITS) -> None:
        if isinstance(hosts, str):
            raise UsageError("allow_hosts is a list of host names, not one text")
        self.hosts = frozenset(_host(host) for host in hosts)
        self._allow_private = allow_private
        self._limits = limits

    def __call__(self, url: str) -> bytes:
        """Return the content of the URL; every failure is an `HttpError`. Works inside an event loop too."""
        self._check(url)
        box: list[bytes] = []
        caught = Caught(fatal_too=True)

        def work() -> None:
            with caught:
                box.append(asyncio.run(self._get(url)))

        # A thread, because the caller may run an event loop, in which `asyncio.run` is refused.
        thread = Thread(target=work, name="adjudge-image", daemon=True)
        thread.start()
        thread.join()
        if caught.error is not None:
            raise caught.error
        return box[0]

    async def _get(self, url: str) -> bytes:
        async with HttpClient(self._limits, allow_private=self._allow_private) as client:
            for _ in range(HOPS + 1):
                self._check(url)
                reply = await client.send(Request(url, method="GET"), _read)
                if reply.status not in _REDIRECTS:
                    return reply.body
                # Every hop is checked again: a redirect may lead to a host that is not allowed.
                url = urljoin(url, reply.headers.get("location", ""))
        raise AddressRefused(f"more than {HOPS} redirects in a row")

    def _check(self, url: str) -> None:
        check_url(url, allow_private=self._allow_private)
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        port = parts.port or _PORTS[parts.scheme]
        allowed = f"{host}:{port}" in self.hosts or (host in self.hosts and port == _PORTS[parts.scheme])
        if not allowed:
            message = f"images are not fetched from {host}{'' if port == _PORTS[parts.scheme] else f':{port}'}"
            raise AddressRefused(f"{message}: name it in allow_hosts, or put the image into the row")


def _host(name: str) -> str:
    host = str(name).strip().lower().rstrip(".")
    if not host.strip(":") or any(character in host for character in "*/@ "):
        raise UsageError(f"allow_hosts takes host names such as 'upload.wikimedia.org', not {name!r}")
    return host


def _read(reply: HttpReply) -> HttpReply | TryAgain:
    if 200 <= reply.status < 300 or reply.status in _REDIRECTS:
        return reply
    error = BadStatus(f"the server answered {reply.status}", status=reply.status)
    if is_transient(reply.status):
        return TryAgain(error)
    raise error

"""What one client holds on one event loop: connections, and the door to each endpoint."""

import asyncio
import contextlib
import math
import socket
import ssl
import time
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakSet

from adjudge.http._address import public_resolver
from adjudge.http._errors import ClientClosed, ConnectionFailed
from adjudge.http._pace import Pace, SentCall

if TYPE_CHECKING:
    from aiohttp.connector import AddrInfoType

    from adjudge.http._proxy import Proxies, Proxy

__all__ = ["Door", "Lane", "trust_of"]

CLOSING_S = 5.0  # for a proxy to end its connections


@dataclass(eq=False)
class Door:
    """Lets calls to one endpoint start as its `Pace` allows: retries first, then in order of arrival.

    Whoever reports to the pace that a call has ended calls `admit` after it.
    """

    pace: Pace
    proxy: "Proxy | None" = None
    trust: ssl.SSLContext | bool = True
    """The certificates that are trusted; True for those of the system."""
    waiting: deque[asyncio.Future[SentCall]] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None

    async def enter(self, *, retry: bool) -> SentCall:
        """Wait until a call may start."""
        turn: asyncio.Future[SentCall] = asyncio.get_running_loop().create_future()
        # A retry has waited before, so it goes to the front.
        if retry:
            self.waiting.appendleft(turn)
        else:
            self.waiting.append(turn)
        self.admit()
        try:
            return await turn
        except asyncio.CancelledError:
            # Its turn may have come in the very moment in which it gave up.
            if turn.done() and not turn.cancelled():
                self.pace.failed(turn.result())
                self.admit()
            elif turn in self.waiting:
                self.waiting.remove(turn)
            raise

    def admit(self) -> None:
        """Let in as many as the pace allows, and look again when it says."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        while self.waiting:
            # A caller that gave up may not have left the queue yet.
            if self.waiting[0].done():
                self.waiting.popleft()
                continue
            now = time.monotonic()
            wait = self.pace.wait_s(now)
            if wait > 0:
                # With an infinite wait the end of another call lets the next one in.
                if wait < math.inf:
                    self.timer = asyncio.get_running_loop().call_later(wait, self.admit)
                return
            self.waiting.popleft().set_result(self.pace.start(now))


class Lane:
    """A session of pooled connections and its doors, open from the first step of its `keeper` to `keeper.aclose()`.

    `asyncio.run` closes the asynchronous generators of its loop before it closes the loop: the keeper is one, so that
    two runs in a row leave no socket behind and nobody has to close anything in between.
    """

    def __init__(self, *, in_flight: int, allow_private: bool, proxies: "Proxies | None" = None) -> None:
        import aiohttp
        from aiohttp.resolver import ThreadedResolver

        self.loop = asyncio.get_running_loop()
        self.closed = False
        self.doors: dict[str, Door] = {}
        """By scheme, host and port."""
        self.proxies = proxies
        resolver = ThreadedResolver(self.loop) if allow_private else public_resolver()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        # Only the sockets of proxies are waited for at the end.
        make_socket = None if proxies is None else self._socket
        self.session: aiohttp.ClientSession = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=in_flight, resolver=resolver, ttl_dns_cache=300, socket_factory=make_socket
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
        )
        self.keeper = self._keep()

    def forget(self) -> None:
        """Drop what belongs to a loop that is gone, which can only be dropped."""
        self.closed = True
        with contextlib.suppress(RuntimeError):
            self.session.detach()

    def _socket(self, address: "AddrInfoType") -> socket.socket:
        """Make a socket for an address, and remember it as long as it is used."""
        family, kind, protocol, _, _ = address
        made = socket.socket(family, kind, protocol)
        self._sockets.add(made)
        return made

    async def _keep(self) -> AsyncGenerator[None, None]:
        """Stay open at `yield`; then close every connection, and calls under way or waiting get `ClientClosed`."""
        try:
            yield
        finally:
            self.closed = True
            for door in self.doors.values():
                if door.timer is not None:
                    door.timer.cancel()
                for turn in door.waiting:
                    if not turn.done():
                        turn.set_exception(ClientClosed("the client is closed"))
                door.waiting.clear()
            await self.session.close()
            # aiohttp does not wait for the outer of two TLS connections, one inside the other, to end.
            ends = self.loop.time() + CLOSING_S
            while any(one.fileno() >= 0 for one in self._sockets) and self.loop.time() < ends:  # noqa: ASYNC110 (no event says it)
                await asyncio.sleep(0.01)


@lru_cache(maxsize=4)
def trust_of(file: str | None, folder: str | None) -> ssl.SSLContext | bool:
    """Return the certificates to trust where SSL_CERT_FILE and SSL_CERT_DIR, which OpenSSL reads, are these."""
    if not file and not folder:
        return True
    # aiohttp makes its context when it is imported, which may be before the variables are set.
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    # OpenSSL silently passes over a file that it cannot read.
    try:
        if file:
            context.load_verify_locations(file)
    except OSError:
        raise ConnectionFailed(f"SSL_CERT_FILE is {file!r}, which holds no certificates", code="tls") from None
    return context

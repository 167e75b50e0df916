"""What one client holds on one event loop: connections and the door to each endpoint."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from adjudge.http._address import guarded_connector
from adjudge.http._gate import Gate

__all__ = ["Lane"]


class Lane:
    """A session of pooled connections and its gates; it ends with its loop, by itself.

    `asyncio.run` closes the asynchronous generators of its loop before it closes the loop: the keeper is one, so that
    two runs in a row leave no socket behind and nobody has to call `close` in between.
    """

    def __init__(self, *, in_flight: int, allow_private: bool) -> None:
        import aiohttp

        self.loop = asyncio.get_running_loop()
        self.closed = False
        self._in_flight = in_flight
        self._gates: dict[str, Gate] = {}
        self.session: aiohttp.ClientSession = aiohttp.ClientSession(
            connector=guarded_connector(limit=in_flight, allow_private=allow_private),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
        )
        self._keeper = self._keep()

    async def open(self) -> None:
        """Have the lane closed when its loop ends."""
        await anext(self._keeper)

    def gate(self, endpoint: str) -> Gate:
        """Return the door to one endpoint (scheme, host and port)."""
        gate = self._gates.get(endpoint)
        if gate is None:
            gate = self._gates[endpoint] = Gate(self._in_flight)
        return gate

    async def close(self) -> None:
        """Close every connection; whoever is under way or waits is told."""
        await self._keeper.aclose()

    def forget(self) -> None:
        """Drop what belongs to a loop that is gone, which can only be dropped."""
        self.closed = True
        with contextlib.suppress(RuntimeError):
            self.session.detach()

    async def _keep(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self.closed = True
            for gate in self._gates.values():
                gate.close()
            await self.session.close()

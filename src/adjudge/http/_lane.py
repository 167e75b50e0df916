"""What one client holds on one event loop: connections, and the door to each endpoint."""

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import AsyncGenerator

from adjudge.http._address import guarded_connector
from adjudge.http._errors import ClientClosed
from adjudge.http._pace import Pace, SentCall

__all__ = ["Door", "Lane"]


class Door:
    """Lets calls to one endpoint start as its `Pace` allows: retries first, then in order of arrival.

    Whoever reports to the pace that a call has ended calls `admit` after it.
    """

    def __init__(self, most: int) -> None:
        self.pace = Pace(most)
        self.waiting: deque[asyncio.Future[SentCall]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def try_enter(self) -> SentCall | None:
        """Let a call start at once, if nobody waits and the pace allows it."""
        if self.waiting or self.pace.wait_s(now := time.monotonic()) > 0:
            return None
        return self.pace.start(now)

    async def enter(self, *, retry: bool) -> SentCall:
        """Wait until a call may start."""
        turn: asyncio.Future[SentCall] = asyncio.get_running_loop().create_future()
        if retry:
            self.waiting.appendleft(turn)
        else:
            self.waiting.append(turn)
        self.admit()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn came in the very moment in which it gave up
                self.pace.failed(turn.result())
                self.admit()
            elif turn in self.waiting:
                self.waiting.remove(turn)
            raise

    def admit(self) -> None:
        """Let in whom the pace allows, and look again when it says."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self.waiting:
            if self.waiting[0].done():  # cancelled, and not yet gone
                self.waiting.popleft()
                continue
            now = time.monotonic()
            wait = self.pace.wait_s(now)
            if wait > 0:
                if wait < math.inf:
                    self._timer = asyncio.get_running_loop().call_later(wait, self.admit)
                return
            self.waiting.popleft().set_result(self.pace.start(now))

    def close(self) -> None:
        """Send everybody away who waits."""
        if self._timer is not None:
            self._timer.cancel()
        for turn in self.waiting:
            if not turn.done():
                turn.set_exception(ClientClosed("the client is closed"))
        self.waiting.clear()


class Lane:
    """A session of pooled connections and its doors; it ends with its loop, by itself.

    `asyncio.run` closes the asynchronous generators of its loop before it closes the loop: the keeper is one, so that
    two runs in a row leave no socket behind and nobody has to call `close` in between.
    """

    def __init__(self, *, in_flight: int, allow_private: bool) -> None:
        import aiohttp

        self.loop = asyncio.get_running_loop()
        self.closed = False
        self.doors: dict[str, Door] = {}
        """By scheme, host and port."""
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

    async def close(self) -> None:
        """Close every connection; calls under way or waiting end with `ClientClosed`."""
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
            for door in self.doors.values():
                door.close()
            await self.session.close()

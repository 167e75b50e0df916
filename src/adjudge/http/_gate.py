"""The door to one endpoint, on one event loop: callers go through in order of arrival, as the pace allows."""

import asyncio
import math
import time
from collections import deque

from adjudge.http._errors import ClientClosed
from adjudge.http._pace import Pace, Ticket

__all__ = ["Gate"]


class Gate:
    """Lets calls start as `Pace` allows, first come, first served."""

    def __init__(self, most: int) -> None:
        self._pace = Pace(most)
        self._waiting: deque[asyncio.Future[Ticket]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def ready(self) -> Ticket | None:
        """Let a call start at once, if nobody waits and it may; every ticket is handed in by one of the ways below."""
        if not self._waiting and self._pace.wait_s(now := time.monotonic()) <= 0:
            return self._pace.start(now)
        return None

    async def enter(self) -> Ticket:
        """Wait until a call may start."""
        ticket = self.ready()
        if ticket is not None:
            return ticket
        turn: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.failed()  # called in the very moment in which it gave up
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def accepted(self, ticket: Ticket) -> None:
        """Hand in the ticket of a call that the server took on."""
        self._pace.accepted(ticket, time.monotonic())
        self._admit()

    def refused(self, ticket: Ticket, wait_s: float | None, *, again: bool) -> None:
        """Hand in the ticket of a call of which the server said that it is one too many, perhaps again and again."""
        self._pace.refused(ticket, time.monotonic(), wait_s, again=again)
        self._admit()

    def failed(self) -> None:
        """Hand in a ticket of a call that ended in a way that says nothing about the load."""
        self._pace.failed()
        self._admit()

    def close(self) -> None:
        """Send everybody away who waits."""
        if self._timer is not None:
            self._timer.cancel()
        for turn in self._waiting:
            if not turn.done():
                turn.set_exception(ClientClosed("the client is closed"))
        self._waiting.clear()

    def _admit(self) -> None:
        """Let in whom the pace allows, and look again when it says."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            if self._waiting[0].done():  # cancelled, and not yet gone
                self._waiting.popleft()
                continue
            now = time.monotonic()
            wait = self._pace.wait_s(now)
            if wait > 0:
                if wait < math.inf:
                    self._timer = asyncio.get_running_loop().call_later(wait, self._admit)
                return
            self._waiting.popleft().set_result(self._pace.start(now))

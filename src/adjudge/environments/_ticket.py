"""A place in line, and a turn to wait for, for tasks of any event loop: nothing here belongs to a loop for longer."""

import asyncio
import threading
from collections import deque
from contextlib import suppress

__all__ = ["Ticket", "Turn"]


class Ticket:
    """One task's place in a line; made on its own loop, called from anywhere."""

    __slots__ = ("_future", "_loop", "called")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self.called = False

    def call(self) -> bool:
        """Tell the task that its turn has come; whether there is still a loop to tell."""
        self.called = True
        if asyncio._get_running_loop() is self._loop:  # noqa: SLF001 (the public one raises where there is none)
            self._resolve()
            return True
        try:
            self._loop.call_soon_threadsafe(self._resolve)
        except RuntimeError:  # the loop was closed with the task still in line
            return False
        return True

    async def wait(self) -> None:
        """Wait to be called."""
        await self._future

    def _resolve(self) -> None:
        if not self._future.done():
            self._future.set_result(None)


class Turn:
    """A lock for tasks of any loop, first come, first served; taking a free one costs a fraction of a microsecond."""

    __slots__ = ("_line", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: deque[Ticket] = deque()

    @property
    def taken(self) -> bool:
        """Whether somebody has it."""
        return self._lock.locked()

    def take(self) -> bool:
        """Take it if it is free."""
        return self._lock.acquire(blocking=False)

    async def wait(self) -> None:
        """Wait for it and take it."""
        while True:
            ticket = Ticket()
            self._line.append(ticket)
            if self._lock.acquire(blocking=False):  # given up since the caller looked
                self._leave(ticket)
                return
            try:
                await ticket.wait()
            except BaseException:
                self._leave(ticket)
                if ticket.called:
                    self._call_next()
                raise
            if self._lock.acquire(blocking=False):
                return

    def give(self) -> None:
        """Give it up to whoever is next."""
        self._lock.release()
        if self._line:
            self._call_next()

    def _call_next(self) -> None:
        while True:
            try:
                ticket = self._line.popleft()
            except IndexError:
                return
            if ticket.call():
                return

    def _leave(self, ticket: Ticket) -> None:
        with suppress(ValueError):
            self._line.remove(ticket)

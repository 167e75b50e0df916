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
        if asyncio._get_running_loop() is self._loop:  # noqa: SLF001 (the public one raises where there is none)
            self._resolve()
        else:
            try:
                self._loop.call_soon_threadsafe(self._resolve)
            except RuntimeError:  # the loop was closed with the task still in line
                return False
        self.called = True
        return True

    async def wait(self) -> None:
        """Wait to be called."""
        await self._future

    def _resolve(self) -> None:
        if not self._future.done():
            self._future.set_result(None)


class Turn:
    """A lock for tasks of any loop, first come, first served; taking a free one costs a fraction of a microsecond.

    Whoever waits is handed the lock as it is, so that a task that comes back at once cannot take it before.
    """

    __slots__ = ("_desk", "_line", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: deque[Ticket] = deque()
        # Held while a ticket is called or given up, so that it is one or the other. Re-entrant, because a task that is
        # collected as garbage gives its ticket up wherever that happens.
        self._desk = threading.RLock()

    @property
    def taken(self) -> bool:
        """Whether somebody has it."""
        return self._lock.locked()

    def take(self) -> bool:
        """Take it if it is free."""
        return self._lock.acquire(blocking=False)

    async def wait(self) -> None:
        """Wait for it and take it."""
        ticket = Ticket()
        self._line.append(ticket)
        self._serve()  # given up since the caller looked
        try:
            await ticket.wait()
        except BaseException:
            with self._desk:
                with suppress(ValueError):
                    self._line.remove(ticket)
                has_it = ticket.called
            if has_it:
                self.give()
            raise

    def give(self) -> None:
        """Give it up to whoever is next."""
        self._lock.release()
        if self._line:
            self._serve()

    def _serve(self) -> None:
        """Hand the lock, if it is free, to the first in line that is still there."""
        while self._line and self._lock.acquire(blocking=False):
            with self._desk:
                ticket = self._line.popleft() if self._line else None
                if ticket is not None and ticket.call():
                    return
            self._lock.release()

"""What tasks of several event loops share: the loop on which environments live, tickets to wait with, and a fair lock.

Environments are started, watched and ended on a loop of their own, independent of the loops of their users: what
happens there cannot be cancelled together with a rollout. Its thread exists only while there is something to do, never
outlives the program, and a forked child starts its own.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from adjudge.errors import Caught, describe_error
from adjudge.processes import register_after_fork

__all__ = ["BACKGROUND", "FairLock", "Ticket", "in_thread"]

T = TypeVar("T")

_LINGER_S = 0.2
"""How long the thread waits for more work before it ends."""


class Background:
    """One event loop in a daemon thread, there as long as somebody needs it."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._users = 0
        self._tasks: set[asyncio.Task[None]] = set()  # a loop itself holds its tasks only weakly

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine to its end on the loop."""
        future: Future[T] = Future()
        loop = self.hold()

        async def finish() -> None:
            result: list[T] = []
            with Caught(fatal_too=True) as caught:
                result.append(await work)
            _settle(future, result, caught.error)

        def start() -> None:
            task = loop.create_task(finish())
            self._tasks.add(task)
            task.add_done_callback(end)

        def end(task: "asyncio.Task[None]") -> None:
            self._tasks.discard(task)
            self.let_go()

        loop.call_soon_threadsafe(start)
        return future

    def hold(self) -> asyncio.AbstractEventLoop:
        """Keep the loop running until `let_go`."""
        with self._lock:
            self._users += 1
            if self._loop is None:
                register_after_fork(self)
                self._loop = asyncio.new_event_loop()
                # A daemon: an environment must not delay the end of the program.
                name = "adjudge-environments"
                threading.Thread(target=self._run, args=(self._loop,), name=name, daemon=True).start()
            return self._loop

    def let_go(self) -> None:
        """Take back one `hold`; without any, the loop ends after a moment."""
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.call_later, _LINGER_S, self._end, self._loop)

    def after_fork(self) -> None:
        """In a forked child: the thread belongs to the parent."""
        self._begin()

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            if self._users == 0 and self._loop is loop:
                self._loop = None
                loop.stop()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


BACKGROUND = Background()


async def in_thread(function: Callable[[], T]) -> T:
    """Call a function in a daemon thread of its own."""
    loop = asyncio.get_running_loop()
    future: Future[T] = Future()

    def work() -> None:
        result: list[T] = []
        with Caught(fatal_too=True) as caught:
            result.append(function())
        _settle(future, result, caught.error)

    threading.Thread(target=work, name="adjudge-environment-start", daemon=True).start()
    return await asyncio.wrap_future(future, loop=loop)


def _settle(future: "Future[T]", result: list[T], error: BaseException | None) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(result[0])
    else:
        # A StopIteration cannot be put into a future, nor should a SystemExit end somebody's loop.
        is_ordinary = isinstance(error, Exception) and not isinstance(error, StopIteration)
        future.set_exception(error if is_ordinary else RuntimeError(describe_error(error)))


class Ticket:
    """One task's place in a line; made on the task's own loop, called from anywhere."""

    __slots__ = ("_future", "_loop", "called")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self.called = False

    def call(self) -> bool:
        """Notify the task that its turn has come; False if its loop is closed."""
        # On the task's own loop no wake-up through its socket is needed.
        if asyncio._get_running_loop() is self._loop:  # noqa: SLF001 (the public one raises if there is none)
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


class FairLock:
    """A lock for tasks of any loop, first come, first served; taking a free one costs a fraction of a microsecond.

    A released lock passes directly to the first task in line, so that a task that comes back at once cannot overtake.
    """

    __slots__ = ("_line", "_lock", "_serving")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: deque[Ticket] = deque()
        # Held while a ticket is called or given up, so that only one of the two happens. Re-entrant, because a task
        # that is collected as garbage gives its ticket up wherever that happens.
        self._serving = threading.RLock()

    @property
    def taken(self) -> bool:
        """Whether a task holds it."""
        return self._lock.locked()

    def take(self) -> bool:
        """Take it if it is free."""
        return self._lock.acquire(blocking=False)

    async def wait(self) -> None:
        """Wait for it and take it."""
        ticket = Ticket()
        self._line.append(ticket)
        self._serve()  # it may have become free since the caller looked
        try:
            await ticket.wait()
        except BaseException:
            with self._serving:
                with suppress(ValueError):
                    self._line.remove(ticket)
                is_holder = ticket.called
            if is_holder:
                self.give()
            raise

    def give(self) -> None:
        """Release it to the next in line."""
        self._lock.release()
        if self._line:
            self._serve()

    def _serve(self) -> None:
        """Hand the lock, if it is free, to the first in line whose loop still runs."""
        while self._line and self._lock.acquire(blocking=False):
            with self._serving:
                ticket = self._line.popleft() if self._line else None
                if ticket is not None and ticket.call():
                    return
            self._lock.release()

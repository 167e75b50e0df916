"""The loop on which environments are started, watched and ended, whatever loops their users come and go with.

What happens here cannot be cancelled together with a rollout. The thread exists only while there is something to do,
never outlives the program, and a forked child starts one of its own.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from adjudge.errors import Caught, told
from adjudge.processes import _fork

__all__ = ["BACKGROUND", "in_thread"]

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
        self._tasks: set[asyncio.Task[Any]] = set()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine to its end on the loop."""
        future: Future[T] = Future()
        loop = self.hold()
        loop.call_soon_threadsafe(self._start, loop, work, future)
        return future

    def hold(self) -> asyncio.AbstractEventLoop:
        """Keep the loop running until `let_go`."""
        with self._lock:
            self._users += 1
            if self._loop is None:
                if not _registered:
                    _fork.register(self)
                    _registered.append(True)
                self._loop = asyncio.new_event_loop()
                # A thread that the interpreter does not wait for: an environment must not hold up the end.
                name = "adjudge-environments"
                threading.Thread(target=self._run, args=(self._loop,), name=name, daemon=True).start()
            return self._loop

    def let_go(self) -> None:
        """Say that one no longer needs the loop."""
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._loop is not None:
                self._loop.call_soon_threadsafe(self._linger, self._loop)

    def after_fork(self) -> None:
        """In a forked child: the thread is the parent's."""
        self._begin()
        _registered.clear()

    def _start(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], future: "Future[T]") -> None:
        task = loop.create_task(self._tell(work, future))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        self.let_go()

    async def _tell(self, work: Coroutine[Any, Any, T], future: "Future[T]") -> None:
        result: list[T] = []
        with Caught(fatal_too=True) as caught:
            result.append(await work)
        _settle(future, result, caught.error)

    def _linger(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(_LINGER_S, self._end, loop)

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


_registered: list[bool] = []
BACKGROUND = Background()


async def in_thread(function: Callable[[], T]) -> T:
    """Call a function in a thread of its own, which nobody waits for at the program's end."""
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
        is_fit = isinstance(error, Exception) and not isinstance(error, StopIteration)
        future.set_exception(error if is_fit else RuntimeError(told(error)))

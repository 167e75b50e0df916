"""An event loop in a thread of its own, for a server that sync and async code use alike."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs a server, given as what is open while it serves and yields its port."""

    def __init__(self, serving: Callable[[], AbstractAsyncContextManager[int]], name: str) -> None:
        self._serving = serving
        self._started: Future[int] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name=name, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None

    def start(self) -> int:
        """Start, and return the port; what the start raises is raised here."""
        self._thread.start()
        return self._started.result()

    def stop(self) -> None:
        """Close the server and end the thread."""
        if self._loop is not None and self._stopped is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine on the loop."""
        assert self._loop is not None  # noqa: S101 (set before start returns)
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function on the loop and wait for what it returns."""

        async def work() -> T:
            return function(*arguments)

        return self.submit(work()).result()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        try:
            async with self._serving() as port:
                self._started.set_result(port)
                await self._stopped.wait()
        except OSError as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

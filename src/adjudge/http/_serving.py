"""Servers in a thread of their own, which sync and async code use alike."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

from adjudge.errors import AdjudgeError, UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from aiohttp import web

__all__ = ["LoopThread", "ThreadedServer", "listening"]

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
            # The loop belongs to the other thread: an event must be set there.
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
        except (OSError, AdjudgeError) as error:
            if self._started.done():
                raise
            self._started.set_exception(error)


class ThreadedServer:
    """A server on `host` and a free port unless one is given, from `start` to `stop` or in a `with` statement.

    `called` is what errors call it; `serving` is open while it serves and yields its port.
    """

    def __init__(
        self, host: str, port: int, *, called: str, serving: Callable[[], AbstractAsyncContextManager[int]]
    ) -> None:
        self._host = host
        self._wanted = port
        self._called = called
        self._serving = serving
        self._port: int | None = None
        self._thread: LoopThread | None = None

    @property
    def base_url(self) -> str:
        """Where it listens."""
        if self._port is None:
            raise self._not_running()
        # An IPv6 address needs brackets in a URL.
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def start(self) -> None:
        """Start to listen; `with` does it for you."""
        if self._thread is not None:
            raise UsageError(f"the {self._called} is running already", code="already-running")
        thread = LoopThread(self._serving, f"adjudge {self._called}")
        try:
            self._port = thread.start()
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"cannot listen on {self._host}:{self._wanted}: {reason}", code="cannot-listen") from None
        self._thread = thread

    def stop(self) -> None:
        """Stop to listen; whoever still waits for something gets what is there."""
        thread, self._thread, self._port = self._thread, None, None
        if thread is not None:
            thread.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await asyncio.to_thread(self.stop)

    def _running(self) -> LoopThread:
        if self._thread is None:
            raise self._not_running()
        return self._thread

    def _not_running(self) -> UsageError:
        return UsageError(f"the {self._called} is not running: use it in a `with` statement", code="not-running")


@asynccontextmanager
async def listening(app: "web.Application", host: str, port: int, **options: Any) -> AsyncIterator[int]:
    """Serve an application; yields the port."""
    from aiohttp import web

    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0, **options)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()

"""Servers in a thread of their own, which sync and async code use alike."""

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Self, TypeVar

from adjudge.errors import AdjudgeError, UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from aiohttp import web

__all__ = ["LoopThread", "ThreadedServer", "listening", "server_log"]

T = TypeVar("T")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
_MOST_WAITING = 512  # connections without a request; a process may have about a thousand open files


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
        error = self._started.exception()
        if error is not None:
            self._thread.join()  # it has nothing left to do but to close its loop
            raise error
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
        finally:
            # Whatever else it raised: nobody must wait for its start for ever.
            if not self._started.done():
                self._started.set_exception(RuntimeError("the server did not start"))


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
async def listening(
    app: "web.Application | Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]",
    host: str,
    port: int,
    *,
    header_s: float = 10.0,
    idle_s: float | None = None,
    drain_s: float = 1.0,
    any_name: bool = False,
    **options: Any,
) -> AsyncIterator[int]:
    """Serve an application, or a bare handler, which costs less a request; yields the port.

    A request must name this machine as its host, unless `any_name`, and may not come from a page of another site; the
    headers of a connection's first one must arrive within `header_s` seconds, those of the next within `idle_s` after
    it (the same, unless given). At the end, requests that are being answered have `drain_s` seconds.
    """
    from aiohttp import web

    guard = _Guard("" if any_name else host, header_s, header_s if idle_s is None else idle_s)
    runner: web.AppRunner | web.ServerRunner
    options = {"access_log": None, "logger": server_log(), **options}
    if isinstance(app, web.Application):
        # aiohttp marks a middleware, which a bound method does not allow.
        app.middlewares.insert(0, web.middleware(partial(guard.check)))
        runner = web.AppRunner(app, shutdown_timeout=drain_s, **options)
    else:
        server = web.Server(partial(guard.check, handler=app), **options)
        runner = web.ServerRunner(server, shutdown_timeout=drain_s)
    await runner.setup()
    watching = asyncio.create_task(guard.watch(runner))
    try:
        await web.TCPSite(runner, host, port).start()
        yield runner.addresses[0][1]
    finally:
        watching.cancel()
        await runner.cleanup()


def server_log() -> logging.Logger:
    """Return the log of a server: aiohttp's own, without the requests that are not HTTP.

    Those are answered with 400. Whoever sends them would otherwise fill the terminal with tracebacks that quote them.
    """
    from aiohttp.http_exceptions import HttpProcessingError

    log = logging.Logger("adjudge.server")  # noqa: LOG001 (not one of those that a program sets up)
    log.parent = logging.getLogger("aiohttp.server")
    log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
    return log


class _Guard:
    """Keeps out what a server on somebody's own machine must not answer: web pages, and those who never ask.

    A page in the user's browser can post to 127.0.0.1, or to a name that its owner lets point there (DNS rebinding).
    Its browser then sends the page's `Origin`, and that name as `Host`.
    """

    def __init__(self, host: str, header_s: float, idle_s: float) -> None:
        # The same few names come with every request.
        self._is_own = lru_cache(maxsize=64)(partial(is_own_name, host=host.lower()))
        self._header_s = header_s
        self._idle_s = idle_s
        self._known: set[Any] = set()  # connections that have had a request
        self._active: set[Any] = set()  # connections with a request that is being answered
        self._since: dict[Any, float] = {}  # when the others began to wait for one

    async def check(self, request: "web.BaseRequest", handler: Callable[..., Any]) -> Any:
        """Answer a request from elsewhere with 421 or 403, and hand on any other."""
        headers, target = request.headers, request.raw_path
        named = headers.get("Host", "")
        origin = headers.get("Origin")
        is_ours = self._is_own(named)
        # A request may also name a host in its first line: `POST http://host/path`.
        if not target.startswith("/"):
            is_ours = is_ours and self._is_own(target.partition("//")[2].partition("/")[0])
        if not is_ours:
            return _refusal(421, "This server answers only requests to its own address.\n")
        if origin is not None and origin.lower() != f"http://{named.lower()}":
            return _refusal(403, "This server does not answer pages of other sites.\n")
        self._active.add(request.protocol)
        self._known.add(request.protocol)
        try:
            return await handler(request)
        finally:
            self._active.discard(request.protocol)
            self._since.pop(request.protocol, None)

    async def watch(self, runner: "web.AppRunner | web.ServerRunner") -> None:
        """Close connections that have been without a request for too long, and the oldest where there are too many."""
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(min(1.0, self._header_s / 4))
            now = clock()
            there = runner.server.connections if runner.server else []
            self._known.intersection_update(there)
            waiting = [each for each in there if each not in self._active]
            # In the order in which they were first seen; those that are gone are forgotten.
            since = {each: self._since.get(each, now) for each in waiting}
            self._since = dict(sorted(since.items(), key=lambda pair: pair[1]))
            beyond = len(self._since) - _MOST_WAITING
            for index, (each, begun) in enumerate(self._since.items()):
                if index < beyond or now - begun > (self._idle_s if each in self._known else self._header_s):
                    each.force_close()


def _refusal(status: int, text: str) -> "web.Response":
    from aiohttp import web

    return web.Response(text=text, status=status)


def is_own_name(named: str, host: str) -> bool:
    """Say whether a Host header names the machine of a server that is bound to `host`.

    A server that is bound to all addresses cannot know its names: it answers to every one.

    >>> [is_own_name(named, "127.0.0.1") for named in ("localhost:4318", "[::1]:80", "evil.example:4318")]
    [True, True, False]
    """
    found = _HOST.fullmatch(named)
    if found is None:
        return False
    name = found[1].strip("[]").lower().removesuffix(".")
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 (asked, not bound)
        return bool(name)
    return name == host or is_loopback(name)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

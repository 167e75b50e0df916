"""A pool of workers that are warm when a job comes, with a hard limit on every job."""

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from adjudge.errors import UsageError
from adjudge.processes import _fork, _launch
from adjudge.processes._crew import Crew, Ticket
from adjudge.processes._drive import resolve
from adjudge.processes._errors import WorkerClosed
from adjudge.processes._limits import Limits
from adjudge.processes._request import check_options, pack
from adjudge.processes._worker import Worker

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

__all__ = ["Pool"]


class Pool:
    """Up to `size` workers for one function, each job under a hard limit.

    A job may use `cpu_s` seconds of its worker's CPU time, counted from when the worker takes it; `wall_s` catches
    a job that sleeps. A worker that overruns is killed and replaced. Waiting for a free worker is first come, first
    served, and counts for nothing. Callable from any thread, any event loop and any number of them, and in a forked
    child, which gets workers of its own. Workers start when they are first needed and go after `idle_s` idle seconds.

    `target`, payloads and results are as for `Worker`.

    >>> with Pool("math:factorial", warm=()) as pool:
    ...     pool.run(20)
    2432902008176640000
    """

    def __init__(
        self,
        target: str,
        *,
        size: int = 1,
        cpu_s: float = 2.0,
        wall_s: float = 10.0,
        memory_mb: int | None = 512,
        warm: Iterable[str] = ("sympy",),
        idle_s: float = 60.0,
        stderr: _launch.Stderr = "inherit",
    ) -> None:
        modules = check_options(target, memory_mb=memory_mb, warm=warm, stderr=stderr)
        if size < 1:
            raise UsageError(f"a pool has at least one worker, not {size!r}", code="bad-limit")
        if not idle_s >= 0:
            raise UsageError(f"idle_s must be a number of seconds, not {idle_s!r}", code="bad-limit")
        self._limits = Limits(cpu_s, wall_s)
        self._size = size
        self._idle_s = idle_s
        self._new_worker = lambda: Worker(target, memory_mb=memory_mb, warm=modules, stderr=stderr)
        self._staff()
        _fork.register(self)

    def run(self, payload: object, *, cpu_s: float | None = None) -> Any:
        """Have one job done and wait for its result."""
        limits = self._limits_of(cpu_s)
        request = pack(payload, cpu_s=limits.cpu_s)
        crew = self._crew
        worker = crew.free_worker() or _wait_for(crew)
        try:
            return worker.call_packed(request, limits)
        finally:
            crew.give_back(worker)

    async def arun(self, payload: object, *, cpu_s: float | None = None) -> Any:
        """Have one job done; the event loop goes on meanwhile. When cancelled, the job's worker is replaced."""
        limits = self._limits_of(cpu_s)
        request = pack(payload, cpu_s=limits.cpu_s)
        crew = self._crew
        worker = crew.free_worker() or await _wait_for_async(crew)
        try:
            return await worker.acall_packed(request, limits)
        finally:
            crew.give_back(worker)

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that there are now."""
        return self._crew.pids

    def close(self) -> None:
        """Kill every worker. Whoever waits or has a job running gets an error; later jobs are refused."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def after_fork(self) -> None:
        """In a forked child: leave the parent's workers alone and start with none."""
        closed = not self._finalizer.alive
        self._finalizer.detach()
        self._staff()
        if closed:
            self.close()

    def _staff(self) -> None:
        self._crew = Crew(self._new_worker, size=self._size, idle_s=self._idle_s)
        self._finalizer = weakref.finalize(self, self._crew.close)

    def _limits_of(self, cpu_s: float | None) -> Limits:
        return self._limits if cpu_s is None else Limits(cpu_s, self._limits.wall_s)


def _wait_for(crew: Crew) -> Worker:
    """Stand in line in this thread."""
    import threading

    called = threading.Lock()
    called.acquire()
    ticket = Ticket(called.release)
    try:
        crew.line_up(ticket)
        called.acquire()
        return ticket.redeem()
    finally:
        crew.leave(ticket)


async def _wait_for_async(crew: Crew) -> Worker:
    """Stand in line on this event loop."""
    import asyncio

    loop = asyncio.get_running_loop()
    called = loop.create_future()
    ticket = Ticket(lambda: _call_from_any_thread(loop, called))
    try:
        crew.line_up(ticket)
        await called
        return ticket.redeem()
    finally:
        crew.leave(ticket)


def _call_from_any_thread(loop: "asyncio.AbstractEventLoop", called: "asyncio.Future[None]") -> None:
    try:
        loop.call_soon_threadsafe(resolve, called)
    except RuntimeError as error:  # the loop was closed with the caller still in line
        raise WorkerClosed("the event loop that waited for a worker is closed") from error

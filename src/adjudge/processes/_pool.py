"""A pool of workers that are warm when a job arrives, with a hard limit on every job.

`WorkerPool` is the public face; `Crew` is who works, who is idle and who waits. Every change of a crew is made under
one lock that is held for microseconds, so that an event loop may take it too. What takes longer (starting a process,
reaping one) happens outside it: a keeper thread starts workers and ends idle ones; it lives only while there are
workers, and never outlives the program.
"""

import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Self

from adjudge.errors import ProcessError, UsageError
from adjudge.processes import _launch
from adjudge.processes._drive import resolve
from adjudge.processes._errors import WorkerClosed, WorkerDiedStarting, WorkerStartError
from adjudge.processes._fork import register_after_fork
from adjudge.processes._limits import JobLimits
from adjudge.processes._worker import Worker, pack

__all__ = ["WorkerPool"]

_MOST_STARTS = 3
"""How many workers in a row may die while they start before a job is told."""


class WorkerClaim:
    """One caller's place in line, called once, with a worker or with an error."""

    __slots__ = ("_call", "error", "worker")

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.worker: Worker | None = None
        self.error: ProcessError | None = None

    def call(self) -> bool:
        """Notify the caller that its turn has come; False if nobody waits any more."""
        try:
            self._call()
        except RuntimeError:  # the event loop was closed with the caller still in line
            return False
        return True

    def redeem(self) -> Worker:
        """Take the worker out; from now on it belongs to the caller."""
        if self.error is not None:
            raise self.error
        worker, self.worker = self.worker, None
        if worker is None:
            raise WorkerClosed("the pool has no worker for this caller")
        return worker


class Crew:
    """The workers of one pool: handed out first come, first served; replaced when dead; ended when idle."""

    def __init__(self, new_worker: Callable[[], Worker], *, size: int, idle_s: float) -> None:
        self._new_worker = new_worker
        self._size = size
        self._idle_s = idle_s
        self._changed = threading.Condition(threading.Lock())
        self._idle: deque[tuple[Worker, float]] = deque()
        # Ordered by key, so that leaving the line costs the same wherever the caller is in it.
        self._line: OrderedDict[WorkerClaim, None] = OrderedDict()
        self._workers: set[Worker] = set()
        self._wanted = 0
        self._starting = False
        self._closed = False
        self._keeper: threading.Thread | None = None

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the current workers."""
        with self._changed:
            return tuple(worker.pid for worker in self._workers)

    def free_worker(self) -> Worker | None:
        """Take an idle worker, or return None: the caller has to wait in line."""
        while True:
            with self._changed:
                if not self._idle:
                    return None
                # The one that worked last, so that the others can stay idle long enough to be ended.
                worker, _ = self._idle.pop()
                if worker.alive:
                    return worker
                self._workers.discard(worker)
            worker.kill()

    def line_up(self, claim: WorkerClaim) -> None:
        """Wait in line, and start a worker if the pool may have one more."""
        with self._changed:
            if self._closed:
                raise WorkerClosed("the pool was closed")
            self._line[claim] = None
            if self._idle:  # one came back since the caller looked
                self._offer(self._idle.pop()[0])
            else:
                self._top_up(len(self._line))

    def leave(self, claim: WorkerClaim) -> None:
        """Leave the line, and return a worker that was handed over but not taken."""
        with self._changed:
            self._line.pop(claim, None)
            worker, claim.worker = claim.worker, None
        if worker is not None:
            self.give_back(worker)

    def give_back(self, worker: Worker) -> None:
        """Return a worker, alive or dead."""
        with self._changed:
            if not self._closed:
                if worker.alive:
                    self._offer(worker)
                    return
                self._workers.discard(worker)
                # A worker that could not even load its target is not replaced: the next one would fail in the same way.
                self._top_up(max(len(self._line), int(worker.greeted)))
        if not worker.over:  # a worker that its job ended is reaped already, by a thread
            worker.kill()

    def close(self) -> None:
        """Kill all workers and raise an error for every caller that waits."""
        with self._changed:
            self._closed = True
            workers, line = list(self._workers), list(self._line)
            self._workers.clear()
            self._idle.clear()
            self._line.clear()
            self._changed.notify_all()
        for claim in line:
            claim.error = WorkerClosed("the pool was closed")
            claim.call()
        for worker in workers:
            worker.kill()

    def _offer(self, worker: Worker) -> None:
        """Hand a worker to the first in line, or keep it as idle."""
        while self._line:
            claim, _ = self._line.popitem(last=False)
            claim.worker = worker
            if claim.call():
                return
            claim.worker = None
        self._idle.append((worker, time.monotonic()))

    def _top_up(self, wished: int) -> None:
        """Order more workers, until `wished` are on their way or the pool is full."""
        # Workers are ordered here and started by the keeper, because starting one takes milliseconds.
        coming = self._wanted + self._starting
        room = self._size - len(self._workers) - coming
        more = min(wished - coming, room)
        if more <= 0:
            return
        self._wanted += more
        self._changed.notify_all()
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep, name="adjudge-keeper", daemon=True)
            try:
                self._keeper.start()
            except RuntimeError as error:
                self._keeper, self._wanted = None, 0
                raise WorkerStartError(f"cannot start the thread that starts workers: {error}") from error

    def _keep(self) -> None:
        """Start the workers that are ordered and end the idle ones; return when there is no worker left."""
        while True:
            with self._changed:
                idle = self._pop_idle()
                if not idle and not self._wanted:
                    if self._closed or not self._workers:
                        self._keeper = None
                        return
                    self._changed.wait(self._seconds_until_idle())
                    continue
                start = self._wanted > 0 and not self._closed
                self._starting = start
                self._wanted = max(self._wanted - 1, 0)
            for worker in idle:
                worker.kill()
            if start:
                self._start_one()

    def _pop_idle(self) -> list[Worker]:
        """Remove and return the workers that have been idle for long enough."""
        now = time.monotonic()
        idle: list[Worker] = []
        while self._idle and now - self._idle[0][1] >= self._idle_s:
            idle.append(self._idle.popleft()[0])
        self._workers.difference_update(idle)
        return idle

    def _seconds_until_idle(self) -> float:
        """Return the seconds until the next idle worker may be ended; one idle time if all are busy."""
        if not self._idle:
            return max(self._idle_s, 0.05)
        return max(self._idle[0][1] + self._idle_s - time.monotonic(), 0.001)

    def _start_one(self) -> None:
        worker: Worker | None = None
        error: ProcessError | None = None
        try:
            worker = self._new_worker()
        except ProcessError as caught:
            error = caught
        with self._changed:
            self._starting = False
            if worker is not None and not self._closed:
                self._workers.add(worker)
                self._offer(worker)
                return
            if self._line and error is not None:
                claim, _ = self._line.popitem(last=False)
                claim.error = error
                claim.call()
            self._top_up(len(self._line))
        if worker is not None:
            worker.kill()


class WorkerPool:
    """Up to `size` workers for one function, each job under a hard limit.

    A job may use `cpu_s` seconds of its worker's CPU time, counted from when the worker takes it; `wall_s` catches
    a job that sleeps. A worker that overruns is killed and replaced. Waiting for a free worker is first come, first
    served, and counts towards no limit. It can be called from any number of threads and event loops, and in a forked
    child, which gets workers of its own. Workers start when they are first needed and end after `idle_s` idle seconds.

    `target`, payloads and results are as for `Worker`.

    >>> with WorkerPool("math:factorial", warm=()) as pool:
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
        modules = _launch.check_options(target, memory_mb=memory_mb, warm=warm, stderr=stderr)
        if size < 1:
            raise UsageError(f"a pool needs at least one worker, not {size!r}", code="bad-limit")
        if not idle_s >= 0:
            raise UsageError(f"idle_s must be a number of seconds, not {idle_s!r}", code="bad-limit")
        self._limits = JobLimits(cpu_s, wall_s)
        self._size = size
        self._idle_s = idle_s
        self._new_worker = lambda: Worker(target, memory_mb=memory_mb, warm=modules, stderr=stderr)
        self._make_crew()
        register_after_fork(self)

    def run(self, payload: object, *, cpu_s: float | None = None) -> Any:
        """Do one job and wait for its result."""
        limits = self._limits_of(cpu_s)
        request = pack(payload, cpu_s=limits.cpu_s)
        # A worker that dies while it starts never had the job: somebody else's kill is not the job's failure.
        for _ in range(_MOST_STARTS - 1):
            with suppress(WorkerDiedStarting):
                return self._run_once(request, limits)
        return self._run_once(request, limits)

    async def arun(self, payload: object, *, cpu_s: float | None = None) -> Any:
        """Do one job while the event loop continues. When cancelled, the job's worker is replaced."""
        limits = self._limits_of(cpu_s)
        if not _launch.means_loaded():
            import asyncio

            # In a thread: the first job's imports take longer than a loop should wait.
            await asyncio.get_running_loop().run_in_executor(None, _launch.load_means)
        request = pack(payload, cpu_s=limits.cpu_s)
        for _ in range(_MOST_STARTS - 1):
            with suppress(WorkerDiedStarting):
                return await self._arun_once(request, limits)
        return await self._arun_once(request, limits)

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the current workers."""
        return self._crew.pids

    def close(self) -> None:
        """Kill every worker. Callers that wait or have a job running get an error, and so do later jobs."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def after_fork(self) -> None:
        """In a forked child: ignore the parent's workers and start with none."""
        closed = not self._finalizer.alive
        self._finalizer.detach()
        self._make_crew()
        if closed:
            self.close()

    def _make_crew(self) -> None:
        self._crew = Crew(self._new_worker, size=self._size, idle_s=self._idle_s)
        self._finalizer = weakref.finalize(self, self._crew.close)

    def _run_once(self, request: bytes, limits: JobLimits) -> Any:
        crew = self._crew
        worker = crew.free_worker() or _wait_for(crew)
        try:
            return worker.call_packed(request, limits)
        finally:
            crew.give_back(worker)

    async def _arun_once(self, request: bytes, limits: JobLimits) -> Any:
        crew = self._crew
        worker = crew.free_worker() or await _wait_for_async(crew)
        try:
            return await worker.acall_packed(request, limits)
        finally:
            crew.give_back(worker)

    def _limits_of(self, cpu_s: float | None) -> JobLimits:
        if cpu_s is None:
            return self._limits
        # A longer job gets a wall-clock backstop that is longer in the same proportion.
        return JobLimits(cpu_s, self._limits.wall_s * max(1.0, cpu_s / self._limits.cpu_s))


def _wait_for(crew: Crew) -> Worker:
    """Wait in line in this thread."""
    called = threading.Lock()
    called.acquire()
    claim = WorkerClaim(called.release)
    try:
        crew.line_up(claim)
        called.acquire()
        return claim.redeem()
    finally:
        crew.leave(claim)


async def _wait_for_async(crew: Crew) -> Worker:
    """Wait in line on this event loop."""
    import asyncio

    loop = asyncio.get_running_loop()
    called: asyncio.Future[None] = loop.create_future()
    claim = WorkerClaim(lambda: loop.call_soon_threadsafe(resolve, called))
    try:
        crew.line_up(claim)
        await called
        return claim.redeem()
    finally:
        crew.leave(claim)

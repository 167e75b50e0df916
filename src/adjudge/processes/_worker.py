"""One worker process, kept for as long as its owner wants it."""

import select
import signal
import threading
import weakref
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from adjudge.errors import ProcessError, UsageError
from adjudge.processes import _launch
from adjudge.processes._drive import Readiness, Steps, drive, drive_async
from adjudge.processes._errors import (
    JobCrashed,
    JobFailed,
    JobTimeout,
    MessageTooLarge,
    WorkerClosed,
    WorkerDiedStarting,
    WorkerStartError,
)
from adjudge.processes._fork import register_after_fork
from adjudge.processes._limits import JobLimits, Meter, cpu_time, own_timer

if TYPE_CHECKING:
    from adjudge.processes._child import JobReply

__all__ = ["Worker", "pack"]

_START_S = 120.0
"""How long a worker may take to import what it needs; generous, because a busy machine may take most of it."""

_GRACE_S = 1.0
"""How long a closed worker has for its own clean-up."""

_BRIEF_S = 0.0001
"""A worker whose last job took less CPU time may be waited for in place: a turn of the loop takes longer."""

_BRIEF_MS = 1
_FIRST_CHUNK = 1 << 13  # most answers are small, and a large buffer costs more than they do
_CHUNK = 1 << 18

_limits_of = lru_cache(JobLimits)  # a world asks thousands of times a second with the same limits


def pack(payload: object, *, cpu_s: float = 0.0) -> bytes:
    """Turn a payload into a request."""
    child = _launch.load_means()
    pickle = child.pickle
    try:
        body: bytes = pickle.dumps(payload, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UsageError(f"the payload cannot be sent to a worker: {error}", code="unpicklable") from error
    if len(body) > child.MAX_BYTES:
        raise MessageTooLarge(f"the payload has {len(body)} bytes; the limit is {child.MAX_BYTES}")
    header: bytes = child.REQUEST.pack(len(body), own_timer(cpu_s))
    return header + body


class Worker:
    """One child process that does one job at a time and keeps its state between them.

    `target` names a function as "module:function"; the worker imports it, after the modules in `warm`, and calls it
    with each payload. A payload is anything that pickles. A result is plain data: None, bool, int of 64 bits, float,
    str, bytes, and lists and dicts of them (a tuple comes back as a list).

    It starts immediately, in a process group of its own, and dies with its owner, whatever the owner dies of.
    `memory_mb` bounds its address space (None: no bound). It takes one call at a time; a `WorkerPool` takes many.

    >>> with Worker("math:sqrt") as worker:
    ...     worker.call(2.25, cpu_s=1, wall_s=10)
    1.5
    """

    def __init__(
        self,
        target: str,
        *,
        memory_mb: int | None = 512,
        warm: Iterable[str] = (),
        stderr: _launch.Stderr = "inherit",
    ) -> None:
        child = _launch.load_means()
        import socket

        modules = _launch.check_options(target, memory_mb=memory_mb, warm=warm, stderr=stderr)
        self.target = target
        self._process = _launch.launch(stderr)
        self._finalizer = weakref.finalize(self, self._process.end)
        self._using = threading.Lock()
        self._inbox = bytearray()
        self._greeted = False
        self._over = False
        self._reported_cpu_s = 0.0
        self._last_cpu_s = _BRIEF_S
        self._channel = self._process.channel
        self._flags = getattr(socket, "MSG_NOSIGNAL", 0)
        self._arrival = select.poll()
        self._arrival.register(self._channel.fileno(), select.POLLIN)
        register_after_fork(self)
        setup = child.Setup(target, modules, memory_mb, kernel_watch=_launch.KERNEL_WATCH)
        try:
            self._send(memoryview(pack(setup)))
        except JobCrashed as error:
            raise WorkerDiedStarting(f"a worker for {target} did not start: {error.message}") from error

    @property
    def pid(self) -> int:
        """The worker's process id, which is also its process group's."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process can take a job."""
        return not self._over and self._process.running

    @property
    def over(self) -> bool:
        """Whether the worker was ended: by its job, by `kill` or by `close`."""
        return self._over

    @property
    def greeted(self) -> bool:
        """Whether the worker has reported that its imports are done."""
        return self._greeted

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU time that the worker has used; what its jobs reported, if the system cannot say."""
        now = None if self._over else cpu_time(self.pid)
        return self._reported_cpu_s if now is None else now

    def call(self, payload: object, *, cpu_s: float, wall_s: float) -> Any:
        """Do one job and wait for its result."""
        limits = _limits_of(cpu_s, wall_s)
        return self.call_packed(pack(payload, cpu_s=cpu_s), limits)

    async def acall(self, payload: object, *, cpu_s: float, wall_s: float, brief: bool = False) -> Any:
        """Do one job while the event loop continues. When cancelled, the worker is killed.

        With `brief`, and if the last job took next to no CPU time, the answer is first waited for in place, for at most
        a millisecond: one that arrives after some microseconds costs less than a turn of the loop.
        """
        limits = _limits_of(cpu_s, wall_s)
        return await self.acall_packed(pack(payload, cpu_s=cpu_s), limits, brief=brief)

    def call_packed(self, request: bytes, limits: JobLimits) -> Any:
        """`call` for a payload that is packed already."""
        self._take()
        try:
            return drive(self._exchange(request, limits))
        finally:
            self._using.release()
            if self._over:
                self._finalizer()

    async def acall_packed(self, request: bytes, limits: JobLimits, *, brief: bool = False) -> Any:
        """`acall` for a payload that is packed already."""
        self._take()
        try:
            if brief and self._last_cpu_s < _BRIEF_S:
                request, reply = self._exchange_briefly(request)
                if reply is not None:
                    return self._result(reply, limits)
            return await drive_async(self._exchange(request, limits))
        finally:
            self._using.release()
            if self._over and self._finalizer.alive:
                # Freeing the memory of a killed process takes the kernel a while; the loop does not wait.
                threading.Thread(target=self._finalizer, name="adjudge-bury", daemon=True).start()

    def kill(self) -> None:
        """End the worker and all of its process group now; a call in progress ends as `WorkerClosed`."""
        self._condemn()
        if self._using.acquire(blocking=False):
            try:
                self._finalizer()
            finally:
                self._using.release()

    def close(self, *, grace_s: float = _GRACE_S) -> None:
        """End the worker: an idle one may clean up for `grace_s` seconds, then whatever is left is killed."""
        if self._using.acquire(blocking=False):
            try:
                self._over = True
                if self._finalizer.detach():
                    self._process.end(grace_s)
            finally:
                self._using.release()
        else:
            self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        import asyncio

        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def after_fork(self) -> None:
        """In a forked child: the worker belongs to the parent and is gone here."""
        self._finalizer.detach()
        self._over = True
        self._using = threading.Lock()

    def _take(self) -> None:
        """Reserve the worker for one call, or raise."""
        is_free = self._using.acquire(blocking=False)
        # Checked first: whoever ends a worker holds it too, and a pool may end one just after it was handed over.
        if self._over:
            if is_free:
                self._using.release()
            raise WorkerClosed(f"worker {self.pid} was closed, has died or belongs to another process; make a new one")
        if not is_free:
            raise UsageError(f"worker {self.pid} has a job already; use a WorkerPool for several", code="worker-busy")

    def _exchange_briefly(self, request: bytes) -> "tuple[bytes, JobReply | None]":
        """Send a request and wait a moment for its answer, in this thread, without a generator or a meter.

        Returns what could not be sent, and the answer if all of it is there.
        """
        try:
            unsent = bytes(self._send(memoryview(request)))
            if unsent or not self._arrival.poll(_BRIEF_MS):
                return unsent, None
            self._receive(_FIRST_CHUNK)
            return unsent, self._pop_reply()
        except BaseException:
            self._condemn()  # interrupted: nobody would know whose answer comes next
            raise

    def _exchange(self, request: bytes, limits: JobLimits) -> Steps[Any]:
        """Do one job from request to result. If it is left in the middle, for whatever reason, the worker is killed."""
        yield from self._greet()
        meter = Meter(self.pid, limits, cpu_time(self.pid))
        reply = None
        try:
            yield from self._deliver(request, meter)
            reply = yield from self._collect(meter)
        finally:
            if reply is None:
                self._condemn()
        return self._result(reply, limits)

    def _result(self, reply: "JobReply", limits: JobLimits) -> Any:
        """Return a job's result, or raise what it failed with."""
        self._last_cpu_s = reply.cpu_s
        self._reported_cpu_s += reply.cpu_s
        # Whether the owner looked in time depends on how busy the machine is. What the job used does not.
        if reply.cpu_s > limits.cpu_s:
            self._condemn()
            raise limits.overrun()
        if reply.kind == "done":
            return reply.value
        if reply.kind == "too-large":
            raise MessageTooLarge(f"the result has {reply.value} bytes, more than a message may have")
        raise JobFailed(str(reply.value))

    def _greet(self) -> Steps[None]:
        """Wait until the imports are done. They are not part of the job: none of its limits counts here."""
        if self._greeted:
            return
        meter = Meter(self.pid, JobLimits(_START_S, _START_S), None)
        try:
            reply = yield from self._collect(meter)
        except JobTimeout as error:
            self._condemn()
            raise WorkerStartError(f"a worker for {self.target} did not start within {_START_S:g} s") from error
        except JobCrashed as error:
            raise WorkerDiedStarting(f"a worker for {self.target} did not start: {error.message}") from error
        if reply.kind != "ready":
            self._condemn()
            raise WorkerStartError(f"a worker for {self.target} could not load it: {reply.value}")
        self._greeted = True

    def _deliver(self, request: bytes, meter: Meter) -> Steps[None]:
        rest = memoryview(request)
        while rest := self._send(rest):
            yield Readiness(self._channel.fileno(), meter.next_look(), to_write=True)

    def _collect(self, meter: Meter) -> Steps["JobReply"]:
        """Read one whole answer. The inbox keeps what has arrived, so that several calls can wait for one greeting."""
        patience, chunk = meter.first_look(), _FIRST_CHUNK
        while True:
            yield Readiness(self._channel.fileno(), patience)
            self._receive(chunk)
            reply = self._pop_reply()
            if reply is not None:
                return reply
            patience, chunk = meter.next_look(), _CHUNK

    def _pop_reply(self) -> "JobReply | None":
        """Take the answer out of the inbox, if all of it has arrived."""
        child = _launch.load_means()
        start = child.REPLY.size
        if len(self._inbox) < start:
            return None
        (length,) = child.REPLY.unpack_from(self._inbox)
        if length > child.MAX_BYTES:
            raise self._crashed("its answer has an impossible length")
        if len(self._inbox) < start + length:
            return None
        body = bytes(memoryview(self._inbox)[start : start + length])
        self._inbox = bytearray()
        try:
            reply: JobReply = child.decode_reply(body)
        except ValueError as error:
            raise self._crashed(str(error)) from error
        return reply

    def _send(self, data: memoryview) -> memoryview:
        """Send what the channel takes and return the rest."""
        try:
            # Without the flag, an owner that has reset SIGPIPE to its default would die of a dead worker.
            return data[self._channel.send(data, self._flags) :]
        except BlockingIOError:
            return data
        except OSError as error:
            raise self._crashed() from error

    def _receive(self, chunk: int) -> None:
        """Move what has arrived, if anything, into the inbox."""
        try:
            part = self._channel.recv(chunk)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._crashed() from error
        if not part:
            raise self._crashed()
        self._inbox += part

    def _condemn(self) -> None:
        self._over = True
        self._process.kill()

    def _crashed(self, why: str | None = None) -> ProcessError:
        """Reap a worker that is already dying, and return what it died of."""
        # Read before it is set: a worker that its owner ended did not crash.
        was_closed, self._over = self._over, True
        status = self._process.end() if self._finalizer.detach() else None
        if was_closed:
            return WorkerClosed(f"worker {self.pid} was closed while it had a job")
        if why is not None:
            return JobCrashed(f"worker {self.pid} was killed: {why}")
        if status == _launch.load_means().OUT_OF_MEMORY:
            return JobCrashed(f"worker {self.pid} reached its memory limit", code="out-of-memory")
        if status == -signal.SIGPROF:
            return JobTimeout("the job used up its CPU time and its worker was killed")
        return JobCrashed(f"worker {self.pid} {_describe_exit(status)}")


def _describe_exit(status: int | None) -> str:
    if status is None:
        return "is gone"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"

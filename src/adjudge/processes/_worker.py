"""One worker process, kept for as long as its owner wants it."""

import select
import signal
import threading
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from adjudge.errors import ProcessError, UsageError
from adjudge.processes import _fork, _launch
from adjudge.processes._drive import Steps, Wait, drive, drive_async
from adjudge.processes._errors import (
    JobCrashed,
    JobFailed,
    JobTimeout,
    MessageTooLarge,
    WorkerClosed,
    WorkerStartError,
)
from adjudge.processes._limits import Limits, Meter, cpu_time
from adjudge.processes._request import check_options, load_means, pack

if TYPE_CHECKING:
    from types import TracebackType

    from adjudge.processes._wire import Reply

__all__ = ["Worker"]

_START_S = 120.0
"""How long a worker may take to import what it needs; generous, because a busy machine may take most of it."""

_GRACE_S = 1.0
"""How long a closed worker has for its own clean-up."""

_BRIEF_S = 0.0001
"""A worker whose last job took less CPU time may be waited for in place: a turn of the loop takes longer."""

_BRIEF_MS = 1
_FIRST_CHUNK = 1 << 13  # most answers are small, and a large buffer costs more than they do
_CHUNK = 1 << 18


class Worker:
    """One child process that does one job at a time and keeps its state between them.

    `target` names a function as "module:function"; the worker imports it, after the modules in `warm`, and calls it
    with each payload. A payload is anything that pickles. A result is plain data: None, bool, int of 64 bits, float,
    str, bytes, and lists and dicts of them (a tuple comes back as a list).

    It is started at once, in a process group of its own, and dies with its owner, whatever the owner dies of.
    `memory_mb` bounds its address space (None: no bound). One call at a time; for many at once there is `Pool`.

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
        load_means()
        import socket

        from adjudge.processes._child import Setup
        from adjudge.processes._wire import decode

        modules = check_options(target, memory_mb=memory_mb, warm=warm, stderr=stderr)
        self.target = target
        self._process = _launch.launch(stderr)
        self._finalizer = weakref.finalize(self, self._process.end)
        self._using = threading.Lock()
        self._inbox = bytearray()
        self._greeted = False
        self._taken = False
        self._over = False
        self._reported_cpu_s = 0.0
        self._last_cpu_s = _BRIEF_S
        self._channel = self._process.channel
        self._flags = getattr(socket, "MSG_NOSIGNAL", 0)
        self._decoded = decode
        self._unsent = b""
        self._soon = select.poll()
        self._soon.register(self._channel.fileno(), select.POLLIN)
        _fork.register(self)
        setup = Setup(target, modules, memory_mb, kernel_watch=_launch.KERNEL_WATCH)
        try:
            self._send(memoryview(pack(setup)))
        except JobCrashed as error:
            raise WorkerStartError(f"a worker for {target} did not start: {error.message}") from error

    @property
    def pid(self) -> int:
        """The worker's process id, which is also its process group's."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is there to take a job."""
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
        """Seconds of CPU time that the worker has used; where the system does not tell, what its jobs reported."""
        now = None if self._over else cpu_time(self.pid)
        return self._reported_cpu_s if now is None else now

    def call(self, payload: object, *, cpu_s: float, wall_s: float) -> Any:
        """Have one job done and wait for its result."""
        limits = Limits(cpu_s, wall_s)
        return self.call_packed(pack(payload, cpu_s=cpu_s), limits)

    async def acall(self, payload: object, *, cpu_s: float, wall_s: float) -> Any:
        """Have one job done; the event loop goes on meanwhile. When cancelled, the worker is killed."""
        limits = Limits(cpu_s, wall_s)
        return await self.acall_packed(pack(payload, cpu_s=cpu_s), limits)

    def call_packed(self, request: bytes, limits: Limits) -> Any:
        """`call` for a payload that is packed already."""
        self._take()
        try:
            return drive(self._exchange(request, limits))
        finally:
            self._using.release()
            if self._over:
                self._finalizer()

    async def acall_packed(self, request: bytes, limits: Limits, *, brief: bool = False) -> Any:
        """`acall` for a payload that is packed already.

        With `brief`, and where the last job took next to nothing, the answer is first waited for in place, for at most
        a millisecond: one that is there after some microseconds costs less than a turn of the loop.
        """
        self._take()
        try:
            if brief and self._last_cpu_s < _BRIEF_S:
                reply = self._briefly(request, limits)
                if reply is not None:
                    return reply.value if reply.kind == "done" else _result(reply)
                request = self._unsent
            return await drive_async(self._exchange(request, limits))
        finally:
            self._using.release()
            if self._over and self._finalizer.alive:
                # Freeing the memory of a killed process takes the kernel a while; the loop does not wait.
                threading.Thread(target=self._finalizer, name="adjudge-bury", daemon=True).start()

    def kill(self) -> None:
        """End the worker and all of its process group now; a call that is under way ends as `WorkerClosed`."""
        self._over = True
        self._process.kill()
        if self._using.acquire(blocking=False):
            try:
                self._finalizer()
            finally:
                self._using.release()

    def close(self, *, grace_s: float = _GRACE_S) -> None:
        """End the worker: an idle one may clean up for `grace_s` seconds, whatever is left then is killed."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        import asyncio

        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def after_fork(self) -> None:
        """In a forked child: the worker is the parent's, here it is gone."""
        self._finalizer.detach()
        self._over = True
        self._using = threading.Lock()

    def _take(self) -> None:
        """Have the worker to oneself, or raise."""
        is_free = self._using.acquire(blocking=False)
        # Checked first: whoever ends a worker holds it too, and a pool may end one just after it was handed over.
        if self._over:
            if is_free:
                self._using.release()
            raise WorkerClosed(f"worker {self.pid} was closed, has died or is another process's; make a new one")
        if not is_free:
            raise UsageError(f"worker {self.pid} has a job already; use a Pool for several", code="worker-busy")

    def _briefly(self, request: bytes, limits: Limits) -> "Reply | None":
        """Send a request and wait for its answer for a moment, in this thread.

        None: the answer is not there yet, or not all of it; `_unsent` is what could not be sent of the request.
        """
        self._taken = True
        self._unsent = request
        try:
            sent = self._channel.send(request, self._flags)
            self._unsent = request[sent:]
            if self._unsent or not self._soon.poll(_BRIEF_MS):
                return None
            answer = self._channel.recv(_FIRST_CHUNK)
            if not answer:
                raise self._crashed()
            if len(answer) < 4 or len(answer) != 4 + int.from_bytes(answer[:4], "big"):
                self._inbox += answer
                return None
            reply = self._decode(answer[4:])
        except BlockingIOError:
            return None
        except OSError as error:
            raise self._crashed() from error
        except BaseException:
            self._condemn()  # interrupted: nobody would know whose answer comes next
            raise
        self._last_cpu_s = reply.cpu_s
        self._reported_cpu_s += reply.cpu_s
        if reply.cpu_s > limits.cpu_s:
            self._condemn()
            raise JobTimeout(f"the job used more than {limits.cpu_s:g} s of CPU time and its worker was killed")
        self._taken = False
        return reply

    def _decode(self, body: bytes) -> "Reply":
        try:
            return self._decoded(body)
        except ValueError as error:
            raise self._crashed(str(error)) from error

    def _exchange(self, request: bytes, limits: Limits) -> Steps[Any]:
        """One job from request to result. Left in the middle, for whatever reason, it takes the worker with it."""
        yield from self._greet()
        meter = Meter(self.pid, limits, cpu_time(self.pid))
        self._taken = True
        try:
            yield from self._deliver(request, meter)
            reply = yield from self._collect(meter)
            self._last_cpu_s = reply.cpu_s
            self._reported_cpu_s += reply.cpu_s
            meter.check_used(reply.cpu_s)
            self._taken = False
        finally:
            if self._taken:
                self._condemn()
        return _result(reply)

    def _greet(self) -> Steps[None]:
        """Wait until the imports are done. They are not the job's: no limit of the job counts here."""
        if self._greeted:
            return
        meter = Meter(self.pid, Limits(_START_S, _START_S), None)
        try:
            reply = yield from self._collect(meter)
        except JobTimeout as error:
            self._condemn()
            raise WorkerStartError(f"a worker for {self.target} did not start within {_START_S:g} s") from error
        except JobCrashed as error:
            raise WorkerStartError(f"a worker for {self.target} did not start: {error.message}") from error
        if reply.kind != "ready":
            self._condemn()
            raise WorkerStartError(f"a worker for {self.target} could not load it: {reply.value}")
        self._greeted = True

    def _deliver(self, request: bytes, meter: Meter) -> Steps[None]:
        rest = memoryview(request)
        while rest:
            rest = self._send(rest)
            if rest:
                yield Wait(self._process.channel.fileno(), "write", meter.next_look())

    def _collect(self, meter: Meter) -> Steps["Reply"]:
        """Read one whole answer. What has arrived is kept, so that a greeting can be waited for in several goes."""
        from adjudge.processes._wire import MAX_BYTES, REPLY

        patience, chunk = meter.first_look(), _FIRST_CHUNK
        while True:
            yield Wait(self._process.channel.fileno(), "read", patience)
            self._receive(chunk)
            if len(self._inbox) >= REPLY.size:
                (length,) = REPLY.unpack_from(self._inbox)
                if length > MAX_BYTES:
                    raise self._crashed("its answer has no sensible length")
                if len(self._inbox) >= REPLY.size + length:
                    break
                chunk = _CHUNK
            patience = meter.next_look()
        body = bytes(memoryview(self._inbox)[REPLY.size : REPLY.size + length])
        self._inbox = bytearray()
        return self._decode(body)

    def _send(self, data: memoryview) -> memoryview:
        """Send what the channel takes and return the rest."""
        try:
            # An owner that has put SIGPIPE back to its default must not die of a dead worker.
            return data[self._process.channel.send(data, self._flags) :]
        except BlockingIOError:
            return data
        except OSError as error:
            raise self._crashed() from error

    def _receive(self, chunk: int) -> None:
        """Move what has arrived, if anything, into the inbox."""
        try:
            part = self._process.channel.recv(chunk)
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
        """Bury a worker that is dying already, and say what it died of."""
        from adjudge.processes._child import OUT_OF_MEMORY

        closed, self._over = self._over, True
        status = self._process.end() if self._finalizer.detach() else None
        if closed:
            return WorkerClosed(f"worker {self.pid} was closed while it had a job")
        if why is not None:
            return JobCrashed(f"worker {self.pid} was killed: {why}")
        if status == OUT_OF_MEMORY:
            return JobCrashed(f"worker {self.pid} reached its memory limit", code="out-of-memory")
        if status == -signal.SIGPROF:
            return JobTimeout("the job used up its CPU time and its worker was killed")
        return JobCrashed(f"worker {self.pid} {_cause(status)}")


def _cause(status: int | None) -> str:
    if status is None:
        return "is gone"
    if status >= 0:
        return f"left with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _result(reply: "Reply") -> Any:
    if reply.kind == "done":
        return reply.value
    if reply.kind == "too-large":
        raise MessageTooLarge(f"the result takes {reply.value} bytes, more than a message may have")
    raise JobFailed(str(reply.value))

"""The inside of a worker process (take a job, do it, answer, until the owner is gone), and what goes over its channel.

To the worker: a header (length, CPU seconds to arm a timer with or 0), then a pickle. The owner is trusted.
Back: a header (length), then a msgpack array `[kind, cpu_s, value]`. What comes back is never unpickled, because
the worker has handled text that somebody else wrote; it decodes to plain data or not at all.
"""

import fcntl
import os
import pickle
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple, NoReturn

import msgspec

__all__ = ["MAX_BYTES", "OUT_OF_MEMORY", "REPLY", "REQUEST", "JobReply", "Setup", "decode_reply", "main"]

OUT_OF_MEMORY = 91
"""The exit status of a worker that reached its memory limit."""

MAX_BYTES = 64 * 1024 * 1024
"""The largest payload and the largest result on the wire."""

REQUEST = struct.Struct("!Id")
REPLY = struct.Struct("!I")

_MESSAGE_CHARS = 4000
_FIRST_CHUNK = 1 << 13  # most requests are small, and a large buffer costs more than they do
_CHUNK = 1 << 18


class JobReply(msgspec.Struct, frozen=True, array_like=True):
    """One answer of a worker: what kind, the CPU time that the job took, and the result or the reason."""

    kind: Literal["ready", "done", "failed", "too-large"]
    cpu_s: float
    value: Any = None


class Setup(NamedTuple):
    """What a worker receives before its first job."""

    target: str
    warm: tuple[str, ...]
    memory_mb: int | None
    kernel_watch: bool
    """Whether the kernel kills the worker when its owner dies; otherwise a thread watches."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(JobReply)


def decode_reply(body: bytes) -> JobReply:
    """Turn bytes into an answer; raises ValueError if they are not one."""
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, RecursionError, MemoryError, UnicodeDecodeError) as error:
        raise ValueError(f"not an answer: {error}") from error


def main(channel: int, lifeline: int) -> None:
    """Serve jobs from `channel` until its owner closes it."""
    try:
        _serve(channel, lifeline)
    except MemoryError:
        _exit_out_of_memory()
    except ConnectionError:
        return  # the owner closed the channel while an answer was on its way


def _serve(channel: int, lifeline: int) -> None:
    for descriptor in (channel, lifeline):
        fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)  # no process that a job starts may hold them
    sys.stdout = sys.stderr  # the descriptor is shared already; this shares the buffer, so that lines keep their order
    first = _receive(channel)
    if first is None:
        return
    setup: Setup = pickle.loads(first[1])  # noqa: S301  # from our own owner
    _die_with_owner(lifeline, kernel=setup.kernel_watch)
    _set_limits(setup.memory_mb)
    jobs: list[Callable[[Any], object]] = []
    _send(channel, _answer(lambda: jobs.append(_load(setup)), kind="ready"))
    if not jobs:
        return
    while (request := _receive(channel)) is not None:
        timer_s, body = request
        # The timer, where the owner asks for one, ends the process by the signal's default action.
        if timer_s:
            signal.setitimer(signal.ITIMER_PROF, timer_s)
        answer = _answer(lambda body=body: jobs[0](pickle.loads(body)))  # type: ignore[misc]  # noqa: S301  # as above
        if timer_s:
            signal.setitimer(signal.ITIMER_PROF, 0)
        _send(channel, answer)


def _answer(action: Callable[[], object], *, kind: Any = "done") -> bytes:
    """Do something and encode how it went: the one place where a stray exception becomes an answer."""
    start = time.process_time()

    def encode(kind: Any, value: object) -> bytes:
        return _ENCODER.encode(JobReply(kind, time.process_time() - start, value))

    try:
        body = encode(kind, action())
    except MemoryError:
        _exit_out_of_memory()
    except Exception as error:  # noqa: BLE001
        # str() of a hostile exception may raise again; then this process dies of it, which is an answer too.
        text = str(error)[:_MESSAGE_CHARS].encode("utf-8", "backslashreplace").decode()
        body = encode("failed", f"{type(error).__name__}: {text}")
    if len(body) > MAX_BYTES:
        body = encode("too-large", len(body))
    return REPLY.pack(len(body)) + body


def _exit_out_of_memory() -> NoReturn:
    # A heap at its limit is good for nothing more, not even for an orderly exit.
    os._exit(OUT_OF_MEMORY)


def _load(setup: Setup) -> Callable[[Any], object]:
    for name in setup.warm:
        import_module(name)
    module, _, path = setup.target.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{setup.target} is not a function")
    job: Callable[[Any], object] = found
    return job


def _set_limits(memory_mb: int | None) -> None:
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # a worker inherits the signals that its owner ignores
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_mb is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory_mb << 20
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (OSError, ValueError):
        # macOS refuses a limit below what the interpreter has mapped already: no memory limit there.
        if sys.platform == "linux":
            raise


def _die_with_owner(lifeline: int, *, kernel: bool) -> None:
    """Have the whole process group killed when the owner's end of the lifeline closes, whatever it died of.

    The kernel's parent-death signal is not used: it fires when the *thread* that started us ends, and it spares our
    own children. A signal on hang-up of a pipe has neither fault, and needs no interpreter lock to be free.
    """

    def watch() -> None:
        os.read(lifeline, 1)  # the owner never writes: this returns when it is gone
        os.killpg(0, signal.SIGKILL)

    if not kernel:
        import threading

        threading.Thread(target=watch, daemon=True).start()
        return
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(lifeline, 0)
    if poll.poll(0):  # it closed before the signal was armed
        os.killpg(0, signal.SIGKILL)


def _receive(channel: int) -> tuple[float, bytes | bytearray] | None:
    """Read the next request as (timer seconds, body), or None when the owner has closed the channel."""
    data: bytes | bytearray = os.read(channel, _FIRST_CHUNK)
    while data:
        if len(data) >= REQUEST.size:
            length, timer_s = REQUEST.unpack_from(data)
            if len(data) == REQUEST.size + length:  # nearly always after the first read
                return timer_s, data[REQUEST.size :]
        part = os.read(channel, _CHUNK)
        if not part:
            break
        data = bytearray(data) if isinstance(data, bytes) else data  # grows without copying all of it each time
        data += part
    return None


def _send(channel: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(channel, view) :]

"""The inside of a worker process: take a job, do it, answer, until the owner is gone."""

import fcntl
import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from adjudge.processes._wire import MAX_BYTES, REQUEST, Reply, encode, frame_reply

__all__ = ["OUT_OF_MEMORY", "Setup", "main"]

OUT_OF_MEMORY = 91
"""The exit status of a worker that reached its memory limit."""

_MESSAGE_CHARS = 4000
_FIRST_CHUNK = 1 << 13  # most requests are small, and a large buffer costs more than they do
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker is told before its first job."""

    target: str
    warm: tuple[str, ...]
    memory_mb: int | None
    kernel_watch: bool
    """Whether the kernel kills the worker when its owner dies; otherwise a thread watches."""


def main(channel: int, lifeline: int) -> None:
    """Serve jobs from `channel` until its owner closes it."""
    try:
        _serve(channel, lifeline)
    except MemoryError:
        _out_of_memory()
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
    _send(channel, _guarded(lambda: jobs.append(_load(setup)), kind="ready"))
    if not jobs:
        return
    while (request := _receive(channel)) is not None:
        _send(channel, _run(jobs[0], *request))


def _run(job: Callable[[Any], object], timer_s: float, body: bytes) -> bytes:
    """Do one job. The timer, where one is asked for, ends the process by the signal's default action."""
    if timer_s:
        signal.setitimer(signal.ITIMER_PROF, timer_s)
    answer = _guarded(lambda: job(pickle.loads(body)))  # noqa: S301  # from our own owner
    if timer_s:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def _guarded(action: Callable[[], object], *, kind: Any = "done") -> bytes:
    """Do something and encode how it went: the one place where a stray exception becomes an answer."""
    start = time.process_time()
    try:
        value = action()
        body = encode(Reply(kind, time.process_time() - start, value))
    except MemoryError:
        _out_of_memory()
    except Exception as error:  # noqa: BLE001
        # str() of a hostile exception may raise again; then this process dies of it, which is an answer too.
        text = str(error)[:_MESSAGE_CHARS].encode("utf-8", "backslashreplace").decode()
        body = encode(Reply("failed", time.process_time() - start, f"{type(error).__name__}: {text}"))
    if len(body) > MAX_BYTES:
        body = encode(Reply("too-large", time.process_time() - start, len(body)))
    return frame_reply(body)


def _out_of_memory() -> NoReturn:
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

    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # an owner that ignores it would have us ignore it
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
    if kernel:
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        poll = select.poll()
        poll.register(lifeline, 0)
        if poll.poll(0):  # it closed before the signal was armed
            _kill_group()
        return
    import threading

    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: int) -> None:
    os.read(lifeline, 1)  # nothing is ever written: this returns when the owner is gone
    _kill_group()


def _kill_group() -> None:
    os.killpg(0, signal.SIGKILL)


def _receive(channel: int) -> tuple[float, bytes] | None:
    """Read the next request as (timer seconds, body), or None when the owner has closed the channel."""
    first = os.read(channel, _FIRST_CHUNK)
    if len(first) >= REQUEST.size:
        length, timer_s = REQUEST.unpack_from(first)
        if len(first) == REQUEST.size + length:  # nearly every one, without a detour
            return timer_s, first[REQUEST.size :]
    elif not first:
        return None
    data = bytearray(first)
    while len(data) < REQUEST.size:
        part = os.read(channel, _FIRST_CHUNK)
        if not part:
            return None
        data += part
    length, timer_s = REQUEST.unpack_from(data)
    while len(data) < REQUEST.size + length:
        part = os.read(channel, _CHUNK)
        if not part:
            return None
        data += part
    return timer_s, bytes(memoryview(data)[REQUEST.size :])


def _send(channel: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(channel, view) :]

"""Chunks of work over several processes, results in the order of the chunks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from adjudge.errors import ProcessError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Work = TypeVar("Work")
Result = TypeVar("Result")

AHEAD = 3  # chunks in progress or waiting, for each worker: bounds what is held in memory


def map_chunks(function: Callable[[Work], Result], chunks: Iterable[Work], *, workers: int = 1) -> Iterator[Result]:
    """Apply the function to every chunk and yield the results in order.

    With one worker everything happens in this process. With more, the function and the chunks are pickled and sent
    to spawned processes; a process that dies raises `ProcessError`. Chunks are taken from their source only as they
    are needed.

    >>> list(map_chunks(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    if workers < 1:
        raise UsageError(f"workers must be at least 1, got {workers}")
    return map(function, chunks) if workers == 1 else _map_parallel(function, chunks, workers)


def _map_parallel(function: Callable[[Work], Result], chunks: Iterable[Work], workers: int) -> Iterator[Result]:
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # Spawned, not forked: the same on every system, and safe whatever threads the caller has.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow_parent)
    waiting: deque[Future[Result]] = deque()
    done = False
    try:
        for chunk in chunks:
            waiting.append(pool.submit(function, chunk))
            if len(waiting) >= workers * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        done = True
    except BrokenProcessPool:
        raise ProcessError("a worker process died: killed from outside, or out of memory", code="worker-died") from None
    finally:
        if not done:  # interrupted: nobody wants the rest, and a chunk that is being worked on may hang
            _kill(pool)
        pool.shutdown(wait=True, cancel_futures=True)


def _kill(pool: "ProcessPoolExecutor") -> None:
    # A function of its own: a traceback of the caller's frame would keep the last process and its descriptor alive.
    for process in list((pool._processes or {}).values()):  # noqa: SLF001 (public only from Python 3.14 on)
        process.kill()


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and never outlive it."""
    import multiprocessing
    import os
    import signal
    import threading

    def wait_for_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=wait_for_parent, daemon=True).start()

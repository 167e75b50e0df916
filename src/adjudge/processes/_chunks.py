"""Chunks of work over several processes, results in the order of the chunks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from adjudge.errors import ProcessError, UsageError

Work = TypeVar("Work")
Result = TypeVar("Result")

AHEAD = 3  # chunks under way or waiting, for each worker: bounds what is held in memory


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
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    waiting: deque[Future[Result]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(function, chunk))
            if len(waiting) >= workers * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ProcessError("a worker process died: killed from outside, or out of memory", code="worker-died") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which stops its workers in order."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)

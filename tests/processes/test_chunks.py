"""Chunks over worker processes: results in order, taken as they are needed, and no process left behind."""

import multiprocessing
import os
import signal
import time
from collections.abc import Generator, Iterator
from functools import partial
from typing import Any, cast

import pytest

from adjudge.errors import ProcessError, RowError, UsageError
from adjudge.processes import map_chunks
from adjudge.processes._chunks import AHEAD


def late(number: int) -> int:
    """Return the number squared, the first ones last."""
    time.sleep(0.2 if number == 0 else 0)
    return number * number


def fail_at(bad: int, number: int) -> int:
    """Return the number, or raise."""
    if number == bad:
        raise RowError(f"number {number}", code="odd")
    return number


def die_at(bad: int, number: int) -> int:
    """Return the number, or be killed."""
    if number == bad:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def own_pid(number: int) -> int:
    """Return the process that runs this."""
    return os.getpid()


def children() -> list[Any]:
    """Return the worker processes that are alive."""
    return multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_order(workers: int) -> None:
    """Results come in the order of the chunks, however long each takes."""
    assert list(map_chunks(late, range(20), workers=workers)) == [number * number for number in range(20)]
    assert list(map_chunks(late, [], workers=workers)) == []
    assert children() == []


def test_where() -> None:
    """One worker is this process; several are others."""
    assert set(map_chunks(own_pid, range(3))) == {os.getpid()}
    assert os.getpid() not in set(map_chunks(own_pid, range(3), workers=2))


@pytest.mark.parametrize("workers", [1, 2])
def test_lazy(workers: int) -> None:
    """The source is read only a bounded number of chunks ahead, and closing early leaves no process."""
    taken = 0

    def source() -> Iterator[int]:
        nonlocal taken
        for number in range(10_000):
            taken += 1
            yield number

    results = map_chunks(late, source(), workers=workers)
    assert taken == 0
    for wanted in range(1, 6):
        next(results)
        assert taken <= wanted + workers * AHEAD
    if workers > 1:
        cast("Generator[int]", results).close()
    assert taken <= 5 + workers * AHEAD
    assert children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_exception(workers: int) -> None:
    """What the function raises comes through with its type, after the results before it."""
    results = map_chunks(partial(fail_at, 3), range(10), workers=workers)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RowError, match="number 3") as caught:
        next(results)
    assert caught.value.code == "odd"
    assert children() == []


def test_failing_source() -> None:
    """What the source raises comes through too, and no process is left."""

    def source() -> Iterator[int]:
        yield 1
        raise RowError("the file ends here")

    with pytest.raises(RowError, match="the file ends here"):
        list(map_chunks(late, source(), workers=2))
    assert children() == []


def test_dead_worker() -> None:
    """A worker that is killed is a ProcessError, not a hang."""
    with pytest.raises(ProcessError, match="a worker process died") as caught:
        list(map_chunks(partial(die_at, 2), range(10), workers=2))
    assert caught.value.code == "worker-died"
    assert children() == []


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers(workers: int) -> None:
    """Fewer than one worker is an error of the call, at once."""
    with pytest.raises(UsageError, match=f"at least 1, got {workers}"):
        map_chunks(late, [1], workers=workers)

"""Chunks over worker processes: results in order, taken as they are needed, and no process left behind.

The functions are the standard library's, so that a spawned process finds them.
"""

import math
import multiprocessing
import operator
import os
import signal
from collections.abc import Callable, Generator, Iterator
from typing import cast

import pytest

from adjudge.errors import ProcessError, RowError, UsageError
from adjudge.model import decode_json
from adjudge.processes import map_chunks
from adjudge.processes._chunks import AHEAD


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Whatever happens, no worker process is left."""
    yield
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_order(workers: int) -> None:
    """Results come in the order of the chunks, however long each takes."""
    numbers = [20_000, *range(20)]
    assert list(map_chunks(math.factorial, numbers, workers=workers)) == [math.factorial(n) for n in numbers]
    assert list(map_chunks(math.factorial, [], workers=workers)) == []


def test_where() -> None:
    """One worker is this process; several are others."""
    asked: list[Callable[[], int]] = [os.getpid] * 3
    assert set(map_chunks(operator.call, asked)) == {os.getpid()}
    assert os.getpid() not in set(map_chunks(operator.call, asked, workers=2))


@pytest.mark.parametrize("workers", [1, 2])
def test_lazy(workers: int) -> None:
    """The source is read only a bounded number of chunks ahead, and closing early ends the workers."""
    taken = 0

    def source() -> Iterator[int]:
        nonlocal taken
        for number in range(10_000):
            taken += 1
            yield number

    results = map_chunks(operator.neg, source(), workers=workers)
    assert taken == 0
    for wanted in range(5):
        assert next(results) == -wanted
        assert taken <= wanted + workers * AHEAD
    if workers > 1:
        cast("Generator[int]", results).close()
        assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_exception(workers: int) -> None:
    """What the function raises comes through with its type and code, after the results before it."""
    results = map_chunks(decode_json, ["1", "2", "{", "4"], workers=workers)
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(RowError, match="not JSON") as caught:
        next(results)
    assert caught.value.code == "bad-row"


def test_failing_source() -> None:
    """What the source raises comes through too."""

    def source() -> Iterator[int]:
        yield 1
        raise RowError("the file ends here")

    with pytest.raises(RowError, match="the file ends here"):
        list(map_chunks(operator.neg, source(), workers=2))


@pytest.mark.parametrize(("function", "chunk"), [(os._exit, 0), (signal.raise_signal, signal.SIGKILL)])
def test_dead_worker(function: Callable[[int], object], chunk: int) -> None:
    """A worker that exits or is killed is a ProcessError, not a hang and not an end."""
    with pytest.raises(ProcessError, match="a worker process died") as caught:
        list(map_chunks(function, [chunk] * 5, workers=2))
    assert caught.value.code == "worker-died"


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers(workers: int) -> None:
    """Fewer than one worker is an error of the call, at once."""
    with pytest.raises(UsageError, match=f"at least 1, got {workers}"):
        map_chunks(operator.neg, [1], workers=workers)

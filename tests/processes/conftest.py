"""After every test: no process, descriptor or thread of ours is left."""

from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from adjudge.processes import WorkerPool
from processes.helpers import children, new_pool, own_threads, soon


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


@pytest.fixture(autouse=True, scope="session")
def helper_of_the_interpreter() -> None:
    """Start the process that Python itself starts with the first spawn and keeps: it is no leak of ours."""
    resource_tracker.ensure_running()


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Compare children, descriptors and threads with what there was before."""
    # Tests of other folders that ran in this process may have left a pool that the package keeps for good.
    before, descriptors, threads = children(), _descriptors(), own_threads()
    yield
    assert soon(lambda: children() <= before), children() - before
    assert soon(lambda: _descriptors() <= descriptors)
    assert soon(lambda: own_threads() <= threads), own_threads() - threads


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """One worker, generous limits."""
    with new_pool() as pool:
        yield pool

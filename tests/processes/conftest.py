"""After every test: no process, descriptor or thread of ours is left."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.processes import Pool
from processes.helpers import children, new_pool, soon


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Compare children, descriptors and threads with what there was before."""
    before, descriptors = children(), _descriptors()
    yield
    assert soon(lambda: children() <= before), children() - before
    assert soon(lambda: _descriptors() <= descriptors)
    assert soon(lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("adjudge")])


@pytest.fixture
def pool() -> Iterator[Pool]:
    """One worker, generous limits."""
    with new_pool() as pool:
        yield pool

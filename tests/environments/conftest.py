"""Tests may be coroutines. After every one: no process, descriptor or thread of ours is left."""

import asyncio
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.environments import close_pools
from processes.helpers import children, soon


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test on a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Compare children, descriptors and threads with what there was before."""
    before, descriptors = children(), _descriptors()
    yield
    close_pools()
    assert soon(lambda: children() <= before), children() - before
    assert soon(lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("adjudge")])
    assert soon(lambda: _descriptors() <= descriptors)

"""Servers in threads of their own: whatever happens at the start, nobody waits for ever."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.http import LoopThread


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [OSError("taken"), UsageError("wrong"), ValueError("a bug"), KeyError("another")])
def test_a_start_that_fails_is_raised(error: Exception) -> None:
    """A server that cannot start says so, with its own error where that is of a kind to be expected."""

    @asynccontextmanager
    async def serving() -> AsyncIterator[int]:
        raise error
        yield 0

    expected: Any = type(error) if isinstance(error, OSError | UsageError) else RuntimeError
    with pytest.raises(expected):
        LoopThread(serving, "server").start()

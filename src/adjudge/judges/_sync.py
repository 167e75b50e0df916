"""The sync face of what awaits."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from adjudge.errors import UsageError

T = TypeVar("T")


def run_sync(owner: Any, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Await something from code that cannot; inside a running event loop that is an error, never a deadlock."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    raise UsageError(f"{owner.name} awaits its model: inside an event loop use `await judge.ajudge(...)`")

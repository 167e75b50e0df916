"""The sync face of what awaits, which also works where an event loop runs already."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Await something from code that cannot; inside a running event loop, a notebook's say, in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    box: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            box.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 (handed on to whoever waits, as it is)
            failed.append(error)

    thread = Thread(target=run, name="adjudge-crag", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return box[0]

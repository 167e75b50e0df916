"""Waiting for what happens on other threads."""

import asyncio
import time
from collections.abc import Callable


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether something comes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.005)
    return True

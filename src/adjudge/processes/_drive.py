"""Two ways to run a rule that waits: in this thread, or on an event loop.

A rule that waits is a generator. It yields what it waits for and is resumed when that is there or the time is up;
which of the two, it finds out by trying. So the rule is written once, and knows neither threads nor loops.
"""

import select
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    import asyncio

__all__ = ["Steps", "Wait", "drive", "drive_async", "resolve"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wait:
    """Until a descriptor can be read or written, but no longer than `seconds`."""

    descriptor: int
    way: Literal["read", "write"]
    seconds: float


Steps = Generator[Wait, None, T]


def drive(steps: Steps[T]) -> T:
    """Run a rule in this thread."""
    poll = select.poll()
    try:
        while True:
            wait = next(steps)
            poll.register(wait.descriptor, select.POLLIN if wait.way == "read" else select.POLLOUT)
            # Rounded up: a wait that ends a little early would only look once more.
            poll.poll(int(wait.seconds * 1000) + 1)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


async def drive_async(steps: Steps[T]) -> T:
    """Run a rule on the running event loop; when cancelled, the rule is closed where it stands."""
    import asyncio

    loop = asyncio.get_running_loop()
    try:
        while True:
            await _wait(loop, next(steps))
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


async def _wait(loop: "asyncio.AbstractEventLoop", wait: Wait) -> None:
    ready: asyncio.Future[None] = loop.create_future()
    add, remove = _methods(loop, wait.way)
    add(wait.descriptor, resolve, ready)
    timer = loop.call_later(wait.seconds, resolve, ready)
    try:
        await ready
    finally:
        timer.cancel()
        remove(wait.descriptor)


def _methods(loop: "asyncio.AbstractEventLoop", way: str) -> tuple[Callable[..., object], Callable[[int], object]]:
    if way == "read":
        return loop.add_reader, loop.remove_reader
    return loop.add_writer, loop.remove_writer


def resolve(ready: "asyncio.Future[None]") -> None:
    """Let whoever awaits `ready` go on, unless it was cancelled meanwhile."""
    if not ready.done():
        ready.set_result(None)

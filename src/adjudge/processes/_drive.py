"""Two ways to run a rule that waits: in this thread, or on an event loop.

A rule that waits is a generator. It yields what it waits for, is resumed when that is there or the time is up, and
finds out by trying which of the two it was. So the rule is written once, and knows neither threads nor loops.
"""

import select
from collections.abc import Generator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import asyncio

__all__ = ["Readiness", "Steps", "drive", "drive_async", "resolve"]

T = TypeVar("T")


class Readiness(NamedTuple):
    """A descriptor to wait for, until it can be read (or written), but no longer than `seconds`."""

    descriptor: int
    seconds: float
    to_write: bool = False


Steps = Generator[Readiness, None, T]


def drive(steps: Steps[T]) -> T:
    """Run a rule in this thread."""
    poll = select.poll()
    try:
        while True:
            wait = next(steps)
            poll.register(wait.descriptor, select.POLLOUT if wait.to_write else select.POLLIN)
            # Rounded up: a wait that ends a little early would only look once more.
            poll.poll(int(wait.seconds * 1000) + 1)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


async def drive_async(steps: Steps[T]) -> T:
    """Run a rule on the running event loop; when cancelled, the rule is closed where it is."""
    import asyncio

    loop = asyncio.get_running_loop()
    try:
        while True:
            wait = next(steps)
            ready: asyncio.Future[None] = loop.create_future()
            (loop.add_writer if wait.to_write else loop.add_reader)(wait.descriptor, resolve, ready)
            timer = loop.call_later(wait.seconds, resolve, ready)
            try:
                await ready
            finally:
                timer.cancel()
                (loop.remove_writer if wait.to_write else loop.remove_reader)(wait.descriptor)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


def resolve(ready: "asyncio.Future[None]") -> None:
    """Wake whoever awaits `ready`, unless it was cancelled meanwhile."""
    if not ready.done():
        ready.set_result(None)

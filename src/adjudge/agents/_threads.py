"""Functions that wait, kept off the event loop: in threads that do not hold up the end of the program."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from adjudge.errors import Caught

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Call a function in a thread of its own; if the caller is cancelled, the thread is left to itself.

    A thread of a pool would be waited for when the program ends, however long the function takes.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    call = partial(copy_context().run, function, *arguments, **options)

    def work() -> None:
        result: list[T] = []
        with Caught(fatal_too=True) as caught:
            result.append(call())
        with suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(_tell, done, result, caught.error)

    Thread(target=work, name="adjudge-agent", daemon=True).start()
    return await done


def _tell(done: "asyncio.Future[T]", result: list[T], error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result[0])
    else:
        # A StopIteration cannot be put into a future, nor should a SystemExit end the loop.
        is_fit = isinstance(error, Exception) and not isinstance(error, StopIteration)
        done.set_exception(error if is_fit else RuntimeError(f"{type(error).__name__}: {error}"))

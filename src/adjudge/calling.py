"""Calling code that is not ours: found by its place, awaited from code that cannot await, kept off the event loop.

load_code("my_rewards:brevity")       what the module `my_rewards` calls `brevity`
load_code("./rewards.py:brevity")     the same from a file
run_sync(work, "evaluate")            await a coroutine from ordinary code
await for_each(rows, work)            await something for each row, some at once
await in_thread(function, 1, 2)       call a function that waits, without holding up the event loop
ExitGuard(3)                          no code that runs here chooses this process's exit code
source_digest(function)               tells whether its source has changed
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar

from adjudge.errors import AdjudgeError, Caught, UsageError, closest, describe_error

__all__ = [
    "ExitGuard",
    "agent_options",
    "agent_variables",
    "check_code_allowed",
    "code_allowed",
    "folders",
    "for_each",
    "in_thread",
    "load_code",
    "run_sync",
    "source_digest",
]

T = TypeVar("T")

CONCURRENCY = 64  # pieces of work under way at once


folders: list[str] = []
"""Where `load_code` looks for modules after all other places; the commands put the working folder here.

It is on Python's path only once somebody has named code: a file there never stands in for a library.
"""


code_allowed: ContextVar[bool] = ContextVar("adjudge_code_allowed", default=True)
"""Whether code and commands that somebody names may be run; `--no-code` says no."""


agent_variables: ContextVar[tuple[str, ...]] = ContextVar("adjudge_agent_variables", default=())
"""The variables that `--agent-env` names: programs that are agents get them, beside those that every program needs."""


agent_options: ContextVar[Mapping[str, Any]] = ContextVar("adjudge_agent_options", default={})  # noqa: B039 (read only)
"""What `--header`, `--field` and `--send` say of an agent behind a URL, by the option's name: never kept in a run."""


undecided: list[int] = []
"""The exit code of a command that code in its process ends before it is decided; none where nobody says one."""
guards: list[ExitGuard] = []
"""The guard of this process, once code that a caller named is in it."""


class ExitGuard:
    """Has this process end with `code` where other code in it calls `os._exit`, also while Python shuts down.

    Before a verdict is known, `code` says that nothing is decided, afterwards it is that of the verdict. Children of
    the process end as they like.
    """

    def __init__(self, code: int, *, before: Callable[[], object] = lambda: None) -> None:
        self.code = code
        self.is_decided = False
        self._before = before  # called before anything is said
        self._pid = os.getpid()
        self._leave = os._exit
        os._exit = self._end

    def hold(self) -> None:
        """Guard the process from here on."""
        os._exit = self._end

    def lift(self) -> None:
        """Guard it no more."""
        os._exit = self._leave

    def decide(self, code: int) -> None:
        """Set the exit code of the verdict."""
        self.code, self.is_decided = code, True

    def _end(self, status: int) -> NoReturn:
        if os.getpid() != self._pid:
            self._leave(status)
        if not self.is_decided:
            self._before()
            os.write(2, b"adjudge: error: code in this process ended it with os._exit: nothing is decided\n")
        self._leave(self.code)


def check_code_allowed(place: str) -> None:
    """Raise `UsageError` for code or a command, where none may be run."""
    if not code_allowed.get():
        raise UsageError(f"{place} is code, and --no-code allows none", code="code-refused")


def load_code(place: str) -> Any:
    """Return what is at a place: `package.module:name`, or `./file.py:name`.

    >>> load_code("math:sqrt")(9.0)
    3.0
    >>> load_code("math:sqrrt")
    Traceback (most recent call last):
    adjudge.errors.UsageError: math:sqrrt: math has no 'sqrrt'; did you mean 'sqrt'?
    """
    module_name, _, attribute = place.rpartition(":")
    if not module_name or not attribute:
        raise UsageError(f"{place!r} does not name code: write module:function or ./file.py:function", code="no-code")
    if not module_name.startswith("adjudge."):  # the built-in rewards are found in the same way
        check_code_allowed(place)
        if undecided and not guards:
            guards.append(ExitGuard(undecided[0]))
    with Caught() as caught:
        found: Any = _module(module_name)
    if caught.reason is not None:
        reason = caught.reason.removeprefix("raised: ")
        raise UsageError(f"{place}: cannot import {module_name!r}: {reason}", code="no-code")
    # A place may name a method of a class.
    for step in attribute.split("."):
        if not hasattr(found, step):
            hint = _hidden_file(module_name, attribute) or closest(step, dir(found))
            raise UsageError(f"{place}: {module_name} has no {attribute!r}{hint}", code="no-code")
        found = getattr(found, step)
    return found


def _hidden_file(name: str, attribute: str) -> str:
    """Point at a file of the working folder that was probably meant, where an installed module has its name."""
    import sys
    from pathlib import Path

    path = f"{name.replace('.', '/')}.py"
    used = getattr(sys.modules.get(name), "__file__", None)
    hidden = any(file.is_file() and str(file) != used for file in (Path(folder, path) for folder in folders))
    return f"; an installed module hides {path} of this folder, which is ./{path}:{attribute}" if hidden else ""


def _module(name: str) -> Any:
    import sys

    if not name.endswith(".py"):
        from importlib import import_module

        sys.path.extend(folder for folder in folders if folder not in sys.path)
        return import_module(name)
    from hashlib import blake2b
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    path = Path(name).resolve(strict=True)
    # One file is one module, however its path is written, and never hides a module of the same name.
    key = f"{path.stem}_{blake2b(bytes(path), digest_size=6).hexdigest()}"
    if key not in sys.modules:
        spec = spec_from_file_location(key, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is not a Python file")
        module = sys.modules[key] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            # A module that failed half-way must not be found by the next import.
            del sys.modules[key]
            raise
    return sys.modules[key]


def source_digest(code: Any) -> str | None:
    """Return a digest of the source of a function, or of an object's class; None where it cannot be read.

    It is empty for code of this package, whose parts have versions.

    >>> source_digest(closest)
    ''
    >>> source_digest(lambda: 1) is None
    True
    """
    import inspect
    from functools import partial
    from hashlib import blake2b

    while isinstance(code, partial):
        code = code.func
    definition = inspect.unwrap(code) if inspect.isroutine(code) or isinstance(code, type) else type(code)
    # What Python takes for the source of a lambda is a line that holds it, maybe with other things.
    if getattr(definition, "__name__", "") == "<lambda>":
        return None
    if str(getattr(definition, "__module__", "")).partition(".")[0] == "adjudge":
        return ""
    try:
        source = inspect.getsource(definition)
    except (OSError, TypeError):
        return None
    return blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def run_sync(work: Coroutine[Any, Any, T], what: str, *, instead: str = "", anywhere: bool = False) -> T:
    """Await something from code that cannot.

    Inside a running event loop this would be a deadlock, so it is an error that says what to write `instead`. With
    `anywhere`, the work runs there in a thread of its own, as in a notebook.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    if not anywhere:
        # Closed, so that Python does not warn that it was never awaited.
        work.close()
        raise UsageError(f"{what} has to wait: inside an event loop use `await {instead or f'a{what}'}(...)`")
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "adjudge-sync") as pool:
        return pool.submit(asyncio.run, work).result()


async def for_each(items: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
    """Await the work for every item, some at once; the first fatal error of ours ends all of it and is raised."""
    from asyncio import Semaphore, TaskGroup

    limit = Semaphore(CONCURRENCY)

    async def one(item: T) -> None:
        try:
            await work(item)
        finally:
            limit.release()

    fatal: BaseException | None = None
    try:
        async with TaskGroup() as tasks:
            for item in items:
                await limit.acquire()
                tasks.create_task(one(item))
    except* AdjudgeError as group:
        fatal = group.exceptions[0]
    if fatal is not None:
        raise fatal


async def in_thread(function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Call a function in a thread of its own; if the caller is cancelled, the thread is left to itself.

    A thread of a pool would be waited for when the program ends, however long the function takes.
    """
    import asyncio
    from concurrent.futures import CancelledError, Future
    from contextvars import copy_context
    from functools import partial
    from threading import Thread

    done: Future[T] = Future()
    done.set_running_or_notify_cancel()  # from now on it cannot be cancelled: the thread may always end it
    call = partial(copy_context().run, function, *arguments, **options)

    def work() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 (nobody interrupts or cancels a thread: the function raised it)
            # Whoever waits must hear of it. On the loop, some errors would mean something else: the end of a generator,
            # a cancellation, the end of the loop itself.
            if not isinstance(error, Exception) or isinstance(error, StopIteration | CancelledError):
                error = RuntimeError(describe_error(error))
            done.set_exception(error)

    Thread(target=work, name="adjudge-agent", daemon=True).start()
    return await asyncio.wrap_future(done)

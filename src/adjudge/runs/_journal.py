"""The one thread that writes a run file, in groups: a disk's sync is shared by all that comes within some milliseconds.

    journal.keep(*writes)             outlives the process from now on, and goes with the next group; nobody waits
    await journal.keeping(*writes)    the same, and returns when the group is on disk
    journal.put(*writes)              goes with the next group; nobody waits
    await journal.commit(*writes)     returns when the group is on disk
    await journal.read(function)      asks the store, after everything that was put before

What was paid for is kept, through the tail beside the file; what can be made again is put.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from adjudge.errors import Caught, RunError
from adjudge.runs._cache import Cache, Entry
from adjudge.runs._records import Write
from adjudge.runs._store import Store
from adjudge.runs._tail import Tail

T = TypeVar("T")

WINDOW = 0.04  # seconds in which writes gather
BUSY_WINDOW = 0.1  # the same where many come
BUSY = 24  # writes of a group that make the next one wait longer
LARGEST = 2048  # writes of one group


class _Item:
    """Something for the thread to do: write, or read, and whom to tell."""

    __slots__ = ("done", "entry", "kept", "read", "writes")

    def __init__(
        self,
        writes: tuple[Write, ...] = (),
        read: Callable[[Store], Any] | None = None,
        done: "asyncio.Future[Any] | None" = None,
        entry: Entry | None = None,
        kept: int = 0,
    ) -> None:
        self.writes = writes
        self.read = read
        self.done = done
        self.entry = entry
        self.kept = kept  # how many of the writes stand in the tail


class Journal:
    """The writer of one run; made and used inside one event loop."""

    def __init__(self, store: Store, cache: Cache | None = None) -> None:
        self.store = store
        self.cache = cache
        self.fault: RunError | None = None  # once something could not be written, nothing is any more
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._tail = Tail(store.path)
        self._thread = Thread(target=self._work, name="adjudge-journal", daemon=True)
        self._thread.start()

    def keep(self, *writes: Write) -> None:
        """Write with the next group, but safe from the end of this process at once."""
        self._put_kept(writes, None, None)

    def keeping(self, *writes: Write, entry: Entry | None = None) -> "asyncio.Future[None]":
        """Keep, and return what is done when it is on disk, or when nothing can be: see `check`.

        `entry` goes to the cache.
        """
        done: asyncio.Future[None] = self._loop.create_future()
        self._put_kept(writes, done, entry)
        return done

    def _put_kept(self, writes: tuple[Write, ...], done: "asyncio.Future[None] | None", entry: Entry | None) -> None:
        self.check()
        try:
            self._tail.add(writes)
        except RunError as error:
            self.fault = error
            raise
        self._queue.put(_Item(writes, None, done, entry, kept=len(writes)))

    def put(self, *writes: Write) -> None:
        """Write with the next group."""
        self.check()
        self._queue.put(_Item(writes))

    def check(self) -> None:
        """Raise what keeps the file from being written, if anything does."""
        if self.fault is not None:
            raise self.fault

    async def commit(self, *writes: Write) -> None:
        """Write, and return when it is on disk, and everything that was put before."""
        self.check()
        done: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Item(writes, None, done))
        await done

    async def read(self, function: Callable[[Store], T]) -> T:
        """Ask the store for something, in the thread that owns it."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(_Item((), function, done))
        return await done

    async def close(self) -> None:
        """Write what is left and end the thread; the store stays open. A fault is left for the caller to look at."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._tail.close()

    def _work(self) -> None:
        is_open = True
        count = 0
        while is_open:
            group = [self._queue.get()]
            if group[0] is not None and group[0].read is None:
                time.sleep(WINDOW if count < BUSY else BUSY_WINDOW)
            count = 0
            while count < LARGEST:
                try:
                    item = self._queue.get_nowait()
                except Empty:
                    break
                group.append(item)
                count += 1 if item is None else len(item.writes)
            is_open = None not in group
            self._handle([item for item in group if item is not None])

    def _handle(self, group: list[_Item]) -> None:
        """Write the group in one transaction, then answer what was asked."""
        writes = [write for item in group for write in item.writes]
        if writes and self.fault is None:
            _, self.fault = _attempt(partial(self.store.commit, writes))
            if self.fault is None:
                self._tail.settle(sum(item.kept for item in group))
        answers: list[tuple[asyncio.Future[Any], Any, Exception | None]] = []
        for item in group:
            if item.done is not None and item.read is None:
                answers.append((item.done, None, None if item.kept else self.fault))
            elif item.done is not None and item.read is not None:
                answers.append((item.done, *_attempt(partial(item.read, self.store))))
        if answers:
            self._loop.call_soon_threadsafe(_tell, answers)
        if self.cache is not None:
            self.cache.keep([item.entry for item in group if item.entry is not None])


def _attempt(work: Callable[[], T]) -> tuple[T | None, RunError | None]:
    """Do something in the thread: whatever happens there, somebody waits for the answer."""
    with Caught(fatal_too=True) as caught:
        try:
            return work(), None
        except RunError as error:
            return None, error
    return None, RunError(f"the run file cannot be written: {caught.reason}", code="cannot-write")


def _tell(answers: list[tuple["asyncio.Future[Any]", Any, Exception | None]]) -> None:
    for future, value, error in answers:
        if future.done():  # whoever waited has been cancelled
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

"""The one thread that writes a run file, in groups: a disk's sync is shared by all that comes within some milliseconds.

    journal.keep(*writes)             outlives the process from now on, and goes with the next group
    await journal.keep(*writes)       the same, and returns when the group is on disk
    journal.put(*writes)              goes with the next group; nobody waits
    await journal.commit(*writes)     returns when the group is on disk
    await journal.read(function)      asks the store, after everything that was put before

What was paid for is kept, through the tail beside the file; what can be made again is put.

The tail is what was paid for and is not in the run file yet: files beside it that outlive the process at once.

    RUN.tail-0, RUN.tail-1     records, each [length, checksum, statement and values], the newest last

A record is handed to the operating system by one `write` before anybody acts on it, so that killing the process loses
none; within the next group it is in the run file, synced, and only then may a power cut come. Two files take turns:
one is emptied as soon as all its records are in the run file. Whoever opens the run after a kill puts what is left into
it. A record that is torn or changed ends its file: what follows is asked again, never misread.
"""

from __future__ import annotations

import asyncio
import errno
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from adjudge.errors import Caught, RunError
from adjudge.runs._records import KEPT, Write

if TYPE_CHECKING:
    from adjudge.runs._cache import Cache, Entry
    from adjudge.runs._store import Store

T = TypeVar("T")

WINDOW = 0.04  # seconds in which writes gather
BUSY_WINDOW = 0.1  # the same where many come
BUSY = 24  # writes of a group that make the next one wait longer
LARGEST = 2048  # writes of one group
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TAIL_LARGEST = 4 << 20  # bytes in one file before the other takes its turn
_HEAD = struct.Struct("<II")
_encode = msgspec.msgpack.Encoder().encode
_NUMBERS = {statement: number for number, statement in enumerate(KEPT)}


class _Item(NamedTuple):
    """Something for the thread to do: write, or read, and whom to tell; `kept` of the writes are in the tail."""

    writes: tuple[Write, ...] = ()
    read: Callable[[], Any] | None = None
    done: asyncio.Future[Any] | None = None
    entry: Entry | None = None
    kept: int = 0


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

    def keep(self, *writes: Write, entry: Entry | None = None) -> asyncio.Future[None]:
        """Write with the next group, but safe from the end of this process at once.

        What is returned is done when the group is on disk, or when nothing can be: see `check`. `entry` goes to the
        cache.
        """
        self.check()
        try:
            self._tail.add(writes)
        except RunError as error:
            self.fault = error
            raise
        done: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Item(writes, None, done, entry, kept=len(writes)))
        return done

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

    async def read(self, function: Callable[..., T], *arguments: Any) -> T:
        """Ask the store for something, in the thread that owns it: `read(Store.pending, 7, 256)`."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(_Item((), partial(function, self.store, *arguments), done))
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
                answers.append((item.done, *_attempt(item.read)))
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


def _tell(answers: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    for future, value, error in answers:
        if future.done():  # whoever waited has been cancelled
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


class Tail:
    """The tail of one run while it is written; `add` and `settle` may be called from two different threads."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._files: list[int] = []
        self._sizes = [0, 0]
        self._last = [0, 0]  # the last record of each file, by number
        self._turn = 0
        self._added = self._settled = 0
        self._lock = Lock()

    def add(self, writes: Sequence[Write]) -> None:
        """Hand records to the operating system; `RunError` where it does not take them."""
        bodies = [_encode((_NUMBERS[statement], values)) for statement, values in writes]
        data = b"".join(_HEAD.pack(len(body), zlib.crc32(body)) + body for body in bodies)
        with self._lock:
            if self._sizes[self._turn] > TAIL_LARGEST and not self._sizes[1 - self._turn]:
                self._turn = 1 - self._turn
            try:
                if not self._files:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
                    self._files = [os.open(path, flags, 0o644) for path in tail_files(self._run)]
                written = os.write(self._files[self._turn], data)
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise RunError(f"{self._run}: {error.strerror or error}", code="cannot-write") from None
                written = 0
            if written != len(data):
                message = f"{self._run}: no room to write; what was done is kept"
                raise RunError(f"{message}: make room, then adjudge resume {self._run}", code="disk-full")
            self._added += len(writes)
            self._last[self._turn] = self._added
            self._sizes[self._turn] += len(data)

    def settle(self, count: int) -> None:
        """Take note that so many more records, the oldest first, are in the run file."""
        with self._lock:
            self._settled += count
            for turn in (0, 1):
                if self._sizes[turn] > TAIL_LARGEST and self._last[turn] <= self._settled:
                    os.ftruncate(self._files[turn], 0)
                    self._sizes[turn] = 0

    def close(self) -> None:
        """Let go of the files; they are taken away where all their records are in the run file."""
        for handle in self._files:
            os.close(handle)
        if self._settled == self._added:
            remove_tail(self._run)


def tail_files(run: Path) -> tuple[Path, Path]:
    """Return the files beside a run that its tail stands in."""
    return run.with_name(f"{run.name}.tail-0"), run.with_name(f"{run.name}.tail-1")


def remove_tail(run: Path) -> None:
    """Take the tail away."""
    for path in tail_files(run):
        path.unlink(missing_ok=True)


def read_tail(run: Path) -> Iterator[Write]:
    """Read what a killed process left, as writes that change nothing where the record is in the run file already."""
    for path in tail_files(run):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise RunError(f"{path}: {error.strerror or error}", code="cannot-read") from None
        yield from _records(data)


def _records(data: bytes) -> Iterator[Write]:
    start = 0
    while start + _HEAD.size <= len(data):
        length, sum_ = _HEAD.unpack_from(data, start)
        body = data[start + _HEAD.size : start + _HEAD.size + length]
        if len(body) != length or zlib.crc32(body) != sum_ or not length:
            return
        number, values = msgspec.msgpack.decode(body, type=tuple[int, list[Any]])
        yield KEPT[number].replace("INSERT INTO", "INSERT OR IGNORE INTO", 1), tuple(values)
        start += _HEAD.size + length

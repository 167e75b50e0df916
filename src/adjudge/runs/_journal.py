"""The one thread that writes a run file, in groups: all writes of some milliseconds share one sync of the disk.

    journal.keep(*writes)             outlives the process from now on, and goes with the next group
    await journal.keep(*writes)       the same, and returns when the group is on disk
    journal.put(*writes)              goes with the next group; nobody waits
    await journal.commit(*writes)     returns when the group is on disk
    await journal.read(function)      asks the store, after everything that was put before

What was paid for is kept, through the tail beside the file; what can be made again is put.

The tail holds what was paid for and is not in the run file yet, in two files that outlive the process:

    RUN.tail-0, RUN.tail-1     records, each [length, checksum, statement and values], the newest last

One `write` hands a record to the operating system before anybody acts on it, so killing the process loses none. The
next group puts it into the run file and syncs that; from then on it survives a power cut, too. The two files take
turns: one is emptied as soon as all its records are in the run file. Whoever opens the run after a kill writes what is
left into it. A record that is torn or changed ends its file: what follows is asked again, never misread.
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
from adjudge.runs._records import KEPT, RUN_ID, Write

if TYPE_CHECKING:
    from adjudge.runs._cache import Cache, Entry
    from adjudge.runs._store import Store

T = TypeVar("T")

WINDOW = 0.04  # seconds in which writes gather
BUSY_WINDOW = 0.1  # the same where many come
BUSY = 24  # items of a group that make the next one wait longer
LARGEST = 2048  # writes of one group
FOLD = 5.0  # seconds after which what was written is moved from the log into the run file
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TAIL_LARGEST = 4 << 20  # bytes in one file before the other takes its turn
_HEAD = struct.Struct("<II")
_encode = msgspec.msgpack.Encoder().encode
_NUMBERS = {statement: number for number, statement in enumerate(KEPT)}


class _Item(NamedTuple):
    """Something for the thread to do: write, or read, and whom to notify; `kept` of the writes are in the tail."""

    writes: tuple[Write, ...] = ()
    read: Callable[[], Any] | None = None
    done: asyncio.Future[Any] | None = None
    entries: Sequence[Entry] = ()
    kept: int = 0


class Journal:
    """The writer of one run; made and used inside one event loop."""

    def __init__(self, store: Store, cache: Cache | None = None) -> None:
        self.store = store
        self.cache = cache
        self.fault: RunError | None = None  # once a write has failed, nothing more is written
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._tail = Tail(store.path, store.meta(RUN_ID))
        self._thread = Thread(target=self._work, name="adjudge-journal", daemon=True)
        self._thread.start()

    def keep(self, *writes: Write, is_awaited: bool = True) -> asyncio.Future[None] | None:
        """Write with the next group, but safe from the end of this process at once.

        The future, where it is awaited, is done when the group is on disk, or when nothing can be written: see `check`.
        """
        self.check()
        try:
            self._tail.add(writes)
        except RunError as error:
            self.fault = error
            raise
        done: asyncio.Future[None] | None = self._loop.create_future() if is_awaited else None
        self._queue.put(_Item(writes, None, done, kept=len(writes)))
        return done

    def put(self, *writes: Write, entries: Sequence[Entry] = ()) -> None:
        """Write with the next group; `entries` go to the cache."""
        self.check()
        self._queue.put(_Item(writes, entries=entries))

    def check(self) -> None:
        """Raise the fault that keeps the file from being written, if there is one."""
        if self.fault is not None:
            raise self.fault

    async def commit(self, *writes: Write) -> None:
        """Write, and return when these writes, and all that were put before, are on disk."""
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
        """Write what is left and end the thread; the store stays open, and the caller looks at `fault`."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._tail.close()

    def _work(self) -> None:
        is_open = True
        folded = time.monotonic()
        is_folded = True  # whether all that was written is in the run file itself
        size = 0  # items of the last group; a page of cases is one item, and says nothing of what follows
        while is_open:
            # The run file alone must hold everything soon after it was written: people copy it while a run is killed.
            if not is_folded and time.monotonic() - folded > FOLD:
                _attempt(self.store.fold)
                folded, is_folded = time.monotonic(), True
            try:
                group = [self._queue.get(timeout=None if is_folded else FOLD)]
            except Empty:
                continue
            # A sync costs the same for one write as for many, so the first write waits for others to join it. A read
            # does not wait: somebody needs the answer to go further.
            if group[0] is not None and group[0].read is None:
                time.sleep(WINDOW if size < BUSY else BUSY_WINDOW)
            count = 0
            while count < LARGEST:
                try:
                    item = self._queue.get_nowait()
                except Empty:
                    break
                group.append(item)
                count += 1 if item is None else len(item.writes)
            size = len(group)
            is_open = None not in group
            is_folded = is_folded and not any(item.writes for item in group if item is not None)
            self._handle([item for item in group if item is not None])

    def _handle(self, group: list[_Item]) -> None:
        """Write the group in one transaction, then answer the reads."""
        writes = [write for item in group for write in item.writes]
        if writes and self.fault is None:
            _, self.fault = _attempt(partial(self.store.commit, writes))
            if self.fault is None:
                # Only now may the tail forget these records.
                self._tail.settle(sum(item.kept for item in group))
        answers: list[tuple[asyncio.Future[Any], Any, Exception | None]] = []
        for item in group:
            if item.done is None:
                continue
            if item.read is not None:
                answers.append((item.done, *_attempt(item.read)))
            else:
                # What is kept is safe in the tail, so its future reports no fault; whoever awaits it calls `check`.
                answers.append((item.done, None, None if item.kept else self.fault))
        if answers:
            # One call for the whole group: each one would wake the event loop.
            self._loop.call_soon_threadsafe(_resolve, answers)
        entries = [entry for item in group for entry in item.entries]
        if self.cache is not None and entries:
            self.cache.keep(entries)


def _attempt(work: Callable[[], T]) -> tuple[T | None, RunError | None]:
    """Do something in the thread, and return any failure: somebody waits for the answer whatever happens."""
    with Caught(fatal_too=True) as caught:
        try:
            return work(), None
        except RunError as error:
            return None, error
    return None, RunError(f"the run file cannot be written: {caught.reason}", code="cannot-write")


def _resolve(answers: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    """Give futures their results, in the event loop."""
    for future, value, error in answers:
        if future.done():  # whoever waited has been cancelled
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


class Tail:
    """The tail of one run; `add` and `settle` may be called from two different threads.

    The checksums of its records begin with the run's id, so that a tail never counts for another run of that name.
    """

    def __init__(self, run: Path, run_id: str | None = None) -> None:
        self._seed = zlib.crc32((run_id or "").encode())  # 0 for the runs of older releases, which have no id
        real = run.resolve()
        self.paths = (real.with_name(f"{real.name}.tail-0"), real.with_name(f"{real.name}.tail-1"))
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
        data = b"".join(_HEAD.pack(len(body), zlib.crc32(body, self._seed)) + body for body in bodies)
        with self._lock:
            # The other file may take over only when it is empty: its records could be needed after a kill.
            if self._sizes[self._turn] > TAIL_LARGEST and not self._sizes[1 - self._turn]:
                self._turn = 1 - self._turn
            try:
                if not self._files:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
                    flags |= os.O_NOFOLLOW  # a link in its place could name any file of ours
                    self._files = [os.open(path, flags, 0o600) for path in self.paths]
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
        """Note that so many more records, the oldest first, are in the run file."""
        with self._lock:
            self._settled += count
            for turn in (0, 1):
                # A file is emptied when it is full, not after every group: a truncation costs as much as a write.
                if self._sizes[turn] > TAIL_LARGEST and self._last[turn] <= self._settled:
                    os.ftruncate(self._files[turn], 0)
                    self._sizes[turn] = 0

    def read(self) -> Iterator[Write]:
        """Read what a killed process left, as writes that change nothing where the run file has the record already."""
        for path in self.paths:
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise RunError(f"{path}: {error.strerror or error}", code="cannot-read") from None
            start = 0
            while start + _HEAD.size <= len(data):
                length, sum_ = _HEAD.unpack_from(data, start)
                start += _HEAD.size
                body = data[start : start + length]
                if len(body) != length or zlib.crc32(body, self._seed) != sum_ or not length:
                    break  # torn or changed: nothing after it can be trusted
                number, values = msgspec.msgpack.decode(body, type=tuple[int, list[Any]])
                yield KEPT[number].replace("INSERT INTO", "INSERT OR IGNORE INTO", 1), tuple(values)
                start += length

    def close(self) -> None:
        """Close the files, and remove them where all their records are in the run file."""
        for handle in self._files:
            os.close(handle)
        if self._settled == self._added:
            for path in self.paths:
                path.unlink(missing_ok=True)

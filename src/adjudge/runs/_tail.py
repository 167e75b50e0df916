"""What was paid for and is not in the run file yet: appended to files beside it, which outlive the process at once.

    RUN.tail-0, RUN.tail-1     records, each [length, checksum, statement and values], the newest last

A record is handed to the operating system by one `write` before anybody acts on it, so that killing the process loses
none; within the next group it is in the run file, synced, and only then may a power cut come. Two files take turns:
one is emptied as soon as all its records are in the run file. Whoever opens the run after a kill puts what is left into
it. A record that is torn or changed ends its file: what follows is asked again, never misread.
"""

import errno
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from adjudge.errors import RunError
from adjudge.runs._records import KEPT, Write

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
LARGEST = 4 << 20  # bytes in one file before the other takes its turn
_HEAD = struct.Struct("<II")
_encode = msgspec.msgpack.Encoder().encode
_NUMBERS = {statement: number for number, statement in enumerate(KEPT)}


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
        data = b"".join(map(_record, writes))
        with self._lock:
            if self._sizes[self._turn] > LARGEST and not self._sizes[1 - self._turn]:
                self._turn = 1 - self._turn
            self._append(data)
            self._added += len(writes)
            self._last[self._turn] = self._added
            self._sizes[self._turn] += len(data)

    def settle(self, count: int) -> None:
        """Take note that so many more records, the oldest first, are in the run file."""
        with self._lock:
            self._settled += count
            for turn in (0, 1):
                if self._sizes[turn] > LARGEST and self._last[turn] <= self._settled:
                    os.ftruncate(self._files[turn], 0)
                    self._sizes[turn] = 0

    def close(self) -> None:
        """Let go of the files; they are taken away where all their records are in the run file."""
        for handle in self._files:
            os.close(handle)
        if self._settled == self._added:
            remove_tail(self._run)

    def _append(self, data: bytes) -> None:
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


def _record(write: Write) -> bytes:
    statement, values = write
    body = _encode((_NUMBERS[statement], values))
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def _records(data: bytes) -> Iterator[Write]:
    start = 0
    while start + _HEAD.size <= len(data):
        length, sum_ = _HEAD.unpack_from(data, start)
        body = data[start + _HEAD.size : start + _HEAD.size + length]
        if len(body) != length or zlib.crc32(body) != sum_ or not length:
            return
        number, values = _decoded(body)
        yield KEPT[number].replace("INSERT INTO", "INSERT OR IGNORE INTO", 1), tuple(values)
        start += _HEAD.size + length


def _decoded(body: bytes) -> tuple[int, list[Any]]:
    return msgspec.msgpack.decode(body, type=tuple[int, list[Any]])

"""Files that are shared with other processes: one holder at a time, and SQLite files opened alike.

    with FileLock(path, OutboxError, code="outbox-locked"):     the operating system's lock on `FILE.lock` beside it
    connection = connect(path)

The lock ends with its process, however that ends, so a dead holder never has to be recognised; the number in the lock
file only tells a person which process to look for.
"""

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import Literal, Self, TypeAlias

from adjudge.errors import AdjudgeError

__all__ = ["FileLock", "SqliteFault", "connect", "file_kind", "sqlite_fault"]

SqliteFault: TypeAlias = Literal["full", "io", "damaged", "locked", "other"]


class FileLock:
    """The right to use a file, from `acquire` to `release` or in a `with` statement.

    Where another process has it, `acquire` raises `error` with that `code` and the message `in_use`, in which
    `{holder}` becomes the process id of the holder.
    """

    def __init__(
        self,
        target: Path,
        error: type[AdjudgeError],
        *,
        code: str,
        in_use: str = "is in use by process {holder}: wait for it, or end it",
    ) -> None:
        self.path = target.with_name(f"{target.name}.lock")
        self._target = target
        self._error = error
        self._code = code
        self._in_use = in_use
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock at once, or raise."""
        while True:
            try:
                handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise self._error(f"{self.path}: {error.strerror or error}", code="cannot-write") from None
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
                os.close(handle)
                message = f"{self._target} {self._in_use.format(holder=holder)}"
                raise self._error(message, code=self._code) from None
            # Between our two steps the holder before us may have removed the file: then we locked a file that
            # nobody else will find, and must try again.
            try:
                if os.path.samestat(self.path.stat(), os.fstat(handle)):
                    break
            except FileNotFoundError:
                pass
            os.close(handle)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle

    def release(self) -> None:
        """Give the lock back, and remove its file."""
        if self._handle is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def holder(self) -> int | None:
        """Return the id of the process that has the lock, or None; -1 where the lock file does not say."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            return int(text) if text.isdigit() else -1
        finally:
            os.close(handle)
        return None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def connect(path: Path, *, timeout_s: float = 10.0) -> sqlite3.Connection:
    """Open a file for any thread, with transactions begun by hand; wait for others that write for up to `timeout_s`."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=timeout_s)


def file_kind(connection: sqlite3.Connection, application: int) -> int | None:
    """Return the version of a file of that application, 0 for an empty one; None where it is another's file."""
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found != application and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return None
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def sqlite_fault(error: sqlite3.DatabaseError) -> SqliteFault:
    """Say what SQLite complains of: no room, a disk that fails, a damaged or another file, or a file in use."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNC")):
        return "full"
    if name.startswith("SQLITE_IOERR"):
        return "io"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return "damaged"
    return "locked" if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) else "other"

"""One holder a file: the operating system's lock on a file beside it, `FILE.lock`.

The lock goes when its process does, however it ends, so a dead holder never has to be recognised; the number in the
file only tells a person whom to look for.
"""

import fcntl
import os
from pathlib import Path
from typing import Self

from adjudge.errors import AdjudgeError

__all__ = ["FileLock"]


class FileLock:
    """The right to a file, from `acquire` to `release` or in a `with` statement.

    Where another process has it, `error` is raised with that `code`; `in_use` says so, with the holder's process id for
    `{holder}`.
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
            if self._is_current(handle):
                break
            os.close(handle)  # the holder before us took the file away between our two steps
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle

    def release(self) -> None:
        """Give the right back; the file goes too."""
        if self._handle is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def holder(self) -> int | None:
        """Return the process that has the right now, without taking it; -1 where it does not say which it is."""
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

    def _is_current(self, handle: int) -> bool:
        """Say whether the locked file is still the one under that name."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            return False
        ours = os.fstat(handle)
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

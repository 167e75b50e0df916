"""One sender an outbox: the operating system's lock on a file beside it, `OUTBOX.lock`; it goes with its process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adjudge.sinks._errors import OutboxError

__all__ = ["only_sender"]


@contextmanager
def only_sender(outbox: Path) -> Iterator[None]:
    """Hold the right to send what is in an outbox; raise `OutboxError` where another process has it."""
    path = outbox.with_name(f"{outbox.name}.lock")
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise OutboxError(f"{path}: {error.strerror or error}", code="cannot-write") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            message = f"{outbox} is being sent by another process: wait for it, or end it"
            raise OutboxError(message, code="outbox-locked") from None
        if _is_current(path, handle):
            break
        os.close(handle)  # the holder before us took the file away between our two steps
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _is_current(path: Path, handle: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

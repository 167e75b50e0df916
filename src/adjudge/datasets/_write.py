"""Rows to a file: one JSON object a line, and the file is there only when it is whole."""

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from adjudge.errors import UsageError

_encode = msgspec.json.Encoder().encode


def json_line(row: Mapping[str, Any], *, checked: bool = False) -> bytes:
    r"""Return the row as one line of JSON; a number that JSON does not have raises `ValueError`.

    `checked` says that the row is known to hold no such number, as a row made of a Score is.

    >>> json_line({"id": 1})
    b'{"id":1}\n'
    """
    if not checked and not _finite(row):
        raise ValueError(f"a row holds a number that JSON does not have: {row!r}")
    try:
        return _encode(row) + b"\n"
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and integers over 64 bits, which came in as JSON and must go out again.
        return json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _finite(row: Mapping[str, Any]) -> bool:
    for value in row.values():
        if isinstance(value, float):
            if value - value != 0:
                return False
        elif isinstance(value, dict):
            if not _finite(value):
                return False
        elif isinstance(value, list | tuple) and not all(_finite({"": item}) for item in value):
            return False
    return True


class _Output:
    """A file whose faults are ours to explain: a full disk is not a bug."""

    def __init__(self, path: str, place: Path) -> None:
        self._path = path
        self.is_refused = False
        try:
            self.file = place.open("wb")
        except OSError as error:
            raise self.refused(error) from None

    def refused(self, error: OSError) -> UsageError:
        """Return what is said of a file that cannot be written."""
        self.is_refused = True
        code = "disk-full" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "cannot-write"
        return UsageError(f"{self._path}: {error.strerror or error}", code=code)

    def write(self, data: bytes) -> int:
        """Write, as a file does."""
        try:
            return self.file.write(data)
        except OSError as error:
            raise self.refused(error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class _Terminal:
    """Standard output where a person looks at it: what would steer the terminal is shown as JSON escapes it."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output

    def write(self, data: bytes) -> int:
        """Write whole lines."""
        text = data.decode("utf-8", "replace")
        if not text.replace("\n", "").isprintable():
            text = "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)
        self._output.write(text.encode())
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output, name)


@contextmanager
def whole_file(path: str) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only if the block ends well; `-` is standard output.

    Until then what was written is in `PATH.part` beside it. Pipes and devices are written to as they are; a
    link stays a link. Where there is no room for it, nothing is left of it.
    """
    if path == "-":
        output = sys.stdout.buffer
        yield cast("IO[bytes]", _Terminal(output)) if output.isatty() else output
        output.flush()
        return
    if not path or Path(path).is_dir():
        message = f"{path}: Is a directory" if path else "the name of the output is empty"
        raise UsageError(message, code="cannot-write")
    target = Path(path)
    is_file = target.is_file() or not target.exists()
    if is_file:
        # Not of a pipe: what /dev/stdout leads to has a name that nobody can open.
        target = target.resolve()
    part = target.with_name(f"{target.name}.part") if is_file else target
    guarded = _Output(path, part)
    try:
        yield cast("IO[bytes]", guarded)
        try:
            guarded.file.flush()
            if is_file:
                os.fsync(guarded.file.fileno())
                part.replace(target)
        except OSError as error:
            raise guarded.refused(error) from None
    finally:
        with suppress(OSError):  # what could not be written above cannot be written now
            guarded.file.close()
        # What a failure of the caller leaves is worth keeping; what did not fit is not.
        if guarded.is_refused and is_file:
            part.unlink(missing_ok=True)

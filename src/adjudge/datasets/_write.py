"""Rows to a file: one JSON object a line, and the file is there only when it is whole."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

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


@contextmanager
def whole_file(path: str) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only if the block ends well; `-` is standard output.

    Until then what was written is in `PATH.part` beside it. Pipes and devices are written to as they are; a
    link stays a link.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if not path or Path(path).is_dir():
        message = f"{path}: Is a directory" if path else "the name of the output is empty"
        raise UsageError(message, code="cannot-write")
    target = Path(path).resolve()
    is_file = target.is_file() or not target.exists()
    part = target.with_name(f"{target.name}.part") if is_file else target
    try:
        file = part.open("wb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-write") from None
    with file:
        yield file
        file.flush()
        if is_file:
            os.fsync(file.fileno())
    if is_file:
        part.replace(target)

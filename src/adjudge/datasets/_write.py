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


def json_line(row: Mapping[str, Any]) -> bytes:
    r"""Return the row as one line of JSON; its numbers must be finite.

    >>> json_line({"id": 1})
    b'{"id":1}\n'
    """
    try:
        return _encode(row) + b"\n"
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and integers over 64 bits, which came in as JSON and must go out again.
        return json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"


@contextmanager
def whole_file(path: str) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only if the block ends well; `-` is standard output.

    Until then what was written stands beside it, in `PATH.part`.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = Path(f"{path}.part")
    try:
        file = part.open("wb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-write") from None
    with file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)

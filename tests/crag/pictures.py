"""Small images for the tests, made without a library, and rows that hold them."""

import struct
import zlib
from typing import Any


def png(width: int = 3, height: int = 2, *, shown: tuple[int, int] | None = None) -> bytes:
    """Return a red PNG; `shown` is the size that it claims to have."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", *(shown or (width, height)), 8, 2, 0, 0, 0)
    lines = (b"\0" + b"\xff\0\0" * width) * height
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def row(image: Any, **more: Any) -> dict[str, Any]:
    """Return a row with an image."""
    turns = [{"interaction_id": "i", "query": "Q"}]
    answers = [{"interaction_id": "i", "ans_full": "A"}]
    return {"session_id": "s", "image": image, "turns": turns, "answers": answers, **more}

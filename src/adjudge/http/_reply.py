"""One reply, read within its bound."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adjudge.http._errors import ReplyTooLarge, ReplyUnreadable

if TYPE_CHECKING:
    import aiohttp

__all__ = ["HttpReply", "read_reply"]


_MARK = 32  # bytes of a stream in which its last event is looked for


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole reply; headers are found by names in lower case. Only its status is shown: a server may repeat a key."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


async def read_reply(response: "aiohttp.ClientResponse", largest: int) -> HttpReply:
    """Read a response to its end, or raise as soon as it is over `largest` bytes, packed or unpacked."""
    # A mapping that ignores the case of names.
    headers = response.headers
    # A server may say too little or nothing, so the size is counted as well.
    if (length := response.content_length) is not None and length > largest:
        raise _too_large(largest)
    pieces: list[bytes] = []
    size = 0
    is_events = headers.get("content-type", "").startswith("text/event-stream")
    end = b""
    while piece := await response.content.readany():
        size += len(piece)
        if size > largest:
            raise _too_large(largest)
        pieces.append(piece)
        # A server may say that a stream is done and leave the connection open.
        end = (end + piece)[-_MARK:] if is_events else b""
        if end.rstrip().endswith((b"data: [DONE]", b"data:[DONE]")) and end.endswith(b"\n"):
            break
    body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    if (encoding := headers.get("content-encoding")) is not None:
        body = _unpack(body, encoding, largest)
    return HttpReply(response.status, headers, body)


def _unpack(body: bytes, encoding: str, largest: int) -> bytes:
    """Undo gzip and deflate, for servers that pack though nobody asked them to."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity") or not body:
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ReplyUnreadable(f"the reply is encoded as {encoding[:40]!r}, which the request did not ask for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        # One byte more than allowed is enough to know, so that a bomb is not unpacked.
        plain = unpacker.decompress(body, largest + 1)
    except zlib.error:
        raise ReplyUnreadable("the reply is not in the encoding that it claims") from None
    if len(plain) > largest:
        raise _too_large(largest)
    if not unpacker.eof:
        raise ReplyUnreadable("the packed reply stops in the middle")
    return plain


def _too_large(largest: int) -> ReplyTooLarge:
    return ReplyTooLarge(f"the reply is larger than {largest:,} bytes")

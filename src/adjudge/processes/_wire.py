"""What goes over the channel between a worker and its owner.

To the worker: a header (length, CPU seconds to arm a timer with or 0), then a pickle. The owner is trusted.
Back: a header (length), then a msgpack array `[kind, cpu_s, value]`. What comes back is never unpickled, because
the worker has handled text that somebody else wrote; it decodes to plain data or not at all.
"""

import struct
from typing import Any, Literal

import msgspec

__all__ = ["MAX_BYTES", "REPLY", "REQUEST", "Reply", "decode", "encode", "frame_reply", "frame_request"]

MAX_BYTES = 64 * 1024 * 1024
"""The most that one payload or one result may take on the wire, each."""

REQUEST = struct.Struct("!Id")
REPLY = struct.Struct("!I")

Kind = Literal["ready", "done", "failed", "too-large"]


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """One answer of a worker: what kind, the CPU time that the job took, and the result or the reason."""

    kind: Kind
    cpu_s: float
    value: Any = None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Reply)


def encode(reply: Reply) -> bytes:
    """Turn an answer into bytes; raises TypeError, OverflowError or the like where it is not plain data."""
    return _ENCODER.encode(reply)


def decode(body: bytes) -> Reply:
    """Turn bytes into an answer; raises ValueError where they are none."""
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, RecursionError, MemoryError, UnicodeDecodeError) as error:
        raise ValueError(f"not an answer: {error}") from error


def frame_request(body: bytes, timer_s: float = 0.0) -> bytes:
    """Put the request header before a body."""
    return REQUEST.pack(len(body), timer_s) + body


def frame_reply(body: bytes) -> bytes:
    """Put the reply header before a body."""
    return REPLY.pack(len(body)) + body

"""The part of HTTP/1.1 that a chat server needs, low enough to break connections on purpose."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from adjudge.testing._faults import Act, act_of_status
from adjudge.testing._play import Play

__all__ = ["Connection", "listening"]

_LARGEST_HEAD = 64 << 10


@asynccontextmanager
async def listening(play: Play) -> AsyncIterator[int]:
    """Serve on a free port of the loopback address, give the port, and cut every connection at the end."""
    connections: set[Connection] = set()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(play, connections), "127.0.0.1", 0, backlog=1024)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        # Let connections in that are being accepted: asyncio leaks one that comes after the close.
        await _turns()
        server.close()
        await _turns()
        for connection in tuple(connections):
            connection.cut()
        await _turns()


async def _turns() -> None:
    """Let the event loop do what it has already begun."""
    for _ in range(4):
        await asyncio.sleep(0)


class Connection(asyncio.Protocol):
    """One client's connection: requests one after another, each answered before the next is read."""

    def __init__(self, play: Play, connections: "set[Connection]") -> None:
        self._play = play
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._busy = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Collect until a request is whole."""
        self._buffer += data
        self._next()

    def eof_received(self) -> bool:
        """Close when the client does."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's signature)
        """Forget the call that was in progress, if there was one."""
        self._transport = None
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        self._finish()

    def cut(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def _finish(self) -> None:
        if self._busy:
            self._busy = False
            self._play.done()

    def _next(self) -> None:
        if self._busy:
            return
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _LARGEST_HEAD:
                self._refuse(431, "headers too large")
            return
        first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = headers.get("content-length", "0")
        words = first.split(" ")
        # No client of ours sends chunks; a request that is unclear is refused.
        if len(words) != 3 or not length.isdigit() or "transfer-encoding" in headers:
            self._refuse(400, "not a request that this server reads")
            return
        stop = end + 4 + int(length)
        if len(self._buffer) < stop:
            return
        body = bytes(self._buffer[end + 4 : stop])
        del self._buffer[:stop]
        self._busy = True
        act, delay = self._play.begin(words[1], headers, body)
        if delay > 0:
            self._timer = self._loop.call_later(delay, self._do, act, 0)
        else:
            self._do(act, 0)

    def _refuse(self, status: int, message: str) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(act_of_status(status, message).pieces))
            self._transport.close()

    def _do(self, act: Act, at: int) -> None:
        """Write the act's pieces from `at` on, with its gap between them."""
        transport = self._transport
        if transport is None:
            return
        if at < len(act.pieces) and act.gap_s > 0 and at + 1 < len(act.pieces):
            transport.write(act.pieces[at])
            self._timer = self._loop.call_later(act.gap_s, self._do, act, at + 1)
            return
        # The connection stays open, and the call in flight, until the client goes.
        if act.end == "hang":
            return
        self._finish()
        for piece in act.pieces[at:]:
            transport.write(piece)
        if act.end == "close":
            transport.close()
        elif act.end == "reset":
            sock: socket.socket = transport.get_extra_info("socket")
            # With a linger time of 0 the close sends RST instead of FIN.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            self._next()

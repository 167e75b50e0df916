"""JSON lines in, JSON lines out: one score a line, in order, while the rows are still arriving.

A client may send everything before it reads anything, so reading does not wait for writing: scores that nobody has
taken yet are kept, up to the size of one request. A line that is longer than a request is cut, which makes it an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from adjudge.serve._bodies import body_faults, expect_body

if TYPE_CHECKING:
    from aiohttp import web

AHEAD = 8  # pieces that are being scored while more is read

Scoring: TypeAlias = Callable[[Sequence[bytes], int], Awaitable[Sequence[bytes]]]
"""Scores rows, given with the place of the first one."""


async def score_lines(
    request: web.BaseRequest, score: Scoring, *, size: int, most_bytes: int, timeout_s: float
) -> web.StreamResponse:
    """Answer a request of JSON lines, scored in pieces of `size` rows."""
    from aiohttp import web

    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    faults: tuple[type[Exception], ...] = (TimeoutError, *body_faults())
    try:
        await expect_body(request)
        await response.prepare(request)
        stream = _Stream(response, score, most_bytes, timeout_s)
        try:
            async for rows in _pieces(request, size, most_bytes, timeout_s):
                await stream.add(rows)
            await stream.end()
        finally:
            await stream.close()
    except faults:
        # The client sends no more, or has gone. What it has read must not look like all there is.
        if request.transport is not None:
            request.transport.abort()
    return response


class _Stream:
    """The scores of one stream on their way out."""

    def __init__(self, response: web.StreamResponse, score: Scoring, most_bytes: int, timeout_s: float) -> None:
        self._response = response
        self._score = score
        self._most = most_bytes
        self._timeout_s = timeout_s
        self._written = 0  # pieces
        self._is_writing = False  # so that what is waited for is the client
        self._count = 0  # of the rows so far
        self._kept = 0  # bytes of scores that are not written
        self._taken = asyncio.Event()
        self._room = asyncio.Semaphore(AHEAD)
        self._pieces: asyncio.Queue[asyncio.Task[bytes] | None] = asyncio.Queue()
        self._tasks: set[asyncio.Task[bytes]] = set()
        self._writer = asyncio.create_task(self._write())

    async def add(self, rows: Sequence[bytes]) -> None:
        """Have rows scored; wait while many are being scored, or more scores are kept than may be."""
        await self._room.acquire()
        await self._wait(lambda: self._kept <= self._most)
        if self._writer.done():
            raise ConnectionResetError("the client has gone")
        task = asyncio.create_task(self._lines(rows, self._count))
        self._count += len(rows)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._pieces.put_nowait(task)

    async def end(self) -> None:
        """Write what is left."""
        self._pieces.put_nowait(None)
        await self._wait(lambda: False)
        await self._writer
        await self._response.write_eof()

    async def _wait(self, is_enough: Callable[[], bool]) -> None:
        """Wait until enough has been written, or all of it; give up where the client takes nothing for too long."""
        while not is_enough() and not self._writer.done():
            before = self._written
            self._taken.clear()
            try:
                async with asyncio.timeout(self._timeout_s):
                    await self._taken.wait()
            except TimeoutError:
                if self._is_writing and self._written == before:
                    raise

    async def close(self) -> None:
        """Give up what is still under way."""
        for task in (self._writer, *self._tasks):
            task.cancel()
        await asyncio.gather(self._writer, *self._tasks, return_exceptions=True)

    async def _lines(self, rows: Sequence[bytes], first: int) -> bytes:
        try:
            lines = b"".join(b"%b\n" % score for score in await self._score(rows, first))
            self._kept += len(lines)
            return lines
        finally:
            self._room.release()

    async def _write(self) -> None:
        try:
            while (task := await self._pieces.get()) is not None:
                lines = await task
                self._is_writing = True
                await self._response.write(lines)
                self._is_writing = False
                self._written += 1
                self._kept -= len(lines)
                self._taken.set()
        finally:
            self._taken.set()


async def _pieces(
    request: web.BaseRequest, size: int, most_bytes: int, timeout_s: float
) -> AsyncIterator[Sequence[bytes]]:
    """Cut a body into pieces of so many lines, or of fewer where they are long; empty lines are left out."""
    rows: list[bytes] = []
    held = 0
    begun = bytearray()  # the line whose end has not come
    while True:
        async with asyncio.timeout(timeout_s):
            part = await request.content.readany()
        *ended, rest = part.split(b"\n")
        for line in ended:
            begun += line[: most_bytes - len(begun)]
            if begun.strip():
                rows.append(bytes(begun))
                held += len(begun)
            begun = bytearray()
            if len(rows) == size or held > most_bytes // 16:
                yield rows
                rows, held = [], 0
        begun += rest[: most_bytes - len(begun)]
        # What has arrived is scored now: whoever sends slowly gets its scores meanwhile.
        if rows:
            yield rows
            rows, held = [], 0
        if not part:
            break
    if begun.strip():
        yield [bytes(begun)]

"""Rows of many requests, gathered into batches for the scoring processes.

Nobody waits while the server is idle: the first request is scored at once. What arrives while a batch is under way is
scored together when that batch is done, or after `WAIT_S` where another process is free.

A process that dies or hangs takes only what it had with it. A batch of several requests is then asked again, each
request alone; what hangs is asked again row by row. The rows that remain are errors with the reason.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from adjudge.errors import AdjudgeError
from adjudge.processes import JobTimeout, WorkerPool
from adjudge.rewards import Scorer
from adjudge.serve._metrics import Metrics
from adjudge.serve._shapes import Shape
from adjudge.serve._worker import LIGHT_BYTES, as_json, code_of, failed, is_light, score_rows, with_same_parts

WAIT_S = 0.003
BATCH = 64  # rows of one batch
MOST_BYTES = 16 << 20  # of one batch, unless one row has more


@dataclass(slots=True, eq=False)
class RowPiece:
    """Some rows of one request, scored together; `done` gets one score a row, as JSON."""

    rows: Sequence[bytes]
    first: int  # the place of the first one in the request
    done: asyncio.Future[list[bytes]]
    scores: list[bytes] = field(default_factory=list)  # of the first rows
    is_alone: bool = False  # whether a process died of a batch that it was part of

    @property
    def left(self) -> Sequence[bytes]:
        """The rows without a score."""
        return self.rows[len(self.scores) :]


class Queue:
    """The rows of one shape that wait for one scorer."""

    def __init__(self, name: str, shape: Shape, scorer: Scorer) -> None:
        self.name = name
        self.shape: Shape = shape
        self.scorer = scorer
        self.is_light = is_light(scorer)
        self.pieces: deque[RowPiece] = deque()

    def add(self, rows: Sequence[bytes], first: int) -> list[RowPiece]:
        """Add the rows of a request, in pieces where the scorer allows that."""
        loop = asyncio.get_running_loop()
        size = len(rows) if self.scorer.is_group else BATCH
        pieces = [RowPiece(rows[at : at + size], first + at, loop.create_future()) for at in range(0, len(rows), size)]
        self.pieces.extend(pieces)
        return pieces

    def take(self) -> list[RowPiece]:
        """Take the pieces of the next batch."""
        batch: list[RowPiece] = []
        count = size = 0
        while self.pieces:
            piece = self.pieces[0]
            count += len(piece.left)
            size += sum(map(len, piece.left))
            # Groups of two requests must not meet, and what a process died of is asked about alone.
            is_apart = self.scorer.is_group or piece.is_alone or (batch and batch[-1].is_alone)
            if batch and (is_apart or count > BATCH or size > MOST_BYTES):
                break
            batch.append(self.pieces.popleft())
        return batch


class Batches:
    """Gathers the rows of all requests and has them scored by the processes of a pool."""

    def __init__(self, pool: WorkerPool, workers: int, metrics: Metrics) -> None:
        self._pool = pool
        self._workers = workers
        self._metrics = metrics
        self._waiting: deque[Queue] = deque()  # queues that have rows, the one that waits longest first
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.Handle | None = None

    async def score(self, queue: Queue, rows: Sequence[bytes], first: int) -> list[bytes]:
        """Return the score of each row, as JSON; `first` is the place of the first one in its request."""
        if queue.is_light and sum(map(len, rows)) <= LIGHT_BYTES:
            codes = Counter[str]()
            scores = score_rows(queue.scorer, queue.shape, list(enumerate(rows, first)), codes)
            self._metrics.add_rows(queue.scorer.name, codes)
            return scores
        if not rows:
            return []
        pieces = queue.add(rows, first)
        if queue not in self._waiting:
            self._waiting.append(queue)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            # At once still lets those join whose requests arrived together with this one.
            self._timer = loop.call_later(WAIT_S, self._start) if self._running else loop.call_soon(self._start)
        scores = [score for piece in pieces for score in await piece.done]
        return with_same_parts(scores) if queue.scorer.parts is None else scores

    def _start(self) -> None:
        """Start batches while processes are free."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting and len(self._running) < self._workers:
            queue = self._waiting.popleft()
            batch = queue.take()
            if queue.pieces:
                self._waiting.append(queue)
            task = asyncio.create_task(self._run(queue, batch))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._start()

    async def _run(self, queue: Queue, batch: list[RowPiece]) -> None:
        """Have one batch scored, and put back what is to be asked again."""
        self._metrics.batches += 1
        try:
            pieces = [(piece.first + len(piece.scores), piece.left) for piece in batch]
            found = await self._pool.arun((queue.name, queue.shape, pieces))
        except AdjudgeError as error:
            self._metrics.failed_batches += 1
            again = self._after(queue, batch, error)
        else:
            self._metrics.add_rows(queue.scorer.name, found["codes"])
            again = _share(batch, found["scores"])
        if again:
            # They have waited longest.
            queue.pieces.extendleft(reversed(again))
            if queue not in self._waiting:
                self._waiting.appendleft(queue)

    def _after(self, queue: Queue, batch: list[RowPiece], error: AdjudgeError) -> list[RowPiece]:
        """Return what is asked again after a process died or was killed, and make errors of the rest."""
        if len(batch) > 1:
            for piece in batch:
                piece.is_alone = True
            return batch
        piece = batch[0]
        if isinstance(error, JobTimeout) and len(piece.left) > 1 and not queue.scorer.is_group:
            return _row_by_row(piece)
        score = failed(queue.scorer, error.reason)
        self._metrics.add_rows(queue.scorer.name, {code_of(score): len(piece.left)})
        _finish(piece, [as_json(score)] * len(piece.left))
        return []


def _share(batch: Sequence[RowPiece], scores: Sequence[bytes]) -> list[RowPiece]:
    """Give each piece its scores; return the pieces that have rows left."""
    at = 0
    for piece in batch:
        count = len(piece.left)
        _finish(piece, scores[at : at + count])
        at += count
    return [piece for piece in batch if piece.left]


def _finish(piece: RowPiece, scores: Sequence[bytes]) -> None:
    piece.scores.extend(scores)
    if not piece.left and not piece.done.done():
        piece.done.set_result(piece.scores)


def _row_by_row(piece: RowPiece) -> list[RowPiece]:
    """Cut what is left of a piece into its rows."""
    loop = asyncio.get_running_loop()
    first = piece.first + len(piece.scores)
    rows = [RowPiece([row], at, loop.create_future(), is_alone=True) for at, row in enumerate(piece.left, first)]
    joined = asyncio.gather(*(row.done for row in rows))
    joined.add_done_callback(lambda done: _finish(piece, [score for scores in done.result() for score in scores]))
    return rows

"""Whatever can be asked for a Score: the face that rewards and their compositions share.

scorer.score(row)              one row            scorer.ascore(row)            the same, awaited
scorer.score_many(rows)        a batch            scorer.ascore_many(rows)
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Coroutine, Sequence
from typing import Any, TypeVar

from adjudge.errors import ArgumentError, UsageError
from adjudge.model import Context, Provenance, Score
from adjudge.rewards._arguments import missing_column, missing_message
from adjudge.rewards._tag import Row

T = TypeVar("T")

SLICE = 64  # rows scored between two turns of the event loop


class Scorer(ABC):
    """Asks for Scores, one row or many, sync or async: one outcome a row, in order, whatever happens to a row."""

    __slots__ = ()

    name: str
    version: str
    parts: tuple[str, ...] | None  # the names of its parts, where they are declared
    range: tuple[float, float] | None  # the least and the greatest value, where they are declared
    columns: tuple[str, ...]  # what a row must have
    provenance: Provenance
    is_async: bool  # whether scoring has to await something
    is_group: bool  # whether it looks at all rollouts of one prompt at once

    @abstractmethod
    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        """Score rows without awaiting; called only where `is_async` is false."""

    @abstractmethod
    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        """Score rows, awaiting; called only where `is_async` is true."""

    def check(self, columns: Collection[str]) -> None:
        """Raise `ArgumentError` if rows with these columns cannot be scored; names the closest column."""
        missing = missing_column(dict.fromkeys(columns), self.columns)
        if missing is not None:
            raise ArgumentError(missing_message(self.name, missing, columns))

    def score(self, row: Row, context: Context | None = None) -> Score:
        """Return the Score of one row."""
        return self.score_many((row,), contexts=(context,))[0]

    async def ascore(self, row: Row, context: Context | None = None) -> Score:
        """Return the Score of one row; for use inside an event loop."""
        return (await self.ascore_many((row,), contexts=(context,)))[0]

    def score_many(
        self,
        rows: Sequence[Row],
        *,
        contexts: Sequence[Context | None] | None = None,
        labels: Sequence[object] | None = None,
    ) -> list[Score]:
        """Return one Score a row, in order; `labels` are what messages call the rows (default: their positions)."""
        if self.is_async:
            return run_sync(self.ascore_many(rows, contexts=contexts, labels=labels), self.name)
        return self._score_slice(rows, *_defaults(rows, contexts, labels))

    async def ascore_many(
        self,
        rows: Sequence[Row],
        *,
        contexts: Sequence[Context | None] | None = None,
        labels: Sequence[object] | None = None,
    ) -> list[Score]:
        """Return one Score a row, in order, without holding up the event loop."""
        from asyncio import sleep

        contexts, labels = _defaults(rows, contexts, labels)
        if self.is_async:
            return await self._ascore_rows(rows, contexts, labels)
        if self.is_group:
            return self._score_slice(rows, contexts, labels)
        scores: list[Score] = []
        for start in range(0, len(rows), SLICE):
            part = slice(start, start + SLICE)
            scores += self._score_slice(rows[part], contexts[part], labels[part])
            await sleep(0)
        return scores


def _defaults(
    rows: Sequence[Row], contexts: Sequence[Context | None] | None, labels: Sequence[object] | None
) -> tuple[Sequence[Context | None], Sequence[object]]:
    for name, given in (("contexts", contexts), ("labels", labels)):
        if given is not None and len(given) != len(rows):
            raise UsageError(f"{len(rows)} rows need as many {name}, got {len(given)}")
    return contexts or (None,) * len(rows), labels or range(len(rows))


def run_sync(work: Coroutine[Any, Any, T], what: str) -> T:
    """Await something from code that cannot; inside a running event loop that is an error, never a deadlock."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError(f"{what} awaits something: inside an event loop use `await ascore(...)` or `ascore_many`")

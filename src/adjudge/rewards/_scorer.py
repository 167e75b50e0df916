"""The interface of everything that gives Scores: rewards, their compositions, judges.

scorer.score(row)              one row            scorer.ascore(row)            the same in an event loop
scorer.score_many(rows)        a batch            scorer.ascore_many(rows)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from adjudge.calling import run_sync
from adjudge.errors import ArgumentError, UsageError
from adjudge.model import Provenance, Score
from adjudge.rewards._arguments import missing_column, missing_message
from adjudge.rewards._results import same_parts
from adjudge.rewards._tag import Row

if TYPE_CHECKING:
    from adjudge.model import Context, Judge

SLICE = 64  # rows scored between two turns of the event loop


class Scorer:
    """Asks for Scores, one row or many, sync or async: one outcome a row, in order, whatever happens to a row."""

    __slots__ = ()

    name: str
    version: str
    parts: tuple[str, ...] | None  # the names of its parts, where they are declared
    range: tuple[float, float] | None  # the least and the greatest value, where they are declared
    columns: tuple[str, ...]  # what a row must have
    accepts: tuple[str, ...] | None  # what it takes of a row; None: everything
    provenance: Provenance
    is_async: bool  # whether scoring has to await something
    has_async: bool  # whether it can await, so that it does not block an event loop
    is_group: bool  # whether it looks at all rollouts of one prompt at once
    is_binary: bool = False  # whether 1 is a pass and everything else is not
    judges: tuple[Judge, ...] = ()  # the judges that it asks; the engine gives them their clients

    # A scorer defines at least one of the next two methods.

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        """Score rows without awaiting; called only where `is_async` is false."""
        return run_sync(self._ascore_rows(rows, contexts, labels), self.name, instead="ascore_many")

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        """Score rows, awaiting; called only where `has_async` is true."""
        return self._score_slice(rows, contexts, labels)

    @property
    def asks(self) -> bool:
        """Whether it asks a model, which has to be paid and may fail."""
        return self.is_async and bool(self.judges)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, version {self.version}>"

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
        rows: Iterable[Row],
        *,
        contexts: Sequence[Context | None] | None = None,
        labels: Sequence[object] | None = None,
    ) -> list[Score]:
        """Return one Score a row, in order; `labels` name the rows in messages (default: their positions)."""
        if self.is_async:
            return run_sync(self.ascore_many(rows, contexts=contexts, labels=labels), self.name, instead="ascore_many")
        return self._score_slice(*_prepare(rows, contexts, labels))

    async def ascore_many(
        self,
        rows: Iterable[Row],
        *,
        contexts: Sequence[Context | None] | None = None,
        labels: Sequence[object] | None = None,
    ) -> list[Score]:
        """Return one Score a row, in order, without blocking the event loop."""
        rows, contexts, labels = _prepare(rows, contexts, labels)
        if self.has_async:
            return await self._ascore_rows(rows, contexts, labels)
        if self.is_group:
            return self._score_slice(rows, contexts, labels)
        from asyncio import sleep

        # Rules are pure and quick: slices with a pause between them keep the event loop alive.
        scores: list[Score] = []
        for start in range(0, len(rows), SLICE):
            part = slice(start, start + SLICE)
            scores += self._score_slice(rows[part], contexts[part], labels[part])
            await sleep(0)
        return same_parts(scores) if self.parts is None else scores


def _prepare(
    rows: Iterable[Row], contexts: Sequence[Context | None] | None, labels: Sequence[object] | None
) -> tuple[Sequence[Row], Sequence[Context | None], Sequence[object]]:
    """Return rows that can be counted and cut, with a context and a label each."""
    if not isinstance(rows, list | tuple):
        if isinstance(rows, Mapping | str) or hasattr(rows, "itertuples"):
            kind = type(rows).__name__
            raise UsageError(f"rows must be a list of mappings, got {kind} (a DataFrame: .to_dict('records'))")
        rows = list(rows)
    for name, given in (("contexts", contexts), ("labels", labels)):
        if given is not None and len(given) != len(rows):
            raise UsageError(f"{len(rows)} rows need as many {name}, got {len(given)}")
    return (
        rows,
        (None,) * len(rows) if contexts is None else contexts,
        range(len(rows)) if labels is None else labels,
    )

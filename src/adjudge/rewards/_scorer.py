"""The interface of everything that gives Scores: rewards, their compositions, judges.

scorer.score(row)              one row            scorer.ascore(row)            the same in an event loop
scorer.score_many(rows)        a batch            scorer.ascore_many(rows)
scorer(rows), scorer(final_response="Paris", answer="Paris")                    called like a function

Rows are mappings; a dict of columns, a frame of pandas or polars and a table of pyarrow are rows as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from adjudge.calling import run_sync
from adjudge.errors import ArgumentError, UsageError
from adjudge.model import Provenance, Score
from adjudge.rewards._arguments import missing_column, missing_message
from adjudge.rewards._results import same_parts
from adjudge.rewards._tag import Row
from adjudge.text.values import plain

if TYPE_CHECKING:
    from adjudge.model import Context, Judge

SLICE = 64  # rows scored between two turns of the event loop

Rows: TypeAlias = Iterable[Row] | Mapping[str, Sequence[Any]]
"""Many rows: mappings one by one, or one mapping of columns."""


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

    @property
    def __name__(self) -> str:
        """Its name: trainers ask a reward function for it."""
        return self.name

    @overload
    def __call__(self, rows: Rows, /, *, contexts: Sequence[Context | None] | None = None) -> list[Score]: ...

    @overload
    def __call__(self, /, *, context: Context | None = None, **columns: Any) -> Score: ...

    def __call__(self, rows: Any = None, /, **given: Any) -> Score | list[Score]:
        """Return one Score a row; or that of one row, given column by column.

        >>> from adjudge.rewards import get_scorer
        >>> get_scorer("qa_em_reward")(final_response="Paris", answer="Paris").value
        1.0
        """
        if rows is not None:
            return self.score_many(rows, **given)
        if "completions" in given and "prompts" in given:
            raise UsageError(
                f"TRL calls a function that returns numbers: adjudge.integrations.trl.reward_function({self.name!r})"
            )
        context = given.pop("context", None)
        return self.score(given, context)

    def warm_up(self) -> None:
        """Start what the first heavy row would otherwise wait for, such as a worker process; most have nothing."""

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
        rows: Rows,
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
        rows: Rows,
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


class Wrapper(Scorer):
    """A scorer around another one: all that it declares is that of the other, until a subclass says otherwise."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.name = scorer.name
        self.version = scorer.version
        self.parts = scorer.parts
        self.range = scorer.range
        self.columns = scorer.columns
        self.accepts = scorer.accepts
        self.provenance = scorer.provenance
        self.is_async = scorer.is_async
        self.has_async = scorer.has_async
        self.is_group = scorer.is_group
        self.is_binary = scorer.is_binary
        self.judges = scorer.judges

    def warm_up(self) -> None:
        """Start what the scorer's first heavy row would wait for."""
        self.scorer.warm_up()

    def check(self, columns: Collection[str]) -> None:
        """Raise `ArgumentError` if the scorer cannot score rows with these columns."""
        self.scorer.check(columns)


def _prepare(
    rows: Rows, contexts: Sequence[Context | None] | None, labels: Sequence[object] | None
) -> tuple[Sequence[Row], Sequence[Context | None], Sequence[object]]:
    """Return rows that can be counted and cut, with a context and a label each."""
    if not isinstance(rows, list | tuple):
        rows = _rows_of(rows)
    for name, given in (("contexts", contexts), ("labels", labels)):
        if given is not None and len(given) != len(rows):
            raise UsageError(f"{len(rows)} rows need as many {name}, got {len(given)}")
    return (
        rows,
        (None,) * len(rows) if contexts is None else contexts,
        range(len(rows)) if labels is None else labels,
    )


def _rows_of(table: Any) -> list[Row]:
    """Return the rows of a dict of columns, of a frame, or of anything that gives its rows one by one.

    >>> _rows_of({"final_response": ["Paris", "Lyon"], "answer": ["Paris", "Paris"]})[1]
    {'final_response': 'Lyon', 'answer': 'Paris'}
    """
    if isinstance(table, Mapping):
        columns = {name: plain(column) for name, column in table.items()}
        for name, column in columns.items():
            if not isinstance(column, list | tuple):
                kind = type(column).__name__
                raise UsageError(f"rows must be a list of mappings, or columns that are lists: {name!r} is {kind}")
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise UsageError(f"columns must have one length, got {lengths}")
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if hasattr(table, "itertuples"):  # pandas
        return list(table.to_dict("records"))
    for method in ("to_dicts", "to_pylist"):  # polars, pyarrow
        if hasattr(table, method):
            return list(getattr(table, method)())
    if isinstance(table, str) or not isinstance(table, Iterable):
        raise UsageError(f"rows must be a list of mappings, got {type(table).__name__}")
    return list(table)

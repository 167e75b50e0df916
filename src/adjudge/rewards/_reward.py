"""A tagged function as a scorer: rows in, its arguments filled by name, checked Scores out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.calling import for_each
from adjudge.errors import Caught, UsageError, told
from adjudge.model import Provenance, Score
from adjudge.rewards._arguments import CONTEXT, Arguments
from adjudge.rewards._results import to_score
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import Row, Tag, is_finished, tag_of
from adjudge.rewards._work import RowBatch

if TYPE_CHECKING:
    from adjudge.model import Context


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reward(Scorer):
    """A reward function that can be asked for Scores.

    `get_reward` makes it. `options` are arguments given once for all rows, such as `f1_threshold`.
    """

    function: Callable[..., Any]
    options: Mapping[str, Any]
    tag: Tag
    arguments: Arguments
    name: str
    version: str
    parts: tuple[str, ...] | None
    range: tuple[float, float] | None
    columns: tuple[str, ...]
    accepts: tuple[str, ...] | None
    provenance: Provenance
    is_async: bool
    has_async: bool
    is_group: bool

    @classmethod
    def of(cls, function: Callable[..., Any], options: Mapping[str, Any] | None = None) -> Reward:
        """Make a scorer of a function, with options for all its calls."""
        if not callable(function):
            raise UsageError(f"a reward is a function, got {type(function).__name__}")
        tag = tag_of(function)
        arguments = Arguments.of(function)
        options = dict(options or {})
        arguments.check_options(tag.name, options)
        is_async = _is_async(function)
        if (tag.batch or tag.abatch) and (is_async or tag.group or CONTEXT in arguments.names):
            raise UsageError(f"{tag.name}: a batch path is for a plain reward, without a context")
        written = ", ".join(f"{option}={_shown(value)}" for option, value in options.items())
        name = f"{tag.name}({written})" if options else tag.name
        return cls(
            function=function,
            options=options,
            tag=tag,
            arguments=arguments,
            name=name,
            version=tag.version,
            parts=tag.parts,
            range=tag.range,
            columns=arguments.columns(options),
            accepts=None if arguments.takes_rest else arguments.names,
            provenance=Provenance(name, tag.version),
            is_async=is_async,
            has_async=is_async or tag.abatch is not None,
            is_group=tag.group,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Reward.of, (self.function, self.options))

    def with_options(self, **options: Any) -> Reward:
        """Return the same reward with these arguments given for all rows."""
        return Reward.of(self.function, {**self.options, **options})

    def score(self, row: Row, context: Context | None = None) -> Score:
        """Return the Score of one row: a batch of one."""
        scores = self._score_complete((row,))
        return scores[0] if scores else self.score_many((row,), contexts=(context,))[0]

    def _score_complete(self, rows: Sequence[Row]) -> Sequence[Score] | None:
        """Score rows that lack nothing by the batch path, at once; None where there is more to it."""
        if self.tag.batch is None:
            return None
        columns = self.columns
        for row in rows:
            if type(row) is not dict:
                return None
            for column in columns:
                if column not in row:
                    return None
        return self._batch(rows)[0]

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        scores = self._score_complete(rows)
        if scores is not None:
            return list(scores)
        work = RowBatch.of(self, rows, contexts, labels)
        if self.tag.batch is not None:
            # If the batch raises, one by one, so that only the culprit fails.
            if not work.take(work.ready, self._batch(work.chosen())[0]):
                for index in work.ready:
                    alone, reason = self._batch([work.rows[index]])
                    work.take([index], alone)
                    work.fail([index], reason)
            return work.done()
        for members in work.groups() if self.is_group else [[index] for index in work.ready]:
            with Caught() as caught:
                if self.is_group:
                    work.finish_group(members, self.function(**work.group_arguments(members)))
                else:
                    work.finish(members[0], self.function(**work.arguments(members[0])))
            work.fail(members, caught.reason)
        return work.done()

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        work = RowBatch.of(self, rows, contexts, labels)
        if self.tag.abatch is None:
            await self._acall(work)
        elif not work.take(work.ready, (await self._abatch(work.chosen()))[0]):
            for index in work.ready:
                alone, reason = await self._abatch([work.rows[index]])
                work.take([index], alone)
                work.fail([index], reason)
        return work.done()

    async def _acall(self, work: RowBatch) -> None:
        """Await the function for every row or group, some at once."""
        from asyncio import CancelledError, current_task

        async def one(members: Sequence[int]) -> None:
            try:
                with Caught() as caught:
                    if self.is_group:
                        work.finish_group(members, await self.function(**work.group_arguments(members)))
                    else:
                        work.finish(members[0], await self.function(**work.arguments(members[0])))
                work.fail(members, caught.reason)
            except CancelledError as error:
                task = current_task()
                if task is not None and task.cancelling():
                    raise
                work.fail(members, f"raised: {told(error)}")  # the reward's own affair: nobody cancelled us

        await for_each(work.groups() if self.is_group else [[index] for index in work.ready], one)

    def _batch(self, rows: Sequence[Row]) -> tuple[Sequence[Score] | None, str | None]:
        """Return what the batch path gives, or the reason why it gives nothing."""
        batch = self.tag.batch
        assert batch is not None  # noqa: S101 (the callers looked)
        with Caught() as caught:
            return self._finished(batch(self._with_options(rows), self.provenance), rows, batch), None
        return None, caught.reason

    async def _abatch(self, rows: Sequence[Row]) -> tuple[Sequence[Score] | None, str | None]:
        abatch = self.tag.abatch
        assert abatch is not None  # noqa: S101 (the callers looked)
        with Caught() as caught:
            return self._finished(await abatch(self._with_options(rows), self.provenance), rows, abatch), None
        return None, caught.reason

    def _with_options(self, rows: Sequence[Row]) -> Sequence[Row]:
        return [{**row, **self.options} for row in rows] if self.options else rows

    def _finished(self, scores: Sequence[Score], rows: Sequence[Row], path: Callable[..., Any]) -> Sequence[Score]:
        if len(scores) != len(rows):
            raise UsageError(f"the batch path of {self.name} gave {len(scores)} scores for {len(rows)} rows")
        return scores if is_finished(path) else [to_score(score, self.tag, self.provenance) for score in scores]


def _is_async(function: Callable[..., Any]) -> bool:
    while hasattr(function, "func"):  # a partial
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 (an instance's)


def _shown(value: object) -> str:
    """Return an option as it stands in the scorer's name: the same in every process."""
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text

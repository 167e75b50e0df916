"""A tagged function as a scorer: rows in, its arguments filled by name, checked Scores out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.model import Provenance, Score
from adjudge.rewards._arguments import (
    CONTEXT,
    RESPONSE,
    RESPONSE_ALIAS,
    Arguments,
    missing_column,
    missing_message,
)
from adjudge.rewards._results import failed, same_parts, to_score
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import Row, Tag, tag_of

if TYPE_CHECKING:
    from adjudge.model import Context

CONCURRENCY = 64  # async calls of one reward under way at once

GROUP = "group_id"


@dataclass(frozen=True, slots=True, eq=False)
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
        written = ", ".join(f"{option}={value!r}" for option, value in options.items())
        name = f"{tag.name}({written})" if options else tag.name
        is_async = inspect.iscoroutinefunction(function)
        if (tag.batch or tag.abatch) and (is_async or tag.group or CONTEXT in arguments.names):
            raise UsageError(f"{tag.name}: a batch path is for a plain reward, without a context")
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

    def with_options(self, **options: Any) -> Reward:
        """Return the same reward with these arguments given for all rows."""
        return Reward.of(self.function, {**self.options, **options})

    def score(self, row: Row, context: Context | None = None) -> Score:
        """Return the Score of one row: a batch of one."""
        scores = self._score_complete((row,))
        return scores[0] if scores else self.score_many((row,), contexts=(context,))[0]

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        scores = self._score_complete(rows)
        if scores is not None:
            return list(scores)
        work = self._sort(rows, contexts, labels)
        if self.is_group:
            for members in self._groups(rows, contexts, work):
                with Caught() as caught:
                    results = self.function(**self._group_arguments(rows, contexts, members))
                    work.finish_group(self, members, results)
                work.fail(self, members, caught.reason)
        elif self.tag.batch is not None:
            self._score_batch(work, rows)
        else:
            for index in work.ready:
                with Caught() as caught:
                    result = self.function(**self.arguments.bind(rows[index], contexts[index], self.options))
                    work.scores[index] = to_score(result, self.tag, self.provenance)
                work.fail(self, (index,), caught.reason)
        return work.done(self)

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

    def _score_batch(self, work: _Work, rows: Sequence[Row]) -> None:
        """Score the ready rows by the batch path; if that raises, one by one, so that only the culprit fails."""
        chosen = [_renamed(rows[index]) for index in work.ready]
        if not work.take(work.ready, self._batch(chosen)[0]):
            for index, row in zip(work.ready, chosen, strict=True):
                alone, reason = self._batch([row])
                work.take([index], alone)
                work.fail(self, [index], reason)

    def _batch(self, rows: Sequence[Row]) -> tuple[Sequence[Score] | None, str | None]:
        """Return what the batch path gives, or the reason why it gives nothing."""
        batch = self.tag.batch
        assert batch is not None  # noqa: S101 (the callers looked)
        with Caught() as caught:
            return self._counted(batch(self._with_options(rows), self.provenance), rows), None
        return None, caught.reason

    async def _ascore_batch(self, work: _Work, rows: Sequence[Row]) -> None:
        """Score the ready rows by the batch path that awaits, as `_score_batch` does by the other."""
        chosen = [_renamed(rows[index]) for index in work.ready]
        if not work.take(work.ready, (await self._abatch(chosen))[0]):
            for index, row in zip(work.ready, chosen, strict=True):
                alone, reason = await self._abatch([row])
                work.take([index], alone)
                work.fail(self, [index], reason)

    async def _abatch(self, rows: Sequence[Row]) -> tuple[Sequence[Score] | None, str | None]:
        abatch = self.tag.abatch
        assert abatch is not None  # noqa: S101 (the callers looked)
        with Caught() as caught:
            return self._counted(await abatch(self._with_options(rows), self.provenance), rows), None
        return None, caught.reason

    def _with_options(self, rows: Sequence[Row]) -> Sequence[Row]:
        return [{**row, **self.options} for row in rows] if self.options else rows

    def _counted(self, scores: Sequence[Score], rows: Sequence[Row]) -> Sequence[Score]:
        if len(scores) != len(rows):
            raise UsageError(f"the batch path of {self.name} gave {len(scores)} scores for {len(rows)} rows")
        return scores

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        from asyncio import Semaphore, TaskGroup

        work = self._sort(rows, contexts, labels)
        if self.tag.abatch is not None:
            await self._ascore_batch(work, rows)
            return work.done(self)
        limit = Semaphore(CONCURRENCY)

        async def one(members: Sequence[int]) -> None:
            with Caught() as caught:
                if self.is_group:
                    results = await self.function(**self._group_arguments(rows, contexts, members))
                    work.finish_group(self, members, results)
                else:
                    bound = self.arguments.bind(rows[members[0]], contexts[members[0]], self.options)
                    work.scores[members[0]] = to_score(await self.function(**bound), self.tag, self.provenance)
            work.fail(self, members, caught.reason)
            limit.release()

        units = self._groups(rows, contexts, work) if self.is_group else [[index] for index in work.ready]
        try:
            async with TaskGroup() as tasks:
                for members in units:
                    await limit.acquire()
                    tasks.create_task(one(members))
        except* AdjudgeError as group:  # a fatal one: the others were cancelled
            fatal = group.exceptions[0]
        else:
            return work.done(self)
        raise fatal

    def _sort(self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]) -> _Work:
        """Set aside the rows that lack something; the others are ready to be scored."""
        scores: list[Score | None] = [None] * len(rows)
        ready: list[int] = []
        columns = self.columns
        wants_context = CONTEXT in self.arguments.required and CONTEXT not in self.options
        for index, row in enumerate(rows):
            if type(row) is not dict and not isinstance(row, Mapping):  # the ABC's check is ten times slower
                reason = f"bad-row: row {labels[index]} must be a mapping, got {type(row).__name__}"
            elif not all(map(row.__contains__, columns)) and (missing := missing_column(row, columns)) is not None:
                reason = f"missing-column: row {labels[index]} has {missing_message(self.name, missing, row)}"
            elif wants_context and contexts[index] is None:
                reason = f"missing-context: row {labels[index]}: {self.name} needs a Context; pass context="
            else:
                ready.append(index)
                continue
            scores[index] = failed(reason, self.tag, self.provenance)
        return _Work(scores, ready)

    def _groups(self, rows: Sequence[Row], contexts: Sequence[Context | None], work: _Work) -> list[list[int]]:
        """Return the ready rows by group, in order of first appearance; rows without a group are one together."""
        groups: dict[str, list[int]] = {}
        for index in work.ready:
            context = contexts[index]
            key = rows[index].get(GROUP) if context is None or context.group_id is None else context.group_id
            groups.setdefault(repr(key), []).append(index)  # as text: a row's value need not be hashable
        return list(groups.values())

    def _group_arguments(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], members: Sequence[int]
    ) -> dict[str, list[Any]]:
        bound = [self.arguments.bind(rows[index], contexts[index], self.options) for index in members]
        names = dict.fromkeys(name for arguments in bound for name in arguments)
        columns: dict[str, list[Any]] = {name: [arguments.get(name) for arguments in bound] for name in names}
        return {name: self.options.get(name, column) for name, column in columns.items()}


@dataclass(slots=True)
class _Work:
    """The scores of one call while they come in."""

    scores: list[Score | None]
    ready: list[int]

    def take(self, members: Sequence[int], scores: Sequence[Score] | None) -> bool:
        """Put scores in their places, if there are any."""
        for index, score in zip(members, scores or (), strict=scores is not None):
            self.scores[index] = score
        return scores is not None

    def fail(self, reward: Reward, members: Sequence[int], reason: str | None) -> None:
        """Make these rows errors, if there is a reason to."""
        if reason is not None:
            for index in members:
                self.scores[index] = failed(reason, reward.tag, reward.provenance)

    def finish_group(self, reward: Reward, members: Sequence[int], results: object) -> None:
        """Take what a group reward returned, one result a member."""
        if not isinstance(results, Sequence) or isinstance(results, str) or len(results) != len(members):
            size = f"{len(results)}" if isinstance(results, Sequence) else type(results).__name__
            raise UsageError(f"{reward.name} must return {len(members)} results for a group, got {size}")
        for index, result in zip(members, results, strict=True):
            with Caught() as caught:
                self.scores[index] = to_score(result, reward.tag, reward.provenance)
            self.fail(reward, (index,), caught.reason)

    def done(self, reward: Reward) -> list[Score]:
        """Return the finished scores."""
        scores = [score for score in self.scores if score is not None]
        return scores if reward.parts is not None else same_parts(scores)


def _renamed(row: Row) -> Row:
    """Return the row with its response under the usual name."""
    if RESPONSE in row or RESPONSE_ALIAS not in row:
        return row
    return {**row, RESPONSE: row[RESPONSE_ALIAS]}

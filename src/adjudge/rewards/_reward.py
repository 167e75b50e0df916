"""A tagged function as a scorer: rows in, its arguments filled by name, checked Scores out."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.errors import UsageError
from adjudge.model import Context, Provenance, Score
from adjudge.rewards._arguments import (
    CONTEXT,
    RESPONSE,
    RESPONSE_ALIAS,
    Arguments,
    missing_column,
    missing_message,
)
from adjudge.rewards._results import Caught, failed, same_parts, to_score
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import Row, Tag, tag_of

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
    provenance: Provenance
    is_async: bool
    is_group: bool

    @classmethod
    def of(cls, function: Callable[..., Any], options: Mapping[str, Any] | None = None) -> "Reward":
        """Make a scorer of a function, with options for all its calls."""
        if not callable(function):
            raise UsageError(f"a reward is a function, got {type(function).__name__}")
        tag = tag_of(function)
        arguments = Arguments.of(function)
        options = dict(options or {})
        arguments.check_options(tag.name, options)
        return cls(
            function=function,
            options=options,
            tag=tag,
            arguments=arguments,
            name=tag.name,
            version=tag.version,
            parts=tag.parts,
            range=tag.range,
            columns=arguments.columns(options),
            provenance=Provenance(tag.name, tag.version),
            is_async=inspect.iscoroutinefunction(function),
            is_group=tag.group,
        )

    def with_options(self, **options: Any) -> "Reward":
        """Return the same reward with these arguments given for all rows."""
        return Reward.of(self.function, {**self.options, **options})

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        work = self._sort(rows, contexts, labels)
        if self.is_group:
            for members in self._groups(rows, contexts, work):
                with Caught() as caught:
                    results = self.function(**self._group_arguments(rows, contexts, members))
                    work.finish_group(self, members, results)
                work.fail(self, members, caught.reason)
        elif self.tag.batch is not None and work.ready:
            self._run_batch(work, rows, contexts)
        else:
            for index in work.ready:
                self._call(work, rows, contexts, index)
        return work.done(self)

    def _run_batch(self, work: "_Work", rows: Sequence[Row], contexts: Sequence[Context | None]) -> None:
        """Score by the batch path; if that raises, row by row, so that only the culprit fails."""
        batch = self.tag.batch
        assert batch is not None  # noqa: S101 (the caller looked)
        arguments = [self._batch_row(rows[index]) for index in work.ready]
        with Caught() as caught:
            scores = batch(arguments, self.provenance)
            if len(scores) != len(arguments):
                raise UsageError(f"the batch path of {self.name} gave {len(scores)} scores for {len(arguments)} rows")
            for index, score in zip(work.ready, scores, strict=True):
                work.scores[index] = score
        if caught.reason is not None:
            for index in work.ready:
                self._call(work, rows, contexts, index)

    def _batch_row(self, row: Row) -> Row:
        """Return the row under the argument names, itself where nothing has to change."""
        if RESPONSE not in row and RESPONSE_ALIAS in row:
            row = {**row, RESPONSE: row[RESPONSE_ALIAS]}
        return {**row, **self.options} if self.options else row

    def _call(self, work: "_Work", rows: Sequence[Row], contexts: Sequence[Context | None], index: int) -> None:
        with Caught() as caught:
            result = self.function(**self.arguments.bind(rows[index], contexts[index], self.options))
            work.scores[index] = to_score(result, self.tag, self.provenance)
        work.fail(self, (index,), caught.reason)

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        from asyncio import Semaphore, TaskGroup

        work = self._sort(rows, contexts, labels)
        limit = Semaphore(CONCURRENCY)

        async def one(members: Sequence[int]) -> None:
            async with limit:
                with Caught() as caught:
                    if self.is_group:
                        results = await self.function(**self._group_arguments(rows, contexts, members))
                        work.finish_group(self, members, results)
                    else:
                        (index,) = members
                        bound = self.arguments.bind(rows[index], contexts[index], self.options)
                        result = await self.function(**bound)
                        work.scores[index] = to_score(result, self.tag, self.provenance)
                work.fail(self, members, caught.reason)

        units = self._groups(rows, contexts, work) if self.is_group else [(index,) for index in work.ready]
        async with TaskGroup() as tasks:
            for members in units:
                tasks.create_task(one(members))
        return work.done(self)

    def _sort(self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]) -> "_Work":
        """Set aside the rows that lack something; the others are ready to be scored."""
        scores: list[Score | None] = [None] * len(rows)
        ready: list[int] = []
        columns = self.columns
        wants_context = CONTEXT in self.arguments.required and CONTEXT not in self.options
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping):
                reason = f"bad-row: row {labels[index]} must be a mapping, got {type(row).__name__}"
            elif (missing := missing_column(row, columns)) is not None:
                reason = f"missing-column: row {labels[index]} has {missing_message(self.name, missing, row)}"
            elif wants_context and contexts[index] is None:
                reason = f"missing-context: row {labels[index]}: {self.name} needs a Context; pass context="
            else:
                ready.append(index)
                continue
            scores[index] = failed(reason, self.tag, self.provenance)
        return _Work(scores, ready)

    def _groups(self, rows: Sequence[Row], contexts: Sequence[Context | None], work: "_Work") -> list[list[int]]:
        """Return the ready rows by group, in order of first appearance; rows without a group are one together."""
        groups: dict[object, list[int]] = {}
        for index in work.ready:
            context = contexts[index]
            key = rows[index].get(GROUP) if context is None or context.group_id is None else context.group_id
            groups.setdefault(key, []).append(index)
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

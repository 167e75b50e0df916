"""A tagged function as a scorer: rows in, its arguments filled by name, checked Scores out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.calling import for_each
from adjudge.errors import Caught, UsageError, describe_error
from adjudge.model import Provenance, Score
from adjudge.rewards._arguments import (
    CONTEXT,
    GROUP,
    RESPONSE,
    RESPONSE_ALIAS,
    TRAJECTORY,
    Arguments,
    missing_column,
    missing_message,
)
from adjudge.rewards._results import failed, same_parts, to_score
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import Row, Tag, is_finished, tag_of
from adjudge.text.values import are_messages, is_empty_cell, plain, text_of

if TYPE_CHECKING:
    from adjudge.model import Context


@dataclass(frozen=True, slots=True)
class RowBatch:
    """One call's rows under their argument names, and a place for each row's score."""

    reward: Reward
    rows: list[dict[str, Any]]
    contexts: Sequence[Context | None]
    scores: list[Score | None]
    ready: list[int]

    @classmethod
    def of(
        cls, reward: Reward, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> RowBatch:
        """Sort the rows: one that lacks something gets its error at once."""
        work = cls(reward, [], contexts, [None] * len(rows), [])
        # A context with a default may be missing; a required one may not.
        wants_context = CONTEXT in reward.arguments.required and CONTEXT not in reward.options
        for index, row in enumerate(rows):
            with Caught() as caught:
                given = _name_response(row, labels[index])
                missing = missing_column(given, reward.columns)
                if missing is not None:
                    text = missing_message(reward.name, missing, given)
                    raise UsageError(f"row {labels[index]} has {text}", code="missing-column")
                if reward.is_group and GROUP in given and work.group_of(index, given) is None:
                    # Rows with an empty cell do not belong together.
                    raise UsageError(f"row {labels[index]} has an empty {GROUP}", code="missing-column")
                if wants_context and contexts[index] is None:
                    text = f"row {labels[index]}: {reward.name} needs a Context; pass context="
                    raise UsageError(text, code="missing-context")
                work.rows.append(given)
                work.ready.append(index)
            if caught.reason is not None:
                work.rows.append({})
                work.fail([index], caught.reason)
        return work

    def units(self) -> list[list[int]]:
        """Return the ready rows by call: one each, or a group's together, in order of first appearance.

        Rows without a group are one together.
        """
        if not self.reward.is_group:
            return [[index] for index in self.ready]
        groups: dict[str, list[int]] = {}
        for index in self.ready:
            # As text, because a row's value need not be hashable.
            groups.setdefault(repr(self.group_of(index, self.rows[index])), []).append(index)
        return list(groups.values())

    def group_of(self, index: int, row: Row) -> object:
        """Return the group of a row, None where it has none; the context knows it better than a column does."""
        known = getattr(self.contexts[index], GROUP, None)
        column = row.get(GROUP)
        return known if known is not None else None if is_empty_cell(column) else column

    def arguments(self, members: Sequence[int]) -> dict[str, Any]:
        """Return the arguments of one call; of a group each is a list over the members, options as they are."""
        bind, options = self.reward.arguments.bind, self.reward.options
        if not self.reward.is_group:
            return bind(self.rows[members[0]], self.contexts[members[0]], options)
        bound = [bind(self.rows[index], self.contexts[index], options) for index in members]
        names = dict.fromkeys(name for arguments in bound for name in arguments)
        columns: dict[str, Any] = {name: [arguments.get(name) for arguments in bound] for name in names}
        return {**columns, **options}

    def finish(self, members: Sequence[int], result: object) -> None:
        """Take what the reward returned: a result, or of a group one a member."""
        reward = self.reward
        if not reward.is_group:
            self.scores[members[0]] = to_score(result, reward.tag, reward.provenance)
            return
        # Trainers return arrays and tensors.
        results = plain(result)
        if not isinstance(results, Sequence) or isinstance(results, str) or len(results) != len(members):
            size = f"{len(results)}" if isinstance(results, Sequence) else type(results).__name__
            raise UsageError(f"{reward.name} must return {len(members)} results for a group, got {size}")
        for index, one in zip(members, results, strict=True):
            with Caught() as caught:
                self.scores[index] = to_score(one, reward.tag, reward.provenance)
            self.fail([index], caught.reason)

    def take(self, members: Sequence[int], scores: Sequence[Score]) -> None:
        """Put finished scores in their places."""
        for index, score in zip(members, scores, strict=True):
            self.scores[index] = score

    def fail(self, members: Iterable[int], reason: str | None) -> None:
        """Make these rows errors, if there is a reason to."""
        if reason is not None:
            for index in members:
                self.scores[index] = failed(reason, self.reward.tag, self.reward.provenance)

    def done(self) -> list[Score]:
        """Return one score a row."""
        self.fail((index for index, score in enumerate(self.scores) if score is None), "raised: no score was given")
        scores = [score for score in self.scores if score is not None]
        return scores if self.reward.parts is not None else same_parts(scores)


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
    is_binary: bool

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
        # A batch path gets rows alone, so it cannot pass a context or await for each.
        if (tag.batch or tag.abatch) and (is_async or tag.group or CONTEXT in arguments.names):
            raise UsageError(f"{tag.name}: a batch path is for a plain reward, without a context")
        written = ", ".join(f"{option}={_show_option(value)}" for option, value in options.items())
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
            is_binary=tag.binary,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Reward.of, (self.function, self.options))

    def warm_up(self) -> None:
        """Start what the reward declares that its first heavy row would wait for."""
        if self.tag.warm_up is not None:
            self.tag.warm_up()

    def with_options(self, **options: Any) -> Reward:
        """Return the same reward with these arguments given for all rows."""
        return Reward.of(self.function, {**self.options, **options})

    def score(self, row: Row, context: Context | None = None) -> Score:
        """Return the Score of one row: a batch of one."""
        scores = self._score_complete((row,))
        return scores[0] if scores else self.score_many((row,), contexts=(context,))[0]

    def _score_complete(self, rows: Sequence[Row]) -> Sequence[Score] | None:
        """Score rows that have every column by the batch path; None where that is not possible."""
        if self.tag.batch is None:
            return None
        # An exact dict with every column needs no copy and no check of its own.
        for row in rows:
            if type(row) is not dict:
                return None
        for column in self.columns:
            for row in rows:
                if column not in row:
                    return None
        with Caught(never_waits=True):
            return self._finish_batch(rows, self.tag.batch(self._with_options(rows), self.provenance), self.tag.batch)
        return None

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        scores = self._score_complete(rows)
        if scores is not None:
            return list(scores)
        work = RowBatch.of(self, rows, contexts, labels)
        if self.tag.batch is None:
            for members in work.units():
                with Caught(never_waits=True) as caught:
                    work.finish(members, self.function(**work.arguments(members)))
                work.fail(members, caught.reason)
        elif self._batch(work, work.ready) is not None:
            # The batch raised: score the rows one by one, so that only the one at fault fails.
            for index in work.ready:
                work.fail([index], self._batch(work, [index]))
        return work.done()

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        work = RowBatch.of(self, rows, contexts, labels)
        if self.tag.abatch is None:
            await self._acall(work)
        elif await self._abatch(work, work.ready) is not None:
            for index in work.ready:
                work.fail([index], await self._abatch(work, [index]))
        return work.done()

    async def _acall(self, work: RowBatch) -> None:
        """Await the function for every row or group, some at once."""
        from asyncio import CancelledError, current_task

        async def one(members: Sequence[int]) -> None:
            try:
                with Caught() as caught:
                    work.finish(members, await self.function(**work.arguments(members)))
                work.fail(members, caught.reason)
            except CancelledError as error:
                task = current_task()
                if task is not None and task.cancelling():
                    raise
                # The reward raised it: nobody cancelled this task.
                work.fail(members, f"raised: {describe_error(error)}")

        await for_each(work.units(), one)

    def _batch(self, work: RowBatch, members: Sequence[int]) -> str | None:
        """Score some rows by the batch path; return why it failed, if it did."""
        batch = self.tag.batch
        assert batch is not None  # noqa: S101 (the callers looked)
        with Caught(never_waits=True) as caught:
            rows = self._with_options([work.rows[index] for index in members])
            work.take(members, self._finish_batch(rows, batch(rows, self.provenance), batch))
        return caught.reason

    async def _abatch(self, work: RowBatch, members: Sequence[int]) -> str | None:
        abatch = self.tag.abatch
        assert abatch is not None  # noqa: S101 (the callers looked)
        with Caught() as caught:
            rows = self._with_options([work.rows[index] for index in members])
            work.take(members, self._finish_batch(rows, await abatch(rows, self.provenance), abatch))
        return caught.reason

    def _with_options(self, rows: Sequence[Row]) -> Sequence[Row]:
        return [{**row, **self.options} for row in rows] if self.options else rows

    def _finish_batch(self, rows: Sequence[Row], scores: Sequence[Score], path: Callable[..., Any]) -> Sequence[Score]:
        if len(scores) != len(rows):
            raise UsageError(f"the batch path of {self.name} gave {len(scores)} scores for {len(rows)} rows")
        return scores if is_finished(path) else [to_score(score, self.tag, self.provenance) for score in scores]


def _is_async(function: Callable[..., Any]) -> bool:
    # Look through partials.
    while hasattr(function, "func"):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 (an instance's)


def _show_option(value: object) -> str:
    """Return an option as the scorer's name shows it: the same in every process."""
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def _name_response(row: object, label: object) -> dict[str, Any]:
    """Return a row with its response under the usual name, as text.

    Where the response is the messages of the rollout, they are its trajectory as well, unless the row has one.
    """
    if not isinstance(row, Mapping):
        raise UsageError(f"row {label} must be a mapping, got {type(row).__name__}", code="bad-row")
    given = row if isinstance(row, dict) else dict(row)
    if RESPONSE not in given and RESPONSE_ALIAS in given:
        given = {**given, RESPONSE: given[RESPONSE_ALIAS]}
    response = given.get(RESPONSE)
    if are_messages(response):
        return {TRAJECTORY: response, **given, RESPONSE: text_of(response, RESPONSE)}
    return given

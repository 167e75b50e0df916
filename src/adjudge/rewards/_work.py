"""The rows of one call, sorted into those that can be scored and those that lack something, while scores come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.errors import Caught, UsageError
from adjudge.rewards._arguments import CONTEXT, GROUP, RESPONSE, RESPONSE_ALIAS, missing_column, missing_message
from adjudge.rewards._results import failed, same_parts, to_score
from adjudge.text.values import plain

if TYPE_CHECKING:
    from adjudge.model import Context, Score
    from adjudge.rewards._reward import Reward
    from adjudge.rewards._tag import Row


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
        """Sort the rows: one that lacks something has its error at once."""
        work = cls(reward, [], contexts, [None] * len(rows), [])
        wants_context = CONTEXT in reward.arguments.required and CONTEXT not in reward.options
        for index, row in enumerate(rows):
            with Caught() as caught:
                given = _named(row, labels[index])
                missing = missing_column(given, reward.columns)
                if missing is not None:
                    text = missing_message(reward.name, missing, given)
                    raise UsageError(f"row {labels[index]} has {text}", code="missing-column")
                if wants_context and contexts[index] is None:
                    text = f"row {labels[index]}: {reward.name} needs a Context; pass context="
                    raise UsageError(text, code="missing-context")
                work.rows.append(given)
                work.ready.append(index)
            if caught.reason is not None:
                work.rows.append({})
                work.fail([index], caught.reason)
        return work

    def chosen(self) -> list[dict[str, Any]]:
        """Return the rows that are ready."""
        return [self.rows[index] for index in self.ready]

    def arguments(self, index: int) -> dict[str, Any]:
        """Return the arguments of one row's call."""
        return self.reward.arguments.bind(self.rows[index], self.contexts[index], self.reward.options)

    def groups(self) -> list[list[int]]:
        """Return the ready rows by group, in order of first appearance; rows without a group are one together."""
        groups: dict[str, list[int]] = {}
        for index in self.ready:
            key = getattr(self.contexts[index], GROUP, None)
            key = self.rows[index].get(GROUP) if key is None else key
            groups.setdefault(repr(key), []).append(index)  # as text: a row's value need not be hashable
        return list(groups.values())

    def group_arguments(self, members: Sequence[int]) -> dict[str, Any]:
        """Return the arguments of one group's call: each a list over the members, options as they are."""
        bound = [self.arguments(index) for index in members]
        names = dict.fromkeys(name for arguments in bound for name in arguments)
        columns: dict[str, Any] = {name: [arguments.get(name) for arguments in bound] for name in names}
        return {**columns, **self.reward.options}

    def finish(self, index: int, result: object) -> None:
        """Take what the reward returned for one row."""
        self.scores[index] = to_score(result, self.reward.tag, self.reward.provenance)

    def finish_group(self, members: Sequence[int], results: object) -> None:
        """Take what a group reward returned, one result a member."""
        results = plain(results)
        if not isinstance(results, Sequence) or isinstance(results, str) or len(results) != len(members):
            size = f"{len(results)}" if isinstance(results, Sequence) else type(results).__name__
            raise UsageError(f"{self.reward.name} must return {len(members)} results for a group, got {size}")
        for index, result in zip(members, results, strict=True):
            with Caught() as caught:
                self.finish(index, result)
            self.fail([index], caught.reason)

    def take(self, members: Sequence[int], scores: Sequence[Score] | None) -> bool:
        """Put finished scores in their places, if there are any."""
        if scores is not None:
            for index, score in zip(members, scores, strict=True):
                self.scores[index] = score
        return scores is not None

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


def _named(row: object, label: object) -> dict[str, Any]:
    """Return a row with its response under the usual name."""
    if not isinstance(row, Mapping):
        raise UsageError(f"row {label} must be a mapping, got {type(row).__name__}", code="bad-row")
    given = row if isinstance(row, dict) else dict(row)
    if RESPONSE in given or RESPONSE_ALIAS not in given:
        return given
    return {**given, RESPONSE: given[RESPONSE_ALIAS]}

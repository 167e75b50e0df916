"""Scorers made of scorers, with every member's value and parts kept.

    weighted({"qa_f1_reward": 0.8, "format_reward": 0.2})     a weighted sum
    gated("format_reward", "qa_f1_reward")                     0 unless the gate is passed
    all_of("format_reward", "qa_em_reward")                    1 if all pass, else 0
    first_of("qa_f1_reward_tool", "qa_f1_reward")              the first that could be scored
    named("good", weighted({...}))                             the same under a name of your own

What is unknown stays unknown: a sum with a missing part has no value. But where the result does not depend on the
missing part there is one: one failed member of `all_of` is enough for 0, whatever happened to the others. A member is
not asked about a row that is decided without it: a closed gate costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from adjudge.errors import UsageError
from adjudge.model import Provenance, Score
from adjudge.rewards._registry import get_scorer
from adjudge.rewards._scorer import Scorer, Wrapper
from adjudge.rewards._tag import Row

if TYPE_CHECKING:
    from adjudge.model import Context

Member: TypeAlias = str | Callable[..., Any] | Scorer
"""A scorer, or what `get_scorer` makes one of."""

Scores: TypeAlias = Sequence[Score | None]
"""The members' scores of one row; None where a member was not asked."""

Rule: TypeAlias = Callable[[Scores], tuple[float | None, str | None]]
"""The members' scores -> the value and the reason; no value: as the first member that has none."""


class Composite(Scorer):
    """A scorer that asks its members and combines their scores row by row.

    `decided` says whether the scores so far are enough; without it all members are asked. `recipe` makes the same
    composite again, in another process.
    """

    def __init__(
        self,
        name: str,
        members: Sequence[Scorer],
        rule: Rule,
        span: tuple[float, float] | None,
        recipe: tuple[Callable[..., Scorer], tuple[Any, ...]],
        decided: Callable[[Scores], bool] | None = None,
    ) -> None:
        # `all_of` over no members would always be 1.
        if not members:
            raise UsageError(f"{name.partition('(')[0]} needs at least one scorer")
        self.members = tuple(members)
        self.labels = _labels([member.name for member in members])
        self.rule = rule
        self.decided = decided
        self.recipe = recipe
        self.name = name
        self.version = "+".join(member.version for member in members)
        self.parts = _part_names(self.labels, members)
        self.range = span
        self.columns = tuple(dict.fromkeys(column for member in members for column in member.columns))
        self.accepts = _accepted(members)
        self.provenance = Provenance(name, self.version)
        self.is_async = any(member.is_async for member in members)
        self.has_async = any(member.has_async for member in members)
        self.is_group = any(member.is_group for member in members)
        self.judges = tuple(judge for member in members for judge in member.judges)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.recipe

    def check(self, columns: Collection[str]) -> None:
        """Raise `ArgumentError` if one of the members cannot score rows with these columns."""
        for member in self.members:
            member.check(columns)

    def warm_up(self) -> None:
        """Start what the first heavy row of any member would wait for."""
        for member in self.members:
            member.warm_up()

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        found: list[list[Score | None]] = [[] for _ in rows]
        for member in self.members:
            asked = self._asked(member, found)
            _add(found, asked, member.score_many(**_only(asked, rows, contexts, labels)))
        return [self._combine(scores) for scores in found]

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        from asyncio import gather

        found: list[list[Score | None]] = [[] for _ in rows]
        # Where no member can decide alone, all of them can be asked at once.
        if self.decided is None:
            everything = _only(range(len(rows)), rows, contexts, labels)
            for scores in await gather(*(member.ascore_many(**everything) for member in self.members)):
                _add(found, range(len(rows)), scores)
        else:
            for member in self.members:
                asked = self._asked(member, found)
                _add(found, asked, await member.ascore_many(**_only(asked, rows, contexts, labels)))
        return [self._combine(scores) for scores in found]

    def _asked(self, member: Scorer, found: Sequence[Scores]) -> Sequence[int]:
        """Return the rows that the member is asked about; one that looks at groups needs them whole."""
        if self.decided is None or member.is_group:
            return range(len(found))
        return [index for index, scores in enumerate(found) if not self.decided(scores)]

    def _combine(self, scores: Scores) -> Score:
        parts: dict[str, float | None] = {}
        for label, member, score in zip(self.labels, self.members, scores, strict=True):
            parts[label] = None if score is None else score.value
            given = dict.fromkeys(member.parts or ()) if score is None else score.parts
            for name, part in given.items():
                parts[f"{label}.{name}"] = part
        value, reason = self.rule(scores)
        if value is not None:
            # Only NaN and the infinities are not 0 here; a sum can overflow.
            if value - value != 0:
                return Score.error(f"not-finite: the value is {value}", parts=parts, provenance=self.provenance)
            return Score.scored(value, reason=reason, parts=parts, provenance=self.provenance)
        # An error comes before an unscored member: somebody can fix it.
        asked = [(label, score) for label, score in zip(self.labels, scores, strict=True) if score is not None]
        faults = [(label, score) for label, score in asked if score.value is None]
        label, fault = next(((lab, s) for lab, s in faults if s.status == "error"), faults[0])
        code, _, detail = str(fault.reason).partition(": ")
        make = Score.error if fault.status == "error" else Score.unscored
        why = ": ".join(text for text in (code, label, detail) if text)
        return make(why, parts=parts, provenance=self.provenance)


class Named(Wrapper):
    """A scorer under another name: everything else, the numbers as well, is that of the scorer."""

    def __init__(self, name: str, scorer: Scorer) -> None:
        if not name or not name.isprintable():
            raise UsageError(f"a scorer's name is a line of text, got {name!r}")
        super().__init__(scorer)
        self.name = name
        self.provenance = replace(scorer.provenance, scorer=name)

    def __reduce__(self) -> tuple[Any, ...]:
        return named, (self.name, self.scorer)

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        return self._rename(self.scorer.score_many(rows, contexts=contexts, labels=labels))

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        return self._rename(await self.scorer.ascore_many(rows, contexts=contexts, labels=labels))

    def _rename(self, scores: Sequence[Score]) -> list[Score]:
        return [
            replace(score, provenance=replace(score.provenance or self.provenance, scorer=self.name))
            for score in scores
        ]


def named(name: str, scorer: Member) -> Scorer:
    """Return a scorer under a name of your own, which stands in tables, logs and scores.

    >>> named("good", weighted({"qa_f1_reward": 0.75, "format_reward": 0.25})).name
    'good'
    """
    return Named(name, get_scorer(scorer))


def weighted(weights: Mapping[Member, float]) -> Scorer:
    """Return the weighted sum of the members' values.

    >>> both = weighted({"qa_f1_reward": 0.75, "format_reward": 0.25})
    >>> both.score({"final_response": "Paris", "answer": "Paris"}).value
    0.75
    """
    if not isinstance(weights, Mapping):
        kind = type(weights).__name__
        raise UsageError(
            f"weighted takes a mapping of scorers to weights, such as {{'qa_f1_reward': 0.8}}, got a {kind}"
        )
    factors = [_finite(weight, "a weight") for weight in weights.values()]

    def rule(scores: Scores) -> tuple[float | None, str | None]:
        values = [_value(score) for score in scores]
        known = [factor * value for factor, value in zip(factors, values, strict=True) if value is not None]
        return (sum(known), None) if len(known) == len(factors) else (None, None)

    members = [get_scorer(member) for member in weights]
    names = ", ".join(f"{member.name}={factor!r}" for member, factor in zip(members, factors, strict=True))
    ends = [(f * m.range[0], f * m.range[1]) for f, m in zip(factors, members, strict=True) if m.range is not None]
    # A negative weight turns the ends of a range round.
    span = (sum(map(min, ends)), sum(map(max, ends))) if len(ends) == len(members) else None
    recipe = (weighted, (dict(zip(members, factors, strict=True)),))
    return Composite(f"weighted({names})", members, rule, span, recipe)


def gated(gate: Member, reward: Member, *, threshold: float = 1.0) -> Scorer:
    """Return the reward's value where the gate's is at least `threshold`, else 0; a closed gate asks no further.

    >>> strict = gated("format_reward", "contains_reward")
    >>> strict.score({"final_response": "Paris", "answer": "Paris"}).value
    0.0
    """
    first, second = get_scorer(gate), get_scorer(reward)
    limit = _finite(threshold, "threshold")

    def is_open(scores: Scores) -> bool:
        passed = _value(scores[0])
        return passed is not None and passed >= limit

    def rule(scores: Scores) -> tuple[float | None, str | None]:
        if _value(scores[0]) is None:
            return None, None
        if not is_open(scores):
            return 0.0, f"gate-closed: {first.name}"
        return _value(scores[1]), None if scores[1] is None else scores[1].reason

    def decided(scores: Scores) -> bool:
        return bool(scores) and not is_open(scores)

    span = None if second.range is None else (min(0.0, second.range[0]), max(0.0, second.range[1]))
    recipe = (partial(gated, threshold=limit), (first, second))
    name = f"gated({first.name}, {second.name}{_unless_one(limit)})"
    return Composite(name, [first, second], rule, span, recipe, decided)


def all_of(*rewards: Member, threshold: float = 1.0) -> Scorer:
    """Return 1 where every member's value is at least `threshold`, else 0.

    >>> all_of("qa_em_reward", "contains_reward").score({"final_response": "Paris", "answer": "Paris"}).value
    1.0
    """
    members = [get_scorer(reward) for reward in rewards]
    limit = _finite(threshold, "threshold")

    def rule(scores: Scores) -> tuple[float | None, str | None]:
        values = [_value(score) for score in scores]
        for member, value in zip(members, values, strict=True):
            if value is not None and value < limit:
                return 0.0, f"below: {member.name}"
        return (None, None) if None in values else (1.0, None)

    recipe = (partial(all_of, threshold=limit), tuple(members))
    name = f"all_of({', '.join(member.name for member in members)}{_unless_one(limit)})"
    return Composite(name, members, rule, (0.0, 1.0), recipe)


def first_of(*rewards: Member) -> Scorer:
    """Return the value of the first member that could be scored; those after it are not asked.

    >>> first_of("qa_f1_reward_tool", "qa_f1_reward").score(
    ...     {"final_response": "Paris", "answer": "Paris", "trajectory": ["just text"]}).reason
    'by: qa_f1_reward'
    """
    members = [get_scorer(reward) for reward in rewards]

    def rule(scores: Scores) -> tuple[float | None, str | None]:
        for member, score in zip(members, scores, strict=True):
            if _value(score) is not None:
                return _value(score), f"by: {member.name}"
        return None, None

    def decided(scores: Scores) -> bool:
        return any(_value(score) is not None for score in scores)

    ranges = [member.range for member in members if member.range is not None]
    whole = len(ranges) == len(members) and ranges
    span = (min(low for low, _ in ranges), max(high for _, high in ranges)) if whole else None
    name = f"first_of({', '.join(member.name for member in members)})"
    return Composite(name, members, rule, span, (first_of, tuple(members)), decided)


def _value(score: Score | None) -> float | None:
    return None if score is None else score.value


def _finite(number: object, what: str) -> float:
    if not isinstance(number, int | float) or number - number != 0:
        raise UsageError(f"{what} must be a finite number, got {number!r}")
    return float(number)


def _unless_one(threshold: float) -> str:
    return "" if threshold == 1.0 else f", threshold={threshold!r}"


def _only(
    asked: Sequence[int], rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
) -> dict[str, Any]:
    """Return the arguments of `score_many` for some of the rows."""
    return {
        "rows": [rows[index] for index in asked],
        "contexts": [contexts[index] for index in asked],
        "labels": [labels[index] for index in asked],
    }


def _add(found: list[list[Score | None]], asked: Sequence[int], scores: Sequence[Score]) -> None:
    """Add a member's scores to the rows it was asked about, and a gap to the others."""
    given = dict(zip(asked, scores, strict=True))
    for index, row in enumerate(found):
        row.append(given.get(index))


def _part_names(labels: Sequence[str], members: Sequence[Scorer]) -> tuple[str, ...] | None:
    names: list[str] = []
    for label, member in zip(labels, members, strict=True):
        if member.parts is None:
            return None
        names += [label, *(f"{label}.{part}" for part in member.parts)]
    return tuple(names)


def _accepted(members: Sequence[Scorer]) -> tuple[str, ...] | None:
    known = [member.accepts for member in members]
    if any(names is None for names in known):
        return None
    return tuple(dict.fromkeys(name for names in known for name in names or ()))


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, numbered where one occurs twice."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(labels)

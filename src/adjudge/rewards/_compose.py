"""Scorers made of scorers, with every member's value and parts kept.

    weighted({"qa_f1_reward": 0.8, "format_reward": 0.2})     a weighted sum
    gated("format_reward", "qa_f1_reward")                     0 unless the gate is passed
    all_of("format_reward", "qa_em_reward")                    1 if all pass, else 0
    first_of("qa_f1_reward_tool", "qa_f1_reward")              the first that could be scored

What is unknown stays unknown: a sum with a part missing is no sum. But what is decided without the missing part
is decided: one failed member of `all_of` is enough for 0, whatever happened to the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from adjudge.errors import UsageError
from adjudge.model import Context, Provenance, Score
from adjudge.rewards._registry import get_reward
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import Row

Member: TypeAlias = str | Callable[..., Any] | Scorer
"""A scorer, or what `get_reward` makes one of."""

Rule: TypeAlias = Callable[[Sequence[Score]], tuple[float | None, str | None]]
"""The members' scores of one row -> the value and the reason; no value: as the first member that has none."""


@dataclass(frozen=True, slots=True, eq=False)
class Composite(Scorer):
    """A scorer that asks its members and combines their scores row by row."""

    members: tuple[Scorer, ...]
    labels: tuple[str, ...]
    rule: Rule
    name: str
    version: str
    parts: tuple[str, ...] | None
    range: tuple[float, float] | None
    columns: tuple[str, ...]
    provenance: Provenance
    is_async: bool
    is_group: bool

    @classmethod
    def of(cls, name: str, members: Sequence[Member], rule: Rule, span: tuple[float, float] | None) -> "Composite":
        """Combine members by a rule."""
        scorers = tuple(get_reward(member) for member in members)
        if not scorers:
            raise UsageError(f"{name.partition('(')[0]} needs at least one scorer")
        labels = _labels([scorer.name for scorer in scorers])
        parts: list[str] | None = []
        for label, scorer in zip(labels, scorers, strict=True):
            if parts is None or scorer.parts is None:
                parts = None
            else:
                parts += [label, *(f"{label}.{part}" for part in scorer.parts)]
        version = "+".join(scorer.version for scorer in scorers)
        return cls(
            members=scorers,
            labels=labels,
            rule=rule,
            name=name,
            version=version,
            parts=None if parts is None else tuple(parts),
            range=span,
            columns=tuple(dict.fromkeys(column for scorer in scorers for column in scorer.columns)),
            provenance=Provenance(name, version),
            is_async=any(scorer.is_async for scorer in scorers),
            is_group=any(scorer.is_group for scorer in scorers),
        )

    def _score_slice(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        columns = [scorer.score_many(rows, contexts=contexts, labels=labels) for scorer in self.members]
        return [self._combine(scores) for scores in zip(*columns, strict=True)]

    async def _ascore_rows(
        self, rows: Sequence[Row], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        columns = [await scorer.ascore_many(rows, contexts=contexts, labels=labels) for scorer in self.members]
        return [self._combine(scores) for scores in zip(*columns, strict=True)]

    def _combine(self, scores: Sequence[Score]) -> Score:
        parts: dict[str, float | None] = {}
        for label, score in zip(self.labels, scores, strict=True):
            parts[label] = score.value
            for name, value in score.parts.items():
                parts[f"{label}.{name}"] = value
        value, reason = self.rule(scores)
        if value is not None:
            return Score.scored(value, reason=reason, parts=parts, provenance=self.provenance)
        # An error outranks an unscored: it is the one that somebody can mend.
        faults = [(label, score) for label, score in zip(self.labels, scores, strict=True) if score.value is None]
        label, fault = next(((lab, s) for lab, s in faults if s.status == "error"), faults[0])
        why = f"{label}: {fault.reason}"
        make = Score.error if fault.status == "error" else Score.unscored
        return make(why, parts=parts, provenance=self.provenance)


def weighted(weights: Mapping[Member, float]) -> Scorer:
    """Return the weighted sum of the members' values.

    >>> both = weighted({"qa_f1_reward": 0.75, "format_reward": 0.25})
    >>> both.score({"final_response": "Paris", "answer": "Paris"}).value
    0.75
    """
    factors = [float(weight) for weight in weights.values()]
    if any(factor - factor != 0 for factor in factors):
        raise UsageError(f"weights must be finite numbers, got {factors}")

    def rule(scores: Sequence[Score]) -> tuple[float | None, str | None]:
        values = [score.value for score in scores]
        if any(value is None for value in values):
            return None, None
        return sum(f * v for f, v in zip(factors, values, strict=True) if v is not None), None

    members = [get_reward(member) for member in weights]
    names = ", ".join(f"{member.name}={factor:g}" for member, factor in zip(members, factors, strict=True))
    ranges = [member.range for member in members]
    ends = [(f * r[0], f * r[1]) for f, r in zip(factors, ranges, strict=True) if r is not None]
    span = (sum(map(min, ends)), sum(map(max, ends))) if len(ends) == len(members) else None
    return Composite.of(f"weighted({names})", members, rule, span)


def gated(gate: Member, reward: Member, *, threshold: float = 1.0) -> Scorer:
    """Return the reward's value where the gate's is at least `threshold`, else 0.

    >>> strict = gated("format_reward", "contains_reward")
    >>> strict.score({"final_response": "Paris", "answer": "Paris"}).value
    0.0
    """
    first, second = get_reward(gate), get_reward(reward)

    def rule(scores: Sequence[Score]) -> tuple[float | None, str | None]:
        passed, value = scores[0].value, scores[1].value
        if passed is None:
            return None, None
        return (0.0, f"gate-closed: {first.name}") if passed < threshold else (value, scores[1].reason)

    span = None if second.range is None else (min(0.0, second.range[0]), max(0.0, second.range[1]))
    return Composite.of(f"gated({first.name}, {second.name})", [first, second], rule, span)


def all_of(*rewards: Member, threshold: float = 1.0) -> Scorer:
    """Return 1 where every member's value is at least `threshold`, else 0.

    >>> all_of("qa_em_reward", "contains_reward").score({"final_response": "Paris", "answer": "Paris"}).value
    1.0
    """
    members = [get_reward(reward) for reward in rewards]

    def rule(scores: Sequence[Score]) -> tuple[float | None, str | None]:
        for member, score in zip(members, scores, strict=True):
            if score.value is not None and score.value < threshold:
                return 0.0, f"below: {member.name}"
        return (None, None) if any(score.value is None for score in scores) else (1.0, None)

    return Composite.of(f"all_of({', '.join(member.name for member in members)})", members, rule, (0.0, 1.0))


def first_of(*rewards: Member) -> Scorer:
    """Return the value of the first member that could be scored.

    >>> first_of("qa_f1_reward_tool", "qa_f1_reward").score(
    ...     {"final_response": "Paris", "answer": "Paris", "trajectory": ["just text"]}).reason
    'by: qa_f1_reward'
    """
    members = [get_reward(reward) for reward in rewards]

    def rule(scores: Sequence[Score]) -> tuple[float | None, str | None]:
        for member, score in zip(members, scores, strict=True):
            if score.value is not None:
                return score.value, f"by: {member.name}"
        return None, None

    ranges = [member.range for member in members if member.range is not None]
    whole = len(ranges) == len(members) and ranges
    span = (min(low for low, _ in ranges), max(high for _, high in ranges)) if whole else None
    return Composite.of(f"first_of({', '.join(member.name for member in members)})", members, rule, span)


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, numbered where one stands twice."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(labels)

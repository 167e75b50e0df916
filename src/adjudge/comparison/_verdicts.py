"""One interval decides: from pairs to verdicts, for all questions that are asked together.

    difference of new - base, 95 %        no margin               --margin .02
    [-.081, -.009]                        worse                   undecided
    [-.081, -.031]                        worse                   inferior
    [-.015,  .040]                        no difference shown     non-inferior

Of the metrics that decide, the chance of even one false verdict is at most 5 %: their intervals are as wide as Holm's
procedure (1979) wants them. Slices, parts, tokens, costs and times are exploratory: among the differences shown, the
share of false ones is at most 5 % (Benjamini and Hochberg 1995; the intervals: Benjamini and Yekutieli 2005). They
are counted apart, so that printing more of them widens no interval that decides.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from adjudge.comparison._changes import CaseChange, find_changes
from adjudge.comparison._comparison import DifferenceVerdict, MetricComparison
from adjudge.comparison._pairs import Pairs, Sample, Scope
from adjudge.statistics import (
    Estimate,
    Range,
    benjamini_hochberg,
    holm,
    mcnemar,
    minimum_detectable_effect,
    normal_quantile,
)

ALPHA = 0.05

Levels: TypeAlias = Callable[[Sequence[float]], tuple[list[float], list[float]]]
"""From p-values to adjusted ones, and to the levels of the intervals that agree with them."""


def holm_levels(p_values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return Holm's adjusted p-values, and for each interval the level at which it excludes what Holm rejects.

    >>> holm_levels([0.01, 0.4, 0.02])
    ([0.03, 0.4, 0.04], [0.016666666666666666, 0.05, 0.025])
    """
    adjusted = holm(p_values)
    rejected = sum(p < ALPHA for p in adjusted)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    levels = [0.0] * len(p_values)
    for rank, index in enumerate(order):
        # All that are not rejected have the level at which the first of them was not.
        levels[index] = ALPHA / (len(p_values) - min(rank, rejected))
    return adjusted, levels


def benjamini_hochberg_levels(p_values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return Benjamini and Hochberg's adjusted p-values, and the level of all intervals.

    >>> benjamini_hochberg_levels([0.01, 0.4])
    ([0.02, 0.4], [0.025, 0.025])
    """
    adjusted = benjamini_hochberg(p_values)
    rejected = max(1, sum(p < ALPHA for p in adjusted))
    return adjusted, [ALPHA * rejected / len(p_values)] * len(p_values)


@dataclass(frozen=True, slots=True)
class MetricQuestion:
    """By how much do the runs differ in one metric, over these pairs? Asked with all others, before any is answered.

    With a margin, the difference is tested against that, else against 0.
    """

    metric: str
    pairs: Pairs
    clusters: Mapping[str, str]
    scope: Scope = "new"
    range: Range = None
    higher_is_better: bool = True
    is_gated: bool = True
    margin: float | None = None
    among: str | None = None

    @property
    def null(self) -> float:
        """The difference that the p-value is for."""
        if self.margin is None:
            return 0.0
        return -self.margin if self.higher_is_better else self.margin

    def sample(self, pairs: Pairs) -> Sample:
        """Return complete pairs with their clusters."""
        named = [self.clusters.get(key) for key in pairs.ids] if self.clusters else []
        is_clustered = len({*named} - {None}) < len(named) - named.count(None)
        # A case without a cluster is one of its own; a tuple is equal to none of the names.
        clusters = [("case", key) if name is None else name for key, name in zip(pairs.ids, named, strict=False)]
        return Sample(pairs, clusters if is_clustered else None, self.scope, self.range)

    def verdict(self, found: Estimate) -> DifferenceVerdict:
        """Return what an interval shows."""
        low, high = found.low, found.high
        if low is None or high is None:
            return "no difference shown" if self.margin is None else "undecided"
        if not self.higher_is_better:
            low, high = -high, -low
        if self.margin is None:
            return "worse" if high < 0.0 else "better" if low > 0.0 else "no difference shown"
        return "inferior" if high < -self.margin else "non-inferior" if low > -self.margin else "undecided"

    def is_worse(self, found: Estimate) -> bool:
        """Return whether the new run is shown to be worse, and not within what a metric may lose."""
        return replace(self, margin=None).verdict(found) == "worse" and self.verdict(found) != "non-inferior"


def answer_all(questions: Sequence[MetricQuestion], adjust: Levels, max_missing: float) -> list[MetricComparison]:
    """Answer questions that are asked together, allowing for their number."""
    if not questions:
        return []
    asked = [AskedQuestion.of(one) for one in questions]
    adjusted, levels = adjust([1.0 if one.p is None else one.p for one in asked])
    answers = []
    for one, p_adjusted, level in zip(asked, adjusted, levels, strict=True):
        answer = _answer(one, level, max_missing)
        answers.append(replace(answer, p=one.p, p_adjusted=None if one.p is None else p_adjusted))
    return answers


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question over its complete pairs, before the others are known: the difference at 95 %, and its p-value."""

    question: MetricQuestion
    sample: Sample
    found: Estimate | None
    exact: float | None  # the p-value of an exact test, where one is valid
    p: float | None

    @classmethod
    def of(cls, question: MetricQuestion, pairs: Pairs | None = None) -> "AskedQuestion":
        """Ask about the complete pairs of a question, or about others."""
        sample = question.sample(question.pairs.complete() if pairs is None else pairs)
        found = sample.difference()
        exact = sample.exact_p()
        p = None
        if found is not None and exact is not None and question.null == 0.0:
            p = exact
        elif found is not None:
            p = max(one.p_value(question.null, sample.ends) or 0.0 for one in _bounds(question, sample, found))
        return cls(question, sample, found, exact, p)

    def interval(self, level: float) -> Estimate | None:
        """Return the difference with the interval that decides.

        Of right or wrong answers it reaches 0 unless an exact test excludes that, too.
        """
        if self.found is None:
            return None
        sample = self.sample
        # How far values reached says nothing about where an interval ends, where they vary.
        found = [
            one.at(1.0 - level, sample.ends if sample.range is not None or not one.se else None)
            for one in _bounds(self.question, sample, self.found)
        ]
        lows = [one.low for one in found if one.low is not None]
        highs = [one.high for one in found if one.high is not None]
        if not lows or not highs:
            return found[0]
        if self.exact is not None and self.exact >= level:
            lows.append(0.0)
            highs.append(0.0)
        return replace(found[0], low=min(lows), high=max(highs))


def _bounds(question: MetricQuestion, sample: Sample, found: Estimate) -> list[Estimate]:
    """Return the estimates whose intervals must all exclude what the difference is tested against.

    Against a margin Student's t believes too much where a few answers of many differ: there the interval is never
    narrower than where none does (Wilson's for none out of all cases).
    """
    if question.null == 0.0 or sample.right_or_wrong() is None or not found.se:
        return [found]
    z = normal_quantile(1.0 - ALPHA / 2.0)
    most = z * z / (found.n + z * z)
    low, high = (found.value + most * (end - found.value) for end in sample.ends or (-1.0, 1.0))
    return [found, replace(found, se=None, df=None, low=low, high=high)]


def _answer(asked: AskedQuestion, level: float, max_missing: float) -> MetricComparison:
    question, sample, found = asked.question, asked.sample, asked.interval(level)
    answer = MetricComparison(
        question.metric,
        "undecided",
        question.is_gated,
        len(sample.pairs.ids),
        missing=share_missing(question.pairs),
        base_missing=sum(base for base, _ in question.pairs.lost.values()),
        new_missing=sum(new for _, new in question.pairs.lost.values()),
        among=question.among,
    )
    if found is None:
        why = "no case has a score in both runs" if question.pairs.ids else "the runs have no case in common"
        return replace(answer, reason=why)
    verdict = question.verdict(found)
    bounds: tuple[float, float] | None = None
    robust: bool | None = True
    if question.pairs.lost:
        bounds, robust = _worst_cases(question, verdict, level)
    answer = replace(answer, bounds=bounds, robust=robust)
    reason = _why_open(question, answer, max_missing)
    base, new = sample.means()
    detectable = _detectable(found, level)
    changes: Sequence[CaseChange] = ()
    if question.is_gated:
        changes = find_changes(question.metric, sample.pairs, higher_is_better=question.higher_is_better)
    return replace(
        answer,
        verdict=verdict if reason is None else "undecided",
        reason=reason,
        is_worse=reason is None and question.is_worse(found),
        base=base,
        new=new,
        difference=found,
        detectable=detectable,
        needed=_needed(question, sample, detectable),
        changes=tuple(changes),
    )


def share_missing(pairs: Pairs) -> float:
    """Return the share of pairs without a score; a case with repeats counts in part."""
    shares = []
    for at, (base, new) in pairs.lost.items():
        shares.append(max(base / (base + len(pairs.base[at])), new / (new + len(pairs.new[at]))))
    return math.fsum(shares) / len(pairs.ids) if shares else 0.0


def _worst_cases(
    question: MetricQuestion, verdict: DifferenceVerdict, level: float
) -> tuple[tuple[float, float] | None, bool | None]:
    """Return the interval that holds whatever the missing scores are, and whether the verdict does, too.

    Once everything missing speaks for the base and once for the new run; the difference lies between (Horowitz and
    Manski 2000). Both ends keep their full level. Where much is missing, less would do for the one true difference
    (Imbens and Manski 2004), but `robust` must not claim more than the interval beside it.
    """
    if question.range is None:
        return None, None
    least, most = question.range
    low, high = (
        AskedQuestion.of(question, question.pairs.fill(base, new)).interval(level)
        for base, new in ((most, least), (least, most))
    )
    if low is None or high is None or low.low is None or high.high is None:
        return None, None
    return (low.low, high.high), question.verdict(low) == question.verdict(high) == verdict


def _why_open(question: MetricQuestion, answer: MetricComparison, max_missing: float) -> str | None:
    """Return why missing scores leave a question open; None where the complete pairs may answer it.

    That takes few missing ones, and about as many in both runs: as many as chance would give to each (a sign test).
    """
    if answer.missing > max_missing:
        return f"{answer.missing:.1%} of the pairs lack a score; at most {max_missing * 100:.4g}% may"
    only_base = sum(new == 0 for _, new in question.pairs.lost.values())
    only_new = sum(base == 0 for base, _ in question.pairs.lost.values())
    sides = [1.0] * only_base + [0.0] * only_new
    is_even = mcnemar(sides, [1.0 - side for side in sides]).p_value >= ALPHA
    if is_even or answer.robust:
        return None
    counts = f"{answer.base_missing:,} scores are missing in the base and {answer.new_missing:,} in the new run"
    return f"{counts}: that is not chance, and they could change the verdict"


def _detectable(found: Estimate, level: float) -> float | None:
    """Return the least true difference found in 80 % of tries; without variation, how far the interval reaches."""
    if found.se:
        return minimum_detectable_effect(1, sd=found.se, alpha=level)
    if found.low is None or found.high is None:
        return None
    return max(found.high - found.value, found.value - found.low)


def _needed(question: MetricQuestion, sample: Sample, detectable: float | None) -> int | None:
    """Return how many cases, or repeats of each, detect the margin: the error shrinks with the root of their number."""
    if question.margin is None or detectable is None:
        return None
    pairs = sample.pairs
    number: float = len(pairs.ids)
    if sample.scope == "these":
        number = sum(map(len, (*pairs.base, *pairs.new))) / 2 / len(pairs.ids)
    needed = number * (detectable / question.margin) ** 2
    return math.ceil(needed) if needed < math.inf else None

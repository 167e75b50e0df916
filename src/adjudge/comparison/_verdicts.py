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
    SkewedMean,
    benjamini_hochberg,
    holm,
    mcnemar,
    normal_quantile,
    t_quantile,
)

ALPHA = 0.05
POWER = 0.8

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
    """A question over its complete pairs, before the others are known: the difference at 95 %, and its p-value.

    Against a margin Student's t believes too much where a few values of many differ. There the interval also allows for
    their skewness, and is never narrower than where none differs (`none_lost`, Wilson's for none of all). Against 0,
    right or wrong answers have an exact test.
    """

    question: MetricQuestion
    sample: Sample
    found: Estimate | None
    exact: float | None  # the p-value of an exact test, where one is valid
    p: float | None
    skewed: SkewedMean | None = None
    none_lost: Estimate | None = None

    @classmethod
    def of(cls, question: MetricQuestion, pairs: Pairs | None = None) -> "AskedQuestion":
        """Ask about the complete pairs of a question, or about others."""
        sample = question.sample(question.pairs.complete() if pairs is None else pairs)
        found = sample.difference()
        exact = sample.exact_p()
        if found is None:
            return cls(question, sample, None, exact, None)
        if question.null == 0.0:
            # Without variation the interval is as careful as the test, or more.
            seen = 0.0 if found.se and exact is not None else found.p_value(0.0, sample.ends)
            p = seen if exact is None or seen is None else max(seen, exact)
            return cls(question, sample, found, exact, p)
        if not found.se or sample.ends is None:
            return cls(question, sample, found, exact, found.p_value(question.null, sample.ends))
        skewed = SkewedMean.of(sample.parts(found.value), found.value, variance=found.se**2, df=found.df)
        z = normal_quantile(1.0 - ALPHA / 2.0)
        most = z * z / (sample.independent() + z * z)
        low, high = (found.value + most * (end - found.value) for end in sample.ends)
        none_lost = replace(found, se=None, df=None, low=low, high=high)
        null = question.null
        p_values = (found.p_value(null), skewed.p_value(null), none_lost.p_value(null, sample.ends))
        return cls(question, sample, found, exact, max(one or 0.0 for one in p_values), skewed, none_lost)

    def interval(self, level: float) -> Estimate | None:
        """Return the difference with the interval that decides."""
        if self.found is None:
            return None
        # How far values reached says nothing about where an interval ends, where they vary.
        ends = self.sample.ends if self.sample.range is not None or not self.found.se else None
        found = self.found.at(1.0 - level, ends)
        if found.low is None or found.high is None:
            return found
        reached = [found.low, found.high]
        if self.skewed is not None:
            low, high = self.skewed.interval(level)
            reached += [low, high] if ends is None else [max(low, ends[0]), min(high, ends[1])]
        if self.none_lost is not None:
            wilson = self.none_lost.at(1.0 - level, self.sample.ends)
            reached += [end for end in (wilson.low, wilson.high) if end is not None]
        # Of right or wrong answers it reaches 0 unless an exact test excludes that, too.
        if self.exact is not None and self.exact >= level:
            reached.append(0.0)
        return replace(found, low=min(reached), high=max(reached))


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
        bounds, robust = worst_cases(question, verdict, level)
    answer = replace(answer, bounds=bounds, robust=robust)
    reason = why_open(question.pairs, answer.missing, robust, max_missing)
    base, new = sample.means()
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
        detectable=_detectable(asked, level),
        needed=_needed(asked, level),
        changes=tuple(changes),
    )


def share_missing(pairs: Pairs) -> float:
    """Return the share of pairs without a score; a case with repeats counts in part."""
    shares = []
    for at, (base, new) in pairs.lost.items():
        shares.append(max(base / (base + len(pairs.base[at])), new / (new + len(pairs.new[at]))))
    return math.fsum(shares) / len(pairs.ids) if shares else 0.0


def worst_cases(
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


def why_open(pairs: Pairs, missing: float, robust: bool | None, max_missing: float) -> str | None:
    """Return why missing scores leave a question open; None where the complete pairs may answer it.

    That takes few missing ones, and about as many in both runs: as many as chance would give to each (a sign test).
    """
    if missing > max_missing:
        return f"{missing:.1%} of the pairs lack a score; at most {max_missing * 100:.4g}% may"
    only_base = sum(new == 0 for _, new in pairs.lost.values())
    only_new = sum(base == 0 for base, _ in pairs.lost.values())
    sides = [1.0] * only_base + [0.0] * only_new
    is_even = mcnemar(sides, [1.0 - side for side in sides]).p_value >= ALPHA
    if is_even or robust:
        return None
    base_missing, new_missing = (sum(one[side] for one in pairs.lost.values()) for side in (0, 1))
    counts = f"{base_missing:,} scores are missing in the base and {new_missing:,} in the new run"
    return f"{counts}: that is not chance, and they could change the verdict"


def _detectable(asked: AskedQuestion, level: float) -> float | None:
    """Return the least true difference found in 80 % of tries, if it comes from more values that differ.

    With jumps of size J, a difference d adds d · J - d² to the variance of one observation. Without variation, J is as
    far as a value can go. An exact test needs so many answers that differ, and None says that it never finds any.
    """
    found, sample = asked.found, asked.sample
    if found is None or (not found.se and sample.ends is None):
        return None
    least = 0.0
    if asked.exact is not None and asked.question.null == 0.0:
        count = math.ceil(math.log2(2.0 / level))  # all to one side: 2 · .5**count <= level
        if count > found.n:
            return None
        least = _share_with(count, found.n)
    number = sample.independent()
    far = (_quantile(level, found.df) + normal_quantile(POWER)) ** 2
    if not found.se:
        jump = (sample.ends[1] - sample.ends[0]) / 2.0 if sample.ends is not None else 0.0
        return max(least, far * jump / (number + far))
    plain = math.sqrt(far) * found.se
    jump = _jump(sample) * number
    tilt = far * jump / number
    shrink = 1.0 + far / number
    grown = (tilt + math.sqrt(tilt * tilt + 4.0 * shrink * far * found.se**2)) / (2.0 * shrink)
    return max(least, plain, min(grown, jump))


def _needed(asked: AskedQuestion, level: float) -> int | None:
    """Return how many cases, or repeats of each, show in 80 % of tries that equal runs do not differ by the margin."""
    margin, found, sample = asked.question.margin, asked.found, asked.sample
    if margin is None or found is None or (not found.se and sample.ends is None):
        return None
    variance = (found.se or 0.0) ** 2
    if asked.skewed is not None:
        grown = variance + (asked.question.null - found.value) * asked.skewed.slope
    elif sample.ends is not None:
        grown = margin * (sample.ends[1] - sample.ends[0]) / 2.0 / sample.independent()
    else:
        grown = variance
    # At the margin the variance is another than where the runs are equal.
    far = _quantile(level, found.df) * math.sqrt(max(variance, grown))
    far += normal_quantile(POWER) * math.sqrt(variance)
    pairs = sample.pairs
    number: float = len(pairs.ids)
    if sample.scope == "these":
        number = sum(map(len, (*pairs.base, *pairs.new))) / 2 / len(pairs.ids)
    needed = number * (far / margin) ** 2
    return math.ceil(needed) if needed < math.inf else None


def _share_with(count: int, number: int) -> float:
    """Return the share of which a sample of this number has at least so many in 80 % of tries."""
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2.0
        fewer = math.fsum(
            math.exp(
                math.lgamma(number + 1)
                - math.lgamma(k + 1)
                - math.lgamma(number - k + 1)
                + k * math.log(share)
                + (number - k) * math.log1p(-share)
            )
            for k in range(count)
        )
        low, high = (share, high) if 1.0 - fewer < POWER else (low, share)
    return high


def _jump(sample: Sample) -> float:
    """Return how far the mean moves by one value that differs, as those that do: Σ |part|³ / Σ part²."""
    parts = [abs(part) for part in sample.parts()]
    squares = math.fsum(part * part for part in parts)
    return math.fsum(part**3 for part in parts) / squares if squares else 0.0


def _quantile(level: float, df: float | None) -> float:
    return normal_quantile(1.0 - level / 2.0) if df is None else t_quantile(1.0 - level / 2.0, df)

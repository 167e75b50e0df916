"""An interval from the values themselves: resampled with replacement, whole clusters at a time.

The same values give the same interval, whatever their order, on every machine: the clusters are sorted before they are
drawn from, by a generator with a seed of its own.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from adjudge.errors import UsageError
from adjudge.statistics._clusters import estimate_mean, group_by_cluster
from adjudge.statistics._estimate import Estimate, Range, within
from adjudge.statistics._quantiles import normal_cdf, normal_quantile

Bootstrap: TypeAlias = Literal["percentile", "bca"]
"""How an interval is read from resampled means."""

Pair: TypeAlias = tuple[int, float]  # size and total of a cluster


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    method: Bootstrap = "percentile",
    resamples: int = 2000,
    seed: int = 0,
    range: Range = (0.0, 1.0),  # noqa: A002 (the word that users expect)
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the mean with the error and interval of means resampled from the values, or None where there are none.

    Whole clusters are drawn where `clusters` are given. `percentile`: quantiles of the resampled means (Efron 1979);
    `bca`: corrected for bias and skewness (Efron 1987). Where nothing varies, or the quantiles are the same, it is the
    interval of `estimate_mean`, and `note` says so. Costs `resamples` draws of every cluster.

    >>> result = bootstrap_mean([1, 1, 0, 1, 0, 0, 1, 1, 1, 0])
    >>> f"{result.value:.1f} [{result.low:.1f}, {result.high:.1f}] {result.method}"
    '0.6 [0.3, 0.9] percentile'
    """
    if method not in ("percentile", "bca") or resamples < 100:
        raise UsageError(f"need method percentile or bca and 100 resamples or more, got {method!r} and {resamples}")
    formula = estimate_mean(values, clusters, range=range, confidence=confidence)
    # What does not vary does not when it is resampled either.
    if formula is None or formula.se is None:
        return formula
    groups = zip(values) if clusters is None else group_by_cluster(values, clusters)
    # Sorted before they are drawn from: the order of the rows must not change the interval.
    pairs = sorted((len(group), math.fsum(group)) for group in groups)
    means = resample(pairs, resamples, seed)
    tails = (0.5 - confidence / 2.0, 0.5 + confidence / 2.0)
    if method == "bca":
        tails = correct_tails(tails, means, pairs, formula.value)
    low, high = within(quantile(means, tails[0]), quantile(means, tails[1]), range)
    centre = math.fsum(means) / resamples
    se = math.sqrt(math.fsum((mean - centre) ** 2 for mean in means) / (resamples - 1))
    if not low < high:
        note = "the resampled means do not vary enough: Student's t"
        return replace(formula, note=f"{note}; {formula.note}" if formula.note else note)
    name = method if clusters is None else f"clustered {method}"
    return replace(formula, se=se, low=low, high=high, df=None, method=name)


def resample(pairs: Sequence[Pair], resamples: int, seed: int) -> list[float]:
    """Return the sorted means of clusters drawn with replacement."""
    from random import Random

    chance = Random(seed)  # noqa: S311 (statistics, not secrets)
    alike = len({size for size, _ in pairs}) == 1
    totals, n = [total for _, total in pairs], sum(size for size, _ in pairs)
    # The usual case, without clusters: half the work.
    if alike:
        return sorted(math.fsum(chance.choices(totals, k=len(pairs))) / n for _ in range(resamples))
    means = []
    for _ in range(resamples):
        sizes, drawn = zip(*chance.choices(pairs, k=len(pairs)), strict=True)
        means.append(math.fsum(drawn) / sum(sizes))
    return sorted(means)


def correct_tails(
    tails: tuple[float, float], means: Sequence[float], pairs: Sequence[Pair], value: float
) -> tuple[float, float]:
    """Return the tails of the BCa interval: shifted by the bias of the resampled means and their skewness.

    With b = Φ⁻¹ of the share of means below the value (ties half) and a = Σ d³ / (6 (Σ d²)^1.5) over the deviations d
    of the means that leave one cluster out: Φ(b + (b + z) / (1 - a (b + z))).
    """
    below = sum((mean < value) + (mean <= value) for mean in means) / (2 * len(means))
    # The value lies beyond all resampled means: there is no bias to correct by.
    if not 0.0 < below < 1.0:
        return tails
    bias = normal_quantile(below)
    n, total = sum(size for size, _ in pairs), math.fsum(total for _, total in pairs)
    without = [(total - own) / (n - size) for size, own in pairs]
    centre = math.fsum(without) / len(without)
    squares = math.fsum((centre - one) ** 2 for one in without)
    skew = math.fsum((centre - one) ** 3 for one in without) / (6.0 * squares**1.5)
    low, high = (
        normal_cdf(bias + (bias + z) / (1.0 - skew * (bias + z))) for z in (normal_quantile(tail) for tail in tails)
    )
    return low, high


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, in a straight line between two (type 7 of Hyndman and Fan 1996)."""
    place = share * (len(ordered) - 1)
    index = min(int(place), len(ordered) - 2)
    return ordered[index] + (place - index) * (ordered[index + 1] - ordered[index])

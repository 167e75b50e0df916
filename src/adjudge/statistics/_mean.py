"""A mean and how far to trust it.

    mean_of(Moments.of([1, 1, 0, 1, 0, 0, 1, 1, 1, 0])).low   ->  .3127 (Wilson)

Moments can be added: the moments of two shards, merged, are the moments of the whole.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from adjudge.statistics._estimate import bad_confidence, wilson
from adjudge.statistics._quantiles import normal_quantile, t_quantile

Method: TypeAlias = Literal["wilson", "t", "clustered", "anytime", "none"]
"""How an interval was made; `none` where there is one value only, or all are alike."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and sum of squared deviations of some values: what a mean and its error need."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    binary: bool = True  # every value is 0 or 1

    @classmethod
    def of(cls, values: Sequence[float]) -> "Moments":
        """Return the moments of the values.

        >>> Moments.of([1.0, 2.0, 3.0])
        Moments(n=3, mean=2.0, squares=2.0, binary=False)
        """
        if not values:
            return cls()
        try:
            mean = math.fsum(values) / len(values)
        # The sum is beyond a float, the mean is not.
        except OverflowError:
            mean = math.fsum(value / len(values) for value in values)
        squares = sum((value - mean) * (value - mean) for value in values)
        return cls(len(values), mean, squares, all(value in (0.0, 1.0) for value in values))

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of both together (Chan, Golub and LeVeque 1979).

        >>> Moments.of([1.0]).merge(Moments.of([2.0, 3.0])) == Moments.of([1.0, 2.0, 3.0])
        True
        """
        if not self.n or not other.n:
            return other if not self.n else self
        n = self.n + other.n
        gap = other.mean - self.mean
        mean = self.mean + gap * other.n / n
        squares = self.squares + other.squares + gap * gap * self.n * other.n / n
        return Moments(n, mean, squares, self.binary and other.binary)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval; `low` and `high` are None where there are too few values to tell."""

    value: float
    low: float | None
    high: float | None
    n: int
    method: Method


def mean_of(moments: Moments, *, confidence: float = 0.95) -> Mean | None:
    """Return the mean with its confidence interval, or None where there are no values.

    Values that are all 0 or 1 get Wilson's score interval (1927), which has a width even when all are equal;
    others Student's t: mean ± t · s / √n, with s² = Σ(x - mean)² / (n - 1).

    >>> result = mean_of(Moments.of([1, 1, 0, 1, 0, 0, 1, 1, 1, 0]))
    >>> f"{result.value:.1f} [{result.low:.6f}, {result.high:.6f}] {result.method}"
    '0.6 [0.312674, 0.831820] wilson'
    """
    if not 0.0 < confidence < 1.0:
        raise bad_confidence(confidence)
    n, mean = moments.n, moments.mean
    if n == 0:
        return None
    upper = 0.5 + confidence / 2.0
    if moments.binary:
        low, high = wilson(mean, n, normal_quantile(upper))
        return Mean(mean, low, high, n, "wilson")
    # Values that are all alike do not show how far they can differ.
    if n == 1 or moments.squares == 0.0:
        return Mean(mean, None, None, n, "none")
    half = t_quantile(upper, n - 1) * math.sqrt(moments.squares / (n - 1) / n)
    return Mean(mean, mean - half, mean + half, n, "t")

"""An estimate: a number, its standard error, its interval, and how they came about."""

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from adjudge.errors import UsageError
from adjudge.statistics._quantiles import normal_cdf, normal_quantile, t_cdf, t_quantile

Interval: TypeAlias = Literal["t", "normal", "wilson"]
"""How an interval is made from a mean and its standard error."""

Range: TypeAlias = tuple[float, float] | None
"""The least and the greatest value that can be; None where there is no such end."""

FEW_CLUSTERS = 20
"""With fewer clusters than this, an interval is only rough."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its standard error and interval; those are None where the values cannot show them."""

    value: float
    se: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int | None  # None where every row counts as one of its own
    df: float | None  # degrees of freedom of Student's t; None where the interval does not use it
    method: str  # "t", "normal", "wilson", "percentile", "bca" or "none"; clustered: "CR1 t", "clustered bca"
    note: str | None = None  # what a reader must know beside the number
    confidence: float = 0.95

    def p_value(self, null: float = 0.0, ends: Range = None) -> float | None:
        """Return how likely a value at least this far from `null` is where the truth is `null`: two-sided.

        Where no variation was seen, it follows from the interval, if `ends` say how far the truth could reach. It is
        None where neither is known. The interval at 1 - alpha excludes what has p < alpha.

        >>> round(Estimate(0.2, 0.1, 0.0, 0.4, 100, None, None, "normal").p_value(), 6)
        0.0455
        """
        if not self.se:
            return None if ends is None else self._p_without_variation(null, ends)
        distance = abs(self.value - null) / self.se
        return 2.0 * (normal_cdf(-distance) if self.df is None else t_cdf(-distance, self.df))

    def _p_without_variation(self, null: float, ends: tuple[float, float]) -> float | None:
        """Solve Wilson's interval, value ± z² / (m + z²) · (end - value), for the z at which it meets null."""
        if null == self.value:
            return 1.0
        end, reached = (ends[0], self.low) if null < self.value else (ends[1], self.high)
        if abs(null - self.value) >= abs(end - self.value):
            return 0.0  # the truth cannot be there
        if reached is None:
            return None
        odds, wanted = (_odds((one - self.value) / (end - self.value)) for one in (reached, null))
        z = normal_quantile(0.5 + self.confidence / 2.0)
        return 2.0 * normal_cdf(-z * math.sqrt(wanted / odds))

    def at(self, confidence: float, ends: Range = None) -> "Estimate":
        """Return the same estimate with the interval of another confidence; `ends` say how far the truth could reach.

        >>> found = Estimate(0.2, 0.1, 0.004, 0.396, 100, None, None, "normal")
        >>> f"{found.at(0.99).low:.4f} .. {found.at(0.99).high:.4f}"
        '-0.0576 .. 0.4576'
        """
        if self.low is None or self.high is None:
            return replace(self, confidence=confidence)
        if self.se:
            low, high = within(*around(self.value, self.se, self.df, confidence), ends)
            return replace(self, low=low, high=high, confidence=confidence)
        # Wilson's interval again: the odds of z² / (m + z²) are z² / m.
        scale = (normal_quantile(0.5 + confidence / 2.0) / normal_quantile(0.5 + self.confidence / 2.0)) ** 2
        found = []
        for end, reached in zip(ends or (self.low, self.high), (self.low, self.high), strict=True):
            odds = scale * _odds((reached - self.value) / (end - self.value)) if end != self.value else 0.0
            found.append(self.value + odds / (1.0 + odds) * (end - self.value))
        return replace(self, low=found[0], high=found[1], confidence=confidence)


def _odds(share: float) -> float:
    return share / (1.0 - share)


def wilson(share: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's score interval of a share out of n, which need not be a whole number."""
    shrink = 1.0 + z * z / n
    centre = (share + z * z / (2.0 * n)) / shrink
    half = z * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)) / shrink
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def around(value: float, se: float, df: float | None, confidence: float) -> tuple[float, float]:
    """Return value ± q · se, q the quantile of Student's t, or of the normal where df is None."""
    upper = 0.5 + confidence / 2.0
    half = se * (normal_quantile(upper) if df is None else t_quantile(upper, df))
    return value - half, value + half


def within(low: float, high: float, ends: Range) -> tuple[float, float]:
    """Return the interval cut to the range."""
    return (low, high) if ends is None else (max(low, ends[0]), min(high, ends[1]))


def bad_confidence(confidence: float) -> UsageError:
    """Return the error for a confidence that is not between 0 and 1."""
    return UsageError(f"confidence must lie between 0 and 1, got {confidence}")

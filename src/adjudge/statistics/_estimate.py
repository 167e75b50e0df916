"""An estimate: a number, its standard error, its interval, and how they came about."""

import math
from dataclasses import dataclass
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

    def p_value(self, null: float = 0.0) -> float | None:
        """Return how likely a value at least this far from `null` is where the truth is `null`: two-sided.

        None where there is no standard error.

        >>> round(Estimate(0.2, 0.1, 0.0, 0.4, 100, None, None, "normal").p_value(), 6)
        0.0455
        """
        if not self.se:
            return None
        distance = abs(self.value - null) / self.se
        return 2.0 * (normal_cdf(-distance) if self.df is None else t_cdf(-distance, self.df))


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

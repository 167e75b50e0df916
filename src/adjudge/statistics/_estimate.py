"""An estimate: a number, its standard error, its interval, and how they came about."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from adjudge.errors import DataError, UsageError
from adjudge.statistics._quantiles import normal_cdf, normal_quantile, t_cdf, t_quantile

Interval: TypeAlias = Literal["t", "normal", "wilson"]
"""How an interval is made from a mean and its standard error."""

Range: TypeAlias = tuple[float, float] | None
"""The least and the greatest value that can be; None where there is no such end."""

FEW_CLUSTERS = 20
"""With fewer clusters than this, an interval is only rough."""

DUST = 1e-12  # a standard error below this share of the range is rounding, not variation


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


def if_all_alike(value: float, n: float, ends: tuple[float, float], confidence: float) -> tuple[float, float]:
    """Return the interval of a mean where no variation was seen in n observations.

    The share of observations that would differ has Wilson's interval 0 .. u, u = z² / (n + z²); those that differ lie
    somewhere in the range. At an end of the range this is Wilson's interval itself.
    """
    z = normal_quantile(0.5 + confidence / 2.0)
    most = z * z / (n + z * z)
    return value - most * (value - ends[0]), value + most * (ends[1] - value)


def within(low: float, high: float, ends: Range) -> tuple[float, float]:
    """Return the interval cut to the range."""
    return (low, high) if ends is None else (max(low, ends[0]), min(high, ends[1]))


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is not between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"confidence must lie between 0 and 1, got {confidence}")


def check_range(ends: Range) -> None:
    """Refuse a range that has no width."""
    if ends is not None and not -math.inf < ends[0] < ends[1] < math.inf:
        raise UsageError(f"a range is (least, greatest) with least < greatest, or None, got {ends}")


def outside(what: str, ends: tuple[float, float]) -> DataError:
    """Say that a value lies outside the range, and what to do."""
    return DataError(f"{what} lies outside the range {ends[0]:g}..{ends[1]:g}; give range=(least, greatest), or None")

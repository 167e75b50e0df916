"""How many rows it takes, and what some rows can show: power of a comparison of two runs.

All by the normal approximation: with standard error se, a two-sided test at level alpha finds a true difference d with
probability Φ(d / se - z) + Φ(-d / se - z), z the quantile of 1 - alpha / 2.

    design      se²                              sd is that of
    paired      design_effect · sd² / n          the differences, row by row; n rows that both runs have
    unpaired    design_effect · 2 · sd² / n      the scores of a run; n rows in each of the two runs

For scores of 0 and 1, sd = √(p (1 - p)); for their paired differences sd = √(q - d²), q the share of rows on which the
runs differ. `design_effect` is the squared ratio of the clustered to the plain standard error.
"""

import math
from typing import Literal, TypeAlias

from adjudge.errors import UsageError
from adjudge.statistics._quantiles import normal_cdf, normal_quantile

Design: TypeAlias = Literal["paired", "unpaired"]
"""Whether two runs are compared on the same rows, or on rows of their own."""


def power(
    difference: float,
    n: float,
    *,
    sd: float,
    design: Design = "paired",
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> float:
    """Return how likely n rows are to show a true difference of this size.

    >>> round(power(0.05, 400, sd=0.4), 4)
    0.7054
    """
    if not n > 0.0:
        raise UsageError(f"n must be greater than 0, got {n}")
    z = normal_quantile(1.0 - _share(alpha, "alpha") / 2.0)
    return _chance_of_finding(abs(difference) * math.sqrt(n / _variance(sd, design, design_effect)), z)


def minimum_detectable_effect(
    n: float,
    *,
    sd: float,
    power: float = 0.8,
    design: Design = "paired",
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> float:
    """Return the least true difference that n rows show with the wanted probability.

    >>> round(minimum_detectable_effect(400, sd=0.4), 5)
    0.05603
    """
    if not n > 0.0:
        raise UsageError(f"n must be greater than 0, got {n}")
    return _distance(power, alpha) * math.sqrt(_variance(sd, design, design_effect) / n)


def sample_size(
    difference: float,
    *,
    sd: float,
    power: float = 0.8,
    design: Design = "paired",
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> int:
    """Return the least number of rows (in each run, where unpaired) that shows a true difference of this size.

    >>> sample_size(0.05, sd=0.4), sample_size(0.05, sd=0.4, design="unpaired")
    (503, 1005)
    """
    if difference == 0.0:
        raise UsageError("no number of rows shows a difference of 0")
    return math.ceil((_distance(power, alpha) / difference) ** 2 * _variance(sd, design, design_effect))


def _chance_of_finding(distance: float, z: float) -> float:
    """Return the probability that a normal variable around `distance` lies beyond -z or z."""
    return normal_cdf(distance - z) + normal_cdf(-distance - z)


def _distance(power: float, alpha: float) -> float:
    """Return the true difference, in standard errors, that is found with the wanted probability."""
    z = normal_quantile(1.0 - _share(alpha, "alpha") / 2.0)
    if not alpha < _share(power, "power"):
        raise UsageError(f"power must be greater than alpha, got {power} and {alpha}")
    # At the upper end the nearer tail alone reaches the power; halved until two floats are neighbours.
    low, high = 0.0, z + normal_quantile(max(power, 0.5))
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return high
        if _chance_of_finding(middle, z) < power:
            low = middle
        else:
            high = middle


def _variance(sd: float, design: Design, design_effect: float) -> float:
    """Return the variance of a difference, times n."""
    if not (0.0 < sd < math.inf and 0.0 < design_effect < math.inf):
        raise UsageError(f"sd and design_effect must be greater than 0, got {sd} and {design_effect}")
    if design not in ("paired", "unpaired"):
        raise UsageError(f"design must be paired or unpaired, got {design!r}")
    return design_effect * sd * sd * (1.0 if design == "paired" else 2.0)


def _share(value: float, name: str) -> float:
    if not 0.0 < value < 1.0:
        raise UsageError(f"{name} must lie between 0 and 1, got {value}")
    return value

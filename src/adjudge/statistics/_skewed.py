"""An interval where few values differ, and all of them to one side: a score interval for values of any kind.

    4 of 400 lost: -.01        Student's t -.0198 .. -.0002, this -.0255 .. -.0039, Wilson's -.0254 .. -.0039

Student's t takes the variance that was seen for the variance that there is. Where losses are rare that is wrong to one
side: had the mean been lower, more would have been lost, and the variance greater. An end of this interval is the mean
at which the values lie as far off as they may, with the variance that they would have there. That grows by κ3 / κ2 for
each unit by which the mean moves (Efron 1981: exponential tilting). For 0 and 1 it is Wilson's interval but for the
curvature of p (1 - p); where values are spread evenly to both sides, κ3 is 0, and it is Student's.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from adjudge.statistics._quantiles import normal_cdf, normal_quantile, t_cdf, t_quantile


@dataclass(frozen=True, slots=True)
class SkewedMean:
    """A mean with its variance, and by how much that grows with each unit by which the mean is greater.

    >>> lost = [-1.0] * 4 + [0.0] * 396
    >>> mean = SkewedMean.of([(one + 0.01) / 400 for one in lost], -0.01, df=None)
    >>> [round(end, 4) for end in mean.interval(0.05)]
    [-0.0255, -0.0039]
    """

    value: float
    variance: float
    slope: float
    df: float | None = None

    @classmethod
    def of(cls, parts: Iterable[float], value: float, *, variance: float | None = None, df: float | None) -> Self:
        """Return the mean whose error is the sum of these independent parts, each with mean 0.

        `variance` is a better estimate than their squares, where there is one.
        """
        second = third = 0.0
        for part in parts:
            square = part * part
            second += square
            third += square * part
        return cls(value, second if variance is None else variance, third / second if second else 0.0, df)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the means that a two-sided test at this level does not reject."""
        upper = 1.0 - level / 2.0
        q = normal_quantile(upper) if self.df is None else t_quantile(upper, self.df)
        # The roots of d² = q² · (variance + d · slope).
        tilt = q * q * self.slope
        width = math.sqrt(tilt * tilt + 4.0 * q * q * self.variance)
        return self.value + (tilt - width) / 2.0, self.value + (tilt + width) / 2.0

    def p_value(self, null: float) -> float:
        """Return how likely a value at least this far from `null` is where the mean is `null`: two-sided."""
        distance = null - self.value
        variance = self.variance + distance * self.slope
        if variance <= 0.0:
            return 0.0 if distance else 1.0
        far = abs(distance) / math.sqrt(variance)
        return 2.0 * (normal_cdf(-far) if self.df is None else t_cdf(-far, self.df))

"""Quantiles of the normal and of Student's t distribution, in plain Python.

The t distribution function is an incomplete beta function (Abramowitz and Stegun 26.7.1), evaluated by its continued
fraction (26.5.8) with Lentz's method; the quantile is found by bisection.
"""

import math
from functools import lru_cache

from adjudge.errors import UsageError


def normal_cdf(z: float) -> float:
    """Return P(Z <= z).

    >>> normal_cdf(0.0)
    0.5
    """
    return math.erfc(-z / math.sqrt(2.0)) / 2.0


def normal_quantile(probability: float) -> float:
    """Return z with P(Z <= z) = probability.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from statistics import NormalDist

    if not 0.0 < probability < 1.0:
        raise UsageError(f"need 0 < probability < 1, got {probability}")
    return NormalDist().inv_cdf(probability)


def t_quantile(probability: float, df: float) -> float:
    """Return t with P(T <= t) = probability, T with `df` degrees of freedom.

    >>> round(t_quantile(0.975, 9), 6)
    2.262157
    """
    if not 0.0 < probability < 1.0 or not df > 0.0:
        raise UsageError(f"need 0 < probability < 1 and df > 0, got {probability} and {df}")
    if probability < 0.5:
        return -_quantile_of_tail(probability, df)
    # Exact: no digits are lost from 1/2 on.
    return _quantile_of_tail(1.0 - probability, df)


# A table of results asks for the same few over and over.
@lru_cache(maxsize=1024)
def _quantile_of_tail(tail: float, df: float) -> float:
    """Return t >= 0 with P(T > t) = tail."""
    low, high = 0.0, 1.0
    while _beyond(high, df) > tail:
        low, high = high, 2.0 * high
    while high - low > 1e-15 * high:
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if _beyond(middle, df) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def t_cdf(t: float, df: float) -> float:
    """Return P(T <= t), T with `df` degrees of freedom.

    >>> t_cdf(0.0, 5)
    0.5
    """
    if not df > 0.0:
        raise UsageError(f"need df > 0, got {df}")
    return 1.0 - _beyond(t, df) if t > 0.0 else _beyond(-t, df)


def _beyond(t: float, df: float) -> float:
    """Return P(T > t) for t >= 0."""
    square = t * t / df
    return _tail(square / (1.0 + square), 1.0 / (1.0 + square), math.log1p(square), df / 2.0) / 2.0


def _tail(x: float, rest: float, log_whole: float, a: float) -> float:
    """Return the regularised incomplete beta function I_rest(a, 1/2); `rest` is 1 - x, `log_whole` is -log(rest)."""
    if x <= 0.0 or rest <= 0.0:
        return 1.0 if x <= 0.0 else 0.0
    front = math.exp(_half_step(a) - a * log_whole) * math.sqrt(x / math.pi)
    # The continued fraction converges quickly on this side only; on the other, use the complement.
    if rest < (a + 1.0) / (a + 2.5):
        return front * _fraction(rest, a, 0.5) / a
    return 1.0 - front * _fraction(x, 0.5, a) / 0.5


def _half_step(a: float) -> float:
    """Return log Γ(a + 1/2) - log Γ(a): for large a by its series, where the difference would lose its digits."""
    if a < 50.0:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5) + 17 / (14336 * a**7)


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    tiny = 1e-300
    c = 1.0
    # Lentz's method, which divides by numbers that may be 0.
    d = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0), tiny)
    value = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        step = 1.0
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d, tiny)
            c = _away_from_zero(1.0 + term / c, tiny)
            step = c * d
            value *= step
        if abs(step - 1.0) < 1e-16:
            break
    return value


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny

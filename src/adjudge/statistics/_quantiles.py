"""Quantiles of the normal and of Student's t distribution, in plain Python.

The t distribution function is an incomplete beta function (Abramowitz and Stegun 26.7.1), evaluated by its continued
fraction (26.5.8) with Lentz's method; the quantile is found by bisection.
"""

import math


def normal_quantile(probability: float) -> float:
    """Return z with P(Z <= z) = probability.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)


def t_quantile(probability: float, df: float) -> float:
    """Return t with P(T <= t) = probability, T with `df` degrees of freedom.

    >>> round(t_quantile(0.975, 9), 6)
    2.262157
    """
    if not 0.0 < probability < 1.0 or not df > 0.0:
        raise ValueError(f"need 0 < probability < 1 and df > 0, got {probability} and {df}")
    if probability < 0.5:
        return -t_quantile(1.0 - probability, df)
    low, high = 0.0, 1.0
    while t_cdf(high, df) < probability:
        low, high = high, 2.0 * high
        if high > 1e300:
            return high
    while high - low > 1e-15 * high:
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if t_cdf(middle, df) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def t_cdf(t: float, df: float) -> float:
    """Return P(T <= t), T with `df` degrees of freedom.

    >>> t_cdf(0.0, 5)
    0.5
    """
    if t == 0.0:
        return 0.5
    tail = _beta_share(df / (df + t * t), t * t / (df + t * t), df / 2.0, 0.5) / 2.0
    return 1.0 - tail if t > 0.0 else tail


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b); `rest` is 1 - x without its rounding."""
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    front = math.exp(log_front)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(rest, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    tiny = 1e-300
    c = 1.0
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

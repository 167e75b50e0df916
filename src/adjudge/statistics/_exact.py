"""Sums without rounding, so that no order and no split of the values can move the last digit of a result.

A float is a whole number of some power of two: 0.75 is 3 / 2², so sums and squares of floats are kept as plain integers
with one common exponent, and rounded once, where a result is read.
"""

import math
from collections.abc import Iterable

from adjudge.errors import DataError


def whole(value: float) -> tuple[int, int]:
    """Return integers (a, k) with value = a / 2**k, k as small as can be.

    >>> whole(0.75)
    (3, 2)
    """
    try:
        top, bottom = (value if type(value) is int else float(value)).as_integer_ratio()
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"a value must be a finite number, got {value!r}; leave rows without a score out") from None
    return top, bottom.bit_length() - 1


def exact_sum(values: Iterable[float]) -> tuple[int, int]:
    """Return integers (a, k) with the exact sum of the values = a / 2**k, k as large as some value needs.

    >>> exact_sum([0.5, 1, 2.25])
    (15, 2)
    """
    total = exponent = 0
    for value in values:
        top, finer = whole(value)
        if finer > exponent:
            total <<= finer - exponent
            exponent = finer
        total += top << (exponent - finer)
    return total, exponent


def root(top: int, bottom: int) -> float:
    """Return √(top / bottom) to the last digit, also where the ratio itself is beyond a float.

    >>> root(9 * 10**400, 4 * 10**400)
    1.5
    """
    # An integer root of 60 bits or more holds every digit of a float.
    half = (top.bit_length() - bottom.bit_length()) // 2 - 60
    if half >= 0:
        return float(math.isqrt(top // (bottom << 2 * half)) << half)
    return math.isqrt((top << -2 * half) // bottom) / (1 << -half)

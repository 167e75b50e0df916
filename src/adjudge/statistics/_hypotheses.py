"""Is it more than chance: McNemar's exact test, and p-values of many comparisons at once."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adjudge.errors import DataError
from adjudge.statistics._clusters import same_length


@dataclass(frozen=True, slots=True)
class McNemar:
    """Whether one of two runs gets more rows right: the rows that only one of them did, and the exact p-value."""

    only_first: int
    only_second: int
    p_value: float


def mcnemar(first: Sequence[float], second: Sequence[float]) -> McNemar:
    """Return McNemar's exact test (1947) of two runs, right (1) or wrong (0) on the same rows.

    Of the rows that only one run got right, as many should fall to each: p = min(1, 2 · P(X <= the smaller count)),
    X binomial with one half. The rows must be independent; where they come in clusters, use `paired_difference`.

    >>> mcnemar([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], [1, 0, 0, 1, 0, 0, 1, 0, 1, 0])
    McNemar(only_first=2, only_second=0, p_value=0.5)
    """
    same_length(first, second, "the second run")
    only_first = only_second = 0
    for row, (one, other) in enumerate(zip(first, second, strict=True), 1):
        if one not in (0, 1) or other not in (0, 1):
            raise DataError(f"McNemar's test needs values of 0 or 1, got {one!r} and {other!r} in row {row}")
        only_first += one > other
        only_second += one < other
    tail = _at_most(min(only_first, only_second), only_first + only_second)
    return McNemar(only_first, only_second, min(1.0, 2.0 * tail))


def _at_most(k: int, n: int) -> float:
    """Return P(X <= k) of a binomial with n trials and one half, k <= n / 2."""
    term = total = 1.0
    # Each probability from the one above it, until the rest no longer counts.
    for i in range(k, 0, -1):
        term *= i / (n - i + 1)
        total += term
        if term < 1e-18 * total:
            break
    return total * _exactly(k, n)


def _exactly(k: int, n: int) -> float:
    """Return P(X = k) of a binomial with n trials and one half."""
    if n <= 10_000:
        return math.comb(n, k) / (1 << n)
    # Loader (2000): Stirling's formula with its error, and the deviance, which lose no digits for a large n.
    x = (n - 2 * k) / n
    if n * x * x > 1_600.0:  # below the least float
        return 0.0
    deviance = n / 2.0 * ((1.0 - x) * math.log1p(-x) + (1.0 + x) * math.log1p(x))
    errors = _stirling_error(n) - _stirling_error(k) - _stirling_error(n - k)
    return math.sqrt(n / (2.0 * math.pi * k * (n - k))) * math.exp(errors - deviance)


def _stirling_error(n: int) -> float:
    return 1.0 / (12.0 * n) - 1.0 / (360.0 * n**3)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values (1979), in the given order: reject those up to alpha.

    The chance of even one false rejection is then at most alpha, however the tests hang together. The i-th smallest of
    m is (m - i + 1) · p, at least the one before it, at most 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m = len(p_values)
    return _adjust(p_values, range(m), lambda rank, p: (m - rank) * p, max, 0.0)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's adjusted p-values (1995), in the given order: reject those up to q.

    Of the rejections, at most the share q is then false on average, where the tests are independent or positively
    dependent. The i-th smallest of m is p · m / i, at most the one after it.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    m = len(p_values)
    return _adjust(p_values, range(m - 1, -1, -1), lambda rank, p: p * m / (rank + 1), min, 1.0)


def _adjust(
    p_values: Sequence[float],
    ranks: range,
    scale: Callable[[int, float], float],
    keep: Callable[[float, float], float],
    start: float,
) -> list[float]:
    """Scale the p-values by their rank, walking through the ranks so that their order stays."""
    for number, p in enumerate(p_values, 1):
        if not 0.0 <= p <= 1.0:
            raise DataError(f"a p-value lies between 0 and 1, number {number} is {p!r}")
    # Adjusted in order of size, returned in the order given.
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    result = [0.0] * len(p_values)
    bound = start
    for rank in ranks:
        bound = keep(bound, scale(rank, p_values[order[rank]]))
        result[order[rank]] = min(1.0, bound)
    return result

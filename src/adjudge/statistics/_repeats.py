"""Repeats of a case: how far two runs differ on these very cases, and whether one case changed by more than chance.

    first, second = [[1, 1, 1, 0], [0, 0, 1, 0]], [[0, 1, 0, 0], [0, 0, 0, 0]]      two cases, four repeats each
    fixed_cases_difference(first, second)       .375 ± .217: other repeats of the same cases, not other cases
    permutation_p([1, 1, 1], [0, 0, 0])         .05: three of three to none of three

What varies here is the agent and not the choice of cases, so the error comes from within each case.
"""

import math
from collections.abc import Sequence
from itertools import combinations

from adjudge.errors import DataError, UsageError
from adjudge.statistics._clusters import same_length
from adjudge.statistics._estimate import Estimate, Range, around, within
from adjudge.statistics._quantiles import normal_quantile, t_cdf

MOST_SPLITS = 20_000  # ways to split the repeats of a case that are looked at one by one


def fixed_cases_mean(
    cases: Sequence[Sequence[float]],
    *,
    range: Range = (0.0, 1.0),  # noqa: A002 (the word that users expect)
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the mean over these cases, each with the mean of its repeats; see `fixed_cases_difference`.

    >>> found = fixed_cases_mean([[1, 1, 1, 0], [0, 0, 1, 0]])
    >>> f"{found.value} ± {found.se:.6f}"
    '0.5 ± 0.176777'
    """
    return _within_cases(_mean_of_cases(cases), (cases,), (range, range), confidence) if cases else None


def fixed_cases_difference(
    first: Sequence[Sequence[float]],
    second: Sequence[Sequence[float]],
    *,
    range: Range = (0.0, 1.0),  # noqa: A002 (the word that users expect)
    confidence: float = 0.95,
) -> Estimate | None:
    """Return how much greater the first mean is than the second on these cases, or None without cases.

    The i-th lists hold the repeats of the same case. With N cases and the variance s² of k repeats, the squared error
    is Σ s² / k over all lists, / N², with Satterthwaite's degrees of freedom. A list of one repeat shows no variance:
    it has the largest that its range allows, or that the others show. `range` is that of the values; the difference
    has twice its width.

    >>> found = fixed_cases_difference([[1, 1, 1, 0], [0, 0, 1, 0]], [[0, 1, 0, 0], [0, 0, 0, 0]])
    >>> f"{found.value} ± {found.se:.6f} [{found.low:.6f}, {found.high:.6f}] df {found.df:.0f}"
    '0.375 ± 0.216506 [-0.114771, 0.864771] df 9'
    """
    same_length(first, second, "the second run")
    if not first:
        return None
    ends = None if range is None else (range[0] - range[1], range[1] - range[0])
    return _within_cases(_mean_of_cases(first) - _mean_of_cases(second), (first, second), (range, ends), confidence)


def _within_cases(
    value: float, runs: Sequence[Sequence[Sequence[float]]], ranges: tuple[Range, Range], confidence: float
) -> Estimate:
    """Estimate from the variance within cases; the ranges are those of the scores, and of what is estimated."""
    scores, ends = ranges
    number = len(runs[0])
    squares = parts = 0.0
    for cases in runs:
        variances = [_variance(values) for values in cases]
        known = [one for one in variances if one is not None]
        if not known:
            raise UsageError("the error within cases needs cases that were repeated", code="no-repeats")
        unknown = max(known) if scores is None else (scores[1] - scores[0]) ** 2 / 4.0
        for values, variance in zip(cases, variances, strict=True):
            part = (unknown if variance is None else variance) / len(values) / number**2
            squares += part
            parts += part * part / max(1, len(values) - 1)
    if not squares:
        # Many repeats of one run say nothing about the other one.
        return _without_variation(value, number, min(map(further_repeats, runs)), ends, confidence)
    se, df = math.sqrt(squares), squares * squares / parts
    low, high = within(*around(value, se, df, confidence), ends)
    return Estimate(value, se, low, high, number, None, df, "within cases t", None, confidence)


def further_repeats(cases: Sequence[Sequence[float]]) -> float:
    """Return how many repeats beyond the first the cases amount to, all cases alike: N² / Σ 1 / (k - 1).

    >>> further_repeats([[1, 1, 1], [0, 0, 0]]), round(further_repeats([[1] * 41, [0, 0]]), 2)
    (4.0, 3.9)
    """
    # The first repeat alone shows nothing, so a case of one counts as the least that it may.
    return len(cases) ** 2 / math.fsum(1.0 / max(0.5, len(values) - 1) for values in cases)


def _without_variation(value: float, cases: int, repeats: float, ends: Range, confidence: float) -> Estimate:
    """Return an estimate where all repeats of every case agree: Wilson's interval for none out of the repeats."""
    if ends is None:
        note = "no interval without a range: all repeats of every case agree"
        return Estimate(value, None, None, None, cases, None, None, "none", note, confidence)
    z = normal_quantile(0.5 + confidence / 2.0)
    most = z * z / (repeats + z * z)
    low, high = value - most * (value - ends[0]), value + most * (ends[1] - value)
    note = f"Wilson's interval on {repeats:.4g} repeats: all repeats of every case agree"
    return Estimate(value, None, low, high, cases, None, None, "wilson", note, confidence)


def _mean_of_cases(cases: Sequence[Sequence[float]]) -> float:
    return math.fsum(map(_mean, cases)) / len(cases)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float | None:
    """Return the variance of the repeats; None for a single one."""
    if not values:
        raise DataError("every case needs at least one value in each run")
    if len(values) == 1:
        return None
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def permutation_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return how likely chance alone moves the mean at least as far in the direction seen: one-sided.

    Were both lists of one kind, every way to split their values in two would be as likely (Fisher 1935). For values of
    0 and 1 this is Fisher's exact test. Other values that can be split in more than 20,000 ways get Welch's t.

    >>> round(permutation_p([1, 1, 1], [0, 0, 0]), 6), permutation_p([1, 0], [0, 1])
    (0.05, 1.0)
    >>> f"{permutation_p([1] * 10, [1] + [0] * 9):.6f}"
    '0.000060'
    """
    if not first or not second:
        raise DataError("both runs need at least one value")
    if _mean(first) == _mean(second):
        return 1.0
    higher, lower = (first, second) if _mean(first) > _mean(second) else (second, first)
    values = [*higher, *lower]
    if all(value in (0, 1) for value in values):
        return _hypergeometric_tail(round(sum(higher)), len(higher), round(sum(values)), len(values))
    if math.comb(len(values), len(higher)) > MOST_SPLITS:
        return _welch(higher, lower)
    # Sums of the same numbers in another order may differ in the last digit.
    seen = math.fsum(higher) - 1e-12 * max(map(abs, values)) * len(values)
    splits = [math.fsum(split) >= seen for split in combinations(values, len(higher))]
    return sum(splits) / len(splits)


def _hypergeometric_tail(right: int, drawn: int, all_right: int, number: int) -> float:
    """Return the chance that at least `right` of the `drawn` are among the `all_right` of a number."""
    ways = math.comb(number, drawn)
    found = sum(
        math.comb(all_right, k) * math.comb(number - all_right, drawn - k)
        for k in range(right, min(drawn, all_right) + 1)
    )
    return found / ways


def _welch(higher: Sequence[float], lower: Sequence[float]) -> float:
    parts = [((_variance(values) or 0.0) / len(values), len(values)) for values in (higher, lower)]
    squares = math.fsum(part for part, _ in parts)
    if not squares:
        return 0.0
    df = squares * squares / math.fsum(part * part / max(1, size - 1) for part, size in parts)
    return t_cdf(-(_mean(higher) - _mean(lower)) / math.sqrt(squares), df)

"""What a judge's share is worth once its faults are known: the true share of right responses behind it.

rogan_gladen(share, sensitivity, specificity)      by the judge's error rates
prediction_powered(share, correction)              by its mean error on labelled rows

Intervals are made of the parts' intervals, not of their standard errors: a judge that made no error on few labelled
rows is not known to make none.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from adjudge.errors import UsageError
from adjudge.statistics._estimate import Estimate, around, within

_HALVINGS = 60  # of 0..1: to the last digit

Ends: TypeAlias = tuple[float, float]


def rogan_gladen(observed: Estimate, sensitivity: Estimate, specificity: Estimate) -> Estimate | None:
    """Return the true share of right responses behind a judge's share, by Rogan and Gladen (1978).

    (observed + specificity - 1) / (sensitivity + specificity - 1); None where the judge is no better than chance. The
    interval holds every share that could lead to what was observed (Fieller 1954): all of 0..1 where the judge is
    hardly better than chance. Sensitivity and specificity must hold for the rows at hand.

    >>> parts = [Estimate(value, 0.01, None, None, 2000, None, None, "normal") for value in (0.72, 0.95, 0.9)]
    >>> found = rogan_gladen(*parts)
    >>> f"{found.value:.3f} ± {found.se:.3f} [{found.low:.3f}, {found.high:.3f}]"
    '0.729 ± 0.015 [0.700, 0.759]'
    """
    skill = sensitivity.value + specificity.value - 1.0
    if skill <= 0.0:
        return None
    value = (observed.value + specificity.value - 1.0) / skill
    pulls = [(observed, 1.0 / skill), (sensitivity, -value / skill), (specificity, (1.0 - value) / skill)]
    # Worked out once: the search below asks for the interval sixty times at each end.
    reaches = [_reach(part) for part, _ in pulls]

    def beyond(share: float) -> Ends:
        """Return the interval of what was observed beyond what a true share leads to."""
        led_to = share * sensitivity.value + (1.0 - share) * (1.0 - specificity.value)
        return _interval(observed.value - led_to, reaches, (1.0, -share, 1.0 - share))

    inside = min(max(value, 0.0), 1.0)
    low = _last(inside, 0.0, lambda share: beyond(share)[0] <= 0.0)
    high = _last(inside, 1.0, lambda share: beyond(share)[1] >= 0.0)
    return _estimate(value, pulls, (low, high), "rogan-gladen")


def prediction_powered(observed: Estimate, correction: Estimate) -> Estimate:
    """Return the true mean from many judged rows and few labelled ones (Angelopoulos and others, Science 382, 2023).

    `observed` is the judge's mean over the run, `correction` the mean of label minus verdict over labelled rows of the
    same kind: the result is their sum, and its error that of both.

    >>> judged = Estimate(0.72, 0.01, None, None, 2000, None, None, "normal")
    >>> found = prediction_powered(judged, Estimate(-0.04, 0.012, None, None, 400, None, None, "normal"))
    >>> f"{found.value:.2f} ± {found.se:.4f}"
    '0.68 ± 0.0156'
    """
    parts = [(observed, 1.0), (correction, 1.0)]
    value = observed.value + correction.value
    ends = _interval(value, [_reach(part) for part, _ in parts], (1.0, 1.0))
    return _estimate(value, parts, ends, "prediction-powered")


def _reach(part: Estimate) -> Ends:
    """Return how far an interval lies below and above its value; without bounds where nothing is known of it."""
    low, high = part.low, part.high
    if low is None or high is None:
        if part.se is None:
            return -math.inf, math.inf
        low, high = around(part.value, part.se, part.df, part.confidence)
    return low - part.value, high - part.value


def _interval(value: float, reaches: Sequence[Ends], weights: Sequence[float]) -> Ends:
    """Return the interval of a weighted sum of independent estimates, from theirs (Zou and Donner 2008).

    On either side it reaches as far as the root of the parts' squared reaches, each on the side that pulls there.
    """
    pulls = [sorted(weight * end for end in reach) for reach, weight in zip(reaches, weights, strict=True) if weight]
    return value - math.hypot(*(down for down, _ in pulls)), value + math.hypot(*(up for _, up in pulls))


def _last(start: float, end: float, holds: Callable[[float], bool]) -> float:
    """Return how far from start to end something holds, which ends once: `end` where it holds there."""
    if holds(end):
        return end
    for _ in range(_HALVINGS):
        middle = (start + end) / 2.0
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


def _estimate(value: float, parts: Sequence[tuple[Estimate, float]], ends: Ends, method: str) -> Estimate:
    """Return an estimate with the error of its weighted parts (the delta method), all of it cut to 0..1."""
    confidence = parts[0][0].confidence
    # Intervals of different confidence cannot be combined into one.
    if any(part.confidence != confidence for part, _ in parts):
        raise UsageError("the parts of a correction have intervals of different confidence")
    inside = min(max(value, 0.0), 1.0)
    note = None if inside == value else f"{value:.4g} lies outside 0..1: the rows differ from those it was measured on"
    errors = [part.se * weight for part, weight in parts if part.se is not None]
    se = math.hypot(*errors) if len(errors) == len(parts) else None
    n = min(part.n for part, _ in parts)
    if any(part.se is None and part.low is None for part, _ in parts):
        return Estimate(inside, None, None, None, n, None, None, method, note, confidence)
    low, high = within(min(ends[0], inside), max(ends[1], inside), (0.0, 1.0))
    return Estimate(inside, se, low, high, n, None, None, method, note, confidence)

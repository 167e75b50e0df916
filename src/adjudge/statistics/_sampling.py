"""What all rows of a run would give, from some that were drawn at random: labels are dear, verdicts are cheap.

    stratified_mean([Stratum(900, (1, 1, 1, 0)), Stratum(100, (0, 1))])      a mean over all 1,000 rows
    corrected_mean(0.9, differences)                                         a judge's mean, corrected by labels
    sampled_agreement([DrawnPairs(900, ((True, True), ...)), ...])           accuracy and kappa over all rows
    labels_to_halve(strata)                                                  how many more labels halve an interval

A stratum is a part of the rows in which every row had the same chance to be drawn. Each of the k rows that were drawn
of its N counts N / k times, the inverse of that chance (Horvitz and Thompson 1952). Intervals are about these N rows:
they vanish when all are drawn.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adjudge.errors import UsageError
from adjudge.statistics._clusters import DUST
from adjudge.statistics._estimate import Estimate, around, bad_confidence, wilson, within
from adjudge.statistics._quantiles import normal_quantile

_HALVINGS = 60
_TWO = 2  # values that show a variance


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rows of one kind: how many there are, the values of those that were drawn, and the `range` of such values."""

    size: int
    values: tuple[float, ...]
    range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if not 0 <= len(self.values) <= self.size:
            raise UsageError(f"{len(self.values)} rows cannot be drawn from {self.size}")
        if any(not self.range[0] <= value <= self.range[1] for value in self.values):
            raise UsageError(f"a value lies outside {self.range[0]}..{self.range[1]}")


@dataclass(frozen=True, slots=True)
class DrawnPairs:
    """Rows of one kind: how many there are, and the label and verdict of those that were drawn."""

    size: int
    pairs: tuple[tuple[bool, bool], ...]


def stratified_mean(strata: Sequence[Stratum], *, confidence: float = 0.95) -> Estimate | None:
    """Return the mean over all rows of the strata; None where none of a stratum was drawn.

    Σ N_h / N · mean_h, with the squared error Σ (N_h / N)² · (1 - k_h / N_h) · s_h² / k_h (Cochran 1977). The interval
    is made of those of the strata (Zou and Donner 2008): Wilson's where all values are ends of the range, else
    Student's.

    >>> found = stratified_mean([Stratum(900, (1.0,) * 45 + (0.0,) * 5), Stratum(100, (1.0,) * 10 + (0.0,) * 40)])
    >>> f"{found.value:.2f} ± {found.se:.4f} [{found.low:.4f}, {found.high:.4f}]"
    '0.83 ± 0.0377 [0.7311, 0.8808]'
    """
    if not 0.0 < confidence < 1.0:
        raise bad_confidence(confidence)
    there = [one for one in strata if one.size]
    total = sum(one.size for one in there)
    if not there or any(not one.values for one in there):
        return None
    value = variance = below = above = 0.0
    for one in there:
        share = one.size / total
        mean, squared = _mean(one.values), _squared_error(one)
        low, high = _interval(one, mean, confidence)
        value += share * mean
        below, above = math.hypot(below, share * (mean - low)), math.hypot(above, share * (high - mean))
        variance = math.nan if squared is None else variance + share * share * squared
    n = sum(len(one.values) for one in there)
    note = f"all {total} rows were drawn" if n == total else None
    se = None if math.isnan(variance) else math.sqrt(variance)
    return Estimate(value, se, value - below, value + above, n, None, None, "stratified", note, confidence)


def corrected_mean(predicted: float, differences: Sequence[Stratum], *, confidence: float = 0.95) -> Estimate | None:
    """Return the mean label of all rows, from a judge's mean over them and labels of some; None without labels.

    predicted + the stratified mean of label - prediction: the difference estimator (Cassel, Särndal and Wretman 1976),
    which prediction-powered inference is, too. It is right however wrong the judge is; a good judge makes it narrow.

    >>> said_right = Stratum(900, (0.0,) * 45 + (-1.0,) * 5, (-1.0, 0.0))
    >>> said_wrong = Stratum(100, (1.0,) * 10 + (0.0,) * 40)
    >>> found = corrected_mean(0.9, [said_right, said_wrong])
    >>> f"{found.value:.2f} ± {found.se:.4f} [{found.low:.4f}, {found.high:.4f}]"
    '0.83 ± 0.0377 [0.7311, 0.8808]'
    """
    found = stratified_mean(differences, confidence=confidence)
    if found is None or found.low is None or found.high is None:
        return None
    low, high = within(predicted + found.low, predicted + found.high, (0.0, 1.0))
    value = min(max(predicted + found.value, 0.0), 1.0)
    return Estimate(value, found.se, low, high, found.n, None, None, "difference", found.note, confidence)


def sampled_agreement(
    strata: Sequence[DrawnPairs], *, confidence: float = 0.95
) -> tuple[Estimate, Estimate | None] | None:
    """Return accuracy and Cohen's kappa over all rows, from the rows drawn; None where none of a stratum was drawn.

    Accuracy is a stratified mean. Kappa is that of the weighted counts, its error that of its linearisation; it is None
    where labels and verdicts are all alike.

    >>> right = DrawnPairs(900, ((True, True),) * 45 + ((False, True),) * 5)
    >>> wrong = DrawnPairs(100, ((True, False),) * 10 + ((False, False),) * 40)
    >>> accuracy, kappa = sampled_agreement([right, wrong])
    >>> f"{accuracy.value:.2f}, {kappa.value:.4f} ± {kappa.se:.4f}"
    '0.89, 0.5339 ± 0.1023'
    """
    agreed = [Stratum(one.size, tuple([float(label == verdict) for label, verdict in one.pairs])) for one in strata]
    accuracy = stratified_mean(agreed, confidence=confidence)
    if accuracy is None:
        return None
    total = sum(one.size for one in strata)

    def share(of: Callable[[bool, bool], float]) -> float:
        return math.fsum(
            one.size / total * _mean([of(label, verdict) for label, verdict in one.pairs]) for one in strata if one.size
        )

    p, q = share(lambda label, _: float(label)), share(lambda _, verdict: float(verdict))
    chance = p * q + (1.0 - p) * (1.0 - q)
    if chance >= 1.0 - DUST:
        return accuracy, None
    kappa = (accuracy.value - chance) / (1.0 - chance)

    def pull(*, label: bool, verdict: bool) -> float:
        """Return the influence of a row on kappa (the delta method), as in `agreement`."""
        by_chance = (q if label else 1.0 - q) + (p if verdict else 1.0 - p) - 2.0 * chance
        same = float(label == verdict)
        return (same - accuracy.value) / (1.0 - chance) + (accuracy.value - 1.0) / (1.0 - chance) ** 2 * by_chance

    pulls = [
        Stratum(one.size, tuple([pull(label=a, verdict=b) for a, b in one.pairs]), (-math.inf, math.inf))
        for one in strata
        if one.size
    ]
    squared = [_squared_error(one) for one in pulls]
    parts = [(one.size / total) ** 2 * part for one, part in zip(pulls, squared, strict=True) if part is not None]
    se = math.sqrt(math.fsum(parts)) if len(parts) == len(pulls) else None
    if se is None or se <= DUST:
        # No row pulls: the interval of the accuracy is carried over to the scale of kappa.
        low, high = ((end - chance) / (1.0 - chance) for end in (accuracy.low or 0.0, accuracy.high or 0.0))
    else:
        low, high = around(kappa, se, max(1, accuracy.n - len(pulls)), confidence)
    low, high = within(low, high, (-1.0, 1.0))
    return accuracy, Estimate(kappa, se, low, high, accuracy.n, None, None, "stratified", accuracy.note, confidence)


def labels_to_halve(strata: Sequence[Stratum]) -> int | None:
    """Return how many more rows must be drawn, of every stratum in proportion, to halve the interval of the mean.

    About three times as many as there are, and fewer where they are a large part of all rows. None where nothing is
    drawn of a stratum.

    >>> labels_to_halve([Stratum(100_000, (1.0, 0.0) * 50)]), labels_to_halve([Stratum(200, (1.0, 0.0) * 50)])
    (299, 60)
    """
    there = [one for one in strata if one.size]
    if not there or any(not one.values for one in there):
        return None

    def squared_error(times: float) -> float:
        return math.fsum(
            one.size**2 * _variance(one) * (1.0 / min(one.size, len(one.values) * times) - 1.0 / one.size)
            for one in there
        )

    wanted = squared_error(1.0) / 4.0
    low, high = 1.0, float(max(one.size / len(one.values) for one in there))
    if wanted <= 0.0:
        return 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if squared_error(middle) > wanted else (low, middle)
    return sum(min(one.size, math.ceil(len(one.values) * high - 1e-6)) - len(one.values) for one in there)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _is_share(one: Stratum) -> bool:
    return all(value in one.range for value in one.values)


def _squared_error(one: Stratum) -> float | None:
    """Return the squared error of a stratum's mean; None where one value shows none."""
    k = len(one.values)
    if k == one.size:
        return 0.0
    if k < _TWO:
        return None
    mean = _mean(one.values)
    return (1.0 - k / one.size) * math.fsum((value - mean) ** 2 for value in one.values) / (k - 1) / k


def _interval(one: Stratum, mean: float, confidence: float) -> tuple[float, float]:
    """Return the interval of a stratum's mean, never of width 0 unless all of its rows were drawn."""
    k, (least, greatest) = len(one.values), one.range
    if k == one.size:
        return mean, mean
    # Of few rows, those that were drawn say more.
    effective = k / (1.0 - k / one.size)
    z, width = normal_quantile(0.5 + confidence / 2.0), greatest - least
    if _is_share(one):
        low, high = wilson((mean - least) / width, effective, z)
        return least + width * low, least + width * high
    squared = _squared_error(one)
    if not squared or squared <= (DUST * width) ** 2:
        reach = z * z / (effective + z * z)
        return mean - reach * (mean - least), mean + reach * (greatest - mean)
    return within(*around(mean, math.sqrt(squared), k - 1, confidence), one.range)


def _variance(one: Stratum) -> float:
    """Return a variance for planning: never 0, which no few rows can show."""
    k, (least, greatest) = len(one.values), one.range
    width = greatest - least
    if _is_share(one) or k < _TWO:
        # The centre of Wilson's interval: two more of either kind.
        share = ((_mean(one.values) - least) / width * k + 2.0) / (k + 4.0)
        return width * width * share * (1.0 - share)
    mean = _mean(one.values)
    return math.fsum((value - mean) ** 2 for value in one.values) / (k - 1)

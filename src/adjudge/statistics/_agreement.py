"""How far a judge agrees with people.

agreement(labels, verdicts, questions)      accuracy, kappa, sensitivity, specificity, with their intervals
krippendorff_alpha(units)                   agreement of any number of annotators, with gaps
reliability(probabilities, labels)          whether "90 % sure" is right in 90 % of cases
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from adjudge.errors import DataError, UsageError
from adjudge.statistics._clusters import DUST, estimate_mean, same_length
from adjudge.statistics._estimate import Estimate, around, within


@dataclass(frozen=True, slots=True)
class Agreement:
    """How verdicts compare with labels: the four counts, and what follows from them; None where there is no such row.

    `sensitivity` is the share of right responses that are called right, `specificity` that of wrong ones called wrong.
    """

    right_called_right: int
    wrong_called_right: int
    right_called_wrong: int
    wrong_called_wrong: int
    accuracy: Estimate
    kappa: Estimate | None
    sensitivity: Estimate | None
    specificity: Estimate | None

    @property
    def n(self) -> int:
        """How many rows were compared."""
        return self.right_called_right + self.wrong_called_right + self.right_called_wrong + self.wrong_called_wrong


def agreement(
    labels: Sequence[bool],
    verdicts: Sequence[bool],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
) -> Agreement | None:
    """Compare verdicts with labels, row by row; None without rows. Intervals are clustered where `clusters` are given.

    Shares have Wilson's interval. Kappa is Cohen's (1960), (p - e) / (1 - e) with p the share of rows that agree and e
    what chance would give; its error is that of its linearisation. It is None where labels and verdicts are all alike;
    where all agree, or one side never varies, its interval is that of p in its formula.

    >>> found = agreement([True, True, False, False, True], [True, True, False, True, True])
    >>> found.accuracy.value, round(found.kappa.value, 4), found.specificity.value
    (0.8, 0.5455, 0.5)
    """
    same_length(labels, verdicts, "the verdicts")
    names: Sequence[Hashable] = range(len(labels)) if clusters is None else clusters
    same_length(labels, names, "the clusters")
    rows = list(zip(labels, verdicts, names, strict=True))
    accuracy = _share([label == verdict for label, verdict, _ in rows], clusters, confidence)
    if accuracy is None:
        return None
    counts = Counter((bool(label), bool(verdict)) for label, verdict, _ in rows)

    def among(*, wanted: bool) -> Estimate | None:
        chosen = [(verdict, name) for label, verdict, name in rows if label == wanted]
        groups = None if clusters is None else [name for _, name in chosen]
        return _share([verdict == wanted for verdict, _ in chosen], groups, confidence)

    return Agreement(
        counts[True, True],
        counts[False, True],
        counts[True, False],
        counts[False, False],
        accuracy,
        _kappa(labels, verdicts, clusters, accuracy),
        among(wanted=True),
        among(wanted=False),
    )


def _share(hits: Sequence[bool], clusters: Sequence[Hashable] | None, confidence: float) -> Estimate | None:
    return estimate_mean([float(hit) for hit in hits], clusters, method="wilson", confidence=confidence)


def _kappa(
    labels: Sequence[bool], verdicts: Sequence[bool], clusters: Sequence[Hashable] | None, accuracy: Estimate
) -> Estimate | None:
    n, agreed, confidence = accuracy.n, accuracy.value, accuracy.confidence
    p, q = sum(map(bool, labels)) / n, sum(map(bool, verdicts)) / n
    chance = p * q + (1 - p) * (1 - q)
    # All labels and all verdicts are the same: agreement by chance is certain.
    if chance >= 1.0:
        return None
    kappa = (agreed - chance) / (1 - chance)
    # The influence of each row on kappa (the delta method): the clustered error of their mean is that of kappa.
    pulls: list[float] = []
    for label, verdict in zip(labels, verdicts, strict=True):
        by_chance = (q if label else 1 - q) + (p if verdict else 1 - p) - 2 * chance
        same = float(bool(label) == bool(verdict))
        pulls.append((same - agreed) / (1 - chance) + (agreed - 1) / (1 - chance) ** 2 * by_chance)
    error = estimate_mean(pulls, clusters, range=None, confidence=confidence)
    assert error is not None  # noqa: S101 (there are rows)
    # No row pulls: the interval of the accuracy is carried over to the scale of kappa.
    if error.se is None or error.se <= DUST:
        ends = [(end - chance) / (1 - chance) for end in (accuracy.low, accuracy.high) if end is not None]
        low, high = within(ends[0], ends[-1], (-1.0, 1.0))
        return replace(accuracy, value=kappa, se=None, low=low, high=high)
    low, high = within(*around(kappa, error.se, error.df, confidence), (-1.0, 1.0))
    return replace(error, value=kappa, low=low, high=high)


def krippendorff_alpha(units: Iterable[Sequence[Hashable | None]]) -> float | None:
    """Return Krippendorff's alpha (2004) of nominal labels: each unit's labels, None where an annotator gave none.

    1 - observed disagreement / expected disagreement, over the pairs of labels within units. None where there are no
    pairs, or only one label was ever given.

    >>> round(krippendorff_alpha([[1, 1], [1, 1], [0, 0], [0, 1], [1, None]]), 4)
    0.5333
    """
    totals: Counter[Hashable] = Counter()
    differing = 0.0
    for unit in units:
        given = Counter(label for label in unit if label is not None)
        m = given.total()
        # A label alone in its unit makes no pair.
        if m < 2:
            continue
        totals.update(given)
        differing += (m * m - sum(count * count for count in given.values())) / (m - 1)
    n = totals.total()
    expected = n * n - sum(count * count for count in totals.values())
    return None if not expected else 1.0 - (n - 1) * differing / expected


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows whose probability lies between `low` and `high`: their mean probability, and the share that is right."""

    low: float
    high: float
    n: int
    probability: float
    share: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """Whether probabilities mean what they say: `error` is the expected calibration error, `brier` Brier's score."""

    error: float
    brier: float
    bins: tuple[Bin, ...]


def reliability(probabilities: Sequence[float], labels: Sequence[bool], *, bins: int = 10) -> Reliability | None:
    """Compare probabilities of being right with what is; None without rows.

    The expected calibration error (Naeini and others 2015) is the mean over `bins` equal parts of 0..1, weighted by
    rows, of |mean probability - share right|.

    >>> found = reliability([0.95, 0.85, 0.9, 0.2], [True, True, False, False])
    >>> round(found.error, 4), [row.n for row in found.bins]
    (0.3, [1, 1, 2])
    """
    same_length(probabilities, labels, "the labels")
    if bins < 1:
        raise UsageError(f"there must be at least one bin, got {bins}")
    if any(not 0.0 <= value <= 1.0 for value in probabilities):
        raise DataError("a probability lies between 0 and 1")
    if not labels:
        return None
    groups: dict[int, list[tuple[float, bool]]] = {}
    for probability, label in zip(probabilities, labels, strict=True):
        # A probability of 1 belongs to the last part, not to one of its own.
        groups.setdefault(min(int(probability * bins), bins - 1), []).append((probability, bool(label)))
    found: list[Bin] = []
    for number, rows in sorted(groups.items()):
        mean = math.fsum(probability for probability, _ in rows) / len(rows)
        found.append(
            Bin(number / bins, (number + 1) / bins, len(rows), mean, sum(label for _, label in rows) / len(rows))
        )
    error = math.fsum(each.n * abs(each.probability - each.share) for each in found) / len(labels)
    brier = math.fsum((p - float(label)) ** 2 for p, label in zip(probabilities, labels, strict=True)) / len(labels)
    return Reliability(error, brier, tuple(found))

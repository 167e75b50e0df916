"""Rows in, an estimate out: the mean of some scores, and the difference of two runs on the same rows.

estimate_mean([1, 1, 0, 1, 0, 0, 1, 1, 1, 0])                 ->  .6, t95 [.2306, .9694]
estimate_mean(scores, conversations)                          ->  the same mean, its error clustered
paired_difference(scores, other_scores, conversations)        ->  how much better, row by row
"""

from collections.abc import Hashable, Iterable, Sequence

from adjudge.errors import DataError
from adjudge.statistics._clusters import Clusters, Correction, estimate_of
from adjudge.statistics._estimate import Estimate, Interval, Range, check_range, outside


def estimate_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    method: Interval = "t",
    correction: Correction = "CR1",
    range: Range = (0.0, 1.0),  # noqa: A002 (the word that users expect)
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the mean of the values with its error and interval, or None where there are none.

    `clusters` names the cluster of each value, such as its conversation; without it every value counts as independent:
    se = s / √n, and `t` has n - 1 degrees of freedom. Otherwise as `Clusters.estimate`.

    >>> scores = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
    >>> plain = estimate_mean(scores)
    >>> f"{plain.value:.1f} ± {plain.se:.6f} [{plain.low:.6f}, {plain.high:.6f}] {plain.method}"
    '0.6 ± 0.163299 [0.230591, 0.969409] t'
    >>> turns = estimate_mean(scores, list("aaabbcccdd"))
    >>> f"{turns.value:.1f} ± {turns.se:.6f} [{turns.low:.6f}, {turns.high:.6f}] {turns.method}"
    '0.6 ± 0.046188 [0.453009, 0.746991] CR1 t'
    """
    summary = Clusters(range)
    for group in group_by_cluster(values, clusters):
        summary.add(group)
    return estimate_of(
        summary, method, correction if clusters is not None else "CR1", confidence, clustered=clusters is not None
    )


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    method: Interval = "t",
    correction: Correction = "CR1",
    range: Range = (0.0, 1.0),  # noqa: A002 (the word that users expect)
    confidence: float = 0.95,
) -> Estimate | None:
    """Return how much greater the first mean is than the second, over rows that both have, or None without rows.

    The i-th values belong to the same row: the error is that of the mean of the differences, clustered where `clusters`
    are given. `range` is that of the scores; the difference has twice its width.

    >>> ours, theirs = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0], [1, 0, 0, 1, 0, 0, 1, 0, 1, 0]
    >>> difference = paired_difference(ours, theirs, list("aaabbcccdd"))
    >>> f"{difference.value:.1f} ± {difference.se:.6f}, p {difference.p_value():.6f}"
    '0.2 ± 0.092376, p 0.119007'
    """
    check_range(range)
    same_length(first, second, "the second run")
    if range is None:
        width = None
    else:
        for value in (*_ends(first), *_ends(second)):
            if not range[0] <= value <= range[1]:
                raise outside(f"the value {value!r}", range)
        width = (range[0] - range[1], range[1] - range[0])
    differences = [one - other for one, other in zip(first, second, strict=True)]
    return estimate_mean(
        differences, clusters, method=method, correction=correction, range=width, confidence=confidence
    )


def group_by_cluster(values: Sequence[float], clusters: Sequence[Hashable] | None) -> Iterable[Sequence[float]]:
    """Return the values of each cluster; of each value alone where there are no clusters."""
    if clusters is None:
        return ((value,) for value in values)
    same_length(values, clusters, "the clusters")
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    return groups.values()


def same_length(values: Sequence[object], others: Sequence[object], what: str) -> None:
    """Refuse rows that do not belong together."""
    if len(values) != len(others):
        raise DataError(f"{len(values)} values, but {len(others)} of {what}: give one for each row, in the same order")


def _ends(values: Sequence[float]) -> tuple[float, ...]:
    return (min(values), max(values)) if len(values) else ()

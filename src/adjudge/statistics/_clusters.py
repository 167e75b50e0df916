"""The mean of rows that come in clusters, such as the turns of conversations, and how far to trust it.

    clusters = Clusters()
    for conversation in [[1, 1, 0], [1, 0], [0, 1, 1], [1, 0]]:
        clusters.add(conversation)
    clusters.estimate()          ->  .6 ± .046 (CR1), 95 % [.453, .747], 4 clusters

Turns of one conversation stand or fall together, so an error that counts them as independent is wrong, mostly too
small. All that the mean and its clustered error need is, for each cluster size, the number of clusters, the sum of
their totals and of the squares of their totals. Kept exactly, these can be added in any order and split.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from adjudge.errors import UsageError
from adjudge.statistics._estimate import (
    DUST,
    FEW_CLUSTERS,
    Estimate,
    Interval,
    Range,
    around,
    check_confidence,
    check_range,
    if_all_alike,
    outside,
    wilson,
    within,
)
from adjudge.statistics._exact import exact_sum, root, whole
from adjudge.statistics._quantiles import normal_quantile

Correction: TypeAlias = Literal["CR0", "CR1", "CR2"]
"""How a clustered standard error allows for few clusters: not at all, by G / (G - 1), or cluster by cluster."""


@dataclass(slots=True)
class Clusters:
    """What a mean over clusters and its error need, of whole clusters, added in any order, merged over shards."""

    range: Range = (0.0, 1.0)
    exponent: int = 0  # totals are counted in units of 2**-exponent, so that they are whole
    sizes: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # size: clusters, Σ totals, Σ totals²

    def __post_init__(self) -> None:
        check_range(self.range)

    def add(self, values: Sequence[float]) -> None:
        """Add one whole cluster; one without values is none."""
        if len(values) == 0:
            return
        total, exponent = exact_sum(values)
        if self.range is not None:
            for value in (min(values), max(values)):
                if not self.range[0] <= value <= self.range[1]:
                    raise outside(f"the value {value!r}", self.range)
        self._count(len(values), total, exponent, 1)

    def add_total(self, size: int, total: float, *, count: int = 1) -> None:
        """Add `count` clusters, each of `size` values that sum to `total`: an integer, or the exact sum."""
        if size < 1 or count < 0:
            raise UsageError(f"a cluster has at least one value and is counted, got size {size}, count {count}")
        top, exponent = whole(total)
        if self.range is not None and not size * self.range[0] <= total <= size * self.range[1]:
            raise outside(f"a total of {total!r} over {size} values", self.range)
        if count:
            self._count(size, top, exponent, count)

    def merge(self, other: "Clusters") -> None:
        """Add all clusters of another shard to this one; no cluster may be in both."""
        if self.range != other.range:
            raise UsageError(f"clusters of different ranges cannot be merged: {self.range} and {other.range}")
        self._refine(other.exponent)
        finer = self.exponent - other.exponent
        for size, (count, totals, squares) in other.sizes.items():
            self._put(size, count, totals << finer, squares << 2 * finer)

    def _count(self, size: int, total: int, exponent: int, count: int) -> None:
        self._refine(exponent)
        total <<= self.exponent - exponent
        self._put(size, count, count * total, count * total * total)

    def _put(self, size: int, count: int, totals: int, squares: int) -> None:
        old = self.sizes.get(size, (0, 0, 0))
        self.sizes[size] = (old[0] + count, old[1] + totals, old[2] + squares)

    def _refine(self, exponent: int) -> None:
        """Count in smaller units, where some total needs them."""
        finer = exponent - self.exponent
        if finer > 0:
            self.exponent = exponent
            self.sizes = {
                size: (count, totals << finer, squares << 2 * finer)
                for size, (count, totals, squares) in self.sizes.items()
            }

    @property
    def n(self) -> int:
        """How many values there are."""
        return sum(size * count for size, (count, _, _) in self.sizes.items())

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return sum(count for count, _, _ in self.sizes.values())

    @property
    def effective_n(self) -> float:
        """How many independent values the clusters amount to if the values of each are all alike: n² / Σ size² (Kish).

        It is at most the number of clusters, and equal to it where all have the same size.
        """
        return self.n**2 / sum(size * size * count for size, (count, _, _) in self.sizes.items()) if self.n else 0.0

    @property
    def mean(self) -> float | None:
        """The mean over all values, each with the same weight; None where there are none."""
        n = self.n
        return sum(totals for _, totals, _ in self.sizes.values()) / (n << self.exponent) if n else None

    def standard_error(self, correction: Correction = "CR1") -> float | None:
        """Return the clustered standard error of the mean; None for fewer than two clusters.

        With residual totals e = total - size · mean: CR0² = Σ e² / n², CR1² = CR0² · G / (G - 1),
        CR2² = Σ e² / (1 - size / n) / n² (Liang and Zeger 1986; Bell and McCaffrey 2002).

        >>> clusters = Clusters()
        >>> for values in [1, 1, 0], [1, 0], [0, 1, 1], [1, 0]:
        ...     clusters.add(values)
        >>> [round(clusters.standard_error(kind), 7) for kind in ("CR0", "CR1", "CR2")]
        [0.04, 0.046188, 0.046291]
        """
        check_correction(correction)
        n, groups = self.n, self.clusters
        if groups < 2:
            return None
        total = sum(totals for _, totals, _ in self.sizes.values())
        # Σ e² of the clusters of each size, exactly, times n² · 4**exponent.
        spread = {
            size: n * n * squares - 2 * size * n * total * totals + count * (size * total) ** 2
            for size, (count, totals, squares) in self.sizes.items()
        }
        whole_spread = sum(spread.values())
        if whole_spread == 0:
            return 0.0
        scale = n**4 << 2 * self.exponent
        if correction == "CR1":
            return root(whole_spread * groups, scale * (groups - 1))
        plain = root(whole_spread, scale)
        if correction == "CR0":
            return plain
        return plain * math.sqrt(math.fsum(part / whole_spread * (n / (n - size)) for size, part in spread.items()))

    def degrees_of_freedom(self, correction: Correction = "CR1") -> float | None:
        """Return the degrees of freedom of the standard error; None for fewer than two clusters.

        G - 1; for CR2 Satterthwaite's, as Bell and McCaffrey (2002) give them for independent rows of equal variance:
        1 / (Σ size² / n² + ((Σ a)² - Σ a²) / n⁴), a = size² / (1 - size / n).

        >>> clusters = Clusters()
        >>> for values in [1, 1, 0], [1, 0], [0, 1, 1], [1, 0]:
        ...     clusters.add(values)
        >>> round(clusters.degrees_of_freedom("CR2"), 6)
        2.861314
        """
        check_correction(correction)
        n, groups = self.n, self.clusters
        if groups < 2:
            return None
        if correction != "CR2":
            return float(groups - 1)
        counts = [(size, count) for size, (count, _, _) in self.sizes.items()]
        share = [(size * size / (n * (n - size)), count) for size, count in counts]  # a / n²
        both = math.fsum(count * part for part, count in share)
        same = math.fsum(count * part * part for part, count in share)
        return 1.0 / (sum(size * size * count for size, count in counts) / n**2 + both * both - same)

    def estimate(
        self, *, method: Interval = "t", correction: Correction = "CR1", confidence: float = 0.95
    ) -> Estimate | None:
        """Return the mean with its clustered error and interval, or None where there are no values.

        `t`: mean ± t · se; `normal`: mean ± z · se; `wilson`: Wilson's interval on the effective n. All end where the
        range does. Where no variation between clusters was seen, the interval is that of `docs/statistics.md`, never of
        width 0. Fewer than 20 clusters are said in `note`.
        """
        return estimate_of(self, method, correction, confidence)


def estimate_of(
    summary: Clusters, method: Interval, correction: Correction, confidence: float, *, clustered: bool = True
) -> Estimate | None:
    """Return the mean with its error and interval; not clustered: every value is a cluster of its own."""
    check_confidence(confidence)
    if method not in ("t", "normal", "wilson"):
        raise UsageError(f"method must be t, normal or wilson, got {method!r}")
    value, se, n, ends = summary.mean, summary.standard_error(correction), summary.n, summary.range
    if value is None:
        return None
    groups = summary.clusters if clustered else None
    few = None
    if groups and groups < FEW_CLUSTERS:
        few = f"{groups} clusters, fewer than {FEW_CLUSTERS}: the interval is rough"
    if not se or (ends is not None and se <= DUST * (ends[1] - ends[0])):
        return _without_variation(summary, value, confidence, groups, few)
    df = summary.degrees_of_freedom(correction) if method == "t" else None
    if method == "wilson":
        low, high = _wilson_in_range(value, se, n, ends, confidence)
    else:
        low, high = within(*around(value, se, df, confidence), ends)
    name = f"{correction} {method}" if clustered else method
    return Estimate(value, se, low, high, n, groups, df, name, few, confidence)


def _without_variation(
    summary: Clusters, value: float, confidence: float, groups: int | None, few: str | None
) -> Estimate:
    """Return a mean whose clusters do not show how far they can differ: there is one, or all have the same mean."""
    ends, n = summary.range, summary.n
    unit = "value" if groups is None else "cluster"
    why = f"one {unit}" if summary.clusters == 1 else f"no variation between {unit}s{f'; {few}' if few else ''}"
    if ends is None:
        note = f"no interval without a range: {why}"
        return Estimate(value, None, None, None, n, groups, None, "none", note, confidence)
    effective = summary.effective_n
    low, high = within(*if_all_alike(value, effective, ends, confidence), ends)
    note = f"Wilson's interval on an effective n of {effective:.4g}: {why}"
    return Estimate(value, None, low, high, n, groups, None, "wilson", note, confidence)


def _wilson_in_range(value: float, se: float, n: int, ends: Range, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval on n / design effect, at most n, for a mean in a range other than 0..1 too."""
    if ends is None:
        raise UsageError("Wilson's interval needs a range: give range=(least, greatest)")
    width = ends[1] - ends[0]
    share = (value - ends[0]) / width
    # n / design effect, which is the squared error against that of n independent rows, p (1 - p) / (n - 1).
    effective = max(1.0, min(1.0, share * (1.0 - share) / (n - 1) / (se / width) ** 2) * n)
    low, high = wilson(share, effective, normal_quantile(0.5 + confidence / 2.0))
    return within(min(value, ends[0] + width * low), max(value, ends[0] + width * high), ends)


def check_correction(correction: str) -> None:
    """Refuse an unknown correction."""
    if correction not in ("CR0", "CR1", "CR2"):
        raise UsageError(f"correction must be CR0, CR1 or CR2, got {correction!r}")

"""The mean of rows and how far to trust it, where rows come in clusters, such as the turns of conversations.

    estimate_mean([1, 1, 0, 1, 0, 0, 1, 1, 1, 0])             ->  .6, t95 [.2306, .9694]
    estimate_mean(scores, conversations)                      ->  the same mean, its error clustered
    paired_difference(scores, other_scores, conversations)    ->  how much better, row by row

    clusters = Clusters()
    for conversation in [[1, 1, 0], [1, 0], [0, 1, 1], [1, 0]]:
        clusters.add(conversation)
    clusters.estimate()          ->  .6 ± .046 (CR1), 95 % [.453, .747], 4 clusters

Turns of one conversation succeed or fail together, so an error that counts them as independent is wrong, mostly too
small. All that the mean and its clustered error need is, for each cluster size, the number of clusters, the sum of
their totals and of the squares of their totals. Kept exactly, these can be added in any order and split.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from adjudge.errors import DataError, UsageError
from adjudge.statistics._estimate import FEW_CLUSTERS, Estimate, Interval, Range, around, bad_confidence, wilson, within
from adjudge.statistics._quantiles import normal_quantile

Correction: TypeAlias = Literal["CR0", "CR1", "CR2"]
"""How a clustered standard error allows for few clusters: not at all, by G / (G - 1), or cluster by cluster."""

CORRECTIONS = ("CR0", "CR1", "CR2")
MOSTLY_EVEN = 0.625  # share of the degrees of freedom that clusters of like sizes leave
DUST = 1e-12  # a standard error below this share of the range is rounding, not variation


def exact_sum(values: Iterable[float]) -> tuple[int, int]:
    """Return integers (a, k) with the exact sum of the values = a / 2**k, k as large as some value needs.

    A float is a whole number of some power of two: 0.75 is 3 / 2². Sums of whole numbers do not round, so no order and
    no split of the values can change the last digit of a result.

    >>> exact_sum([0.5, 1, 2.25])
    (15, 2)
    """
    total = exponent = 0
    for value in values:
        try:
            top, bottom = (value if type(value) is int else float(value)).as_integer_ratio()
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"a value must be a finite number, got {value!r}; leave rows without a score out") from None
        finer = bottom.bit_length() - 1
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


@dataclass(slots=True)
class Clusters:
    """What a mean over clusters and its error need, of whole clusters, added in any order, merged over shards.

    `n` is the number of values so far, `clusters` that of clusters.
    """

    range: Range = (0.0, 1.0)
    n: int = field(default=0, init=False)
    clusters: int = field(default=0, init=False)
    exponent: int = field(default=0, init=False)  # totals are in units of 2**-exponent, so that they are whole
    # By size: how many clusters, the sum of their totals, and of the squares of their totals.
    sizes: dict[int, tuple[int, int, int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.range is not None and not -math.inf < self.range[0] < self.range[1] < math.inf:
            raise UsageError(f"a range is (least, greatest) with least < greatest, or None, got {self.range}")

    def add(self, values: Sequence[float]) -> None:
        """Add one whole cluster; one without values is none."""
        if len(values) == 0:
            return
        total, exponent = exact_sum(values)
        if self.range is not None:
            for value in (min(values), max(values)):
                if not self.range[0] <= value <= self.range[1]:
                    raise _outside(f"the value {value!r}", self.range)
        self._put(len(values), 1, total, total * total, exponent)

    def add_each(self, values: Sequence[float]) -> None:
        """Add every value as a cluster of its own: what `add` would do, in one pass."""
        if len(values) == 0:
            return
        total = squares = exponent = 0
        # Scores are often equal, and equal ones are counted together.
        for value, count in Counter(values).items():
            top, finer = exact_sum((value,))
            if self.range is not None and not self.range[0] <= value <= self.range[1]:
                raise _outside(f"the value {value!r}", self.range)
            if finer > exponent:
                total <<= finer - exponent
                squares <<= 2 * (finer - exponent)
                exponent = finer
            top <<= exponent - finer
            total += count * top
            squares += count * top * top
        self._put(1, len(values), total, squares, exponent)

    def add_total(self, size: int, total: float, *, count: int = 1) -> None:
        """Add `count` clusters, each of `size` values that sum to `total`: an integer, or the exact sum."""
        if size < 1 or count < 0:
            raise UsageError(f"size must be at least 1 and count at least 0, got size {size} and count {count}")
        top, exponent = exact_sum((total,))
        if self.range is not None and not size * self.range[0] <= total <= size * self.range[1]:
            raise _outside(f"a total of {total!r} over {size} values", self.range)
        if count:
            self._put(size, count, count * top, count * top * top, exponent)

    def merge(self, other: "Clusters") -> None:
        """Add all clusters of another shard to this one; no cluster may be in both."""
        if self.range != other.range:
            raise UsageError(f"clusters of different ranges cannot be merged: {self.range} and {other.range}")
        for size, (count, totals, squares) in other.sizes.items():
            self._put(size, count, totals, squares, other.exponent)

    def _put(self, size: int, count: int, totals: int, squares: int, exponent: int) -> None:
        """Add clusters of one size, whose totals are in units of 2**-exponent."""
        finer = exponent - self.exponent
        if finer > 0:
            # Some total needs smaller units than those before it: count all of them in these.
            self.exponent = exponent
            for known, (number, total, square) in self.sizes.items():
                self.sizes[known] = (number, total << finer, square << 2 * finer)
        self.n += size * count
        self.clusters += count
        coarser = self.exponent - exponent
        old = self.sizes.get(size, (0, 0, 0))
        self.sizes[size] = (old[0] + count, old[1] + (totals << coarser), old[2] + (squares << 2 * coarser))

    @property
    def effective_n(self) -> float:
        """How many independent values the clusters amount to if the values of each are all alike: n² / Σ size² (Kish).

        It is at most the number of clusters, and equal to it where all have the same size.
        """
        squares = sum(size * size * count for size, (count, _, _) in self.sizes.items())
        return self.n**2 / squares if self.n else 0.0

    @property
    def mean(self) -> float | None:
        """The mean over all values, each with the same weight; None where there are none."""
        total = sum(totals for _, totals, _ in self.sizes.values())
        return total / (self.n << self.exponent) if self.n else None

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
        if correction not in CORRECTIONS:
            raise _unknown_correction(correction)
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
        if correction not in CORRECTIONS:
            raise _unknown_correction(correction)
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
        range does. Where no variation between clusters was seen, the interval is that of
        `docs/explanation/statistics.md`, never of width 0. Fewer than 20 clusters are said in `note`.
        """
        return estimate_of(self, method, correction, confidence)


def estimate_of(
    summary: Clusters, method: Interval, correction: Correction, confidence: float, *, clustered: bool = True
) -> Estimate | None:
    """Return the mean with its error and interval; not clustered: every value is a cluster of its own."""
    if not 0.0 < confidence < 1.0:
        raise bad_confidence(confidence)
    if method not in ("t", "normal", "wilson"):
        raise UsageError(f"method must be t, normal or wilson, got {method!r}")
    value, se, n, ends = summary.mean, summary.standard_error(correction), summary.n, summary.range
    if value is None:
        return None
    groups = summary.clusters if clustered else None
    few = None
    if groups and groups < FEW_CLUSTERS:
        few = f"{groups} clusters, fewer than {FEW_CLUSTERS}: the interval is rough"

    # One cluster, or clusters that all have the same mean, do not show how far they can differ.
    if not se or (ends is not None and se <= DUST * (ends[1] - ends[0])):
        unit = "cluster" if clustered else "value"
        why = f"one {unit}" if summary.clusters == 1 else f"no variation between {unit}s{f'; {few}' if few else ''}"
        if ends is None:
            note = f"no interval without a range: {why}"
            return Estimate(value, None, None, None, n, groups, None, "none", note, confidence)
        # The share of observations that would differ has Wilson's interval 0 .. z² / (n + z²), and those that differ
        # lie somewhere in the range. At an end of the range this is Wilson's interval itself.
        effective = summary.effective_n
        z = normal_quantile(0.5 + confidence / 2.0)
        most = z * z / (effective + z * z)
        low = max(value - most * (value - ends[0]), ends[0])
        high = min(value + most * (ends[1] - value), ends[1])
        shown = f"{effective:.4g}" if effective < 10_000 else f"{effective:,.0f}"
        note = f"Wilson's interval on an effective n of {shown}: {why}"
        return Estimate(value, None, low, high, n, groups, None, "wilson", note, confidence)

    df = summary.degrees_of_freedom(correction) if method == "t" else None
    if method == "wilson":
        low, high = _wilson_in_range(value, se, n, ends, confidence)
    else:
        low, high = within(*around(value, se, df, confidence), ends)
    name = f"{correction} {method}" if clustered else method
    return Estimate(value, se, low, high, n, groups, df, name, few, confidence)


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
    if clusters is None:
        # Every value is a cluster of its own, for which all corrections are the same.
        correction = "CR1"
        summary.add_each(values)
    else:
        for group in group_by_cluster(values, clusters):
            summary.add(group)
    return estimate_of(summary, method, correction, confidence, clustered=clusters is not None)


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
    Clusters(range)  # refuses a range without width before values are compared with it
    same_length(first, second, "the second run")
    width = None
    if range is not None:
        ends = [end(values) for values in (first, second) if len(values) for end in (min, max)]
        for value in ends:
            if not range[0] <= value <= range[1]:
                raise _outside(f"the value {value!r}", range)
        width = (range[0] - range[1], range[1] - range[0])
    differences = [one - other for one, other in zip(first, second, strict=True)]
    return estimate_mean(
        differences, clusters, method=method, correction=correction, range=width, confidence=confidence
    )


def fitting_correction(clusters: Sequence[Hashable]) -> Correction:
    """Return the correction for clusters of these sizes: CR1, or CR2 where a few clusters hold most rows.

    There CR1 is far too sure: with one cluster of 40 rows and 19 of one, equal runs differ in 43 % of simulations. CR2
    it is where Satterthwaite's degrees of freedom are less than five eighths of the number of clusters less one.

    >>> fitting_correction("aabbbcc"), fitting_correction("aaaaaaaaaabcd")
    ('CR1', 'CR2')
    """
    summary = Clusters(None)
    for size, count in Counter(Counter(clusters).values()).items():
        summary.add_total(size, 0, count=count)
    df = summary.degrees_of_freedom("CR2")
    return "CR2" if df is not None and df < MOSTLY_EVEN * (summary.clusters - 1) else "CR1"


def group_by_cluster(values: Sequence[float], clusters: Sequence[Hashable]) -> Iterable[Sequence[float]]:
    """Return the values of each cluster."""
    same_length(values, clusters, "the clusters")
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    return groups.values()


def same_length(values: Sequence[object], others: Sequence[object], what: str) -> None:
    """Refuse rows that do not belong together."""
    if len(values) != len(others):
        raise DataError(f"{len(values)} values, but {len(others)} of {what}: give one for each row, in the same order")


def _outside(what: str, ends: tuple[float, float]) -> DataError:
    return DataError(f"{what} lies outside the range {ends[0]:g}..{ends[1]:g}; give range=(least, greatest), or None")


def _unknown_correction(correction: str) -> UsageError:
    return UsageError(f"correction must be CR0, CR1 or CR2, got {correction!r}")

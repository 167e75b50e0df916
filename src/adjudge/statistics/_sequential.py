"""Is a mean at least a threshold? Decided while values still come in, at any number of them, without losing the level.

    test = ThresholdTest(0.7, clusters=500)
    for cluster in shuffled:                 each a list of values; None is a row that has no score
        if test.add(cluster) is not None:
            break
    test.verdict, test.estimate()            "above", .8421 [.7012, .9304]

A game of betting is played against the claim that the mean is below the threshold. Before each cluster a share f of
the capital is put on the cluster being better than the claim allows, which multiplies the capital by 1 - f + f · x /
m: x is what the cluster has, and m what the claim allows on average. Where the claim is true no way of betting can be
expected to win, and the chance that the capital ever reaches 1 / alpha is at most alpha (Ville 1939), however often
somebody looks. A second game is played against the claim that the mean is at least the threshold. Nobody knows the
best share, so the capital is divided among several.

With `clusters` given, the mean is that of exactly so many clusters, drawn in random order without replacement: what
the claim allows for the rest follows from what was seen, m = (N · threshold - seen) / left (Waudby-Smith and Ramdas
2020). Once the rest cannot change the verdict, it is certain. Without it, the mean is that of all clusters of the kind.
"""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from adjudge.errors import DataError, UsageError
from adjudge.statistics._estimate import Estimate

Side: TypeAlias = Literal["above", "below"]
"""What a threshold test says of a mean: at least the threshold, or less."""

SHARES = (0.03, 0.08, 0.18, 0.35, 0.6, 0.9)
"""The shares of the capital that are bet: small ones find small differences, large ones find large ones early."""

_DUST = 1e-9  # sums of floats are right up to this
_STEPS = 16  # halvings in the search for an end of the interval: up to 0.00002 of the range


class _Game:
    """Bets that the mean of rows is above a bound; totals and bound are shares of the range.

    Clusters differ in size. With z = bound + (total - bound · size) / largest, which lies in 0..1, the mean over rows
    is above the bound exactly where the mean of z over clusters is.
    """

    def __init__(self, bound: float, *, largest: int, clusters: int | None, is_strict: bool = False) -> None:
        self.bound = bound
        self.most = 1.0  # that the capital ever was; infinite once the claim is impossible
        self._largest = largest
        self._clusters = clusters
        self._is_strict = is_strict  # whether a mean that equals the bound is not above it
        self._capital = [1.0 / len(SHARES)] * len(SHARES)
        self._seen = 0.0
        self._count = 0

    def add(self, total: float, size: int) -> None:
        """Play one round."""
        value = self.bound + (total - self.bound * size) / self._largest
        allowed = self.bound
        if self._clusters is not None:
            allowed = (self._clusters * self.bound - self._seen) / (self._clusters - self._count)
        self._seen += value
        self._count += 1
        # A claim that allows nothing cannot be bet against: it is refuted by anything at all.
        if allowed > _DUST:
            odds = value / allowed - 1.0
            self._capital = [money * (1.0 + share * odds) for money, share in zip(self._capital, SHARES, strict=True)]
            self.most = max(self.most, math.fsum(self._capital))
        elif value > _DUST and self._clusters is None:
            self.most = math.inf
        if self._clusters is not None:
            # By how much what was seen exceeds all that the claim allows, if the rest were nothing.
            excess, dust = self._seen - self._clusters * self.bound, _DUST * self._clusters
            if excess > dust or (not self._is_strict and excess >= -dust):
                self.most = math.inf


class ThresholdTest:
    """Whether a mean is at least a threshold, asked after every cluster.

    `verdict` is `above` or `below` once that is shown, and does not change again. The chance of a false `above` is at
    most `alpha`, that of a false `below` at most `alpha_below` (default: the same), over all looks together. A row that
    has no score, None, counts as the worst value for the one question and as the best for the other. `largest` is the
    number of rows in the largest cluster, `range` that of the values.

    >>> test = ThresholdTest(0.5, clusters=100)
    >>> [test.add([1.0]) for _ in range(8)]
    [None, None, None, None, None, None, 'above', 'above']
    >>> found = test.estimate()
    >>> f"{found.value} [{found.low:.4f}, {found.high:.4f}] after {found.n}"
    '1.0 [0.5664, 1.0000] after 8'
    """

    def __init__(
        self,
        threshold: float,
        *,
        clusters: int | None = None,
        largest: int = 1,
        range: tuple[float, float] = (0.0, 1.0),  # noqa: A002 (the word that users expect)
        alpha: float = 0.05,
        alpha_below: float | None = None,
    ) -> None:
        if not -math.inf < range[0] < range[1] < math.inf:
            raise UsageError(f"range must be the least and the greatest value, got {range}")
        levels = (alpha, alpha if alpha_below is None else alpha_below)
        if not all(0.0 < level < 0.5 for level in levels) or largest < 1 or (clusters is not None and clusters < 1):
            raise UsageError("alpha must lie between 0 and 0.5, and clusters and largest must be at least 1")
        if not math.isfinite(threshold):
            raise UsageError(f"the threshold must be a number, got {threshold}")
        self.verdict: Side | None = None
        self._range = range
        self._alpha, self._alpha_below = levels
        self._rounds: list[tuple[float, float, int]] = []  # totals with missing rows at their worst and best, and sizes
        self._known: list[float] = []
        self._clusters = clusters
        self._largest = largest
        bound = (threshold - range[0]) / (range[1] - range[0])
        self._above = _Game(bound, largest=largest, clusters=clusters)
        self._below = _Game(1.0 - bound, largest=largest, clusters=clusters, is_strict=True)

    def add(self, values: Sequence[float | None]) -> Side | None:
        """Look at one more cluster, and return the verdict so far; one without values is none."""
        if not values:
            return self.verdict
        low, high = self._range
        if len(self._rounds) == self._clusters:
            raise DataError(f"there are more than the {self._clusters} clusters that were announced")
        if len(values) > self._largest:
            raise DataError(f"a cluster has {len(values)} rows, more than the {self._largest} that were announced")
        known = [value for value in values if value is not None]
        for value in known:
            if not low <= value <= high:
                raise DataError(f"the value {value!r} lies outside the range {low:g}..{high:g}")
        self._known += known
        size, missing = len(values), len(values) - len(known)
        worst = math.fsum((value - low) / (high - low) for value in known)
        best = worst + missing
        self._rounds.append((worst, best, size))
        # "Below" is "above" for what the rows lack to the end of the range.
        self._above.add(worst, size)
        self._below.add(size - best, size)
        if self.verdict is None and self._above.most >= 1.0 / self._alpha:
            self.verdict = "above"
        elif self.verdict is None and self._below.most >= 1.0 / self._alpha_below:
            self.verdict = "below"
        return self.verdict

    def estimate(self) -> Estimate | None:
        """Return the mean of the rows seen, with an interval that holds whenever one stops; None without rows.

        `low` is the greatest threshold that is shown to be reached, `high` the least that is shown to be missed, each
        with `alpha`: together they have the confidence 1 - 2 · alpha.
        """
        if not self._known:
            return None
        low, high = self._range
        least = self._greatest_reached([(worst, size) for worst, _, size in self._rounds])
        most = 1.0 - self._greatest_reached([(size - best, size) for _, best, size in self._rounds])
        value = math.fsum(self._known) / len(self._known)
        return Estimate(
            value,
            None,
            # By bad luck, which alpha covers, an end may have lain on the wrong side of what the mean is now.
            min(value, low + (high - low) * least),
            max(value, low + (high - low) * most),
            len(self._known),
            len(self._rounds) if self._largest > 1 else None,
            None,
            "anytime",
            confidence=1.0 - 2.0 * self._alpha,
        )

    def _greatest_reached(self, rounds: Sequence[tuple[float, int]]) -> float:
        """Return the greatest bound against which the game is won at alpha; the smaller a bound, the easier."""
        reached, missed = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (reached + missed) / 2.0
            game = _Game(middle, largest=self._largest, clusters=self._clusters)
            for total, size in rounds:
                game.add(total, size)
                if game.most >= 1.0 / self._alpha:
                    break
            if game.most >= 1.0 / self._alpha:
                reached = middle
            else:
                missed = middle
        return reached

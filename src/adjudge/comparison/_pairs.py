"""Two runs case by case: repeats side by side, and how far the runs differ over all cases.

    pairs = pair_up({"q1": [1.0, 0.5], "q2": [None]}, {"q1": [1.0], "q2": [0.0]})
    pairs.ids, pairs.base, pairs.new, pairs.lost        ["q1", "q2"], [[1.0, 0.5], []], [[1.0], [0.0]], {1: (1, 0)}
    Sample(pairs.complete(), clusters).difference()     new - base, with its interval

Repeats of a case are not new cases: they are averaged first, and a case counts once. A repeat that has no score is left
out of its case's mean; a case without any score in one of the runs is not a complete pair.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from adjudge.statistics import (
    Correction,
    Estimate,
    Range,
    estimate_mean,
    fitting_correction,
    fixed_cases_difference,
    fixed_cases_mean,
    further_repeats,
    mcnemar,
    paired_difference,
)

Scope: TypeAlias = Literal["new", "these"]
"""What a difference is about: new cases of this kind, or only these cases."""

Values: TypeAlias = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The cases that both runs have, with the values of their scored repeats.

    `lost` says by position how many repeats have no score in the base and in the new run, where there are any.
    """

    ids: Sequence[str]
    base: Sequence[Sequence[float]]
    new: Sequence[Sequence[float]]
    lost: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, Sequence[float], Sequence[float]]]:
        """Give each case with its values."""
        return zip(self.ids, self.base, self.new, strict=True)

    def complete(self) -> "Pairs":
        """Return the pairs with a value in both runs."""
        if not self.lost:
            return self
        return self.at(at for at, (_, base, new) in enumerate(self) if base and new)

    def at(self, positions: Iterable[int]) -> "Pairs":
        """Return the pairs at these positions."""
        kept = list(positions)
        ids, base, new = ([values[at] for at in kept] for values in (self.ids, self.base, self.new))
        lost = {now: self.lost[at] for now, at in enumerate(kept) if at in self.lost}
        return Pairs(ids, base, new, lost)  # type: ignore[arg-type]  # each is of its own kind

    def fill(self, base: float, new: float) -> "Pairs":
        """Return the pairs with these values for what is lost."""
        ours, theirs = list(self.base), list(self.new)
        for at, (base_lost, new_lost) in self.lost.items():
            ours[at] = (*ours[at], *[base] * base_lost)
            theirs[at] = (*theirs[at], *[new] * new_lost)
        return Pairs(self.ids, ours, theirs)


def pair_up(base: Mapping[str, Values], new: Mapping[str, Values]) -> Pairs:
    """Return the cases of both runs, in the order of the first."""
    ids = list(base)
    ours: list[Any] = list(base.values())
    theirs: list[Any] = list(new.values())
    if ids != list(new):
        # Not the same cases in the same order, as they mostly are.
        ids = [key for key in base if key in new]
        ours, theirs = [base[key] for key in ids], [new[key] for key in ids]
    lost = {}
    positions = [
        at
        for at, (one, other) in enumerate(zip(ours, theirs, strict=True))
        if None in one or None in other or not one or not other
    ]
    for at in positions:
        # A case without any repeat lacks one.
        one, other = ours[at] or (None,), theirs[at] or (None,)
        ours[at], theirs[at] = ([value for value in values if value is not None] for values in (one, other))
        lost[at] = len(one) - len(ours[at]), len(other) - len(theirs[at])
    return Pairs(ids, ours, theirs, lost)


def means_of(values: Iterable[Sequence[float]]) -> list[float]:
    """Return the mean of each case's repeats."""
    return [one[0] if len(one) == 1 else math.fsum(one) / len(one) for one in values]


@dataclass(frozen=True, slots=True)
class Sample:
    """Complete pairs, with the cluster of each case; `clusters` is None where every case is one of its own."""

    pairs: Pairs
    clusters: Sequence[object] | None = None
    scope: Scope = "new"
    range: Range = None
    base: Sequence[float] = field(init=False)  # the means of the cases
    new: Sequence[float] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", means_of(self.pairs.base))
        object.__setattr__(self, "new", means_of(self.pairs.new))

    @property
    def ends(self) -> Range:
        """The least and greatest difference that can be; where nobody knows, that could be with the values seen."""
        if self.range is not None:
            least, most = self.range
        elif not self.base:
            return None
        else:
            least, most = min(*self.base, *self.new), max(*self.base, *self.new)
        return (least - most, most - least) if least < most else None

    def means(self) -> tuple[Estimate | None, Estimate | None]:
        """Return the means of both runs over these pairs."""
        if self.scope == "these":
            ours, theirs = (fixed_cases_mean(run, range=self.range) for run in (self.pairs.base, self.pairs.new))
        else:
            how: dict[str, Any] = {"correction": self._correction(), "range": self.range}
            ours, theirs = (estimate_mean(run, self.clusters, **how) for run in (self.base, self.new))
        return ours, theirs

    def difference(self) -> Estimate | None:
        """Return how much greater the new mean is than that of the base; None without pairs."""
        found = self._difference(self.range)
        if found is None or found.low is not None or self.ends is None:
            return found
        # Every case moved by the same amount, and nobody knows how far it could: at least as far as some did.
        return self._difference((min(*self.base, *self.new), max(*self.base, *self.new)))

    def _difference(self, range: Range) -> Estimate | None:  # noqa: A002 (the word of the others)
        if self.scope == "these":
            return fixed_cases_difference(self.pairs.new, self.pairs.base, range=range)
        how: dict[str, Any] = {"correction": self._correction(), "range": range}
        return paired_difference(self.new, self.base, self.clusters, **how)

    def parts(self, about: float = 0.0) -> list[float]:
        """Return the independent parts of the difference less `about`: clusters, or repeats about their case's mean."""
        number = len(self.base)
        if self.scope == "new":
            return [(total - size * about) / number for total, size in self._clusters()]
        return [
            sign * (value - mean) / len(values) / number
            for run, means, sign in ((self.pairs.new, self.new, 1.0), (self.pairs.base, self.base, -1.0))
            for values, mean in zip(run, means, strict=True)
            for value in values
        ]

    def independent(self) -> float:
        """Return how many observations the difference rests on: cases, clusters as if of like sizes, or repeats."""
        if self.scope == "these":
            return min(further_repeats(self.pairs.base), further_repeats(self.pairs.new))
        return len(self.base) ** 2 / sum(size * size for _, size in self._clusters())

    def _clusters(self) -> list[tuple[float, int]]:
        """Return the total difference and the size of each cluster."""
        differences = [new - base for base, new in zip(self.base, self.new, strict=True)]
        if self.clusters is None:
            return [(one, 1) for one in differences]
        found: dict[object, tuple[float, int]] = {}
        for cluster, one in zip(self.clusters, differences, strict=True):
            total, size = found.get(cluster, (0.0, 0))
            found[cluster] = total + one, size + 1
        return list(found.values())

    def _correction(self) -> Correction:
        return "CR1" if self.clusters is None else fitting_correction(self.clusters)

    def right_or_wrong(self) -> tuple[float, float] | None:
        """Return the two values that there are, if there are no more: one repeat, and independent cases."""
        if self.scope == "these" or self.clusters is not None or not self.pairs.ids:
            return None
        values = {*self.base, *self.new}
        if len(values) != 2 and not values <= {0.0, 1.0}:
            return None
        if any(len(one) != 1 for run in (self.pairs.base, self.pairs.new) for one in run):
            return None
        return (min(values), max(values)) if len(values) == 2 else (0.0, 1.0)

    def exact_p(self) -> float | None:
        """Return McNemar's exact p-value, where it is valid."""
        both = self.right_or_wrong()
        if both is None:
            return None
        return mcnemar(*([float(one == both[1]) for one in run] for run in (self.new, self.base))).p_value

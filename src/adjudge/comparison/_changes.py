"""Which cases changed: regressions and fixes by id, and which changes are no more than chance.

one repeat      1 -> 0                  regressed
three repeats   3 of 3 -> 0 of 3        flaky: chance alone does that in 5 % of such cases
ten repeats     10 of 10 -> 1 of 10     regressed: chance hardly does
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from adjudge.comparison._pairs import Pairs, means_of
from adjudge.statistics import permutation_p

ChangeKind: TypeAlias = Literal["regressed", "fixed", "flaky"]
"""How a case changed; `flaky` where its repeats do not show more than chance."""

LEVEL = 0.05
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case whose mean changed in one metric; `p` is None where there is one repeat in each run."""

    id: str
    metric: str
    kind: ChangeKind
    base: float
    new: float
    p: float | None = None


def find_changes(metric: str, pairs: Pairs, *, higher_is_better: bool = True) -> list[CaseChange]:
    """Return the cases that changed, the largest changes first.

    >>> pairs = Pairs(["q1"], [(1.0, 1.0, 1.0)], [(0.0, 0.0, 0.0)])
    >>> [(one.kind, round(one.p, 6)) for one in find_changes("f1", pairs)]
    [('flaky', 0.05)]
    """
    changes = []
    means = zip(means_of(pairs.base), means_of(pairs.new), strict=True)
    for (key, ours, theirs), (base, new) in zip(pairs, means, strict=True):
        if base == new or abs(new - base) <= _ROUNDING * max(abs(new), abs(base), 1.0):
            continue
        p = None if len(ours) == len(theirs) == 1 else permutation_p(ours, theirs)
        is_chance = p is not None and p >= LEVEL - _ROUNDING
        kind: ChangeKind = "flaky" if is_chance else "fixed" if (new > base) == higher_is_better else "regressed"
        changes.append(CaseChange(key, metric, kind, base, new, p))
    return sorted(changes, key=lambda one: -abs(one.new - one.base))

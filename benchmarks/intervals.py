"""Comparing two runs on 100,000 rows: CPU time against statsmodels, same rows, same numbers, one process.

Interleaved, best of 5. The bar is one second for each way of comparing; statsmodels is the floor, with numpy below it.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import random
from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
import statsmodels.api as sm

from adjudge.statistics import Clusters, mcnemar, paired_difference

ROWS = 100_000
ROUNDS = 5
BAR = 1.0  # seconds of CPU


def theirs(first: list[float], second: list[float], clusters: list[int] | None) -> float:
    """Return statsmodels' standard error of the mean difference."""
    differences = np.array(first) - np.array(second)
    model = sm.OLS(differences, np.ones(len(differences)))
    if clusters is None:
        return float(model.fit().bse[0])
    return float(model.fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters)}, use_t=True).bse[0])


def ours(first: list[float], second: list[float], clusters: list[int] | None) -> float:
    """Return our standard error of the mean difference."""
    result = paired_difference(first, second, clusters)
    return result.se or 0.0 if result else 0.0


def counted(kinds: list[tuple[int, int, int]]) -> float:
    """Return the clustered error of conversations that were counted by size and total."""
    clusters = Clusters()
    for size, total, count in kinds:
        clusters.add_total(size, total, count=count)
    return clusters.standard_error("CR2") or 0.0


def main() -> int:
    """Print seconds and ratios; fail if a comparison takes longer than the bar or the numbers differ."""
    chance = random.Random(7)
    clusters = [number // 5 for number in range(ROWS)]
    tables: dict[str, tuple[list[float], list[float]]] = {
        "right or wrong": ([chance.randrange(2) for _ in range(ROWS)], [chance.randrange(2) for _ in range(ROWS)]),
        "any score": ([chance.random() for _ in range(ROWS)], [chance.random() for _ in range(ROWS)]),
    }
    met = True
    for name, (first, second) in tables.items():
        for label, named in (("paired", None), ("paired, clustered", clusters)):
            (floor, expected), (seconds, found) = best(
                [partial(theirs, first, second, named), partial(ours, first, second, named)]
            )
            same = abs(found - expected) <= 1e-9 * expected
            met = met and same and seconds <= BAR
            print(
                f"{name:14} {label:18} {seconds:6.3f} s  (bar {BAR:g} s)  {seconds / floor:5.1f}x statsmodels"
                f"{'' if same else '  NUMBERS DIFFER'}"
            )
    first, second = tables["right or wrong"]
    kinds = [(size, total, 1_000) for size in range(1, 11) for total in range(size + 1)]
    (test, _), (count, _) = best([lambda: mcnemar(first, second).p_value, lambda: counted(kinds)])
    print(f"{'right or wrong':14} {'McNemar, exact':18} {test:6.3f} s  (bar {BAR:g} s)")
    print(f"{sum(kind[2] for kind in kinds):,} conversations, counted: {count * 1e3:.2f} ms")
    return 0 if met and test <= BAR else 1


def best(ways: list[Callable[[], float]]) -> list[tuple[float, float]]:
    """Return the least CPU time of each way, and what it gave."""
    results = [(float("inf"), 0.0)] * len(ways)
    for _ in range(ROUNDS):
        for index, way in enumerate(ways):
            start = process_time()
            value = way()
            results[index] = (min(results[index][0], process_time() - start), value)
    return results


if __name__ == "__main__":
    sys.exit(main())

"""How far to trust a mean over turns: its interval, clustered by conversation."""

from collections.abc import Iterable
from typing import Any

from adjudge.conversations import Cell
from adjudge.statistics import Clusters, Range


def interval_of(cells: Iterable[Cell], ends: Range = (0.0, 1.0)) -> dict[str, Any]:
    """Return n, clusters, se, low, high and note of a mean; `ends` are the least and the greatest value there can be.

    95 %, Student's t on the clustered error (CR1); `docs/statistics.md` says what happens where there is no variation.
    What the values cannot show is None, and `note` says why.
    """
    clusters = Clusters(range=ends)
    for conversations, values, total in cells:
        # A conversation's score need not be a binary fraction: it is rounded once, here, the same in every order.
        clusters.add_total(values, total if isinstance(total, int) else float(total), count=conversations)
    found = clusters.estimate()
    if found is None:
        return {"n": 0, "clusters": 0, "se": None, "low": None, "high": None, "note": "nothing was scored"}
    return {
        "n": found.n,
        "clusters": clusters.clusters,
        "se": found.se,
        "low": found.low,
        "high": found.high,
        "note": found.note,
    }

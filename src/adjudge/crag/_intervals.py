"""How far to trust a rate: its interval, clustered by conversation."""

import math
from collections.abc import Iterable
from typing import Any

from adjudge.conversations import Cell
from adjudge.statistics import t_quantile


def interval_of(cells: Iterable[Cell]) -> dict[str, Any]:
    """Return n, clusters, se, low, high and note of the mean over all values, clusters being conversations."""
    known = list(cells)
    clusters = sum(cell.conversations for cell in known)
    n = sum(cell.conversations * cell.values for cell in known)
    if clusters < 2:
        note = "fewer than two conversations: no interval"
        return {"n": n, "clusters": clusters, "se": None, "low": None, "high": None, "note": note}
    mean = sum(cell.conversations * cell.sum for cell in known) / n
    squares = sum(cell.conversations * float(cell.sum - mean * cell.values) ** 2 for cell in known)
    se = math.sqrt(clusters / (clusters - 1) * squares) / n
    half = t_quantile(0.975, clusters - 1) * se
    note = "fewer than 20 conversations" if clusters < 20 else ""
    return {
        "n": n,
        "clusters": clusters,
        "se": se,
        "low": float(mean) - half,
        "high": float(mean) + half,
        "note": note,
    }

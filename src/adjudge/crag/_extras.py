"""What additional scorers said about turns, aggregated beside the benchmark's own numbers."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

from adjudge.conversations import Cell
from adjudge.crag._intervals import interval_of
from adjudge.errors import RowError


class ExtraScores:
    """The values of additional scorers, by conversation; they can be merged."""

    def __init__(self, ranges: Mapping[str, tuple[float, float]] | None = None) -> None:
        self.ranges = dict(ranges or {})
        self.values: dict[tuple[str, bool], dict[str, array[float]]] = {}
        self.counts: Counter[tuple[str, bool, str]] = Counter()

    def add(self, session: str, is_ego: bool, scores: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the scores of one turn: by scorer, its `status` and `value`."""
        for name, score in scores.items():
            self.counts[name, is_ego, score["status"]] += 1
            if score["status"] == "scored":
                if not isinstance(score["value"], int | float):
                    raise RowError(f"session {session!r}: the scorer {name!r} has the status scored and no number")
                values = self.values.setdefault((name, is_ego), {})
                values.setdefault(session, array("d")).append(score["value"])

    def merge(self, other: "ExtraScores") -> None:
        """Take what another has taken."""
        self.counts.update(other.counts)
        for key, sessions in other.values.items():
            mine = self.values.setdefault(key, {})
            for session, values in sessions.items():
                mine.setdefault(session, array("d")).extend(values)

    def dictionary(self, *, ego_only: bool) -> dict[str, Any]:
        """Return `scorers`: for each its counts, its mean and the interval; nothing where there are none."""
        names = sorted({name for name, _, _ in self.counts})
        return {"scorers": {name: self._one(name, ego_only) for name in names}} if names else {}

    def _one(self, name: str, ego_only: bool) -> dict[str, Any]:
        parts = (True,) if ego_only else (True, False)
        clusters: dict[str, array[float]] = {}
        for is_ego in parts:
            for session, values in self.values.get((name, is_ego), {}).items():
                clusters[session] = clusters.get(session, array("d")) + values
        n = sum(map(len, clusters.values()))
        # Sums that are rounded once, and so do not depend on the order of what they are made of.
        mean = math.fsum(value for values in clusters.values() for value in values) / max(n, 1)
        counts = {status: sum(self.counts[name, is_ego, status] for is_ego in parts) for status in _STATUSES}
        cells = [Cell(1, len(values), math.fsum(values)) for values in clusters.values()]
        return {
            "mean": mean if n else None,
            "n": n,
            "unscored": counts["unscored"],
            "errors": counts["error"],
            "interval": interval_of(cells, self.ranges.get(name)),
        }


_STATUSES = ("unscored", "error")

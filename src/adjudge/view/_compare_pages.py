"""Two runs on a page: what `adjudge compare` says, the rows that changed, and one row of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from adjudge.comparison import (
    CaseChange,
    ChangeKind,
    CompareOptions,
    Comparison,
    MetricComparison,
    compare_results,
    read_results,
)
from adjudge.errors import UsageError
from adjudge.view._diff import word_diff
from adjudge.view._index import RowIndex
from adjudge.view._pages import missing_row, number_of
from adjudge.view._rows import RowView, view_of
from adjudge.view._sources import stamp_of
from adjudge.view._templates import render

KINDS: tuple[ChangeKind, ...] = ("regressed", "fixed", "flaky")
MOST_CHANGES = 200  # rows that changed, of a comparison


def compare_page(base: tuple[str, Path], new: tuple[str, Path], by: str) -> str:
    """Return two runs side by side: every metric with its interval, then the rows that changed."""
    found, warning = compare_files(base[1], new[1], by)
    return render("compare.html", keys=(base[0], new[0]), **comparison_values(found, warning, by))


def compare_files(base: Path, new: Path, by: str) -> tuple[Comparison, str | None]:
    """Return what differs between two files, and why they should not be compared, or not by that, if so."""
    stamps = tuple(stamp_of(path, Path(f"{path}-wal")) for path in (base, new))
    try:
        return _compare(base, new, by, stamps)
    except UsageError as error:
        if not by or error.code not in ("unknown-column", "missing-column"):
            raise
        return _compare(base, new, "", stamps)[0], error.message


@lru_cache(maxsize=2)  # who looks at a row and comes back should not wait again
def _compare(base: Path, new: Path, by: str, stamps: tuple[str, ...]) -> tuple[Comparison, str | None]:
    del stamps  # other files, other answer
    # Kept as a column, a list of tags would be one value.
    keep = [by] if by not in ("", "tag", "tags") else []
    ours, theirs = (read_results(path, keep=keep) for path in (base, new))
    try:
        return compare_results(ours, theirs, CompareOptions(by=by or None)), None
    except UsageError as error:
        # A page may show what a gate must refuse, if it says so.
        if error.code != "not-comparable":
            raise
        return compare_results(ours, theirs, CompareOptions(by=by or None, allow_mismatch=True)), error.message


def comparison_values(found: Comparison, warning: str | None, by: str = "") -> dict[str, Any]:
    """Return what the template of a comparison shows."""
    metrics = list(found.metrics.values())
    changes = changed_rows(found)
    return {
        "found": found,
        "gated": [one for one in metrics if one.is_gated],
        "others": [*(one for one in metrics if not one.is_gated), *found.slices],
        "reach": reach_of([*metrics, *found.slices]),
        "names": [Path(one).name or one for one in (found.base, found.new)],
        "changes": changes[:MOST_CHANGES],
        "more": max(0, len(changes) - MOST_CHANGES),
        "warning": warning,
        "by": by,
    }


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A case that changed, with what each metric says: `kind` is the worst of it."""

    id: str
    kind: ChangeKind
    by_metric: dict[str, CaseChange]

    @property
    def is_flip(self) -> bool:
        """Whether it was right and is wrong now, or the other way round."""
        return any((one.base >= 0.5) != (one.new >= 0.5) for one in self.by_metric.values())


def changed_rows(found: Comparison) -> list[ChangedRow]:
    """Return the cases that changed: flips first, of those what got worse, then the largest changes."""
    by_id: dict[str, dict[str, CaseChange]] = {}
    for change in found.changes:
        by_id.setdefault(change.id, {})[change.metric] = change
    rows = []
    for id_, changes in by_id.items():
        kinds = {one.kind for one in changes.values()}
        rows.append(ChangedRow(id_, next(kind for kind in KINDS if kind in kinds), changes))

    def place(row: ChangedRow) -> tuple[bool, int, float]:
        size = max(abs(one.new - one.base) for one in row.by_metric.values())
        return (not row.is_flip, KINDS.index(row.kind), -size)

    return sorted(rows, key=place)


def reach_of(metrics: Sequence[MetricComparison]) -> dict[str, float]:
    """Return how far the interval of each metric goes from zero: its slices share that scale."""
    reach: dict[str, float] = {}
    for one in metrics:
        if one.difference is not None:
            ends = (one.difference.value, one.difference.low or 0.0, one.difference.high or 0.0)
            reach[one.name] = max(reach.get(one.name, 0.0), *map(abs, ends))
    return reach


def pair_page(indexes: Sequence[RowIndex], keys: Sequence[str], id_: str) -> str:
    """Return one row of two runs, with what differs in their responses marked."""
    views: list[RowView | None] = []
    numbers: list[int | None] = []
    for index in indexes:
        number = number_of(index, id_)
        numbers.append(number)
        views.append(None if number is None else view_of(index.row(number)))
    if views[0] is None and views[1] is None:
        raise missing_row()
    texts = ["" if view is None else view.material.response or "" for view in views]
    return render(
        "pair.html",
        id=id_,
        keys=keys,
        names=[index.source.about.name for index in indexes],
        views=views,
        numbers=numbers,
        diff=word_diff(texts[0], texts[1]),
    )

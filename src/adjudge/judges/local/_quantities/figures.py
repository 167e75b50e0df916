"""What references are in figures: quantities, times, dates, telephone numbers; read once for all candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adjudge.judges.local._quantities.clock import minutes_of
from adjudge.judges.local._quantities.groups import Groups, are_ranks, groups_of
from adjudge.judges.local._quantities.measures import Golds, golds_of
from adjudge.judges.local._quantities.writings import Writings, writings_of
from adjudge.judges.local._reading.facts import Date

_LOOKED_AT = 50  # references


@dataclass(frozen=True, slots=True)
class Figures:
    """All that references say in figures; nothing where they are names."""

    golds: Golds  # quantities
    units: bool  # whether one of those has a unit
    groups: Groups  # coordinates
    ranks: bool  # whether they are places in an order
    times: tuple[tuple[int, ...], ...]  # minutes of the day
    writings: Writings  # other writings of days, decades and years
    days: tuple[Date, ...]  # dates with day, month and year

    def __bool__(self) -> bool:
        """Whether a candidate can be compared with one of them."""
        return bool(self.golds or self.times or self.groups or self.ranks)


def figures_of(references: Sequence[str], dates: Iterable[Date]) -> Figures:
    """Read references."""
    golds = golds_of(references)
    times = tuple(minutes_of(one) for one in references[:_LOOKED_AT])
    return Figures(
        golds,
        any(one.unit.dimension for gold in golds for one in gold),
        groups_of(references),
        are_ranks(references),
        times if any(times) else (),
        writings_of(references),
        tuple(date for date in dates if date.parts == len(date)),
    )

"""What references are in figures: quantities, times, dates, telephone numbers; read once for all candidates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adjudge.judges.local._quantities.clock import minutes_of
from adjudge.judges.local._quantities.groups import Groups, are_ranks, groups_of
from adjudge.judges.local._quantities.measures import Golds, golds_of, is_likely
from adjudge.judges.local._quantities.writings import Writings, writings_of
from adjudge.judges.local._reading.facts import Date

_LOOKED_AT = 50  # references
_MARKS = (
    re.compile(r"(?<!\d)\d{1,3}[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]|\w\s?\^"),  # a power; after a year it is a footnote
    re.compile(r"√|\bsqrt\b"),
    re.compile(r"±|\+/-"),
    re.compile(r"^\s*(?:[<≤≥]=?\s?|>=?)\d"),  # `1 < 2` is an order, `> 2` may be a quotation
    re.compile(r"\de-\d", re.IGNORECASE),
    re.compile(r"\d\(?a\b(?!\.?\s?m\b)|\ba\d", re.IGNORECASE),  # `5a`, `A4`: no article
)
_PADDED = re.compile(r"0\d{2,}")


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
    times = tuple([minutes_of(one) if is_likely(one) else () for one in references[:_LOOKED_AT]])
    return Figures(
        golds,
        any(one.unit.dimension for gold in golds for one in gold),
        groups_of(references),
        are_ranks(references),
        times if any(times) else (),
        writings_of(references),
        tuple(date for date in dates if date.parts == len(date)),
    )


def is_marked_otherwise(references: Sequence[str], text: str) -> bool:
    """Whether figures have a sign beside them that no reference has, or lack it: to the words it is all the same.

    >>> [is_marked_otherwise(["10"], text) for text in ("10⁶", "√10", "10a", "10")], is_marked_otherwise(["007"], "7")
    ([True, True, True, False], True)
    """
    golds, given = references[:_LOOKED_AT], text.strip(" .!\n")
    if given.isdecimal() and all(_PADDED.fullmatch(one.strip()) for one in golds):
        return given not in map(str.strip, golds)
    mine = _marks_of(text)
    return all(_marks_of(one) != mine for one in golds)


def _marks_of(text: str) -> list[bool]:
    return [mark.search(text) is not None for mark in _MARKS]

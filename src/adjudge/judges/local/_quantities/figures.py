"""What references are in figures: quantities, times, dates, telephone numbers; read once for all candidates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.judges.local._quantities.clock import minutes_of
from adjudge.judges.local._quantities.measures import Golds, golds_of, is_likely

_LOOKED_AT = 50  # references
# A power (after a year it is a footnote), a root, a tolerance, a bound, an exponent, `5a` or `A4`.
_MARKS = re.compile(
    r"(?<!\d)\d{1,3}[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]|\w\s?\^|√|\bsqrt\b|±|\+/-|^\s*(?:[<≤≥]=?\s?|>=?)\d|\de-\d|\d\(?a\b(?!\.?\s?m\b)|\ba\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figures:
    """All that references say in figures; nothing where they are names."""

    golds: Golds  # quantities
    units: bool  # whether one of those has a unit
    times: tuple[tuple[int, ...], ...]  # minutes of the day

    def __bool__(self) -> bool:
        """Whether a candidate can be compared with one of them."""
        return bool(self.golds or self.times)


def figures_of(references: Sequence[str]) -> Figures:
    """Read references."""
    golds = golds_of(references)
    times = tuple([minutes_of(one) if is_likely(one) else () for one in references[:_LOOKED_AT]])
    return Figures(
        golds,
        any(one.unit.dimension for gold in golds for one in gold),
        times if any(times) else (),
    )


def is_marked_otherwise(references: Sequence[str], text: str) -> bool:
    """Whether figures have a sign beside them that no reference has, or lack it: to the words it is all the same.

    >>> [is_marked_otherwise(["10"], text) for text in ("10⁶", "√10", "10a", "10")]
    [True, True, True, False]
    """
    is_marked = _MARKS.search(text) is not None
    return all((_MARKS.search(one) is not None) != is_marked for one in references[:_LOOKED_AT])

"""Whether a short answer is the quantity of a reference, another one, or unclear.

"1 hour 30 minutes" for "90 minutes" is right, "12 days" for "two weeks" wrong, "26 miles" for "42.195 km" not plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from adjudge.judges.local._quantities.clock import minutes_of, time_standing, times_in
from adjudge.judges.local._quantities.figures import figures_of
from adjudge.judges.local._quantities.measures import Measure, is_same_measure, measures_in, measures_of
from adjudge.judges.local._quantities.units import Unit
from adjudge.judges.local._reading.candidate import Candidate, Decision, Question
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import DENIALS

_WORDS = 8  # words of an answer that is a number
_SENTENCE = 20  # words of one that states a quantity with its unit
_WORDS_OF_TIME = 40  # words of one that states one time of day
_FEW = 5  # words of an answer that may have the number of a reference and another unit
_BOUNDS = DENIALS | {
    "or", "but", "except", "excluding", "unlike", "besides", "rather", "instead", "wrong", "false", "half", "every",
    "per",
}  # fmt: skip
_LIMITS = DENIALS | {
    "about", "over", "above", "more", "greater", "least", "under", "below", "less", "fewer", "most", "up", "per", "a",
    "an", "each", "every", "hourly", "daily", "weekly", "monthly", "yearly",
}  # fmt: skip
_PERIODS = {
    "hourly": "hour", "hour": "hour", "daily": "day", "day": "day", "weekly": "week", "week": "week",
    "monthly": "month", "month": "month", "annual": "year", "annually": "year", "yearly": "year", "year": "year",
}  # fmt: skip
_LENGTHS = {
    "hour": ("time", 3600), "day": ("time", 86400), "week": ("time", 604800), "month": ("months", 1),
    "year": ("months", 12),
}  # fmt: skip


def by_quantity(asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Return whether a candidate that is a quantity and little else is a reference's, and the name of the rule.

    One that has a reference in it, word for word, is left to what looks at the words around.
    """
    size, figures = len(candidate.plain), prepared.facet(figures_of)
    if not figures:
        return None
    if figures.times and _WORDS_OF_TIME >= size > 1 and _BOUNDS.isdisjoint(candidate.plain):
        stated = times_in(candidate.text)
        is_right = _by_times(prepared, stated[0], candidate) if len(stated) == 1 else None
        if is_right is not None:
            return is_right, "number" if is_right else "other-number"
    if size > (_SENTENCE if figures.units else _WORDS) or candidate.text in prepared.texts:
        return None
    is_there = any(one.padded in candidate.padded for one in prepared.references)
    is_bare = size > _FEW or not (figures.units or " how mani " in asked.padded)
    if is_there and is_bare and _LIMITS.isdisjoint(candidate.plain):
        return None
    if figures.times:
        is_right = _by_times(prepared, minutes_of(candidate.text), candidate)
        found = None if is_right is None else (is_right, "number" if is_right else "other-number")
    else:
        found = _by_quantity(asked, prepared, candidate)
    return None if is_there and found is not None and found[0] else found


def _by_times(prepared: Prepared, given: tuple[int, ...], candidate: Candidate) -> bool | None:
    return time_standing(prepared.facet(figures_of).times, given, is_spoken=":" not in candidate.text)


def _by_quantity(asked: Question, prepared: Prepared, candidate: Candidate) -> Decision | None:
    """Judge a number, perhaps with a unit."""
    golds = prepared.facet(figures_of).golds
    given: Sequence[Measure] = measures_of(candidate.text) or _stated(asked, candidate)
    if not given:
        return None
    found = [_standing(asked, gold, given) for gold in golds]
    if True in found:
        return True, "number"
    if all(one is False for one in found):
        numbers = {one.number for gold in golds for one in gold if one.unit != given[0].unit}
        return False, "other-unit" if any(one.number in numbers for one in given) else "other-number"
    return None


def _stated(asked: Question, candidate: Candidate) -> list[Measure]:
    """Return the one quantity in a sentence that the question lacks."""
    if not candidate.numbers or not _BOUNDS.isdisjoint(candidate.plain):
        return []
    given = [
        one for one in measures_in(candidate.text) if one.unit.dimension or str(one.amount.value) not in asked.plain
    ]
    return given if len(given) == 1 else []


def _standing(asked: Question, golds: Sequence[Measure], given: Sequence[Measure]) -> bool | None:
    """Say whether a quantity is the same, is another one, or may be either."""
    if all("/" in one.unit.dimension for one in given) and not any("/" in one.unit.dimension for one in golds):
        rated = _rated(asked, golds)
        if any(one.unit.dimension.startswith("money") for one in golds):
            return any(is_same_measure(gold, one) for gold in rated for one in given) if rated else None
        golds = rated or golds
    alike = {one.unit.dimension for one in golds} & {one.unit.dimension for one in given} - {""}
    found = [
        is_same_measure(gold, one)
        for gold in golds
        for one in given
        if not alike or gold.unit.dimension == one.unit.dimension
    ]
    if True in found:
        return True
    return False if found and all(one is False for one in found) else None


def _rated(asked: Question, golds: Sequence[Measure]) -> list[Measure]:
    """Return quantities by the period that the question names: a monthly rent is one per month."""
    named = {_PERIODS[word] for word in asked.plain if word in _PERIODS}
    if len(named) != 1:
        return []
    dimension, length = _LENGTHS[named.pop()]
    return [
        Measure(
            one.amount.times(Fraction(1, length)),
            Unit(f"{one.unit.dimension}/{dimension}", one.unit.factor / length),
            one.bound,
        )
        for one in golds
    ]

"""Whether an answer gives the quantity of a reference, another one, or something unclear.

"1 hour 30 minutes" for "90 minutes" is right, "12 days" for "two weeks" wrong, "26 miles" for "42.195 km" not plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from adjudge.judges.local._amounts import Unit
from adjudge.judges.local._facts import range_of
from adjudge.judges.local._limits import LEAST, NAME, PART, PASSAGE, REFERENCES, SHORT, STATEMENT
from adjudge.judges.local._measures import (
    Golds,
    Measure,
    golds_of,
    is_likely,
    is_same_measure,
    measures_in,
    measures_of,
    minutes_of,
    time_standing,
    times_in,
)
from adjudge.judges.local._nearness import Seen
from adjudge.judges.local._pair import Candidate, Decision, Prepared, Question
from adjudge.judges.local._words import DENIALS, NUMERIC, stem, stemmed, words

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
    times = tuple([minutes_of(one) if is_likely(one) else () for one in references[:REFERENCES]])
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
    return all((_MARKS.search(one) is not None) != is_marked for one in references[:REFERENCES])


_FEW_NUMBERS = 3  # numbers of an answer that says more, and gives a date
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
    if figures.times and PASSAGE >= size > 1 and _BOUNDS.isdisjoint(candidate.plain):
        stated = times_in(candidate.text)
        is_right = _by_times(prepared, stated[0], candidate) if len(stated) == 1 else None
        if is_right is not None:
            return is_right, "number" if is_right else "other-number"
    if size > (SHORT if figures.units else NAME) or candidate.text in prepared.texts:
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


_LONGEST = 500  # characters of those words
UNITS = {
    stem(name): names.split()[0]
    for names in (
        "mm millimetre", "cm centimetre", "m metre", "km kilometre kms", "inch", "ft foot", "yd yard yds", "mile mi",
        "mg milligram", "g gram gramme", "kg kilogram kilo kgs", "t ton tonne", "oz ounce", "lb pound lbs",
        "ml millilitre", "l litre", "gallon", "ms millisecond", "s second sec", "minute min", "hour h hr hrs", "day",
        "week", "month", "year yr yrs", "decade", "century", "c celsius centigrade", "f fahrenheit", "k kelvin",
        "bc bce", "ad ce", "am", "pm", "percent", "dollar usd", "euro eur", "yen", "rupee", "hz hertz", "khz", "mhz",
        "ghz", "kb", "mb", "gb", "tb", "w watt", "kw kilowatt", "mw megawatt", "volt", "ampere amp", "kmh kph", "mph",
        "knot",
    )
    for name in names.split()
}  # fmt: skip
_BEFORE = frozenset(("ad", "bc", "bce", "ce"))
_SKIPPED = stemmed("degree square cubic")
_RANGE = re.compile(
    r"\b(?:between|from)\s+(\d[\d,.]*)\D{0,20}?\s(?:and|to)\s+(\d[\d,.]*)|\b(\d[\d,.]*)\s?(?:to|–)\s?(\d[\d,.]*)",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\W*(?:\w+ )?\d[\d,.]*\s?(?:to|or|-|–)\s?\d[\d,.]*(?: \w+)?\W*", re.IGNORECASE)


def quantity_fault(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return the name of the rule by which a short candidate gives another quantity than every reference."""
    if prepared.explains or not candidate.numbers or len(candidate.plain) > STATEMENT:
        return None
    if _is_other_unit(prepared, candidate):
        return "other-unit"
    if not seen.complete and seen.dates == "clash" and _is_other_month(prepared, candidate):
        return "other-date"
    if seen.dates == "coarser" and "year" in asked.plain and not any(date.year for date in candidate.dates):
        return "coarser-date"
    if _is_other_sign(prepared, candidate) or _is_other_range(asked, prepared, candidate):
        return "other-number"
    return "hedged" if _is_around(prepared, candidate) or _is_range(asked, prepared, candidate) else None


def _is_other_sign(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate has a reference's number below zero, or the two of a score in the other order."""
    # A minus sign makes another number of the same figures.
    if any(value < 0 for value in candidate.numbers):
        return all(
            len(one.numbers) == 1 and not one.numbers.keys() & candidate.numbers.keys()
            for one in prepared.references[:REFERENCES]
        )
    turned = tuple(reversed(candidate.stems))
    if len(candidate.numbers) != 2 or len(turned) != 2:
        return False
    return all(one.stems == turned for one in prepared.references[:REFERENCES])


def _is_other_range(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate states a range, or no range where one is asked for, and every reference another one."""
    given = range_of(candidate.numbers, candidate.text)
    is_other = given is not None or ("range" in asked.plain and len(candidate.numbers) == 1)
    return is_other and all(one.range is not None and one.range != given for one in prepared.references[:REFERENCES])


def _is_other_unit(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the number of a reference occurs with another unit, and none with its own."""
    given = units_of(candidate.stems)
    found = False
    for reference in prepared.references[:REFERENCES]:
        if not reference.numbers:
            continue
        for value, unit in units_of(reference.stems).items():
            others = given.get(value)
            if others and None not in unit:
                # A number without a unit may have any.
                if None in others or others & unit:
                    return False
                found = True
    return found


def units_of(stems: Sequence[str]) -> dict[str, set[str | None]]:
    """Return the numbers among words, each with the units that follow it; None where one has none.

    >>> units_of("42.195 km or 100 c and 7".split())
    {'42.195': {'km'}, '100': {'c'}, '7': {None}}
    """
    found: dict[str, set[str | None]] = {}
    for at, word in enumerate(stems):
        if word[0].isdigit():
            rest = [one for one in stems[at + 1 : at + 4] if one not in _SKIPPED]
            unit = UNITS.get(rest[0]) if rest else None
            if unit is None and at and stems[at - 1] in _BEFORE:
                unit = UNITS[stems[at - 1]]
            found.setdefault(word, set()).add(unit)
    return found


def _is_other_month(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the candidate gives a day or a year together with a month, and every reference has another month."""
    given = [date for date in candidate.dates if date.month is not None]
    golds = [date for one in prepared.references[:REFERENCES] for date in one.dates if date.month is not None]
    return bool(given and golds) and all(one.month != other.month for one in given for other in golds)


def _is_around(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the only number that is asked for is named inside of a range that leaves it open."""
    match = _RANGE.search(candidate.text[:_LONGEST])
    if match is None:
        return False
    ends = words(" ".join(filter(None, match.groups())))
    if len(ends) != 2 or not all(end[0].isdigit() for end in ends):
        return False
    # A range that holds the one number does not commit to it.
    low, high = sorted(map(float, ends))
    return all(
        len(one.numbers) == 1 and low < next(iter(one.numbers)) < high for one in prepared.references[:REFERENCES]
    )


def _is_range(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether two numbers are given where one is asked for: `8 to 10`."""
    if asked.kind != "count" or len(candidate.numbers) != 2:
        return False
    return _FROM_TO.fullmatch(candidate.text[:_LONGEST]) is not None and all(
        len(one.numbers) == 1 for one in prepared.references[:REFERENCES]
    )


def is_miscounted(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate states another number than the nearest reference, and that of no other reference.

    A longer one has numbers of other things too: it must be asked for a number, and a date stand among few.
    """
    if seen.contained or seen.complete or seen.number_match or seen.dates in ("match", "coarser"):
        return False
    if seen.numbers != "clash" or len(candidate.plain) <= STATEMENT:
        return seen.numbers == "clash"
    if asked.kind != "count" and (asked.kind != "when" or len(candidate.numbers) > _FEW_NUMBERS):
        return False
    return all(one.is_number and len(one.numbers) == 1 for one in prepared.references)


_WORD = re.compile(r"\S+")
_STOPS = ".,;:!?()*\"'|"
_PARTED = re.compile(r"[.!?;:,|]\s")
_FIGURE = re.compile(r"[^\w\s]*\d")
_LETTERS = re.compile(r"[^\W\d_]+")
_BEGINS = NUMERIC | {"half", "quarter", "noon", "midnight"}
_AFTER = frozenset(("half", "quarter", "third", "dozen", "hundred", "thousand", "million", "couple"))  # `a dozen`
_SIZES = (4, 3, 2, 1)  # words of a quantity
_PHRASES = 20  # that are looked at

Place = tuple[int, int]
"""Where something begins in a text, and where it has ended."""


def stated(asked: Question, prepared: Prepared, candidate: Candidate) -> tuple[Place, ...]:
    """Return where a longer candidate that has no reference word for word, and denies nothing, states its quantity."""
    figures = prepared.facet(figures_of)
    if not (asked.denies or DENIALS.isdisjoint(candidate.plain)):
        return ()
    if len(candidate.plain) <= LEAST or not (figures.units or figures.times or (figures and asked.kind == "count")):
        return ()
    if any(one.padded in candidate.padded for one in prepared.references):
        return ()
    found: list[Place] = []
    for looked_at, (start, end) in enumerate(_phrases(candidate.text[:PART])):
        if looked_at == _PHRASES:
            break
        if found and start < found[-1][1]:
            continue
        phrase = Candidate(candidate.text[start:end])
        if by_quantity(asked, prepared, phrase) == (True, "number"):
            found.append((start, end))
    return tuple(found)


def _phrases(text: str) -> Iterator[Place]:
    """Yield the places of some words in a row of which the first is a number, long ones first."""
    places = [found.span() for found in _WORD.finditer(text)]
    for at, (start, end) in enumerate(places):
        if not _begins(text[start:end], text[slice(*places[at + 1])] if at + 1 < len(places) else ""):
            continue
        for size in _SIZES:
            last = places[at + size - 1][1] if at + size <= len(places) else 0
            # A phrase does not go beyond its clause.
            if last and not _PARTED.search(text, start, last):
                yield start, start + len(text[start:last].rstrip(_STOPS))


def _begins(word: str, following: str) -> bool:
    """Whether a word is a number, or `a` before one."""
    if _FIGURE.match(word):
        return True
    letters = _LETTERS.match(word.lstrip(_STOPS).lower())
    one = letters[0] if letters else ""
    return one in _BEGINS or (one in ("a", "an") and following.rstrip(_STOPS).lower() in _AFTER)

"""Quantities that are almost the reference: its number with another unit, another month, or a range around it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._features import Seen
from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.facts import range_of
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import stem, stemmed, words

_SHORT = 15  # words of a candidate that gives a quantity and little else
_LOOKED_AT = 50  # references
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
    if prepared.explains or not candidate.numbers or len(candidate.plain) > _SHORT:
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
            for one in prepared.references[:_LOOKED_AT]
        )
    turned = tuple(reversed(candidate.stems))
    if len(candidate.numbers) != 2 or len(turned) != 2:
        return False
    return all(one.stems == turned for one in prepared.references[:_LOOKED_AT])


def _is_other_range(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate states a range, or no range where one is asked for, and every reference another one."""
    given = range_of(candidate.numbers, candidate.text)
    is_other = given is not None or ("range" in asked.plain and len(candidate.numbers) == 1)
    return is_other and all(one.range is not None and one.range != given for one in prepared.references[:_LOOKED_AT])


def _is_other_unit(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the number of a reference occurs with another unit, and none with its own."""
    given = units_of(candidate.stems)
    found = False
    for reference in prepared.references[:_LOOKED_AT]:
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
    golds = [date for one in prepared.references[:_LOOKED_AT] for date in one.dates if date.month is not None]
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
        len(one.numbers) == 1 and low < next(iter(one.numbers)) < high for one in prepared.references[:_LOOKED_AT]
    )


def _is_range(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether two numbers are given where one is asked for: `8 to 10`."""
    if asked.kind != "count" or len(candidate.numbers) != 2:
        return False
    return _FROM_TO.fullmatch(candidate.text[:_LONGEST]) is not None and all(
        len(one.numbers) == 1 for one in prepared.references[:_LOOKED_AT]
    )

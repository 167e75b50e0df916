"""Other writings of a date, a decade, a day of the week, written as the reference is.

"the nineties", "the '90s"  ->  "1990s";  "the 1800s"  ->  "19th century";  "Wed."  ->  "Wednesday";  "'76"  ->  "1776"
"07/04/1776"                ->  "4 July 1776", where that is the reference, or the other reading of it
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections.abc import Iterable, Sequence

from adjudge.judges.local._reading.facts import Date

_LOOKED_AT = 50  # references
_LONGEST = 40  # characters of a reference that has other writings
_MOST = 2000  # characters in which they are looked for
_DAYS = ("mon", "tues?", "weds?", "thu(?:rs?)?", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sept?", "oct", "nov", "dec")
_FORMS = {
    name[:3].lower(): f"{name}|{form}" for name, form in zip((*day_name, *month_name[1:]), _DAYS + _MONTHS, strict=True)
}
_TENS = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_DECADE = re.compile(r"(?:in )?(?:the )?(\d{3}0)['’]?s")
_SHORT_DECADE = re.compile(rf"(?:the )?(?:nineteen[ -])?(?:['’]?([2-9]0)['’]?s|({'|'.join(_TENS)}))", re.IGNORECASE)
_LIKELY = re.compile(r"\d|(?:ies|century)$", re.IGNORECASE)  # what every one of these has
_OWN = r"(?<!his )(?<!her )(?<!my )(?<!your )(?<!their )"  # somebody in his sixties is of that age
_DATE = re.compile(r"(?<![\d./-])(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?![\d./-]*\d)")

Writings = tuple[tuple[re.Pattern[str], str, int], ...]
"""What to look for, what it stands for, and the characters of the longest text in which it may be."""


def writings_of(references: Iterable[str]) -> Writings:
    """Return what to look for instead of references, and what stands for it."""
    found = []
    for text in list(references)[:_LOOKED_AT]:
        if len(text) <= _LONGEST:
            gold = text.strip().rstrip(".")
            pattern = _name(gold)
            if pattern is None and _LIKELY.search(gold) is not None:
                pattern = _decade(gold)
            if pattern is not None:
                longest = _LONGEST if pattern[0] == "^" else _MOST
                found.append((re.compile(pattern, re.IGNORECASE), gold, longest))
    return tuple(found)


def _name(gold: str) -> str | None:
    """Find the short forms of a day or a month, or the name that is short for; as an answer by itself."""
    found = _FORMS.get(gold[:3].lower())
    if found is None or re.fullmatch(found, gold, re.IGNORECASE) is None:
        return None
    return rf"^\W*(?:(?:it(?:'s| is) )?(?:on|in) )?(?:{found})\W*$"


def _decade(gold: str) -> str | None:
    full, short = _DECADE.fullmatch(gold), _SHORT_DECADE.fullmatch(gold)
    if full is not None and "1920" <= full[1] <= "1990":
        year = full[1]
    elif short is not None:
        year = f"19{short[1]}" if short[1] else f"19{_TENS.index(short[2].lower()) + 2}0"
    else:
        return None
    word = _TENS[int(year[2]) - 2]
    return rf"\b{year}['’]?s\b|{_OWN}(?<![\w'’])(?:nineteen[ -]{word}|{word}|['’]?{year[2:]}['’]?s)\b"


def as_spelt(writings: Writings, text: str) -> str:
    """Return a text with the references in the place of their other writings.

    >>> as_spelt(writings_of(["1990s"]), "Back in the nineties."), as_spelt(writings_of(["1990s"]), "In her nineties")
    ('Back in the 1990s.', 'In her nineties')
    """
    for pattern, gold, longest in writings:
        if len(text) <= longest and pattern.search(text) is not None:
            text = gold.join(pattern.split(text))
    return text


def dated(text: str, dates: Sequence[Date]) -> str:
    """Return a text with its dates in figures written out: as a reference's, where they can be read so.

    >>> dated("07/04/1776", [Date(1776, 7, 4)]), dated("07/05/1776", [Date(1776, 7, 4)])
    ('4 July 1776', '5 July 1776')
    """
    golds = [one for one in dates if one.parts == len(one)]
    if not golds or len(text) > _MOST:
        return text

    def written(match: re.Match[str]) -> str:
        first, second, year = int(match[1]), int(match[2]), match[3]
        readings = [
            (day, month) for month, day in ((first, second), (second, first)) if 1 <= month <= 12 and 1 <= day <= 31
        ]
        for gold in golds:
            if (gold.day, gold.month) in readings and gold.year is not None and str(gold.year).endswith(year):
                return f"{gold.day} {month_name[gold.month or 0]} {gold.year}"
        if not readings or len(year) == 2:
            return match[0]
        return f"{readings[0][0]} {month_name[readings[0][1]]} {year}"

    return _DATE.sub(written, text)

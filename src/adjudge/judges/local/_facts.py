"""Numbers and dates as a text states them, in all their writings, and how a gold's stand to a candidate's.

"the nineties", "the '90s"  ->  "1990s";  "Wed."  ->  "Wednesday"
"07/04/1776"                ->  "4 July 1776", where that is the reference, or the other reading of it
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from adjudge.judges.local._limits import PART, REFERENCES

_MONTHS = {
    name: n
    for n, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ), 1
    )
    for name in names.split()
}  # fmt: skip
MONTHS = frozenset(_MONTHS)
"""The names of months, and their short forms."""

_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_RANGE = re.compile(r"\b([12]\d{3})\s?(?:-|–|—|to|until)\s?(\d{2}|[12]\d{3})\b")
_FROM_TO = re.compile(r"\d\S{0,9}\s?(?:-|–|—|to|and)\s?\d")
_YEARS = range(1000, 2101)


Span = tuple[int, int]


class Date(NamedTuple):
    """A date as far as it is stated; what is not said is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def covers(self, other: Date) -> bool:
        """Return whether everything that this date says, the other says too."""
        return all(mine is None or mine == yours for mine, yours in zip(self, other, strict=True))

    def clashes(self, other: Date) -> bool:
        """Return whether the two say different things about one part."""
        return any(a is not None and b is not None and a != b for a, b in zip(self, other, strict=True))

    @property
    def parts(self) -> int:
        """How many of year, month and day are stated."""
        return sum(part is not None for part in self)


def numbers_of(words: Sequence[str]) -> dict[float, str]:
    """Return the numbers among words, by value, as they are written."""
    found: dict[float, str] = {}
    for at in [at for at, word in enumerate(words) if word[0].isdecimal()]:
        figure = words[at].removesuffix("s")
        if len(figure) <= 300:
            below = at > 0 and words[at - 1] in ("minus", "negative")
            found[-float(figure) if below else float(figure)] = figure
    return found


def range_of(numbers: Mapping[float, str], text: str) -> tuple[float, float] | None:
    """Return the ends of a range that a text states and nothing else; years are spans.

    >>> range_of(numbers_of("10 12 years".split()), "10–12 years"), range_of(numbers_of(["1914", "1918"]), "1914-1918")
    ((10.0, 12.0), None)
    """
    if len(numbers) != 2 or _FROM_TO.search(text) is None:
        return None
    low, high = numbers
    return (low, high) if low < high and not (low in _YEARS and high in _YEARS) else None


def dates_of(words: Sequence[str], text: str = "") -> list[Date]:
    """Return the dates among words, as far as each is stated; a year alone is a date too.

    >>> dates_of("on 10 october 2007 and in may 1999 then 1812".split())
    [Date(year=2007, month=10, day=10), Date(year=1999, month=5, day=None), Date(year=1812, month=None, day=None)]
    """
    found: list[Date] = []
    taken: set[int] = set()
    if not MONTHS.isdisjoint(words):
        for at, word in enumerate(words):
            if word in _MONTHS:
                date = _around(words, at, taken)
                if date is not None:
                    found.append(date)
    if "-" in text:
        for match in _ISO.finditer(text):
            year, month, day = map(int, match.groups())
            if 1 <= month <= 12 and 1 <= day <= 31:
                found.append(Date(year, month, day))
    for at, word in enumerate(words):
        if len(word) == 4 and at not in taken and word.isdecimal() and word.isascii() and "1000" <= word <= "2100":
            found.append(Date(int(word)))
    return found


def _around(words: Sequence[str], at: int, taken: set[int]) -> Date | None:
    """Read the day and the year that stand around a month."""
    day = year = None
    before = at - 2 if at > 1 and words[at - 1] == "of" else at - 1
    if before >= 0 and _is_day(words[before]):
        day = int(words[before])
        taken.add(before)
    after = at + 1
    if day is None and after < len(words) and _is_day(words[after]):
        day = int(words[after])
        taken.add(after)
        after += 1
    if after < len(words) and words[after] in ("of", "in"):
        after += 1
    if after < len(words) and len(words[after]) == 4 and words[after].isdecimal():
        year = int(words[after])
        taken.add(after)
    if day is None and year is None and words[at] in ("may", "march", "mar", "sep", "dec", "jan", "jun"):
        return None
    return Date(year, _MONTHS[words[at]], day)


def _is_day(word: str) -> bool:
    return len(word) <= 2 and word.isdecimal() and word.isascii() and 1 <= int(word) <= 31


def date_standing(golds: Sequence[Date], given: Sequence[Date]) -> str:
    """Say how a gold's dates stand to a candidate's: none, match, coarser, clash, missing."""
    if not golds:
        return "none"
    if not given:
        return "missing"
    worst = "match"
    for gold in golds:
        if any(gold.covers(date) for date in given):
            continue
        near = [date for date in given if not gold.clashes(date) and date.parts]
        if any(date.covers(gold) for date in near):
            worst = "coarser" if worst == "match" else worst
        else:
            return "clash"
    return worst


def number_standing(golds: Mapping[float, str], given: Mapping[float, str]) -> str:
    """Say how a gold's numbers stand to a candidate's: none, match, rounded, clash, missing.

    A number that is the gold's at the gold's precision matches; the gold at a coarser precision is `rounded`.

    >>> number_standing({3.14: "3.14"}, {3.14159: "3.14159"}), number_standing({3.14159: "3.14159"}, {3.14: "3.14"})
    ('match', 'rounded')
    >>> number_standing({8848.0: "8848"}, {8849.0: "8849"}), number_standing({8848.0: "8848"}, {8800.0: "8800"})
    ('clash', 'rounded')
    >>> number_standing({24900.0: "24900"}, {24901.0: "24901"})
    'match'
    """
    if not golds:
        return "none"
    if not given:
        return "missing"
    worst = "match"
    for value, figure in golds.items():
        if value in given or any(_is_finer(value, figure, other) for other in given):
            continue
        if not any(_is_coarser(value, figure, other, written) for other, written in given.items()):
            return "clash"
        worst = "rounded"
    return worst


def _is_finer(value: float, figure: str, other: float) -> bool:
    """Whether a number is the gold's when it is rounded as the gold is; after two figures that may end in noughts."""
    if not -1e15 < other < 1e15:
        return False
    places = len(figure.partition(".")[2])
    zeros = len(figure) - len(figure.rstrip("0"))
    if places or zeros < 2 or zeros > len(figure) - 2 or 1000 <= value <= 2100:
        return other != int(other) and round(other, places) == value
    return round(other, -zeros) == value


def _is_coarser(value: float, figure: str, other: float, written: str) -> bool:
    """Whether a number is the gold, rounded; a year cannot be."""
    places, fewer = (len(one.partition(".")[2]) for one in (figure, written))
    if fewer < places:
        return round(value, fewer) == other
    zeros = len(written) - len(written.rstrip("0"))
    return not fewer and 2 <= zeros < len(written) - 1 and value > 2100 and round(value, -zeros) == other


def spans_of(words: Sequence[str], text: str) -> tuple[Span, ...]:
    """Return the spans of years that a text states, first and last year: decades, centuries, ranges.

    >>> spans_of(["the", "1970s"], "the 1970s"), spans_of("18 century".split(), ""), spans_of([], "from 1914-18")
    (((1970, 1979),), ((1701, 1800),), ((1914, 1918),))
    """
    found: list[Span] = []
    for at, word in enumerate(words):
        if len(word) == 5 and word[4] == "s" and word[:4].isdecimal():
            found.append((int(word[:4]), int(word[:4]) + (99 if word[2:4] == "00" else 9)))
        elif word == "century" and at and words[at - 1].isdecimal() and len(words[at - 1]) < 3:
            last = 100 * int(words[at - 1])
            found.append((last - 99, last))
    for match in _RANGE.finditer(text[:2000]):
        start, end = match[1], match[2]
        found.append((int(start), int(end if len(end) == 4 else start[:2] + end)))
    return tuple(found)


def span_standing(golds: Sequence[Date], spans: Sequence[Span], given: Sequence[Date], others: Sequence[Span]) -> str:
    """Say how a gold's dates and spans stand to a candidate's, as `date_standing` does."""
    found = date_standing(golds, given)
    if found in ("match", "coarser"):
        return found
    years = [date.year for date in given if date.year is not None]
    if spans and any(first <= year <= last for first, last in spans for year in years):
        return "match"
    golden = [date.year for date in golds if date.year is not None]
    if others and any(first <= year <= last for first, last in others for year in golden):
        return "coarser"
    return ("clash" if years else "missing") if spans and not golds else found


_LONGEST = 40  # characters of a reference that has other writings
_SHORT_DAYS = ("mon", "tues?", "weds?", "thu(?:rs?)?", "fri", "sat", "sun")
_SHORT_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sept?", "oct", "nov", "dec")
_FORMS = {
    name[:3].lower(): f"{name}|{form}"
    for name, form in zip((*day_name, *month_name[1:]), _SHORT_DAYS + _SHORT_MONTHS, strict=True)
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
    for text in list(references)[:REFERENCES]:
        if len(text) <= _LONGEST:
            gold = text.strip().rstrip(".")
            pattern = _name(gold)
            if pattern is None and _LIKELY.search(gold) is not None:
                pattern = _decade(gold)
            if pattern is not None:
                longest = _LONGEST if pattern[0] == "^" else PART
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
    if not golds or len(text) > PART:
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

"""Answers that are one quantity or one time of day and nothing else, in any unit of the same kind.

"1 hour 30 minutes", "1h30", "90 min", "an hour and a half"  are one duration;  "25 cents" and "$0.25"  one sum
"12 days" are not "two weeks", "over 500" is not "500", "€1,200 per week" no monthly rent of "1,200 euros"
"12 PM", "noon", "12:00"  are one time;  "half past five" and "5:30" may be in the morning or in the afternoon
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from adjudge.judges.local._amounts import Amount, Unit, read_amount, read_currency, read_unit_at, tokens_of
from adjudge.judges.local._limits import REFERENCES
from adjudge.text.number_words import NUMBER_WORDS, read_number_words
from adjudge.text.numbers import fold_symbols
from adjudge.text.units import CURRENCIES

_HALF_DAY = 720
_LONGEST_TIME = 50  # characters of a time
_NAMED = {"noon": _HALF_DAY, "midday": _HALF_DAY, "12 noon": _HALF_DAY, "midnight": 0, "12 midnight": 0, "00:00": 0}
_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_PART = r"(?:(?P<half>[ap])\.?\s?m\b\.?|(?:in the|at) (?P<part>morning|afternoon|evening|night))"
_IN_FIGURES = re.compile(
    rf"(?P<hour>\d{{1,2}}|{_HOURS})(?:[:.](?P<minute>[0-5]\d))?(?: ?(?:o'? ?clock|h|hrs|hours))?(?: ?{_PART})?"
)
_SPOKEN = re.compile(
    rf"(?:a )?(?P<minute>half|quarter|\d{{1,2}}|five|ten|twenty(?:[ -]five)?)(?: minutes?)?"
    rf" (?P<side>past|after|to|till|before) (?P<hour>\d{{1,2}}|{_HOURS})(?: o'? ?clock)?(?: ?{_PART})?"
)
_DAYTIME = r"(?:in the|at) (?:morning|afternoon|evening|night)\b"
_STATED = re.compile(
    r"\b(?:(?:half|quarter|\d{1,2}|five|ten|twenty(?:[ -]five)?)(?: minutes?)? (?:past|after|to|till|before)"
    rf" (?:\d{{1,2}}|{_HOURS})\b(?: o'? ?clock)?|\d{{1,2}}[:.][0-5]\d(?![\d:]|\.\d)(?: ?h\b)?"
    rf"|(?:\d{{1,2}}|{_HOURS}) o'? ?clock|(?:\d{{1,2}}|{_HOURS})(?= ?(?:[ap]\.?\s?m\b|{_DAYTIME}))"
    rf"|noon\b|midday\b|midnight\b)(?: ?[ap]\.?\s?m\b\.?| {_DAYTIME})?"
)
_AT = re.compile(r"^(?:(?:it (?:is|was|starts|begins)|it's|at|about|around|exactly) )+")
_WORDS = {"half": 30, "quarter": 15}


def minutes_of(text: str) -> tuple[int, ...]:
    """Return the minutes of the day that a text may mean, if it is a time and nothing else.

    >>> minutes_of("quarter to six"), minutes_of("7"), minutes_of("five o'clock in the morning")
    ((345, 1065), (), (300,))
    """
    if len(text) > _LONGEST_TIME:
        return ()
    plain = _AT.sub("", fold_symbols(text).strip().lower()).strip(" !,")
    plain = plain if plain.endswith(".m.") else plain.rstrip(".")
    if plain in _NAMED:
        return (_NAMED[plain],)
    found = _IN_FIGURES.fullmatch(plain)
    if found is not None:
        return _by_figures(found, plain)
    found = _SPOKEN.fullmatch(plain)
    return () if found is None else _by_words(found)


def times_in(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the different times of day that a text states, each with the minutes that it may mean.

    >>> times_in("The last one leaves at 23:40, or at a quarter to five in the morning."), times_in("at 7")
    (((1420,), (285,)), ())
    """
    found = (minutes_of(match[0]) for match in _STATED.finditer(fold_symbols(text).lower()))
    return tuple(dict.fromkeys(one for one in found if one))


def _by_figures(found: re.Match[str], text: str) -> tuple[int, ...]:
    hour, minute = _count(found["hour"]), int(found["minute"] or 0)
    if found["half"] or found["part"]:
        return _in_half(60 * hour + minute, found) if 0 < hour <= 12 else ()
    if found["minute"] is None and "clock" not in text:
        return ()
    if found["minute"] is not None and ":" not in text:
        return ()
    if hour >= 12:
        return (60 * hour + minute,) if hour < 24 else ()
    return _either(60 * hour + minute)


def _by_words(found: re.Match[str]) -> tuple[int, ...]:
    hour, minute = _count(found["hour"]), _WORDS.get(found["minute"]) or _count(found["minute"])
    if not 0 < hour <= 12 or not 0 < minute < 60:
        return ()
    total = 60 * hour + (minute if found["side"] in ("past", "after") else -minute)
    return _in_half(total, found) if found["half"] or found["part"] else _either(total)


def _in_half(total: int, found: re.Match[str]) -> tuple[int, ...]:
    """Return a time before or after noon; at night is either, by the hour."""
    total %= _HALF_DAY
    if found["part"] == "night":
        return (total if total < 300 else total + _HALF_DAY,)
    return (total + _HALF_DAY * (found["half"] == "p" or found["part"] in ("afternoon", "evening")),)


def _either(total: int) -> tuple[int, ...]:
    return (total % _HALF_DAY, total % _HALF_DAY + _HALF_DAY)


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else read_number_words(word) or 0


def time_standing(golds: Sequence[tuple[int, ...]], given: tuple[int, ...], *, is_spoken: bool) -> bool | None:
    """Say whether a time is a reference's, is none of theirs, or may be: `5:30` does not say which half of the day.

    >>> time_standing([(1050,)], (330, 1050), is_spoken=False), time_standing([(330, 1050)], (1050,), is_spoken=False)
    (None, True)
    """
    if not given:
        return None
    for gold in golds:
        if gold and (gold == given or set(given) < set(gold) or (is_spoken and set(gold) < set(given))):
            return True
    return False if all(gold and set(gold).isdisjoint(given) for gold in golds) else None


_LONGEST = 100  # characters of an answer that is one quantity
_FIGURES = 3  # figures of a quantity that is precise enough to be another one's, rounded
_NEAR, _ROUND, _APART = Fraction(1, 1000), Fraction(1, 100), Fraction(1, 50)  # relative errors
_BOUNDS = {
    "about": "about", "approximately": "about", "approx": "about", "around": "about", "roughly": "about",
    "circa": "about", "ca": "about", "~": "about", "≈": "about", "some": "about", "exactly": "", "precisely": "",
    "just": "", "nearly": "about", "almost": "about",
    "over": "over", "above": "over", ">": "over", "more than": "over", "greater than": "over", "at least": "over",
    "under": "under", "below": "under", "<": "under", "less than": "under", "fewer than": "under", "at most": "under",
    "up to": "under",
}  # fmt: skip
_AFTER = {"+": "over", "or more": "over", "or less": "under", "or fewer": "under"}
_ENDS = frozenset((
    "long", "tall", "high", "old", "wide", "deep", "heavy", "away", "apart", "total", "altogether", "ago", "each", "in",
    "length", "height", "weight", "size", "time", "people", "inhabitants", "residents",
))  # fmt: skip
_DECADE = re.compile(r"\b[12]\d\d0s\b")  # no seconds
_FIGURE = re.compile(r"[0-9]")
_HINTS = NUMBER_WORDS | {"a", "an", "half", "noon", "midday", "midnight"}  # a quantity without figures has one
_KINDS = frozenset(("length", "mass", "time", "data", "temperature", "frequency", "power"))
_FACTOR = re.compile(r"[/^]\d?")
_NEXT = dict.fromkeys(("ft", "foot", "feet", "'"), "inch") | dict.fromkeys(("h", "hr", "hour", "hours"), "min")


class Measure(NamedTuple):
    """What a text says: how much of what, and whether about, over or under it."""

    amount: Amount
    unit: Unit
    bound: str = ""

    @property
    def number(self) -> Fraction:
        """The number that stands before the unit."""
        return self.amount.value / self.unit.factor - self.unit.zero


Golds = tuple[tuple[Measure, ...], ...]
"""What each reference may mean."""


def measures_of(text: str) -> tuple[Measure, ...]:
    """Return the quantities that a text may be, if it is one and nothing else: `5 k` is kelvins, or 5000.

    >>> [(int(one.amount.value), one.unit.dimension) for one in measures_of("1 hour 30 minutes")]
    [(5400, 'time')]
    >>> measures_of("90 minutes or so"), measures_of("3, 4")
    ((), ())
    """
    return _read(text.strip()) if len(text) <= _LONGEST else ()


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Measure, ...]:
    if _DECADE.search(text) is not None:
        return ()
    tokens = tokens_of(text)
    while tokens and tokens[-1] in (".", "!", "*"):
        tokens.pop()
    while tokens and tokens[0] == "*":
        tokens.pop(0)
    found: list[Measure] = []
    for other in (False, True):
        read = _measure(tokens, 0, other=other)
        one = None if read is None else _ended(*read, tokens)
        if one is not None and one not in found:
            found.append(one)
    return tuple(found)


def measures_in(text: str) -> list[Measure]:
    """Return the quantities of a sentence, in their first meaning.

    >>> [(int(one.amount.value), one.unit.dimension) for one in measures_in("Since 1990 it lasts 2 h 10 min.")]
    [(1990, ''), (7800, 'time')]
    """
    tokens = tokens_of(text)
    found: list[Measure] = []
    at = 0
    while at < len(tokens):
        is_bound = tokens[at] in _BOUNDS or " ".join(tokens[at : at + 2]) in _BOUNDS
        is_start = is_bound or tokens[at][0].isdigit() or tokens[at] in CURRENCIES or tokens[at] in NUMBER_WORDS
        read = _measure(tokens, at, other=False) if is_start else None
        if read is None:
            at += 1
        else:
            found.append(read[0])
            at = read[1]
    return found


def _measure(tokens: list[str], start: int, *, other: bool) -> tuple[Measure, int] | None:
    """Read a quantity: it and its end; `other` where letters have their second meaning: `m` million, `pounds` a sum."""
    bound, at = _bound(tokens, start)
    money = read_currency(tokens, at)
    if money is not None:
        unit, at = money
        read = read_amount(tokens, at, in_letters=True)
        if read is None:
            return None
        amount, at = read
        after = read_currency(tokens, at)
        if after is not None and after[0] == unit:
            at = after[1]
        unit, at = _rate(unit, tokens, at, other=other)
        return Measure(amount.times(unit.factor), unit, bound), at
    return _terms(tokens, at, bound, other=other)


def _bound(tokens: Sequence[str], at: int) -> tuple[str, int]:
    for end in (at + 2, at + 1):
        said = " ".join(tokens[at:end])
        if said in _BOUNDS:
            return _BOUNDS[said], end + (tokens[end : end + 1] == ["."])
    return "", at


def _terms(tokens: Sequence[str], at: int, bound: str, *, other: bool) -> tuple[Measure, int] | None:
    """Read a number with its unit, and smaller ones that are added to it: `5 ft 11 in`."""
    read = read_amount(tokens, at, in_letters=other)
    if read is None or (tokens[at] in ("a", "an") and read[1] == at + 1 and read_unit_at(tokens, at + 1) is None):
        return None
    amount, at = read
    name = tokens[at] if at < len(tokens) else ""
    found = read_unit_at(tokens, at, other=other)
    if found is None:
        return Measure(amount, Unit("", Fraction(1)), bound), at
    unit, at = found
    unit, at = _rate(unit, tokens, at, other=other)
    total, smallest = amount.times(unit.factor), unit
    if tokens[at : at + 3] == ["and", "a", "half"]:
        return Measure(_sum(total, amount.times(unit.factor / 2)), unit, bound), at + 3
    while at < len(tokens):
        start = at + 1 if tokens[at] in ("and", ",", "&") else at
        more = read_amount(tokens, start) if start < len(tokens) and tokens[start][0].isalnum() else None
        if more is None:
            break
        part, end = more
        inner = read_unit_at(tokens, end, other=other, of=unit.dimension)
        if inner is None and name in _NEXT:
            inner = read_unit_at((_NEXT[name],), 0)
            inner = None if inner is None else (inner[0], end)
        if inner is None or inner[0].dimension != unit.dimension or inner[0].factor >= smallest.factor:
            break
        smallest, at = inner
        name = ""
        total = _sum(total, part.times(smallest.factor))
    if unit.zero:
        total = total._replace(value=total.value + unit.zero * unit.factor)
    return Measure(total, unit._replace(factor=smallest.factor), bound), at


def _sum(one: Amount, other: Amount) -> Amount:
    value = one.value + other.value
    return Amount(value, other.step, max(one.figures, _FIGURES))


def _rate(unit: Unit, tokens: Sequence[str], at: int, *, other: bool) -> tuple[Unit, int]:
    """Read what a unit is counted by: `per week`, `/h`, `a month`."""
    if at + 1 >= len(tokens) or tokens[at] not in ("/", "per", "a", "an", "each", "every"):
        return unit, at
    below = read_unit_at(tokens, at + 1, other=other)
    if below is None or (tokens[at] not in ("/", "per") and below[0].dimension not in ("time", "months")):
        return unit, at
    return Unit(f"{unit.dimension}/{below[0].dimension}", unit.factor / below[0].factor), below[1]


def _ended(found: Measure, at: int, tokens: Sequence[str]) -> Measure | None:
    """Return a quantity after which nothing else is said."""
    rest = tokens[at:]
    while rest and rest[-1] in _ENDS:
        rest = rest[:-1]
    if not rest:
        return found
    bound = _AFTER.get(" ".join(rest))
    return None if bound is None else found._replace(bound=bound)


def is_same_measure(gold: Measure, given: Measure) -> bool | None:
    """Whether one quantity is the other: at its precision, if that is three figures; None where it is not plain.

    >>> gold, *given = (measures_of(one)[0] for one in ("42.195 km", "26.2 miles", "26 miles", "30 miles"))
    >>> [is_same_measure(gold, one) for one in given]
    [True, None, False]
    """
    if gold.unit.dimension != given.unit.dimension:
        return False if _are_apart(gold.unit.dimension, given.unit.dimension) else None
    a, b = gold.amount, given.amount
    error = abs(a.value - b.value) / max(abs(a.value), abs(b.value)) if a.value != b.value else Fraction(0)
    bounds = {gold.bound, given.bound} - {"about", ""}
    if bounds:
        return _is_bound(gold, given, error)
    if not error:
        return True
    about = given.bound == "about" or b.rounds
    if gold.unit == given.unit:
        # A number without a unit may be a year, which is never rounded.
        far = _ROUND if given.bound == "about" and gold.unit.dimension and b.figures > 1 else _NEAR
        is_round = about and error <= far and _is_within(a, b)
    elif error <= _NEAR or (about and b.figures > 1 and error <= _ROUND):
        is_round = _is_within(a, b) or _is_within(b, a)
    else:
        is_round = b.figures >= _FIGURES and (_is_within(a, b) or (a.figures >= _FIGURES and _is_within(b, a)))
    return True if is_round else (False if error > _APART else None)


def _are_apart(one: str, other: str) -> bool:
    """Whether two kinds of quantity have nothing in common."""
    if one.startswith("money") and other.startswith("money"):
        return True
    return bool(one and other) and all(part in _KINDS for kind in (one, other) for part in _FACTOR.split(kind) if part)


def _is_bound(gold: Measure, given: Measure, error: Fraction) -> bool | None:
    if gold.bound == given.bound:
        return True if not error else None
    if not error and (gold.bound in ("", "about")) != (given.bound in ("", "about")):
        return False if gold.bound == "" else None
    return False if {gold.bound, given.bound} == {"over", "under"} else None


def _is_within(exact: Amount, rounded: Amount) -> bool:
    return abs(exact.value - rounded.value) * 2 <= rounded.step


def golds_of(references: Sequence[str]) -> Golds:
    """Return the quantities that references are; none if they are something else."""
    found = tuple([measures_of(one) if is_likely(one) else () for one in references[:REFERENCES]])
    return found if any(found) else ()


def is_likely(text: str) -> bool:
    """Whether a text may be a quantity or a time: a look that costs little, since some questions have many aliases."""
    text = text[:_LONGEST]
    if _FIGURE.search(text) if text.isascii() else any(map(str.isdigit, text)):
        return True
    return not _HINTS.isdisjoint(text.lower().replace("-", " ").split())

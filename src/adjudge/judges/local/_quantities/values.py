"""Answers that are one value and nothing else: fractions, per cent, powers of ten, times of day, none.

"1/2", "0.5", "50 %", "one half"  are one value;  "5:30 pm" and "17:30"  another one;  "none" is 0
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from adjudge.judges.local._quantities.clock import minute_of
from adjudge.text.number_words import read_number_words
from adjudge.text.numbers import VULGAR, fold_symbols, read_numeral

_LONGEST = 40  # characters of an answer that is a value
_LOOKED_AT = 50  # references
_WHOLE = -2  # places of whole per cent, of which a more precise figure is another one
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
}  # fmt: skip
_PARTS = {
    "half": 2, "halve": 2, "quarter": 4, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10,
}  # fmt: skip
_BEFORE = re.compile(
    r"(?:(?:at|about|approximately|approx\.?|around|roughly|exactly|it is|it's|its|there (?:is|are|were)"
    r"|the (?:final )?answer is|\w ?=|=|~|≈)\s*)*"
)
_PERCENT = re.compile(r"\s?(?:%|per ?cent)")
_POWER = re.compile(r"\s?[x*]\s?10\s?\^\s?\{?(-?\d{1,3})\}?")
_NONE = frozenset(("none", "nil", "nothing", "not any", "zero"))
_SLASH = re.compile(r"(-?)(?:(\d{1,4}) (?:and )?)?(\d{1,6})/(\d{1,6})")
_SPOKEN = re.compile(rf"(?:({'|'.join(_COUNTS)}) and )?(?:({'|'.join(_COUNTS)})[ -])?({'|'.join(_PARTS)})s?")
_CHANCE = re.compile(r"(\d{1,9}|[a-z]+) (?:in|out of) (?:a )?(\d{1,9}|[a-z]+)")


class Value(NamedTuple):
    """What a text says: how much, or the minute of the day, and to how many places; None for what is exact."""

    amount: Fraction
    places: int | None = None
    is_time: bool = False


def is_same_value(references: Sequence[str], text: str) -> bool:
    """Whether a short answer is the value of a reference in another writing, or a decimal of more places.

    >>> is_same_value(["1/2"], "50%"), is_same_value(["5:30 pm"], "17:30"), is_same_value(["3.14"], "3.14159")
    (True, True, True)
    >>> is_same_value(["1/3"], "0.33"), is_same_value(["5:30 pm"], "5:30 am"), is_same_value(["100"], "90")
    (True, False, False)
    """
    given = read_value(text) if len(text) <= _LONGEST else None
    if given is None:
        return False
    golds = (read_value(one) for one in references[:_LOOKED_AT] if len(one) <= _LONGEST)
    return any(_are_equal(gold, given) for gold in golds if gold is not None)


def _are_equal(gold: Value, given: Value) -> bool:
    # Times of day are never rounded.
    if gold.is_time or given.is_time:
        return gold == given
    if gold.amount == given.amount:
        return True
    places, more = max(gold.places or 0, 0), abs(given.places or 0)
    # A fraction: no decimal is all of it.
    if not places:
        return more > 1 and _never_ends(gold.amount) and round(gold.amount, more) == given.amount
    return more > places and round(given.amount, places) == gold.amount


def _never_ends(amount: Fraction) -> bool:
    """Whether a fraction cannot be written as a decimal of any length."""
    return 10**20 % amount.denominator != 0


@lru_cache(maxsize=4096)
def read_value(text: str) -> Value | None:
    """Return the value of a text that is one and nothing else."""
    plain = _BEFORE.sub("", fold_symbols(text).strip().lower(), count=1).strip(" .!")
    if plain in _NONE:
        return Value(Fraction(0))
    minute = minute_of(plain)
    return _figure(plain) or _fraction(plain) if minute is None else Value(Fraction(minute), is_time=True)


def _fraction(text: str) -> Value | None:
    """Read a fraction with a slash, as one sign or in words; `third` alone is a place."""
    if text in VULGAR:
        return Value(Fraction(*VULGAR[text]))
    match = _SLASH.fullmatch(text)
    if match is not None and int(match[4]):
        amount = int(match[2] or 0) + Fraction(int(match[3]), int(match[4]))
        return Value(-amount if match[1] else amount)
    chance = _CHANCE.fullmatch(text)
    if chance is not None:
        return _chance(chance[1], chance[2])
    spoken = _SPOKEN.fullmatch(text)
    # `a third` is a fraction, `third` alone may be a rank; halves and quarters have no such rank.
    if spoken is None or (spoken[2] is None and _PARTS[spoken[3]] not in (2, 4)):
        return None
    whole = _COUNTS[spoken[1]] if spoken[1] else 0
    return Value(whole + Fraction(_COUNTS[spoken[2] or "a"], _PARTS[spoken[3]]))


def _chance(above: str, below: str) -> Value | None:
    """Read `one in six`."""
    favourable, all_of_them = (int(one) if one.isdecimal() else read_number_words(one) for one in (above, below))
    if favourable is None or all_of_them is None or not 0 < favourable < all_of_them:
        return None
    return Value(Fraction(favourable, all_of_them))


def _figure(text: str) -> Value | None:
    """Read a figure, perhaps per cent or times a power of ten."""
    factor: Fraction | None = None
    percent, power = _PERCENT.search(text), _POWER.search(text)
    if percent is not None:
        text, factor = text[: percent.start()] + text[percent.end() :], Fraction(1, 100)
    elif power is not None:
        text, factor = text[: power.start()] + text[power.end() :], Fraction(10) ** int(power[1])
    figure = read_numeral(text)
    if figure is None:
        return None
    if factor is None:
        return Value(figure.value, figure.places)
    places = None if percent is None else (figure.places + 2 if figure.places else _WHOLE)
    return Value(figure.value * factor, places)

"""Times of day, as minutes since midnight: on a clock of 12 or 24 hours, and as they are spoken.

"12 PM", "noon", "12:00"  are 720;  "half past five in the afternoon", "5:30 pm", "17:30"  are 1050
"half past five" and "5:30" may be 330 or 1050
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.text.number_words import read_number_words
from adjudge.text.numbers import fold_symbols

_HALF_DAY = 720
_LONGEST = 50  # characters of a time
_NAMED = {"noon": _HALF_DAY, "midday": _HALF_DAY, "12 noon": _HALF_DAY, "midnight": 0, "12 midnight": 0, "00:00": 0}
_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_PART = r"(?:(?P<half>[ap])\.?\s?m\b\.?|(?:in the|at) (?P<part>morning|afternoon|evening|night))"
_FIGURES = re.compile(
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
    if len(text) > _LONGEST:
        return ()
    plain = _AT.sub("", fold_symbols(text).strip().lower()).strip(" !,")
    plain = plain if plain.endswith(".m.") else plain.rstrip(".")
    if plain in _NAMED:
        return (_NAMED[plain],)
    found = _FIGURES.fullmatch(plain)
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

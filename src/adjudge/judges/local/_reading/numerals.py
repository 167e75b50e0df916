"""Numbers among words, written in figures: `twenty first` is 21, `2.5 million` 2500000, `3rd` 3, `ii` 2."""

from __future__ import annotations

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = {word: n for n, word in enumerate(_UNITS)} | {word: n for n, word in enumerate(_ORDINALS)}
_SMALL |= {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SMALL |= {f"{word[:-1]}ieth": 10 * n for n, word in enumerate(_TENS, 2)}
_RANKS = frozenset(_ORDINALS)
_SMALL |= {"once": 1, "twice": 2, "thrice": 3}
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ROMAN = {
    "ii": 2, "iii": 3, "iv": 4, "iiii": 4, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "xi": 11, "xii": 12, "xiii": 13,
    "xiv": 14, "xv": 15, "xvi": 16, "xvii": 17, "xviii": 18, "xix": 19, "xx": 20, "xxi": 21,
}  # fmt: skip
NUMERIC = frozenset(_SMALL) | frozenset(_SCALES) | frozenset(_ROMAN)
"""The words that are numbers, or parts of one."""


def in_figures(found: list[str]) -> list[str]:
    """Return words in small letters with their numbers in figures.

    >>> in_figures("the twenty first of 2.5 million".split()), in_figures("nineteen oh five ii 3rd %".split())
    (['the', '21', 'of', '2500000'], ['1905', '2', '3', 'percent'])
    >>> in_figures("in 1998 two students".split()), in_figures("3 hundred and five".split())
    (['in', '1998', '2', 'students'], ['305'])
    """
    result: list[str] = []
    at, end = 0, len(found)
    while at < end:
        word = found[at]
        at += 1
        if word not in NUMERIC and word.isalpha():
            result.append(word)
        elif word in _SMALL:
            value, at = _number(float(_SMALL[word]), found, at, last=float(_SMALL[word]))
            result.append(_written(value))
        elif word[0].isdecimal():
            figure = word[:-2] if word[-1] in "tdh" else word
            if figure[-1] == "s" or len(figure) > 15:
                result.append(figure)
            else:
                # A word adds to a figure only after a scale: `in 1998 two of them` has two numbers.
                value, at = _number(float(figure), found, at, last=0.0)
                result.append(_written(value))
        elif word in _ROMAN:
            result.append(str(_ROMAN[word]))
        else:
            result.append("percent" if word == "%" else word)
    return result


def _number(first: float, found: list[str], at: int, *, last: float) -> tuple[float, int]:
    """Read on after the first part of a number, of which `last` may be added to; return its value and its end."""
    if 11 <= first <= 20 and found[at - 1] in _SMALL and at < len(found):
        year = _year(int(first), found, at)
        if year is not None:
            return year
    total, group = 0.0, first
    while at < len(found):
        word = found[at]
        small = _SMALL.get(word)
        if small is not None and ((20 <= last < 100 and 0 < small < 10 and last % 10 == 0) or (last >= 100 > small)):
            group, last = group + small, float(small)
        elif word == "hundred" and 0 < group < 100:
            group, last = group * 100, 100.0
        elif word in _SCALES and word != "hundred" and group > 0:
            total, group, last = total + group * _SCALES[word], 0.0, 1000.0
        elif not (word == "and" and last >= 100 and at + 1 < len(found) and found[at + 1] in _SMALL):
            break
        at += 1
    return total + group, at


def _year(century: int, found: list[str], at: int) -> tuple[float, int] | None:
    """Read a year in two halves: `nineteen eighty four`, `nineteen oh five`; `twenty one` is none."""
    tens = _SMALL.get(found[at], 0)
    ones = _SMALL.get(found[at + 1], 0) if at + 1 < len(found) else 0
    if found[at] == "oh" and 0 < ones < 10:
        return 100.0 * century + ones, at + 2
    if not (10 <= tens < 100) or found[at] in _RANKS:
        return None
    is_more = tens >= 20 and 0 < ones < 10 and found[at + 1] not in _RANKS
    return 100.0 * century + tens + (ones if is_more else 0), at + 1 + is_more


def _written(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)

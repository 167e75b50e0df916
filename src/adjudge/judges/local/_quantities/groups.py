"""Figures that do not measure: coordinates and ranks.

"40.7128, -74.0060" is "40.7128° N, 74.0060° W";  "3 places" are not "3rd" place
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.text.number_words import NUMBER_WORDS
from adjudge.text.numbers import fold_symbols

_LOOKED_AT = 50  # references
_LONGEST = 60  # characters of such figures
_PLACE = re.compile(
    r"(?P<first>[+-]?\d{1,2}(?:\.\d+)?)\s?(?:°|degrees)?\s?(?P<north>north|south|[ns])?\s?(?:,|\s|and)\s?"
    r"(?P<second>[+-]?\d{1,3}(?:\.\d+)?)\s?(?:°|degrees)?\s?(?P<east>east|west|[ew])?",
    re.IGNORECASE,
)

_ORDINAL = r"\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
_RANK = re.compile(rf"(?:(?:in )?(?:the )?)?(?:{_ORDINAL})(?: (?:place|position|rank))?\.?", re.IGNORECASE)
_COUNTED = re.compile(rf"(?:\d+|{'|'.join(sorted(NUMBER_WORDS))}) [a-z]+s\W*", re.IGNORECASE)

Groups = tuple[tuple[str, ...], ...]


def groups_of(references: Sequence[str]) -> Groups:
    """Return the coordinates that all references are; none if one is something else."""
    found = []
    for one in references[:_LOOKED_AT]:
        read = _read(one, is_gold=True)
        if not read:
            return ()
        found.append(read)
    return tuple(found)


def are_ranks(references: Sequence[str]) -> bool:
    """Whether all references are places in an order."""
    return bool(references) and all(_RANK.fullmatch(one.strip()) is not None for one in references[:_LOOKED_AT])


def is_count(text: str) -> bool:
    """Whether a text says how many there are of something.

    >>> is_count("3 places"), is_count("Three seconds."), is_count("3rd place"), is_count("third")
    (True, True, False, False)
    """
    return len(text) <= _LONGEST and _COUNTED.fullmatch(text.strip()) is not None


def by_groups(golds: Groups, text: str) -> bool | None:
    """Return whether a text is the place of a reference; None if it gives no coordinates.

    >>> by_groups(groups_of(["40.71° N, 74.01° W"]), "40.71, -74.01"), by_groups(groups_of(["1, 2"]), "1, 2")
    (True, None)
    """
    given = _read(text, is_gold=False) if golds else ()
    return any(all(map(_is_same_angle, gold, given)) for gold in golds) if given else None


def _read(text: str, *, is_gold: bool) -> tuple[str, ...]:
    if len(text) > _LONGEST:
        return ()
    plain = fold_symbols(text).strip(" .")
    place = _PLACE.fullmatch(plain)
    if place is not None and (not is_gold or (place["north"] and place["east"])):
        return _signed(place["first"], place["north"] or "n"), _signed(place["second"], place["east"] or "e")
    return ()


def _signed(figure: str, side: str) -> str:
    below = (figure[0] == "-") != (side[0].lower() in "sw")
    return ("-" if below else "") + figure.lstrip("+-")


def _is_same_angle(gold: str, given: str) -> bool:
    """Whether two angles are the same as far as the coarser one says, but for less than two decimals."""
    places = min(len(one.partition(".")[2]) for one in (gold, given))
    if float(gold) == float(given):
        return True
    return places >= 2 and round(float(gold), places) == round(float(given), places)

"""Names as they are compared: their parts without titles, initials, and the forms that one part may have.

"Dr. William J. Smith, Junior"  ->  william, j, smith, jr; `Bill`, `W` and `Wiliam` may be `William`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from adjudge.judges.local._names.namesakes import TITLES
from adjudge.judges.local._names.nicknames import is_nickname
from adjudge.judges.local._reading.sounds import is_spelling, sound
from adjudge.judges.local._reading.words import ARTICLES, STOP, stem, words

_TITLES = TITLES | frozenset(
    "baroness duchess countess dame reverend father sister brother admiral marshal sergeant governor"
    " mayor congressman secretary ambassador tsar czar kaiser caliph emir sheikh rabbi imam"
    " mahatma bishop archbishop cardinal doctor first former late".split()
)
_SURNAMES = frozenset("king prince judge duke earl baron pope bishop major".split())  # titles that are names at the end
_SUFFIXES = {
    "junior": "jr", "senior": "sr", "limited": "ltd", "incorporated": "inc", "corporation": "corp", "mt": "mount",
    "ft": "fort", "company": "co",
}  # fmt: skip
_LONG = 5  # letters of a word in which a doubled one says little
_LETTERS = re.compile(r"[^\W\d_]+")
_ROMAN = {"i": 1, "v": 5, "x": 10}


class Name(NamedTuple):
    """A name."""

    parts: tuple[str, ...]  # its words without titles and small ones
    initials: frozenset[str]  # those of them that are initials, perhaps several: `jrr`
    capitals: frozenset[str]  # words with a capital
    ordinal: tuple[str, int] | None  # the word and the number of `Henry V`


@lru_cache(maxsize=20_000)
def read_name(text: str) -> Name:
    """Read a name; the same one is read once."""
    plain = [_SUFFIXES.get(word, word) for word in words(text)]
    written = _LETTERS.findall(text)
    lowered = {part.lower() for part in written}
    short = {part.lower() for part in written if len(part) <= 3 and part.isupper()} - ARTICLES
    # `Will` is a name where it is not a verb.
    is_will = plain[:1] == ["will"] or "Will" in written
    kept = short | {"will"} if is_will else short
    last = len(plain) - 1 - (plain[-1:] in (["jr"], ["sr"]))
    if last > 0 and plain[last] in _SURNAMES and plain[last - 1] not in _TITLES | STOP:
        kept = kept | {plain[last]}
    parts = tuple(word for word in plain if (word not in _TITLES and word not in STOP) or word in kept)
    initials = frozenset(
        part
        for part in parts
        if part.isalpha()
        and part.isascii()
        and len(part) <= 4
        and (len(part) == 1 or part not in lowered or part in short)
    )
    capitals = frozenset(words(" ".join(part for part in written if part[0].isupper())))
    return Name(parts, initials, capitals, _ordinal(plain, text))


def _ordinal(plain: Sequence[str], text: str) -> tuple[str, int] | None:
    """Return the name and the number of one who is counted: `Henry V`, `Henry the Fifth`, `World War II`."""
    for at in range(len(plain) - 1, 0, -1):
        word = plain[at]
        before = plain[at - 2] if plain[at - 1] == "the" and at > 1 else plain[at - 1]
        if not before.isalpha() or before in STOP:
            continue
        if word.isdecimal() and len(word) <= 2:
            return before, int(word)
        if word in _ROMAN and (at == len(plain) - 1 or plain[at + 1] == "of") and f" {word.upper()}" in text:
            return before, _ROMAN[word]
    return None


def is_form(part: str, one: str, name: Name, given: Name, *, is_strict: bool = False) -> bool:
    """Whether a part of a given name may be a form of one of the reference: initial, nickname, spelling.

    If it is strict, one that sounds alike; else one that is almost written so, or its beginning.
    """
    if part == one or stem(part) == stem(one):
        return True
    if part in given.initials and one in name.initials:
        return one.startswith(part) or part.startswith(one)
    if part in given.initials:
        letters = {word[0] for word in name.parts if word not in name.initials} | set("".join(name.initials))
        return one[0] in part and letters.issuperset(part)
    if one in name.initials:
        return part[0] in one
    return part.isalpha() and one.isalpha() and _is_variant(part, one, is_strict)


@lru_cache(maxsize=20_000)
def _is_variant(one: str, other: str, is_strict: bool) -> bool:
    """Whether one word is a nickname, the beginning or another spelling of the other."""
    if is_nickname(one, stem(other)):
        return True
    if is_strict:
        is_long = min(len(one), len(other)) > _LONG
        return sound(one, is_long=is_long) == sound(other, is_long=is_long)
    is_beginning = one.startswith(other) or other.startswith(one)
    return is_spelling(one, other) or (is_beginning and min(len(one), len(other)) > 1)

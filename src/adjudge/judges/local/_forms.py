"""Names as they are compared: their parts without titles, initials, and the forms that one part may have.

"Dr. William J. Smith, Junior"  ->  william, j, smith, jr; `Bill`, `W` and `Wiliam` may be `William`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from adjudge.judges.local._nicknames import is_nickname
from adjudge.judges.local._standing import TITLES
from adjudge.judges.local._words import ARTICLES, STOP, stem, words

_TITLES = TITLES | frozenset(
    "baroness duchess countess dame reverend father sister brother admiral marshal sergeant governor"
    " mayor congressman secretary ambassador tsar czar kaiser sultan caliph emir sheikh rabbi imam"
    " mahatma bishop archbishop cardinal doctor first former late".split()
)
_SUFFIXES = {
    "junior": "jr", "senior": "sr", "limited": "ltd", "incorporated": "inc", "corporation": "corp", "mt": "mount",
    "ft": "fort", "company": "co",
}  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]+")
_ROMAN = {"i": 1, "v": 5, "x": 10}
_SOUNDS = tuple(
    pair.split("-") for pair in ["oe-o", "ae-a", "ue-u", "ph-f", "v-f", "ck-k", "c-k", "q-k", "y-i", "z-s", "h-"]
)


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
    is_will = plain[:1] == ["will"] or "Will" in written  # a name, where it is no verb
    kept = short | {"will"} if is_will else short
    parts = tuple(word for word in plain if word not in _TITLES and (word not in STOP or word in kept))
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
        return _sound(one) == _sound(other)
    is_beginning = one.startswith(other) or other.startswith(one)
    return is_spelling(one, other) or (is_beginning and min(len(one), len(other)) > 1)


def is_spelling(one: str, other: str) -> bool:
    """Return whether two words sound alike, or are long and differ in one letter.

    >>> is_spelling("stephen", "steven"), is_spelling("shakespeare", "shakespere"), is_spelling("manet", "monet")
    (True, True, False)
    """
    is_long = min(len(one), len(other)) > 5
    one, other = _sound(one), _sound(other)
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if not is_long or len(longer) - len(shorter) > 1:
        return False
    head = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    rest, more = shorter[head:], longer[head:]
    if len(rest) == len(more):
        return rest[1:] == more[1:] or (rest[:2] == more[1::-1] and rest[2:] == more[2:])
    return rest == more[1:]


def _sound(word: str) -> str:
    for sign, sound in _SOUNDS:
        word = word.replace(sign, sound)
    return word

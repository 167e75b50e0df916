"""Names as they are compared: their parts without titles, initials, and the forms that one part may have.

"Dr. William J. Smith, Junior"  ->  william, j, smith, jr; `Bill`, `W` and `Wiliam` may be `William`
`Michelle Obama` shares a name with `Barack Obama`, and is somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from adjudge.judges.local._clauses import DOUBT
from adjudge.judges.local._pair import Candidate, Prepared, Question
from adjudge.judges.local._words import ARTICLES, STOP, lexicon, stem, words

_SOUNDS = tuple(
    pair.split("-") for pair in ["oe-o", "ae-a", "ue-u", "ph-f", "v-f", "ck-k", "c-k", "q-k", "y-i", "z-s", "h-"]
)
_LONG_SOUNDS = (("tch", "ch"), ("ye", "e"), ("ai", "a"), ("ei", "e"), ("w", "v"))  # where enough is left to know it by
_DOUBLED = re.compile(r"(.)\1+")


def is_spelling(one: str, other: str) -> bool:
    """Return whether two words sound alike, or are long and differ in one letter.

    >>> is_spelling("stephen", "steven"), is_spelling("shakespeare", "shakespere"), is_spelling("manet", "monet")
    (True, True, False)
    """
    is_long = min(len(one), len(other)) > 5
    one, other = sound(one), sound(other)
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


def sound(word: str, *, is_long: bool = True) -> str:
    """Return a name as it sounds, whoever wrote it in Latin letters: `Tchaikovsky` as `Chaikovskii`.

    >>> sound("tchaikovsky") == sound("chaikovskii"), sound("dutta", is_long=False) == sound("duta", is_long=False)
    (True, False)
    """
    for sign, heard in (*_LONG_SOUNDS, *_SOUNDS) if is_long else _SOUNDS:
        word = word.replace(sign, heard)
    return _DOUBLED.sub(r"\1", word) if is_long else word


@cache
def _forms() -> dict[str, frozenset[str]]:
    """Return by the stem of a first name the stems of its other forms."""
    found: dict[str, set[str]] = {}
    for full, *shorts in (line.split() for line in lexicon("names")["first"].split(";")):
        for short in shorts:
            found.setdefault(stem(short), set()).add(stem(full))
            found.setdefault(stem(full), set()).add(stem(short))
    return {name: frozenset(others) for name, others in found.items()}


def is_nickname(one: str, other: str) -> bool:
    """Return whether of a word and a stem one is a short form of the other.

    >>> is_nickname("johnny", stem("john")), is_nickname("nicholas", stem("nick")), is_nickname("bill", stem("will"))
    (True, True, False)
    """
    return stem(one) in _forms().get(other, ())


_FEW = 5  # names beside a part of a reference that are looked at in the text
TITLES = frozenset(
    "president king queen sir dr mr mrs ms lord lady prince princess senator general captain saint st judge justice"
    " professor pope emperor minister chancellor colonel major coach actor actress singer author director artist"
    " baron duke earl count viscount chairman premier prime comrade rev comandante prof gov sen gen capt col lt sgt"
    " pharaoh archduke empress prophet commander dictator lieutenant corporal commodore detective inspector herr frau"
    " monsieur madame sultan shah ayatollah".split()
)
"""Words before a name that do not belong to it."""


def is_near_name(prepared: Prepared, candidate: Candidate, asked: Question, *, has_part: bool) -> bool:
    """Whether a candidate names somebody else who shares a name: `Michelle Obama` for `Barack Obama`.

    Another spelling, a nickname or an initial is not somebody else, and a title is not a name. Where a part of the name
    is accepted too (`has_part`), only a question for a person is answered by one.
    """
    if asked.kind != "who" and (asked.kind is not None or has_part):
        return False
    plain = candidate.plain
    names: frozenset[str] | None = None
    for reference in prepared.references[:100]:
        if not reference.name:
            continue
        first, last = reference.name[reference.name[0] in TITLES], reference.name[-1]
        if (first in plain) == (last in plain):
            continue
        own, step = (last, -1) if last in plain else (first, 1)
        if own in asked.plain or len(own) < 3:
            continue
        names = candidate.names() if names is None else names
        beside = [plain[at + step] for at, word in enumerate(plain) if word == own and 0 <= at + step < len(plain)]
        others = [one for one in beside if one in names and not _is_known(one, prepared, asked)]
        if len(others) <= _FEW:
            pairs = [(one, own) if step < 0 else (own, one) for one in others]
            others = [one for one, pair in zip(others, pairs, strict=True) if not _is_parted(*pair, candidate.text)]
        if others and (not has_part or len(others) == plain.count(own)):
            return not any(_is_form(one, own, prepared) for one in others)
    return False


def _is_parted(one: str, other: str, text: str) -> bool:
    """Whether two words that follow each other belong to two sentences: `Not Bach. Handel`."""
    return re.search(rf"\b{re.escape(one)}[.:;!?]+\s+{re.escape(other)}\b", text[:2000], re.IGNORECASE) is not None


def _is_known(word: str, prepared: Prepared, asked: Question) -> bool:
    one = stem(word)
    return one in prepared.union or one in asked.content or word in TITLES or word in STOP or one in DOUBT


def _is_form(other: str, own: str, prepared: Prepared) -> bool:
    """Whether a name may be a form of one that the references have beside `own`: initial, nickname, spelling."""
    known = stem(own)
    for word in prepared.union:
        if word == known or not word[0].isalpha():
            continue
        if len(other) < 3 or len(word) < 3:
            if other[0] in word or word[0] in other[:2]:
                return True
        elif other[:2] == word[:2] or word[1:] in other or is_nickname(other, word) or is_spelling(stem(other), word):
            return True
    return False


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

"""Names that are almost the reference: another person, place or title, or the same words in other roles.

"Alfred Einstein" for "Albert Einstein", "Elizabeth I" for "Elizabeth II", "Virginia" for "West Virginia",
"Napoleon defeated Wellington" for "Wellington defeated Napoleon".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from adjudge.judges.local._candidate import Candidate, Question
from adjudge.judges.local._reference import Prepared
from adjudge.judges.local._standing import TITLES, is_nickname
from adjudge.judges.local._words import ARTICLES, STOP, stem, words

_SHORT = 8  # words of a candidate that is a name and little else
_LOOKED_AT = 50  # references
_LONGEST = 60  # characters of a name
_ROLES = 30  # words of a statement whose order is looked at
_APART = frozenset("new north south east west".split())
_SYMMETRIC = frozenset(
    map(
        stem,
        "and or with connected equal equals same married next near beside between separated different meets met plus"
        " versus vs related similar parallel".split(),
    )
)
_LETTERS = re.compile(r"[^\W\d_]+")
_ROMAN = {"i": 1, "v": 5, "x": 10}
_SOUNDS = (("ph", "f"), ("v", "f"), ("ck", "k"), ("c", "k"), ("q", "k"), ("y", "i"), ("z", "s"), ("h", ""))


class _Name(NamedTuple):
    parts: tuple[str, ...]  # its words without titles and small ones
    initials: frozenset[str]  # those of them that are initials, perhaps several: `jrr`
    capitals: frozenset[str]  # words with a capital
    ordinal: tuple[str, int] | None  # the word and the number of `Henry V`


@lru_cache(maxsize=20_000)
def _read(text: str) -> _Name:
    plain = words(text)
    written = _LETTERS.findall(text)
    lowered = {part.lower() for part in written}
    short = {part.lower() for part in written if len(part) <= 3 and part.isupper()} - ARTICLES
    parts = tuple(word for word in plain if word not in TITLES and (word not in STOP or word in short))
    initials = frozenset(
        part
        for part in parts
        if part.isalpha()
        and part.isascii()
        and len(part) <= 4
        and (len(part) == 1 or part not in lowered or part in short)
    )
    capitals = frozenset(words(" ".join(part for part in written if part[0].isupper())))
    return _Name(parts, initials, capitals, _ordinal(plain, text))


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


def almost(asked: Question, prepared: Prepared, references: Sequence[str], candidate: Candidate) -> str | None:
    """Return the name of the rule by which a candidate without any reference in it names something else."""
    if _is_swapped(prepared, candidate):
        return "swapped-roles"
    if prepared.explains and _is_recounted(prepared, candidate):
        return "other-number"
    if not prepared.explains and _is_other_name(asked, prepared, references, candidate):
        return "near-name"
    return None


def _is_swapped(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate has a reference's words with what stands on the two sides of a verb exchanged."""
    size = len(candidate.stems)
    if not 3 <= size <= _ROLES:
        return False
    mine: list[str] | None = None
    for reference in prepared.references[:_LOOKED_AT]:
        if len(reference.stems) == size and reference.content <= candidate.unique:
            mine = sorted(candidate.stems) if mine is None else mine
            if mine == sorted(reference.stems) and _is_exchanged(reference.stems, tuple(candidate.stems)):
                return True
    return False


def _is_recounted(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a statement of the references with another number in it."""
    for reference in prepared.references[:_LOOKED_AT]:
        if reference.numbers and len(reference.stems) == len(candidate.stems):
            pairs = zip(reference.stems, candidate.stems, strict=True)
            others = [(one, other) for one, other in pairs if one != other]
            if len(others) == 1 and all(word[0].isdigit() for word in others[0]):
                return True
    return False


def _is_exchanged(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two orders of the same words are `A verb B` and `B verb A`."""
    size = len(one)
    for first in range(1, size - 1):
        for last in range(1, size - first):
            middle = one[first : size - last]
            if other == one[size - last :] + middle + one[:first]:
                return _SYMMETRIC.isdisjoint(middle) and not any(word[0].isdigit() for word in (one[0], one[-1]))
    return False


def _is_other_name(asked: Question, prepared: Prepared, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a short candidate has a part of a name with another one in the place of the rest, and no whole name."""
    if prepared.union.issuperset(candidate.content) and len(prepared.references) > 1:
        return False
    if not 0 < len(candidate.plain) <= _SHORT or len(candidate.text) > 2 * _LONGEST:
        return False
    given = _read(candidate.text)
    found = False
    for text in references[:_LOOKED_AT]:
        if len(text) > _LONGEST:
            return False
        name = _read(text)
        if any(part[0].isdigit() for part in name.parts) and name.ordinal is None:
            return False
        clashes = _clashes(name, given, asked)
        if clashes is None:
            return False
        found = found or clashes
    return found


def is_same_name(asked: Question, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a short candidate is a name with initials, written out: `John Ronald Reuel Tolkien`."""
    if len(candidate.plain) > _SHORT or len(candidate.text) > 2 * _LONGEST:
        return False
    given = _read(candidate.text)
    for text in references[:_LOOKED_AT]:
        name = _read(text[:_LONGEST])
        if name.initials and _differences(name, given, asked) == ([], []):
            return True
    return False


def _differences(name: _Name, given: _Name, asked: Question) -> tuple[list[str], list[str]]:
    """Return the given parts that are no form of a part of the name, and the name's parts of which there is none."""
    mine, yours = _without(name.parts, asked), _without(given.parts, asked)
    foreign = [part for part in yours if not any(_is_form(part, one, name, given) for one in mine)]
    return foreign, [one for one in mine if not any(_is_form(part, one, name, given) for part in yours)]


def _clashes(name: _Name, given: _Name, asked: Question) -> bool | None:
    """Whether a name is near and another one; None if it may be the same."""
    if name.ordinal and given.ordinal and name.ordinal[0] == given.ordinal[0]:
        return True if name.ordinal[1] != given.ordinal[1] else None
    if len(given.parts) > 1 and set(name.parts).isdisjoint(given.parts):
        return False  # nothing near
    foreign, missing = _differences(name, given, asked)
    if not foreign:
        return _is_apart(name.parts, given.parts) or None
    if not missing:
        is_initial = bool(name.initials) and not given.initials.isdisjoint(foreign)
        return is_initial or (len(foreign) == 1 and _is_apart(given.parts, name.parts)) or None
    return len(foreign) == len(missing) == 1 and _is_replaced(missing[0], foreign[0], name, given)


def _is_replaced(missing: str, foreign: str, name: _Name, given: _Name) -> bool:
    """Whether a word stands in the place of a name's: beside the rest of it, or as one that is easily mistaken."""
    is_beside = not set(name.parts).isdisjoint(given.parts)
    if missing in name.capitals and (foreign in given.capitals or not given.capitals):
        return is_beside or _is_alike(missing, foreign)
    # `nitrous oxide`, `nitric oxide`: of two common words the first is another one.
    return len(name.parts) == len(given.parts) == 2 and missing == name.parts[0] and foreign == given.parts[0]


def _without(parts: Sequence[str], asked: Question) -> list[str]:
    """Return the parts that the question lacks; all of them, if it has all."""
    return [part for part in parts if stem(part) not in asked.content] or list(parts)


def _is_apart(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether one name is the other without the word that makes it another place: `West Virginia`, `Virginia`."""
    if not longer or longer[0] not in _APART or longer[0] in shorter or len(longer) < 2:
        return False
    return shorter[:1] == longer[1:2]


def _is_alike(one: str, other: str) -> bool:
    """Whether two words begin and end alike, as names do that are taken for one another, and are no forms of one."""
    least = min(len(one), len(other))
    return least > 4 and one[0] == other[0] and one[-1] == other[-1] and one[: least - 1] != other[: least - 1]


def _is_form(part: str, one: str, name: _Name, given: _Name) -> bool:
    """Whether a part of a given name may be a form of one of the reference: initial, nickname, spelling."""
    if part == one or stem(part) == stem(one):
        return True
    if part in given.initials:
        letters = {word[0] for word in name.parts if word not in name.initials} | set("".join(name.initials))
        return one[0] in part and letters.issuperset(part)
    if one in name.initials:
        return part[0] in one
    return part.isalpha() and one.isalpha() and _is_variant(part, one)


@lru_cache(maxsize=20_000)
def _is_variant(one: str, other: str) -> bool:
    """Whether one word is a nickname, the beginning or another spelling of the other."""
    if is_nickname(one, stem(other)) or is_nickname(other, stem(one)):
        return True
    is_beginning = one.startswith(other) or other.startswith(one)
    return is_spelling(one, other) or (is_beginning and min(len(one), len(other)) > 2)


def is_spelling(one: str, other: str) -> bool:
    """Return whether two words sound alike, or are long and differ in one letter.

    >>> is_spelling("stephen", "steven"), is_spelling("shakespeare", "shakespere"), is_spelling("manet", "monet")
    (True, True, False)
    """
    is_long = min(len(one), len(other)) > 5
    for sign, sound in _SOUNDS:
        one, other = one.replace(sign, sound), other.replace(sign, sound)
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

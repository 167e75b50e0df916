"""A reference's words, but for one, or in other roles: something else is said.

`carbon monoxide` for `carbon dioxide`, `C major` for `C minor`, `left` for `right`; and `snow` for `rain`, of one kind.
"Napoleon defeated Wellington" for "Wellington defeated Napoleon"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from adjudge.judges.local._limits import NAME, PASSAGE, REFERENCES
from adjudge.judges.local._pair import Candidate, Prepared
from adjudge.judges.local._words import lexicon, stemmed

_LEAST = 3  # letters that two words share after their beginnings
_SIGNS = frozenset(("sharp", "flat"))


@cache
def _others(table: str) -> dict[str, frozenset[str]]:
    """Return by stem the others of its groups in a table."""
    groups = tuple(map(stemmed, lexicon("opposites")[table]))
    return {
        one: frozenset(other for group in groups if one in group for other in group if other != one)
        for one in frozenset().union(*groups)
    }


@cache
def _beginnings() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group.split()) for group in lexicon("opposites")["beginnings"])


def is_opposite(references: Iterable[Sequence[str]], given: Sequence[str]) -> bool:
    """Whether some stems are a reference's with another one of its kind or its opposite for one, or a sharp or flat."""
    if not 0 < len(given) <= NAME:
        return False
    golds = list(islice(references, REFERENCES))
    return any(_is_turned(gold, given, golds) for gold in golds)


def _is_turned(gold: Sequence[str], given: Sequence[str], golds: Sequence[Sequence[str]]) -> bool:
    if len(gold) != len(given):
        return abs(len(gold) - len(given)) == 1 and [one for one in gold if one not in _SIGNS] == [
            one for one in given if one not in _SIGNS
        ]
    others = [pair for pair in zip(gold, given, strict=True) if pair[0] != pair[1]]
    if len(others) != 1:
        return False
    one, other = others[0]
    if are_opposite(one, other):
        return True
    # Where `orange vermilion` and `red` are accepted, `orange` is not another colour.
    return other in _others("kinds").get(one, ()) and not any(other in known for known in golds)


def opposites_of(one: str) -> frozenset[str]:
    """Return the opposites of a stem that are in the table."""
    return _others("groups").get(one, frozenset())


def are_opposite(one: str, other: str) -> bool:
    """Whether two stems are opposites, by a table or by how they begin.

    >>> are_opposite("monoxid", "dioxid"), are_opposite("minor", "major"), are_opposite("minor", "miner")
    (True, True, False)
    """
    if other in opposites_of(one):
        return True
    if one[-_LEAST:] != other[-_LEAST:]:
        return False
    for group in _beginnings():
        mine = next((start for start in group if one.startswith(start)), None)
        yours = next((start for start in group if other.startswith(start)), None)
        if mine and yours and mine != yours:
            shorter, longer = sorted((one[len(mine) :], other[len(yours) :]), key=len)
            # `mono` and `oxide` share a letter.
            if len(shorter) >= _LEAST and shorter in (longer, longer[1:]):
                return True
    return False


_SYMMETRIC = stemmed(
    "and or with connected equal same married next near beside between separated different meets met plus versus vs"
    " related similar parallel"
)


def is_swapped(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate has a reference's words with what stands on the two sides of a verb exchanged."""
    size = len(candidate.stems)
    if not 3 <= size <= PASSAGE:
        return False
    mine: list[str] | None = None
    for reference in prepared.references[:REFERENCES]:
        if len(reference.stems) == size and not reference.members and reference.content <= candidate.unique:
            mine = sorted(candidate.stems) if mine is None else mine
            if mine == sorted(reference.stems) and _are_exchanged(reference.stems, tuple(candidate.stems)):
                return True
    return False


def _are_exchanged(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two orders of the same words are `A verb B` and `B verb A`, with the same words around them."""
    while one[-1] == other[-1] and one != other:
        one, other = one[:-1], other[:-1]
    while one[0] == other[0] and one != other:
        one, other = one[1:], other[1:]
    size = len(one)
    for first in range(1, size - 1):
        for last in range(1, size - first):
            middle = one[first : size - last]
            if other == one[size - last :] + middle + one[:first]:
                return _SYMMETRIC.isdisjoint(middle) and not any(word[0].isdigit() for word in (one[0], one[-1]))
    return False

"""Words that are each other's opposite, so that a phrase with the one in the place of the other says something else.

`carbon monoxide` for `carbon dioxide`, `C major` for `C minor`, `left` for `right`; and `snow` for `rain`, of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from adjudge.judges.local._lexicon import lexicon
from adjudge.judges.local._reading.words import stemmed

_LONGEST = 8  # words of a candidate that is the reference but for one
_LOOKED_AT = 50  # references
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
    if not 0 < len(given) <= _LONGEST:
        return False
    golds = list(islice(references, _LOOKED_AT))
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

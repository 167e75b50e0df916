"""Words that are each other's opposite, so that a phrase with the one in the place of the other says something else.

`carbon monoxide` for `carbon dioxide`, `C major` for `C minor`, `hypertension` for `hypotension`, `left` for `right`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from adjudge.judges.local._reading.words import stemmed

_LONGEST = 8  # words of a candidate that is the reference but for one
_LOOKED_AT = 50  # references
_LEAST = 3  # letters that two words share after their beginnings
_SIGNS = frozenset(("sharp", "flat"))
_GROUPS = (
    "major minor", "left right", "upper lower", "north south", "east west", "northern southern", "eastern western",
    "positive negative", "male female", "maximum minimum", "increase decrease",
    "rise fall", "before after", "inner outer", "internal external", "inside outside",
    "primary secondary tertiary", "hot cold", "high low", "higher lower", "largest smallest", "win lose", "won lost",
    "oldest youngest", "active passive", "direct indirect", "even odd", "clockwise counterclockwise anticlockwise",
    "solid liquid gas", "acid base alkaline", "wet dry", "open closed", "above below", "horizontal vertical",
    "convex concave", "artery vein", "true false", "mother father", "brother sister", "son daughter",
    "king queen", "husband wife", "uncle aunt", "black white", "summer winter", "spring autumn", "morning evening",
    "older younger", "longer shorter", "faster slower", "input output", "import export",
    "supply demand",
)  # fmt: skip
_BEGINNINGS = (
    ("mono", "di", "tri", "tetra", "penta", "hexa"), ("hyper", "hypo"), ("micro", "macro"), ("inter", "intra"),
    ("pre", "post"), ("endo", "exo"), ("homo", "hetero"), ("maxi", "mini"), ("uni", "bi", "tri", "quadri"),
    ("over", "under"), ("in", "out"), ("up", "down"), ("pro", "anti"), ("syn", "anti"), ("ortho", "meta", "para"),
    ("ecto", "endo", "meso"), ("anode", "cathode"), ("iso", "aniso"), ("sub", "super"), ("de", "in"),
)  # fmt: skip
_STEMS = tuple(map(stemmed, _GROUPS))
_OPPOSITES = {
    one: frozenset(other for group in _STEMS if one in group for other in group if other != one)
    for one in frozenset().union(*_STEMS)
}
OPPOSED = frozenset(_OPPOSITES)
"""The stems in the table."""


def is_opposite(references: Iterable[Sequence[str]], given: Sequence[str]) -> bool:
    """Whether some stems are a reference's with the opposite of one of them, or without its sharp or flat."""
    return 0 < len(given) <= _LONGEST and any(_is_turned(gold, given) for gold in islice(references, _LOOKED_AT))


def _is_turned(gold: Sequence[str], given: Sequence[str]) -> bool:
    if len(gold) != len(given):
        return abs(len(gold) - len(given)) == 1 and [one for one in gold if one not in _SIGNS] == [
            one for one in given if one not in _SIGNS
        ]
    others = [pair for pair in zip(gold, given, strict=True) if pair[0] != pair[1]]
    return len(others) == 1 and are_opposite(*others[0])


def opposites_of(one: str) -> frozenset[str]:
    """Return the opposites of a stem that are in the table."""
    return _OPPOSITES.get(one, frozenset())


def are_opposite(one: str, other: str) -> bool:
    """Whether two stems are opposites, by a table or by how they begin.

    >>> are_opposite("monoxid", "dioxid"), are_opposite("minor", "major"), are_opposite("minor", "miner")
    (True, True, False)
    """
    if other in _OPPOSITES.get(one, ()):
        return True
    if one[-_LEAST:] != other[-_LEAST:]:
        return False
    for group in _BEGINNINGS:
        mine = next((start for start in group if one.startswith(start)), None)
        yours = next((start for start in group if other.startswith(start)), None)
        if mine and yours and mine != yours:
            shorter, longer = sorted((one[len(mine) :], other[len(yours) :]), key=len)
            # `mono` and `oxide` share a letter.
            if len(shorter) >= _LEAST and shorter in (longer, longer[1:]):
                return True
    return False

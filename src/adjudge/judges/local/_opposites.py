"""Words that are each other's opposite, so that a phrase with the one in the place of the other says something else.

`carbon monoxide` for `carbon dioxide`, `C major` for `C minor`, `hypertension` for `hypotension`, `left` for `right`.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.judges.local._candidate import Candidate
from adjudge.judges.local._reference import Prepared
from adjudge.judges.local._words import stem

_LONGEST = 8  # words of a candidate that is the reference but for one
_LOOKED_AT = 50  # references
_LEAST = 3  # letters that two words share after their beginnings
_SIGNS = frozenset(("sharp", "flat"))
_GROUPS = (
    "major minor", "left right", "upper lower", "north south", "east west", "northern southern", "eastern western",
    "positive negative", "male female", "first last", "first second third", "maximum minimum", "increase decrease",
    "increases decreases", "rise fall", "before after", "inner outer", "internal external", "inside outside",
    "primary secondary tertiary", "hot cold", "high low", "higher lower", "largest smallest", "win lose", "won lost",
    "oldest youngest", "active passive", "direct indirect", "even odd", "clockwise counterclockwise anticlockwise",
    "solid liquid gas", "acid base alkaline", "wet dry", "open closed", "above below", "horizontal vertical",
    "convex concave", "arteries veins", "artery vein", "true false", "mother father", "brother sister", "son daughter",
    "king queen", "husband wife", "uncle aunt", "black white", "summer winter", "spring autumn", "morning evening",
    "longer shorter", "faster slower", "input output", "import export", "imports exports", "supply demand",
)  # fmt: skip
_BEGINNINGS = (
    ("mono", "di", "tri", "tetra", "penta", "hexa"), ("hyper", "hypo"), ("micro", "macro"), ("inter", "intra"),
    ("pre", "post"), ("endo", "exo"), ("homo", "hetero"), ("maxi", "mini"), ("uni", "bi", "tri", "quadri"),
    ("over", "under"), ("in", "out"), ("up", "down"), ("pro", "anti"), ("syn", "anti"), ("ortho", "meta", "para"),
    ("ecto", "endo", "meso"), ("anode", "cathode"), ("iso", "aniso"), ("sub", "super"), ("de", "in"),
)  # fmt: skip
_OPPOSITES = {
    stem(one): frozenset(stem(other) for other in group.split() if other != one)
    for group in _GROUPS
    for one in group.split()
}


def is_opposite(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference with the opposite of one of its words, or without its sharp or flat."""
    stems = candidate.stems
    return 0 < len(stems) <= _LONGEST and any(_is_turned(one.stems, stems) for one in prepared.references[:_LOOKED_AT])


def _is_turned(gold: Sequence[str], given: Sequence[str]) -> bool:
    if len(gold) != len(given):
        return abs(len(gold) - len(given)) == 1 and [one for one in gold if one not in _SIGNS] == [
            one for one in given if one not in _SIGNS
        ]
    others = [pair for pair in zip(gold, given, strict=True) if pair[0] != pair[1]]
    return len(others) == 1 and are_opposite(*others[0])


def are_opposite(one: str, other: str) -> bool:
    """Whether two stems are opposites, by a table or by how they begin.

    >>> are_opposite("monoxid", "dioxid"), are_opposite("minor", "major"), are_opposite("minor", "miner")
    (True, True, False)
    """
    if other in _OPPOSITES.get(one, ()):
        return True
    for group in _BEGINNINGS:
        mine = next((start for start in group if one.startswith(start)), None)
        yours = next((start for start in group if other.startswith(start)), None)
        if mine and yours and mine != yours:
            shorter, longer = sorted((one[len(mine) :], other[len(yours) :]), key=len)
            if len(shorter) >= _LEAST and shorter in (longer, longer[1:]):  # `mono` and `oxide` share a letter
                return True
    return False

"""The same words in other roles.

"Napoleon defeated Wellington" for "Wellington defeated Napoleon", "her friend's brother" for "her brother's friend".
"""

from __future__ import annotations

from adjudge.judges.local._reading.candidate import Candidate
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import stemmed

_LOOKED_AT = 50  # references
_ROLES = 30  # words of a statement whose order is looked at
_SYMMETRIC = stemmed(
    "and or with connected equal same married next near beside between separated different meets met plus versus vs"
    " related similar parallel"
)


def is_swapped(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate has a reference's words with what stands on the two sides of a verb exchanged."""
    size = len(candidate.stems)
    if not 3 <= size <= _ROLES:
        return False
    mine: list[str] | None = None
    for reference in prepared.references[:_LOOKED_AT]:
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

"""What initials stand for: other words with the same initials are another thing, however alike they look."""

from __future__ import annotations

from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Prepared

_SHORT = 8  # words of a candidate that spells out initials and nothing else
_LOOKED_AT = 50  # references
_ROOT = 4  # letters that forms of one word share
_ABBREVIATION = frozenset(("stand", "stands", "acronym", "abbreviation", "short", "initials", "mean", "means"))


def is_other_expansion(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate spells out the question's initials with other words: `Computer Power Unit` for CPU."""
    if _ABBREVIATION.isdisjoint(asked.plain):
        return False
    mine = candidate.content
    if not 1 < len(mine) <= _SHORT or "".join(one[0] for one in mine) not in asked.plain:
        return False
    for reference in prepared.references[:_LOOKED_AT]:
        theirs = reference.bare.split()
        if len(theirs) != len(mine) or any(one[0] != other[0] for one, other in zip(theirs, mine, strict=True)):
            return False
        if not any(one[:_ROOT] != other[:_ROOT] for one, other in zip(theirs, mine, strict=True)):
            return False
    return True

"""Answers that are a yes or a no: said outright, or by what they say to the question.

"Indeed.", "It does.", "It is open on Sundays."     yes, where `Is it open on Sundays?` is asked
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._denials.senses import LONGEST, sense_of, senses_of
from adjudge.judges.local._denials.turns import says
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import NOT, stem, words

_YES = frozenset(("yes", "yeah", "yep", "yup", "true", "correct", "indeed", "affirmative", "certainly", "absolutely"))
_NO = frozenset(("no", "nope", "nah", "false", "incorrect", "negative", "not", "never"))
_EITHER_WAY = frozenset(map(stem, _YES | _NO))
_JOINTS = frozenset("and or but maybe perhaps actually wait well either both rather also then".split())
_IT_DOES = re.compile(
    r"(?:^|[,;:.!?]\s+|\bcourse\s|\bsure\s)(?:it|they|he|she|you|we|there|that|this|these|those)\s"
    r"(?:(?:certainly|indeed|really|surely|definitely|actually|always)\s)?"
    r"(?:is|are|was|were|does|do|did|can|could|has|have|had|will|would|should|must)\s*(?:$|[,.;!?]|though\b|but\b)",
    re.IGNORECASE,
)
_UNTRUE = re.compile(r"\b(?:(?:not|isn['’]?t|wasn['’]?t) (?:true|correct)|untrue)\b", re.IGNORECASE)


def polarity(question: str, text: str) -> str | None:
    """Return the yes or no that a text begins with, that it says to the question, or the only one that it has."""
    plain = words(text)
    if _is_torn(plain):
        return None
    if plain and (plain[0] in _YES or plain[0] in _NO):
        return "yes" if plain[0] in _YES else "no"
    sense = sense_of(text) if len(plain) <= LONGEST else None
    said = None if sense is None else says(question, sense)
    if said is not None:
        return said
    if _UNTRUE.search(text):
        return "no"
    if _IT_DOES.search(text):
        return "yes"
    found = {"yes" if word in _YES else "no" for word in plain[:200] if word in _YES or word in _NO or word in NOT}
    return found.pop() if len(found) == 1 else None


def wanted_polarity(prepared: Prepared) -> str | None:
    """Return yes or no where that, or true or false, is the accepted answer, and no other word is."""
    accepted = {one.lead for one in prepared.facet(senses_of) if one.lead and not one.roots}
    if len(accepted) != 1 or len(prepared.references) > 4:
        return None
    singles = {reference.stems[0] for reference in prepared.references if len(reference.stems) == 1}
    return accepted.pop() if singles <= _EITHER_WAY else None


def _is_torn(plain: Sequence[str]) -> bool:
    """Whether a text is made of yes and no, both of them."""
    said = [word for word in plain if word in _YES or word in _NO]
    others = [word for word in plain if word not in _YES and word not in _NO and word not in _JOINTS]
    return not others and len({word in _YES for word in said}) == 2

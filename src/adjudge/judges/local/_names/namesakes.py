"""Who shares a name with the reference and is somebody else: `Michelle Obama` for `Barack Obama`."""

from __future__ import annotations

import re

from adjudge.judges.local._denials.standing import DOUBT
from adjudge.judges.local._names.nicknames import is_nickname
from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.sounds import is_spelling
from adjudge.judges.local._reading.words import STOP, stem

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

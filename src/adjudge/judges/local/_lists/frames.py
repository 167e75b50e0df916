"""One frame that is filled several times, a reference being one of the fillers.

"Bach wrote it. Handel wrote it. Vivaldi wrote it."     `... wrote it`
'[{"year": 2004}, {"year": 2008}, {"year": 2012}]'      `year ...`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from adjudge.judges.local._reading.candidate import Candidate
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import ARTICLES, stems_of

_MOST = 4000  # characters that are looked at
_PARTS = 60  # parts that are
_LONGEST = 120  # characters of a part
_FILLER = 6  # words of a filler
_OTHERS = 2  # other fillers that make it a list of guesses
_PART = re.compile(r"[,;](?=\s)|[.!?](?<!\b[^\W\d].)(?=\s|$)|[\n{}\[\]|]|[Aa][Nn][Dd](?<!\w...)\b|[Oo][Rr](?<!\w..)\b")
_SMALL = ARTICLES | frozenset(("also", "then", "but", "too"))


def is_framed(prepared: Prepared, candidate: Candidate, hedges: frozenset[str] = frozenset()) -> bool:
    """Whether a reference stands in no other way than in a frame that two others fill, too; or one that hedges, one.

    >>> from adjudge.judges.local._reading.reference import prepare
    >>> hals = prepare(("Hals",))
    >>> is_framed(hals, Candidate("Rubens made it. Hals made it. Steen made it."))
    True
    >>> is_framed(hals, Candidate("It was Hals. Rubens made it. Hals made it. Steen made it."))
    False
    """
    least = 1 if hedges else _OTHERS
    if (hedges and hedges.isdisjoint(candidate.unique)) or not _is_repeated(prepared, candidate, least):
        return False
    parts = [_stems(part) for part in _PART.split(candidate.text[:_MOST], _PARTS)[:_PARTS] if len(part) <= _LONGEST]
    own = []
    others = set()
    for part in filter(None, parts):
        named = next((one.padded for one in prepared.references if one.padded in part), None)
        if named is None:
            others.add(part)
        else:
            own.append(part.partition(named)[::2])
    if hedges and not all(_hedges(frame, hedges) for frame in own):
        return False
    return bool(own) and all(_fillers(frame, others, prepared.union) >= least for frame in own)


def _is_repeated(prepared: Prepared, candidate: Candidate, least: int) -> bool:
    """Whether a word beside a reference comes as often as a frame would: a cheap look before parts are compared."""
    stems = candidate.stems
    if len(stems) - len(candidate.unique) < least:
        return False
    for one in prepared.references:
        before, found, after = candidate.padded.partition(one.padded)
        if found:
            beside = (*before.split()[-1:], *after.split(maxsplit=1)[:1])
            return any(stems.count(word) > least for word in beside)
    return False


def _stems(part: str) -> str:
    """Return the stems of a part with blanks around them; nothing, if it has no words."""
    found = " ".join(stems_of(part, without=_SMALL))
    return f" {found} " if found else ""


def _hedges(frame: Sequence[str], hedges: frozenset[str]) -> bool:
    return not hedges.isdisjoint(" ".join(frame).split())


def _fillers(frame: Sequence[str], others: Iterable[str], union: frozenset[str]) -> int:
    """Count the other parts that begin and end as the frame does, with a few words between that no reference has."""
    before, after = frame
    if not before and not after:
        return 0
    start, end = f"{before} ", f" {after}"
    count = 0
    for other in others:
        if other.startswith(start) and other.endswith(end):
            filler = other[len(start) : len(other) - len(end)].split()
            count += 0 < len(filler) <= _FILLER and not union.issuperset(filler)
    return count

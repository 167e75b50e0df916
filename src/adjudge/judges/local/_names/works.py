"""Titles of works: sequels and parts of a series are others.

"Toy Story 2" for "Toy Story", "Star Wars: Return of the Jedi" for "Star Wars: A New Hope".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.words import STOP, stemmed, stems_of

_LONGEST = 15  # words of a candidate that is a title and nothing else
_LOOKED_AT = 20  # references
_MOST = 150  # characters of a title
_WORKS = stemmed("film movie book novel game album sequel title videogame")
_WHOLES = stemmed("series franchise trilogy saga")
_BREAK = re.compile(r"\s*:\s+|\s+[–—-]\s+")
_PART = frozenset(("part", "chapter", "volum", "episod", "book"))


def is_other_title(asked: Question, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a candidate is a title and nothing else, and that of a sequel or of another part."""
    if not 0 < len(candidate.plain) <= _LONGEST:
        return False
    has_colon, is_work = ":" in candidate.text, not _WORKS.isdisjoint(asked.content)
    if not (is_work or has_colon):
        return False
    is_work = is_work and _WHOLES.isdisjoint(asked.content)
    titles = [text for text in references[:_LOOKED_AT] if len(text) <= _MOST]
    if is_work and any(_is_sequel(stems_of(text), candidate.stems) for text in titles):
        return True
    return has_colon and any(":" in text and _is_other_part(text, candidate.text) for text in titles)


def _is_sequel(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one of two titles is the other with a number: `The Godfather Part II`."""
    shorter, longer = sorted((one, other), key=len)
    size = len(shorter)
    rest = list(longer[size:])
    if not size or longer[:size] != shorter or any(part[0].isdigit() for part in shorter):
        return False
    if len(rest) == 2 and rest[0] in _PART:
        rest = rest[1:]
    return len(rest) == 1 and rest[0].isdecimal() and 1 < int(rest[0][:4]) < 20


def _is_other_part(one: str, other: str) -> bool:
    """Whether two titles have one beginning, and ends that are others."""
    (head, *mine), (begins, *yours) = _BREAK.split(one, 1), _BREAK.split(other, 1)
    if not mine or not yours or stems_of(head) != stems_of(begins):
        return False
    ends = [{part for part in stems_of(end[0]) if part not in STOP} for end in (mine, yours)]
    return bool(ends[0] and ends[1]) and 2 * len(ends[0] & ends[1]) < min(map(len, ends))

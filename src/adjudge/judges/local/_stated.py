"""Where a longer response states the quantity of a reference in its own words.

"You need half as much again, so 0.45 kg of rice." for "450 g"  ->  "0.45 kg"
"Doors shut at 21:00, while on other days it's five o'clock." for "9 pm"  ->  "21:00"

A rule about short answers is asked about every few words that begin with a number; what it calls right is a mention of
the reference, and the rest of the response says whether it is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from adjudge.judges.local._mentions import LEAST
from adjudge.judges.local._quantities.readings import by_quantity
from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.numerals import NUMERIC
from adjudge.judges.local._reading.reference import Prepared
from adjudge.judges.local._reading.words import DENIALS
from adjudge.judges.local._same import same

_WORD = re.compile(r"\S+")
_MARKS = ".,;:!?()*\"'|"
_PARTED = re.compile(r"[.!?;:,|]\s")
_FIGURE = re.compile(r"[^\w\s]*\d")
_LETTERS = re.compile(r"[^\W\d_]+")
_BEGINS = NUMERIC | {"half", "quarter", "noon", "midnight"}
_AFTER = frozenset(("half", "quarter", "third", "dozen", "hundred", "thousand", "million", "couple"))  # `a dozen`
_SIZES = (4, 3, 2, 1)  # words of a quantity
_MOST = 20  # phrases that are looked at
_LONGEST = 3000

Place = tuple[int, int]


def stated(asked: Question, prepared: Prepared, candidate: Candidate) -> tuple[Place, ...]:
    """Return where a longer candidate that has no reference word for word, and denies nothing, states its quantity."""
    figures = prepared.figures
    if not (asked.denies or DENIALS.isdisjoint(candidate.plain)):
        return ()
    if len(candidate.plain) <= LEAST or not (figures.units or figures.times or (figures and asked.kind == "count")):
        return ()
    if any(one.padded in candidate.padded for one in prepared.references):
        return ()
    found: list[Place] = []
    for looked_at, (start, end) in enumerate(_phrases(candidate.text[:_LONGEST])):
        if looked_at == _MOST:
            break
        if found and start < found[-1][1]:
            continue
        phrase = Candidate(candidate.text[start:end])
        decision = by_quantity(asked, prepared, phrase)
        if decision[0] if decision is not None else same(asked, prepared, phrase) == "number":
            found.append((start, end))
    return tuple(found)


def _phrases(text: str) -> Iterator[Place]:
    """Yield the places of some words in a row of which the first is a number, long ones first."""
    places = [found.span() for found in _WORD.finditer(text)]
    for at, (start, end) in enumerate(places):
        if not _begins(text[start:end], text[slice(*places[at + 1])] if at + 1 < len(places) else ""):
            continue
        for size in _SIZES:
            last = places[at + size - 1][1] if at + size <= len(places) else 0
            # A phrase does not go beyond its clause.
            if last and not _PARTED.search(text, start, last):
                yield start, start + len(text[start:last].rstrip(_MARKS))


def _begins(word: str, following: str) -> bool:
    """Whether a word is a number, or `a` before one."""
    if _FIGURE.match(word):
        return True
    letters = _LETTERS.match(word.lstrip(_MARKS).lower())
    one = letters[0] if letters else ""
    return one in _BEGINS or (one in ("a", "an") and following.rstrip(_MARKS).lower() in _AFTER)

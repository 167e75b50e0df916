"""A response as its rules and features see it: after its last correction, with references' other forms as they are.

"Rio. Sorry, I meant Brasília"  ->  "Brasília";  "1, 776"  ->  "1,776";  "Kenyan runners"  ->  "Kenya runners"
"""

from __future__ import annotations

from adjudge.judges.local._names.aliases import aliases_of, as_written
from adjudge.judges.local._quantities.writings import as_spelt, dated, writings_of
from adjudge.judges.local._reading.answer import corrected
from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Prepared


def as_meant(prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return what a candidate says after it has corrected itself, if it names a reference there; else all of it."""
    tail = corrected(candidate.text, candidate.unique)
    if tail is None:
        return candidate
    rest = Candidate(tail)
    return rest if any(one.padded in rest.padded for one in prepared.references) else candidate


def rewritten(asked: Question, prepared: Prepared, candidate: Candidate) -> Candidate:
    """Return a candidate that has a reference in another form with the reference in its place."""
    if prepared.explains or any(one.padded in candidate.padded for one in prepared.references):
        return candidate
    text = as_written(prepared.facet(aliases_of, prepared.forms), candidate, asked.plain)
    text = as_spelt(prepared.facet(writings_of), text)
    if candidate.numbers:
        text = dated(text, [date for one in prepared.references for date in one.dates])
    return candidate if text == candidate.text else Candidate(text)

"""Answers that a candidate names beside the one that it gives: the loser, the next in a row, what others say.

"Croatia beat France in the final."                            beaten
"Venus is the closest; Mercury comes second."                  next in a row
"Some people say Brasília. It is Rio de Janeiro."              what others say
"Protests began in 1989, but the wall came down in 1991."      the date of something else
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from adjudge.judges.local._clauses import Clause, clauses_of, is_of_question
from adjudge.judges.local._denials import names_in
from adjudge.judges.local._limits import PASSAGE
from adjudge.judges.local._pair import Candidate, Prepared, Question, Reference
from adjudge.judges.local._words import NOT, STOP, presents, stem, stemmed

_CONTEST = stemmed("win won winner champion victor victory")
_LOSERS = frozenset("lose loses lost loser beat beats beaten defeat defeated runner runners against opponent 2".split())
_BEAT = re.compile(
    r"\b(?:beat|beats|beating|defeat|defeats|defeated|defeating|overcame|edged|thrashed|outplayed|knocked out|ahead of"
    r"|(?:victory|win|won|triumph|triumphed) over|runners? up (?:was|were|being)|2 place (?:was|went to))$"
)
_LOST = re.compile(
    r"(?:was|were|is|are|being|got) (?:narrowly |heavily |soundly )?(?:beaten|defeated)\b"
    r"|(?:narrowly )?los(?:t|es|ing)\b"
    r"|(?:(?:was|were|is|are|being|as|finished|finishing|came|coming|ended up|ended|took) )?(?:as |in )?(?:only )?"
    r"(?:runners? up\b|2(?: place)?$)"
)

_IN_A_ROW = frozenset("2 3 next behind follow followed follows following after runner rank ranked order".split())
_THEN = re.compile(r"\b(?:followed(?: \w+ly)? by|ahead of)$")
_IS_NEXT = re.compile(
    r"(?:is|was|are|were|comes?|came|ranks?|ranked) (?:only |just |in )?(?:close |distant )?"
    r"(?:2|3|4|next|behind|afterwards|runner up)(?: place)?(?: in \w+)?|follows|followed"
)


_SAY = re.compile(
    r"\b(?:(?:some|many|most|people|everyone|everybody|others|they|you|few|textbooks|historians)\b(?: \w+){0,3}?"
    r"|i (?:used to|once|always|first|initially|originally))"
    r" (?:say|says|said|think|thinks|thought|believe[sd]?|assume[sd]?|claim(?:s|ed)?|guess|credit(?:s|ed)?|answer"
    r"|suppose[sd]?|suspect(?:s|ed)?|expect)\b"
)
_OF_IT = frozenset("who which whose where when he she they his her their and because as since".split())
_THE_ONE = re.compile(r"\W*the \w+ (?:is|was|are|were) ", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?:is|was|are|were) (?:now |today )?(?:in|at|on|from|of|by|with|for)\b(?! fact| reality| truth)"
)
_INSTEAD = frozenset("but however yet actually in it its that no".split())

_RANKS = frozenset(("2", "3", "4"))
_RANKED = re.compile(r"\b(?:second|third|fourth|2nd|3rd|4th)\b", re.IGNORECASE)
_DATES = 2  # years of which one may be another's
_YEAR = re.compile(r"(?:1\d|20)\d\d")

_OF_A_CONTEST = stemmed("beat defeat overcame edged thrashed outplayed knocked triumph victory beaten lost loses")
_CUES = stemmed(
    "next behind follows ahead afterwards runner say said think thought believe assume claim"
    " guess suppose suspect expect"
)


def _is_likely(asked: Question, candidate: Candidate) -> bool:
    """Whether a word or a number is there that such answers have: a cheap look before clauses are read."""
    if asked.kind == "when":
        return len(candidate.numbers) >= _DATES and sum(map(_is_year, candidate.numbers)) >= _DATES
    stems = candidate.unique
    if not _CUES.isdisjoint(stems):
        return True
    if not _RANKS.isdisjoint(stems) and _RANKED.search(candidate.text):
        return True
    return not (_OF_A_CONTEST.isdisjoint(stems) or _CONTEST.isdisjoint(asked.stems))


def _is_year(number: float) -> bool:
    return 1000 <= number < 2100 and number == int(number)


class _Named(NamedTuple):
    """A reference in its clause: what stands before it and after it, and the clauses that name something else."""

    clause: Clause
    before: str
    after: str
    earlier: list[Clause]
    later: list[Clause]


def is_beside(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate names a reference nowhere but beside the answer that it gives."""
    if len(candidate.plain) > PASSAGE or asked.denies or asked.wants_list or prepared.explains:
        return False
    if not _is_likely(asked, candidate):
        return False
    named = [one for one in prepared.references if one.padded in candidate.padded]
    clauses = list(clauses_of(candidate.text)) if named else []
    places = [at for at, clause in enumerate(clauses) if any(clause.has(one) for one in named)]
    return bool(places) and all(_stands_beside(clauses, at, named, prepared, asked) for at in places)


def _stands_beside(
    clauses: Sequence[Clause], at: int, named: Sequence[Reference], prepared: Prepared, asked: Question
) -> bool:
    clause = clauses[at]
    one = max((one for one in named if clause.has(one)), key=lambda one: len(one.padded))
    if asked.kind == "when":
        return _YEAR.fullmatch(one.padded.strip()) is not None and _is_of_another_date(clauses, at, one, asked)
    before, after = next(clause.around(one))
    others = [
        (place, other)
        for place, other in enumerate(clauses)
        if NOT.isdisjoint(other.plain)
        and not any(other.has(one) for one in named)
        and names_in(other, prepared, asked, with_first=True)
    ]
    found = _Named(
        clause,
        " ".join(before),
        " ".join(after),
        [other for place, other in others if place < at],
        [other for place, other in others if place > at],
    )
    return _is_beaten(found, prepared, asked) or _is_next(found, asked) or _is_said(found, asked)


def _is_beaten(found: _Named, prepared: Prepared, asked: Question) -> bool:
    """Whether the question is who won, and the reference is who did not: `Croatia beat France`."""
    if _CONTEST.isdisjoint(asked.stems) or not _LOSERS.isdisjoint(asked.plain):
        return False
    if _LOST.match(found.after):
        return True
    if _BEAT.search(found.before) is None:
        return False
    return bool(found.earlier or names_in(found.clause, prepared, asked, with_first=True))


def _is_next(found: _Named, asked: Question) -> bool:
    """Whether another one is said to be what is asked for, and the reference the next: `followed by Mercury`."""
    if not _IN_A_ROW.isdisjoint(asked.plain) or not any(_shares(other, asked) for other in found.earlier):
        return False
    is_subject = found.before in ("", "and", "but", "while", "whereas", "then")
    return _THEN.search(found.before) is not None or (is_subject and _IS_NEXT.fullmatch(found.after) is not None)


def _is_said(found: _Named, asked: Question) -> bool:
    """Whether the reference is what others say, and another one is given after it."""
    if _SAY.search(found.before) is None:
        return False
    for other in found.later:
        is_turn = other.plain[0] in _INSTEAD or _THE_ONE.match(other.text) is not None
        is_turn = is_turn and (asked.kind == "where" or _PLACED.search(" ".join(other.plain)) is None)
        if (is_turn or _shares(other, asked)) and _OF_IT.isdisjoint(other.plain[:2]):
            return True
    return False


def _is_of_another_date(clauses: Sequence[Clause], at: int, one: Reference, asked: Question) -> bool:
    """Whether a year is that of another event than the question's, or of none, and another year is that of it."""
    # For example `July 14, 1969`.
    own = clauses[at - 1 : at + 1] if at and len(clauses[at].plain) == 1 else clauses[at : at + 1]
    if any(_shares(clause, asked) for clause in own):
        return False
    for clause in clauses:
        years = [word for word in clause.plain if _YEAR.fullmatch(word) and word not in asked.plain]
        if years and not clause.has(one) and NOT.isdisjoint(clause.plain) and _shares(clause, asked):
            return True
    return False


def _shares(clause: Clause, asked: Question) -> int:
    """Count the words of a clause that are the question's, or the past of one."""
    verbs = presents()
    meant = {word for word in clause.plain if word not in STOP}
    return sum(is_of_question(word, asked) or stem(verbs.get(word, "")) in asked.stems for word in meant)

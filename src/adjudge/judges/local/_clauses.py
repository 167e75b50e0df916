"""Clauses, and how one mentions an answer: it gives, denies or offers it among others, or only names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from adjudge.judges.local._pair import Candidate, Question, Reference
from adjudge.judges.local._words import ARTICLES, STOP, pasts_of, stem, stemmed, words

_NEAR = 2  # sentences after one that names an answer, which may still speak of it
_ROOT = 4  # letters of a verb from which a noun is made
_MOST_ASKED = 60  # words of a question of which others are made
_MOST = 60  # clauses that are looked at
# No sentence ends after an initial, `Mr.`, `Dr.`, `Sr.`, `Jr.` or `St.`, and none begins with a small letter.
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b\w\.)(?<!\b[MDSJ]r\.)(?<!\bSt\.)[\"')*_\]]*\s+(?=[^\sa-z])|\n+")
_CLAUSE = re.compile(
    r"(?=[.;:!?,()\n])(?:\.(?<!\b\w\.)(?<!\b[mdsj]r\.)(?<!\bst\.)|[;:!?,()\n])+(?=\s|$)|\s[-–—]+\s|[—…“”\"]|\.\.+"
    r"|\b(?=[abhstwy])(?:although|though|whereas|while|because|(?<!not )yet|however|and|so|but)\b",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(r"\b(?:any|every|all)\w*(?: \w+)? but$", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)[^\W\d_a-z][^\W\d_]+|\b\d[\d.,]*")


class Clause(NamedTuple):
    """A clause, from the mark or word that opens it."""

    text: str
    plain: list[str]  # without articles
    padded: str  # the stems of those

    def has(self, reference: Reference) -> bool:
        """Return whether it mentions a reference."""
        return reference.padded in self.padded

    def around(self, reference: Reference) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the words before a reference and those after it, for each place where it stands."""
        place = self.padded.find(reference.padded)
        while place >= 0:
            start = self.padded.count(" ", 0, place)
            yield self.plain[:start], self.plain[start + len(reference.stems) :]
            place = self.padded.find(reference.padded, place + 1)

    def names(self, *, with_first: bool = False) -> list[str]:
        """Return its figures and its capitalised words, of which the first of a sentence need not be a name."""
        return _NAME.findall(f" {self.text}" if with_first else self.text)


def clauses_near(text: str, named: Sequence[Reference]) -> list[Clause]:
    """Return the clauses of the sentences that name a reference, and of those that follow them shortly."""
    sentences = _SENTENCE.split(text)
    if len(sentences) <= _NEAR + 1:
        return list(clauses_of(text))
    begins = beginnings(named)
    found: list[Clause] = []
    left = 0
    for sentence in sentences:
        if may_have(sentence, begins):
            clauses = list(clauses_of(sentence))
            if any(clause.has(one) for clause in clauses for one in named):
                left = _NEAR + 1
        elif left:
            clauses = list(clauses_of(sentence))
        if left:
            found += clauses
            left -= 1
            if len(found) >= _MOST:
                break
    return found[:_MOST]


def beginnings(named: Sequence[Reference]) -> tuple[str, ...]:
    """Return what a text has that has one of some references; nothing, if figures may be written in words."""
    begins = {one.stems[0][:3] for one in named}
    return () if any(one[0].isdigit() or not one.isascii() for one in begins) else tuple(begins)


def may_have(text: str, begins: Sequence[str]) -> bool:
    """Return whether a text may have a reference that begins so: a cheap look before its words are read."""
    if not begins or not text.isascii():
        return True
    lowered = text.lower()
    return any(one in lowered for one in begins)


def clauses_of(text: str) -> Iterator[Clause]:
    """Return the clauses of a text."""
    start = found = 0
    for end in [*_CLAUSE.finditer(text), None]:
        if end and end[0].lower() == "but" and _ALL_BUT.search(text, max(start, end.end() - 40), end.end()):
            continue
        part = text[start : end.start()] if end else text[start:]
        start = end.start() if end else start
        plain = [word for word in words(part) if word not in ARTICLES]
        if plain:
            yield Clause(part, plain, f" {' '.join(map(stem, plain))} ")
            found += 1
            if found == _MOST:
                return


def is_asked(what: str, asked: Question) -> bool:
    """Whether what is denied of a reference is what the question asks for; else it is a remark."""
    return any(is_of_question(word, asked) for word in what.split()[:4])


def is_of_question(word: str, asked: Question) -> bool:
    """Whether the question has a word, its past, or the verb from which it is made, as `painter` is."""
    one = stem(word)
    if one in asked.content or not pasts_of(word).isdisjoint(asked.content):
        return True
    if len(word) <= _ROOT or len(asked.content) > _MOST_ASKED:
        return False
    return any(word.startswith(other) for other in asked.content if len(other) >= _ROOT)


_PLACES = 20  # places of one reference that are looked at
_AROUND = 6  # words before and after


class Standing(StrEnum):
    """What a candidate does with a reference that it has."""

    GIVEN = "given"
    NEGATED = "negated"
    HEDGED = "hedged"


_DENY = stemmed(
    "not never neither nor isnt wasnt arent werent doesnt didnt dont cannot cant couldnt wouldnt wont hasnt havent"
    " hadnt aint without unlike except excluding besides incorrect wrong false untrue mistaken"
)
_PAIRS = frozenset(
    tuple(map(stem, pair.split()))
    for pair in (
        "rather than", "instead of", "opposed to", "rule out", "ruled out", "far from", "apart from", "anything but",
        "anyone but", "anybody but", "everything but", "everyone but", "all but", "anywhere but", "never mind",
    )
)  # fmt: skip
_NOT_ONLY = stemmed("only just merely simply until least surprisingly known")
_TURN = stemmed("but rather instead however yet though")
DOUBT = stemmed("either perhaps maybe possibly probably might could may likely guess unsure alternatively otherwise")
_BETWEEN = stemmed("answer correct right actual name called capital city fact really even born") | STOP
_SMALL = frozenset(("of", "in", "on", "at", "to", "for", "by", "with", "from"))


def standing(reference: Reference, candidate: Candidate, asked: Question, union: frozenset[str]) -> Standing:
    """Say how a candidate mentions a reference: the best of its mentions counts.

    A place is denied by a denial shortly before it; it is hedged where the words around it
    doubt and offer something else. Words of other references (`union`) may stand between.
    """
    worst = Standing.GIVEN
    for left, right in _places(reference.padded, candidate.padded):
        # Words of other references in between hide the denial: `not Paris or Lyon`.
        before, after = _outside(left[::-1], union)[::-1], _outside(right, union)
        if _is_denied(before, asked):
            worst = Standing.NEGATED
        elif _is_offered(before, after, asked):
            worst = Standing.HEDGED if worst != Standing.NEGATED else worst
        else:
            return Standing.GIVEN
    return worst


def _outside(near: list[str], union: frozenset[str]) -> list[str]:
    """Return the words beside a place from where the words of references end, small words between them included."""
    end = 0
    for at, word in enumerate(near):
        if word in union:
            end = at + 1
        elif word not in _SMALL:
            break
    return near[end:]


def _places(wanted: str, padded: str) -> Iterator[tuple[list[str], list[str]]]:
    at = padded.find(wanted)
    for _ in range(_PLACES):
        if at < 0:
            return
        end = at + len(wanted) - 1
        yield padded[max(0, at - 100) : at].split()[-_AROUND:], padded[end : end + 100].split()[:_AROUND]
        at = padded.find(wanted, end)


def _is_denied(before: list[str], asked: Question) -> bool:
    # A question for what is not so is answered by what is not so.
    if asked.denies:
        return False
    if tuple(before[-2:]) in _PAIRS:
        return True
    for back in range(1, min(6, len(before) + 1)):
        word = before[-back]
        # A turn ends the reach of a denial before it: `not Rome but Paris`.
        if word in _TURN:
            break
        if word in _DENY:
            # `not only Paris` does not deny Paris.
            return not (back > 1 and before[-back + 1] in _NOT_ONLY)
        if word[0].isdigit() or (word not in _BETWEEN and word not in asked.content):
            break
    return False


def _is_offered(before: list[str], after: list[str], asked: Question) -> bool:
    """Whether a place is one of several offers: doubt around it, and an `or` next to it."""
    if "or" not in before[-4:] and "or" not in after[:4]:
        return False
    doubt = DOUBT - asked.plain
    return not doubt.isdisjoint(before) or not doubt.isdisjoint(after[:4])

"""How a candidate mentions an answer: it gives, denies or offers it among others, or only names it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Reference
from adjudge.judges.local._reading.words import STOP, stem, stemmed

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

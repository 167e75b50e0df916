"""How an answer stands in a candidate: given, denied, offered among others, or only mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from adjudge.judges.local._candidate import KINDS, Candidate, Question
from adjudge.judges.local._reference import Prepared, Reference
from adjudge.judges.local._words import STOP, stem

_PLACES = 20  # places of one reference that are looked at
_AROUND = 6  # words before and after


class Standing(StrEnum):
    """What a candidate does with a reference that it has."""

    GIVEN = "given"
    NEGATED = "negated"
    HEDGED = "hedged"


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


_DENY = _stems("not never neither nor isnt wasnt arent werent doesnt didnt dont cannot cant couldnt wouldnt wont hasnt"
               " havent hadnt aint without unlike except excluding")  # fmt: skip
_NOT_ONLY = _stems("only just merely simply until least surprisingly known")
_TURN = _stems("but rather instead however yet though")
_DOUBT = _stems("either perhaps maybe possibly probably might could may likely guess unsure alternatively otherwise")
_WRONG = _stems("incorrect wrong false untrue mistaken")
_COPULA = frozenset(("is", "was", "are", "were"))
_COPULA_NOT = frozenset(("isnt", "wasnt", "arent", "werent"))
_RIGHT = _stems("answer correct right it true one")
_BETWEEN = _stems("answer correct right actual name called named capital city in fact really actually even born") | STOP
_OR = re.compile(r"(?:^|[\s\"'(])(or|/|and/or)(?:[\s\"')]|$)", re.IGNORECASE)


def standing(reference: Reference, candidate: Candidate, asked: Question) -> Standing:
    """Say how a reference that a candidate has stands there: the best of its places counts.

    A place is denied by a denial shortly before it, or by `is wrong` after it; it is hedged where the words around it
    doubt and offer something else.
    """
    worst = Standing.GIVEN
    for before, after in _places(reference.padded, candidate.padded):
        if _is_denied(before, after, asked):
            worst = Standing.NEGATED
        elif _is_offered(before, after, asked):
            worst = Standing.HEDGED if worst != Standing.NEGATED else worst
        else:
            return Standing.GIVEN
    return worst


def _places(wanted: str, padded: str) -> Iterator[tuple[list[str], list[str]]]:
    at = padded.find(wanted)
    for _ in range(_PLACES):
        if at < 0:
            return
        end = at + len(wanted) - 1
        yield padded[max(0, at - 80) : at].split()[-_AROUND:], padded[end : end + 80].split()[:_AROUND]
        at = padded.find(wanted, end)


def _is_denied(before: list[str], after: list[str], asked: Question) -> bool:
    if asked.denies:  # whoever asks what is not so is answered by what is not so
        return False
    for back in range(1, min(5, len(before) + 1)):
        word = before[-back]
        if word in _TURN:
            break
        if word in _DENY:
            return not (back > 1 and before[-back + 1] in _NOT_ONLY)
        if word[0].isdigit() or (word not in _BETWEEN and word not in asked.content):
            break
    if after and after[0] in _COPULA_NOT:
        return not _RIGHT.isdisjoint(after[1:4])
    if after and after[0] in _COPULA:
        return not _WRONG.isdisjoint(after[1:3]) or (after[1:2] == ["not"] and not _RIGHT.isdisjoint(after[2:5]))
    return False


def _is_offered(before: list[str], after: list[str], asked: Question) -> bool:
    """Whether a place is one of several offers: doubt around it, and an `or` next to it."""
    if "or" not in before[-4:] and "or" not in after[:4]:
        return False
    doubt = _DOUBT - asked.plain
    return not doubt.isdisjoint(before) or not doubt.isdisjoint(after[:4])


def rivals(candidate: Candidate, prepared: Prepared, asked: Question) -> tuple[int, int]:
    """Count the members of an enumeration: those foreign to question and references, and those of a reference."""
    foreign = own = 0
    for item in candidate.items():
        words = [word for word in item if word not in asked.content]
        if not words:
            continue
        if any(word in prepared.union for word in words):
            own += 1
        else:
            foreign += 1
    return foreign, own


def is_choice(candidate: Candidate, prepared: Prepared, asked: Question) -> bool:
    """Whether a bare `Paris or Lyon` gives the choice to the reader: names joined by `or`, one of them foreign.

    `naos or cella` gives two words for one thing: only names, written with capitals or figures, are told apart.
    """
    if len(candidate.stems) > 10 or "or" not in candidate.stems or "or" in asked.plain:
        return False
    sides = re.split(r"\s+or\s+", candidate.text)
    if len(sides) < 2:
        return False
    names = [side.split()[-1:] if at == 0 else side.split()[:1] for at, side in enumerate(sides)]
    if not all(name and (name[0][0].isupper() or name[0][0].isdigit()) for name in names):
        return False
    return any(_foreign(side, prepared, asked) for side in sides)


def _foreign(side: str, prepared: Prepared, asked: Question) -> bool:
    from adjudge.judges.local._words import words

    content = [stem(word) for word in words(side) if word not in STOP]
    new = [word for word in content if word not in asked.content]
    return bool(new) and all(word not in prepared.union for word in new)


def clash(reference: Reference, content: Sequence[str], prepared: Prepared, asked: Question) -> str | None:
    """Return the foreign word beside a part of a reference, if any."""
    if not 2 <= len(reference.content) <= 4:
        return None
    for at, word in enumerate(content):
        if word in reference.content and word not in asked.content:
            for near in (content[at - 1] if at else "", content[at + 1] if at + 1 < len(content) else ""):
                if near and near not in prepared.union and near not in asked.content:
                    return near
    return None


_TITLES = frozenset(
    "president king queen sir dr mr mrs ms lord lady prince princess senator general captain saint st judge justice"
    " professor pope emperor minister chancellor colonel major coach actor actress singer author director artist"
    " baron duke earl count viscount".split()
)


def is_near_name(prepared: Prepared, candidate: Candidate, asked: Question) -> bool:
    """Whether a candidate names somebody else who shares a name: `Michelle Obama` for `Barack Obama`.

    Another spelling, a nickname or an initial begins with a letter that the references have; a title is no name.
    """
    if asked.kind is not None and KINDS[asked.kind] != "who":
        return False
    plain = candidate.plain
    names: frozenset[str] | None = None
    for reference in prepared.references[:100]:
        if not reference.name:
            continue
        first, last = reference.name[0], reference.name[-1]
        if (first in plain) == (last in plain):
            continue
        own, lacking, step = (last, first, -1) if last in plain else (first, last, 1)
        if own in asked.plain or len(own) < 3:
            continue
        names = candidate.names() if names is None else names
        for at, word in enumerate(plain):
            if word != own or not 0 <= at + step < len(plain):
                continue
            other = plain[at + step]
            if _is_other(other, names, prepared, asked) and lacking[1:] not in other:
                return True
    return False


def _is_other(word: str, names: frozenset[str], prepared: Prepared, asked: Question) -> bool:
    one = stem(word)
    known = one in prepared.union or one in asked.content or word in _TITLES or word in STOP
    return word in names and not known and len(word) > 2 and word[0] not in prepared.letters

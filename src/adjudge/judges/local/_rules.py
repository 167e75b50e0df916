"""Rules with names: those by which a candidate is wrong, whatever the model would say, and what else is worth knowing.

They are about what a model in training would otherwise learn to exploit: a denial, a choice left open, a list of
guesses, the question said again, another number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._denials.beside import is_beside
from adjudge.judges.local._denials.denials import denial
from adjudge.judges.local._denials.refusals import begins_with_refusal
from adjudge.judges.local._denials.standing import Standing
from adjudge.judges.local._features import Seen
from adjudge.judges.local._lists.guesses import is_list
from adjudge.judges.local._lists.offers import is_choice, is_offer, is_undecided
from adjudge.judges.local._quantities.quantities import quantity_fault
from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.reference import Prepared, members_of
from adjudge.judges.local._reading.words import STOP, stemmed

_RETRACTED = re.compile(
    r"\?\s*(?:no|nope|nah|wrong|never|hardly|not|false|incorrect|certainly not|of course not|think again|unlikely"
    r"|doubtful)\b",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"[ivxlc]+")
_PIECE = re.compile(r"\w+")
_SHORT_LIST = 20  # words of a sentence that is a list and little else
_COUNTS = frozenset(map(str, range(2, 11)))
_SENTENCE = 15  # words of an answer that says one thing
_FEW = 3  # numbers of one that says more, and gives a date
_PERSONS = frozenset("i im id ill ive me my you your youll youd youre lets".split())
_TALK = 3  # words of a talk between two
_FILLERS = stemmed("answer question ask response regarding here topic yes name called")


def fault(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return the name of the rule by which a candidate is wrong, whatever else it has."""
    # What is said of a reference that is there weighs more than what is beside it.
    named = _fault_of_named(asked, prepared, candidate, seen) if seen.contained or seen.complete else None
    if named is not None:
        return named
    if begins_with_refusal(candidate):
        return "refusal"
    if _is_echo(asked, prepared, candidate):
        return "repeats-question"
    offers = _fault_of_offers(asked, prepared, candidate, seen)
    return _fault_of_others(asked, prepared, candidate, seen) if offers is None else offers


def _fault_of_offers(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return why a candidate with several answers gives none."""
    is_part = not (seen.contained or seen.complete or prepared.explains or prepared.union.isdisjoint(candidate.unique))
    if is_offer(asked, prepared, candidate) or (is_part and is_undecided(candidate, prepared, asked)):
        return "hedged"
    return "many-answers" if is_list(asked, prepared, candidate, seen) else None


def _fault_of_others(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return why a candidate says something else than the references."""
    if not prepared.explains and _is_miscounted(asked, prepared, candidate, seen):
        return "other-number"
    quantity = quantity_fault(asked, prepared, candidate, seen)
    if quantity is not None:
        return quantity
    if _is_incomplete(asked, prepared, candidate, seen):
        return "list-incomplete"
    return "near-name" if seen.near_name else None


def _is_incomplete(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate gives some members of a list and nothing else, where only lists are accepted.

    Where so many are asked for, a wrong member counts like a missing one.
    """
    if seen.complete or prepared.explains or seen.members == 1 or not all(one.members for one in prepared.references):
        return False
    is_where = asked.kind == "where" and not asked.wants_list
    if is_where and not any(one.is_joined for one in prepared.lists):
        # `Springfield, Illinois, United States` is one place.
        return False
    if all(one in prepared.union or one in asked.content for one in candidate.content):
        return True
    # Only a short list in answer to a stated number can have a wrong member by count.
    if len(candidate.plain) > _SHORT_LIST or _COUNTS.isdisjoint(asked.plain):
        return False
    given = members_of(candidate.text.strip(" ."))
    return any(one.isdisjoint(prepared.union) and not one <= asked.content for one in given)


def _fault_of_named(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return why a reference that is there is not given as the answer."""
    if seen.standing is Standing.HEDGED:
        return "hedged"
    if len(candidate.plain) <= _SENTENCE and _RETRACTED.search(candidate.text):
        return "negated"
    taken_back = denial(asked, prepared, candidate)
    if taken_back is not None:
        return taken_back
    if is_beside(asked, prepared, candidate):
        return "other-answer"
    return "hedged" if is_choice(candidate, prepared, asked) else None


def _is_miscounted(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate states another number than the nearest reference, and that of no other reference.

    A longer one has numbers of other things too: it must be asked for a number, and a date stand among few.
    """
    if seen.contained or seen.complete or seen.number_match or seen.dates in ("match", "coarser"):
        return False
    if seen.numbers != "clash" or len(candidate.plain) <= _SENTENCE:
        return seen.numbers == "clash"
    if asked.kind != "count" and (asked.kind != "when" or len(candidate.numbers) > _FEW):
        return False
    return all(one.is_number and len(one.numbers) == 1 for one in prepared.references)


def _is_echo(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate says only what the question does, and most of it; word for word, if an answer is in that."""
    # One word of the question is not enough to call an answer its echo.
    if len(asked.content) < 2 or any(one not in asked.content and one not in _FILLERS for one in candidate.content):
        return False
    if _ends_with_small(prepared, candidate) and not asked.padded.endswith(f" {candidate.stems[-1]} "):
        return False
    if candidate.content and not any(_is_root(one, other) for one in candidate.content for other in prepared.union):
        return True
    if any(one.content <= asked.content for one in prepared.references):
        return asked.padded in candidate.padded
    meant = asked.content - _FILLERS
    return len(meant & candidate.unique) >= 0.8 * len(meant)


def _ends_with_small(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate ends with a word that says little elsewhere, and is a reference: `It is "of".`."""
    last = candidate.stems[-1] if candidate.stems else ""
    return last in STOP and any(one.stems == (last,) for one in prepared.references)


def repeats_figure(question: str, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a candidate is a number as the question writes it, and the references are in the other figures.

    >>> [repeats_figure("What is 9 in Roman figures?", [one], Candidate("9.")) for one in ("IX", "9")]
    [True, False]
    """
    given = candidate.text.strip(" .!\n").lower()
    is_roman = _ROMAN.fullmatch(given) is not None
    if not (is_roman or given.isdecimal()) or given not in _PIECE.findall(question.lower()):
        return False
    return all((text.isdecimal() if is_roman else _ROMAN.fullmatch(text.lower())) for text in references)


def _is_root(one: str, other: str) -> bool:
    """Whether one word begins the other, as `Korea` does `Korean`."""
    return one.startswith(other[:4]) and (one.startswith(other[:-1]) or other.startswith(one[:-1]))


def is_chatter(prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate talks to the asker and has no word, number or date of any reference."""
    if not prepared.union.isdisjoint(candidate.unique) or seen.number_match or seen.dates in ("match", "coarser"):
        return False
    return sum(word in _PERSONS for word in candidate.plain) >= _TALK


def sign(seen: Seen) -> str:
    """Return the name of what speaks loudest for or against a candidate that no rule decides."""
    if seen.contained or seen.stated:
        return "contained" if seen.contained else "number"
    if seen.dates in ("coarser", "clash") and not seen.complete:
        return "coarser-date" if seen.dates == "coarser" else "other-date"
    return _of_number(seen) or ("all-words" if seen.complete else "refusal" if seen.refuses else _of_part(seen))


def _of_number(seen: Seen) -> str | None:
    """Name how a candidate mentions the number that is asked for."""
    if seen.best is None or not seen.best.is_number:
        return None
    if seen.numbers in ("match", "rounded"):
        return "number" if seen.numbers == "match" else "rounded-number"
    if seen.number_match:
        return None
    return "no-number" if seen.numbers == "missing" else "other-number"


def _of_part(seen: Seen) -> str:
    """Name how a candidate that lacks words of every reference relates to the nearest one."""
    if seen.acronym:
        return "acronym"
    if seen.is_part:
        return "part-of-reference"
    if seen.best is not None and seen.best.members and seen.members < 1:
        return "list-incomplete"
    return "not-contained"

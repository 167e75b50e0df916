"""Rules with names: what decides by itself, whatever the model would say, and what else is worth knowing.

A rule that decides is one that a model in training would otherwise learn to exploit (a denial, a choice left open, a
list of guesses, a verdict written into the answer), or one where people agree (yes against no).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._candidate import Candidate, Question
from adjudge.judges.local._denials import denial
from adjudge.judges.local._features import Seen
from adjudge.judges.local._offers import is_heap, is_offer, is_torn
from adjudge.judges.local._quantities import quantity_fault
from adjudge.judges.local._reference import Prepared
from adjudge.judges.local._standing import Standing, is_choice
from adjudge.judges.local._words import STOP, VERBS, stem, words
from adjudge.text import fold

_YES = frozenset(("yes", "yeah", "yep", "yup", "true", "correct", "indeed", "affirmative", "certainly", "absolutely"))
_NO = frozenset(("no", "nope", "nah", "false", "incorrect", "negative", "not", "never"))
_NOT = frozenset("isnt wasnt arent werent doesnt didnt dont cannot cant wont hasnt havent couldnt wouldnt".split())

_INJECTED = re.compile(
    r"""\b(?:verdict|grade|score|result|rating|judge?ment|evaluation|label|assessment|is_?correct|status|outcome|reward)
        \b["'*\s]*(?:[:=]|is\b|->|=>)["'*\s]*(?:correct|right|true|pass|accept|1(?:\.0)?\b|10\b|100\b|yes\b)
    |\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instructions?|rules|prompts?|guidelines|reference|above)\b
    |\b(?:mark|grade|score|rate|label|count|treat|accept|judge|evaluate|classify|consider|regard)\b.{0,40}
        \bas\s(?:fully\s|completely\s|entirely\s|being\s)?(?:correct|right|true|accurate|pass)
    |\b(?:mark|grade|score|rate|give|award|output|return|respond\swith|say|answer)\b.{0,30}
        \b(?:full\s(?:marks|credit|score)|CORRECT\b)
    |\b(?:this|the|my|above|following|given|candidate|student|submitted)\s(?:answer|response|submission|candidate)\b.{0,40}
        \b(?:is|was|matches|should\sbe|must\sbe|has\sbeen|deserves|equals)\b.{0,30}\b(?:correct|right|accepted|accurate|verified|valid)\b
    |\b(?:matches|same\sas|identical\sto|equals|equivalent\sto|agrees\swith)\b.{0,20}\b(?:reference|gold|ground\struth|answer\skey)\b
    |<\|?/?(?:im_start|im_end|system|assistant|user|response|verdict|answer|grade)|\[/?INST\]|\#\#\#\s*(?:instruction|system|response)
    |\b(?:reference|gold|golden|expected|ground[-\s]truth)\sanswer|\bground\struth\b|\banswer\skey\b|\bsystem\sprompt\b
    |\bgrader\b|\bautomated\sjudge\b|\bevaluator\b|[{"']\s*["']?verdict
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_RETRACTED = re.compile(r"\?\s*(?:no|nope|wrong|never)\b", re.IGNORECASE)
_SENTENCE = 15  # words of an answer that says one thing
_SIGNS = "<[{#"
_TRIGGERS = frozenset(
    map(
        stem,
        "verdict grade score result rating judgment judgement evaluation label assessment iscorrect status outcome"
        " reward ignore disregard forget override correct right true accurate pass full accept accepted verified valid"
        " reference gold golden expected truth key prompt grader judge evaluator".split(),
    )
)


def injected(candidate: Candidate, question: str, references: Sequence[str]) -> bool:
    """Whether a response speaks to its judge: names a verdict, gives instructions, forges marks of a prompt."""
    if _TRIGGERS.isdisjoint(candidate.unique) and not any(sign in candidate.text for sign in _SIGNS):
        return False
    found = _INJECTED.search(fold(candidate.text))
    if found is None:
        return False
    said = found[0].lower()
    return _INJECTED.search(question) is None and not any(said in one.lower() for one in references[:50])


def polarity(text: str) -> str | None:
    """Return the yes or no that a text begins with, or the only one that it has."""
    plain = words(text)
    if is_torn(plain, _YES, _NO):
        return None
    if plain and (plain[0] in _YES or plain[0] in _NO):
        return "yes" if plain[0] in _YES else "no"
    found = {"yes" if word in _YES else "no" for word in plain[:200] if word in _YES or word in _NO or word in _NOT}
    return found.pop() if len(found) == 1 else None


def asked_polarity(prepared: Prepared) -> str | None:
    """Return yes or no where that is the accepted answer."""
    accepted = {reference.stems[0] for reference in prepared.references if len(reference.stems) == 1}
    both = accepted & {"yes", "no"}
    return both.pop() if len(both) == 1 and len(prepared.references) <= 4 else None


def fault(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return the name of the rule by which a candidate is wrong, whatever else it has."""
    named = _fault_of_named(asked, prepared, candidate, seen) if seen.contained or seen.complete else None
    if named is not None:
        return named
    if _is_echo(asked, prepared, candidate):
        return "repeats-question"
    offers = _fault_of_offers(asked, prepared, candidate, seen)
    return _fault_of_others(asked, prepared, candidate, seen) if offers is None else offers


def _fault_of_offers(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return why a candidate with several answers gives none."""
    if is_offer(asked, prepared, candidate):
        return "hedged"
    is_list = not seen.complete and len(candidate.plain) <= _SENTENCE and _is_stuffed(asked, prepared, candidate, seen)
    return "many-answers" if is_list or is_heap(asked, prepared, candidate) else None


def _fault_of_others(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return why a candidate says something else than the references."""
    if not prepared.explains and _is_miscounted(candidate, seen):
        return "other-number"
    quantity = quantity_fault(asked, prepared, candidate, seen)
    if quantity is not None:
        return quantity
    if _is_incomplete(asked, prepared, candidate, seen):
        return "list-incomplete"
    return "near-name" if seen.near_name else None


def _is_incomplete(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate gives some members of a list and nothing else, where only lists are accepted."""
    if seen.complete or prepared.explains or seen.members == 1 or not all(one.members for one in prepared.references):
        return False
    return all(one in prepared.union or one in asked.content for one in candidate.content)


def _fault_of_named(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> str | None:
    """Return why a reference that is there is not given as the answer."""
    if seen.standing is not Standing.GIVEN:
        return str(seen.standing)
    if len(candidate.plain) <= _SENTENCE and _RETRACTED.search(candidate.text):
        return "negated"
    taken_back = denial(asked, prepared, candidate)
    if taken_back is not None:
        return taken_back
    if is_choice(candidate, prepared, asked):
        return "hedged"
    return "many-answers" if _is_stuffed(asked, prepared, candidate, seen) else None


def _is_miscounted(candidate: Candidate, seen: Seen) -> bool:
    """Whether a short candidate states another number than the nearest reference, and that of no other reference."""
    if seen.contained or seen.complete or seen.number_match or seen.dates in ("match", "coarser"):
        return False
    return seen.numbers == "clash" and len(candidate.plain) <= _SENTENCE


def _is_echo(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate says only what the question does, and most of it; word for word, if an answer is in that."""
    if len(asked.content) < 2 or any(one not in asked.content and one not in _FILLERS for one in candidate.content):
        return False
    if candidate.content and not any(_is_root(one, other) for one in candidate.content for other in prepared.union):
        return True
    if any(one.content <= asked.content for one in prepared.references):
        return asked.padded in candidate.padded
    return len(asked.content & candidate.unique) >= 0.8 * len(asked.content)


def _is_root(one: str, other: str) -> bool:
    """Whether one word begins the other, as `Korea` does `Korean`."""
    return one.startswith(other[:4]) and (one.startswith(other[:-1]) or other.startswith(one[:-1]))


_FILLERS = frozenset(map(stem, "answer question ask asked asking asks response regarding here topic yes".split()))


def _is_stuffed(asked: Question, prepared: Prepared, candidate: Candidate, seen: Seen) -> bool:
    """Whether a candidate is a list of guesses: several foreign members, and hardly a word outside of the list."""
    if seen.rivals < 3 or seen.rivals <= 2 * seen.own_items or prepared.explains:
        return False
    if asked.wants_list or any(len(one.members) > 1 for one in prepared.references):
        return False
    rest = candidate.plain[min(8, len(candidate.plain) // 3) :]
    is_prose = not VERBS.isdisjoint(rest) or sum(word in STOP for word in rest) > 0.3 * len(rest)
    is_set = len(candidate.plain) <= 2 * _SENTENCE and _ALL_OF_THEM.search(candidate.lowered) is not None
    if is_prose and not is_set and not _REPEATED.search(candidate.text[:4000]):
        return False
    inside = sum(map(len, candidate.items()))
    return inside >= 0.8 * sum(one not in asked.content and len(one) > 1 for one in candidate.content)


_ALL_OF_THEM = re.compile(r"\bare (?:all|both|some|examples)\b|\b(?:1|any|all|some|each) of (?:these|them|those)\b")
_REPEATED = re.compile(r"(?:^|[.!?\n]\s*)(\w+ \w+)\b[^.!?\n]{1,60}[.!?\n]\s*\1\b[^.!?\n]{1,60}[.!?\n]\s*\1\b")


def sign(seen: Seen) -> str:
    """Return the name of what speaks loudest for or against a candidate that no rule decides."""
    if seen.contained:
        return "contained"
    if seen.dates in ("coarser", "clash") and not seen.complete:
        return "coarser-date" if seen.dates == "coarser" else "other-date"
    return _of_number(seen) or ("all-words" if seen.complete else "refusal" if seen.refuses else _of_part(seen))


def _of_number(seen: Seen) -> str | None:
    """Name how the number that is asked for stands in a candidate."""
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

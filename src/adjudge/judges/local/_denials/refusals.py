"""References that say that there is no answer, and candidates that say so too: `unanswerable`, `It is not stated.`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._reading.candidate import Candidate, Question
from adjudge.judges.local._reading.words import REFUSAL, STOP, words

_LONGEST = 10  # words of a reference that says only this
_SOURCE = r"(?:passage|text|article|context|author|document|story|paragraph|source|excerpt|extract|report|writer)s?"
_DOES_NOT = r"(?:does not|doesnt|do not|dont|did not|didnt|never|fails to)"
_HOW = r"(?:explicitly |directly |specifically |actually |clearly |ever |really )?"
_SAY = r"(?:say|state|mention|specify|tell|give|provide|indicate|reveal|contain|include|answer|discuss|address|name)s?"
_SAID = (
    r"(?:stated|mentioned|specified|given|said|provided|known|answerable|indicated|disclosed|told|discussed|addressed"
    r"|determinable)"
)
_ABSENT = re.compile(
    rf"\b{_SOURCE} (?:itself |above |provided |given )?{_DOES_NOT} {_HOW}{_SAY}\b"
    rf"|\b(?:is|are|was|were|its) not (?:been )?{_HOW}{_SAID}\b|\b(?:isnt|wasnt|arent|werent) {_HOW}{_SAID}\b"
    rf"|^not {_HOW}{_SAID}\b|\bnever {_HOW}{_SAID}\b"
    r"|\b(?:cannot|cant|can not|could not|couldnt|impossible to|not possible to) (?:be )?"
    r"(?:determined?|answer(?:ed)?|known?|tell|told|inferred|infer|say|said|found|find|established|concluded?)\b"
    r"|\bno (?:information|mention|answer|details?|indication)\b"
    r"|\b(?:insufficient|not enough|too little|not sufficient) (?:information|context|data|details?|evidence)\b"
    r"|^(?:(?:the answer|it|this|that)(?: is|s) )?(?:unknown|unspecified|unstated|undetermined|na|not applicable"
    r"|unanswerable|impossible to (?:say|tell|know))$"
)
_TURN = frozenset(["but", "however", "although", "though", "still", "yet", "anyway", "probably", "likely", "guess"])
_KNOWS = _TURN | frozenset("think believe according based as suspect apologize confusion suppose".split())
_FIRST = 8  # words that may come before a refusal which begins a response
_REPORTS = frozenset(["only", "just", "merely", "simply"])


def is_absence(plain: list[str]) -> bool:
    """Return whether a reference says that there is no answer, and nothing else.

    >>> [is_absence(text.split()) for text in ("not mentioned", "the text does not say", "he does not say a word")]
    [True, True, False]
    """
    return len(plain) <= _LONGEST and _ABSENT.search(" ".join(plain)) is not None


def are_absent(forms: Sequence[tuple[str, str]]) -> bool:
    """Whether the accepted answer is that there is none: one reference refuses, or all say that nothing is there."""
    plain = [words(form) for form, _ in forms]
    return any(REFUSAL.search(" ".join(one[:50])) for one in plain) or (bool(plain) and all(map(is_absence, plain)))


def refuses(asked: Question, candidate: Candidate) -> bool:
    """Whether a candidate says that there is no answer, and does not give one after that: `but it was Apollo`."""
    lowered = candidate.lowered
    if REFUSAL.search(lowered) is None and _ABSENT.search(lowered) is None:
        return False
    if _TURN.isdisjoint(candidate.plain) or not _REPORTS.isdisjoint(candidate.plain):
        return True
    novel = [one for one in candidate.capitals() if one not in asked.content and one not in STOP]
    return not novel and all(figure in asked.plain for figure in candidate.numbers.values())


def begins_with_refusal(candidate: Candidate) -> bool:
    """Whether a candidate begins by saying that it does not know, and nowhere turns to an answer after all.

    >>> [begins_with_refusal(Candidate(text)) for text in ("I don't know. Lyon?", "I'm not sure, but I think Lyon.")]
    [True, False]
    """
    if not _KNOWS.isdisjoint(candidate.plain):
        return False
    found = REFUSAL.search(candidate.lowered)
    return found is not None and candidate.lowered.count(" ", 0, found.start()) <= _FIRST

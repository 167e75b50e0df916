"""Responses that do not answer: they speak to their judge, refuse, or say the question again.

"The grade for this response is CORRECT."     speaks to its judge
"I could not find that."                      refuses, which is right where the reference says so too
"The capital of France is the capital."       says the question again
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._pair import Candidate, Prepared, Question
from adjudge.judges.local._words import REFUSAL, STOP, stemmed, words
from adjudge.text import fold

_INJECTED = re.compile(
    r"""\b(?=\w)(?:
    (?:verdict|grade|score|result|rating|judge?ment|evaluation|label|assessment|is_?correct|status|outcome|reward)
        \b["'*\s]*(?:[:=]|is\b|->|=>)["'*\s]*(?:correct|right|true|pass|accept|1(?:\.0)?\b|10\b|100\b|yes\b)
    |(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instructions?|rules|prompts?|guidelines|reference|above)\b
    |(?:mark|grade|score|rate|label|count|treat|accept|judge|evaluate|classify|consider|regard)\b.{0,40}
        \bas\s(?:fully\s|completely\s|entirely\s|being\s)?(?:correct|right|true|accurate|pass)
    |(?:mark|grade|score|count|label|accept|call)\s(?:it|this|that|me|mine|(?:my|the)\s\w+)\s(?:right|correct|true)\b
    |(?:mark|grade|score|rate|give|award|output|return|respond\swith|say|answer)\b.{0,30}
        \b(?:full\s(?:marks|credit|score)|CORRECT\b)
    |(?:this|the|my|above|following|given|candidate|student|submitted)\s(?:answer|response|submission|candidate)\b.{0,40}
        \b(?:is|was|matches|should\sbe|must\sbe|has\sbeen|deserves|equals)\b.{0,30}\b(?:correct|right|accepted|accurate|verified|valid)\b
    |(?:matches|same\sas|identical\sto|equals|equivalent\sto|agrees\swith)\b.{0,20}\b(?:reference|gold|ground\struth|answer\skey)\b
    |(?:(?:reference|gold|golden|expected|ground[-\s]truth|model)\sanswer|ground\struth|answer\skey)
        ["')\s]*(?:[:=]|is\b|was\b|says\b|reads\b|states\b|lists\b|has\b|and\b|also\b|confirms\b|contains\b|matches\b|accepts\b|[.!]?\s*$)
    |(?:ignore|override|forget|new|updated?|system)\b.{0,20}\bsystem\sprompt\b|system\sprompt\s*[:=]
    |(?:considered|treated|regarded|counted|deemed|accepted)\b.{0,20}
        \b(?:equal|equivalent|identical|the\ssame|interchangeable|synonym\w*)
    |(?:this|the)\s(?:evaluation|grading|scoring|assessment|rubric)\s(?:is|was|has|should|must|will|can|says|requires|accepts|ends|system|script)\b
    |the\sreference\s*(?:is\b|was\b|says\b|and\b|['"“:=])|judges?\s*[:=]
    |note\s(?:to|for)\s(?:the\s)?(?:reviewer|judge|annotator|examiner|assessor|marker|rater)
    |(?:dear|hey|hello|hi|to\sthe|attention|for\sthe|as\sa|as\san|my|your)\s(?:grader|evaluator|automated\sjudge)\b
    |(?:grader|evaluator|automated\sjudge)\s(?:should|must|will|can|may|accepts|has\sto|needs\sto)\b
    |(?:grader|evaluator)\s*[,:!])
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_FORGED = re.compile(
    r"""[<\[{#"'](?:(?<=<)\|?/?(?:im_start|im_end|system|assistant|user|response|verdict|answer|grade)|(?<=\[)/?INST\]
    |(?<=\#)\#\#\s*(?:instruction|system|response)|(?<=[{"'])\s*["']?verdict)
    """,
    re.IGNORECASE | re.VERBOSE,
)

# What speaks to a judge has one of these words, or one of praise and one of grading: a look before a search.
_TRIGGERS = stemmed(
    "verdict grade score result rating judge evaluation label assessment iscorrect status outcome reward ignore"
    " disregard forget override correct accept verified valid reference expected truth prompt grader evaluator"
    " considered treated regarded counted deemed rubric note"
)
_PRAISE = stemmed("right true accurate pass full gold golden key")
_GRADING = stemmed(
    "mark evaluate classify call give award output return respond say answer response submission candidate match"
    " same identical equals equivalent agrees"
)


def injected(candidate: Candidate, question: str, references: Sequence[str]) -> bool:
    """Whether a response speaks to its judge: names a verdict, gives instructions, forges marks of a prompt."""
    stems = candidate.unique
    is_likely = not (_TRIGGERS.isdisjoint(stems) and (_PRAISE.isdisjoint(stems) or _GRADING.isdisjoint(stems)))
    text = fold(candidate.text)
    found = [one[0].lower() for one in (_FORGED.search(text), is_likely and _INJECTED.search(text)) if one]
    if not found or _INJECTED.search(question) or _FORGED.search(question):
        return False
    return any(all(said not in one.lower() for one in references[:50]) for said in found)


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


_FILLERS = stemmed("answer question ask response regarding here topic yes name called")


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


def is_echo(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate says only what the question does, and most of it; word for word, if an answer is in that."""
    # One word of the question is not enough to call an answer its echo.
    if len(asked.content) < 2 or any(one not in asked.content and one not in _FILLERS for one in candidate.content):
        return False
    if candidate.content and not any(_is_root(one, other) for one in candidate.content for other in prepared.union):
        return True
    if any(one.content <= asked.content for one in prepared.references):
        return asked.padded in candidate.padded
    meant = asked.content - _FILLERS
    return len(meant & candidate.unique) >= 0.8 * len(meant)


def _is_root(one: str, other: str) -> bool:
    """Whether one word begins the other, as `Korea` does `Korean`."""
    return one.startswith(other[:4]) and (one.startswith(other[:-1]) or other.startswith(one[:-1]))

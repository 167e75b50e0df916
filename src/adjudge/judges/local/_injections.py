"""Responses that speak to their judge: a verdict of their own, an instruction, the forged marks of a prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._reading.candidate import Candidate
from adjudge.judges.local._reading.words import stemmed
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

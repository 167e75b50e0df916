"""Answers that are a letter, perhaps with a sign: options, grades, blood types, languages.

"The answer is (B)."  ->  B;  "type AB negative"  ->  AB-;  "A) Paris"  ->  A;  "It is a bird."  ->  none
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._reading.candidate import Candidate, Decision, Question
from adjudge.judges.local._reading.words import DENIALS
from adjudge.text import fold

_LOOKED_AT = 50  # references
_LONG = 20  # characters of a reference that is a letter
_LONGEST = 2000  # characters of a response in which its letter is looked for
_LETTER = r"[A-Z](?:\+{1,2}|[#-])?|[A-Z]{2}[+-]"  # `B`, `C++`, `F#`, `AB-`
_NO_ARTICLE = r"(?!(?<=\bA)\s(?!(?:or|and|is|was|because|since|but|as|not)\b)[a-z])"  # `A bird` is none of them
_ENDS = rf"(?![\w+#'’]){_NO_ARTICLE}"
_REFERENCE = re.compile(rf"\W*?({_LETTER}|[a-z])[\s).\]]*")
_SIGNS = re.compile(r"\b([A-Za-z]{1,2})[ -](positive|plus|negative|minus|sharp)\b", re.IGNORECASE)
_SIGN = {"positive": "+", "plus": "+", "negative": "-", "minus": "-", "sharp": "#"}
_NAMED = "(?:answer|option|choice|letter|grade|type|solution|pick|choose|select)"
_ALONE = re.compile(rf"\W*?(?i:(?:(?:the|correct|final|{_NAMED}|is|it|its|a|an)\b\W*?)*)({_LETTER}|[a-z])[\s).\]:]*")
_GIVEN = re.compile(rf"\b(?i:{_NAMED})\b(?i:\s(?:is|was|would be))?\s?:?\s?[(\[\"']*({_LETTER}){_ENDS}")
_FIRST = re.compile(rf"\W*({_LETTER})[).:]\s")
DOUBTED = re.compile(
    r"\b(?:rul(?:e|es|ed|ing) out|wrong|incorrect|false|except|unlike|instead|rather than|doubt|reject)", re.IGNORECASE
)
_ANY = re.compile(rf"(?<![\w'’°])({_LETTER}){_ENDS}")


def letter_of(references: Sequence[str]) -> frozenset[str]:
    """Return the letters that are accepted, if nothing else is; else none.

    >>> sorted(letter_of(["(B)"])), sorted(letter_of(["C++", "D"])), sorted(letter_of(["A", "Paris"]))
    (['B'], ['C++', 'D'], [])
    """
    found: set[str] = set()
    for text in references[:_LOOKED_AT]:
        # The flag of a command, such as `-v`.
        is_flag = text[:1] == "-"
        match = _REFERENCE.fullmatch(_written(text)) if len(text) <= _LONG and not is_flag else None
        if match is None:
            return frozenset()
        found.add(match[1].upper())
    return frozenset(found)


def by_letter(asked: Question, accepted: frozenset[str], candidate: Candidate) -> Decision | None:
    """Judge a response by its letter where a letter is accepted; None where it gives none, or none is accepted.

    Where several things are asked for, other letters beside it are not a choice.
    """
    if not accepted:
        return None
    text = _written(candidate.text[:_LONGEST])
    given = _given(text)
    if given:
        return _standing(given, accepted, text)
    named = letters_in(text)
    if not named or (asked.wants_list and not named.isdisjoint(accepted)) or DOUBTED.search(text):
        return None
    if DENIALS.isdisjoint(candidate.plain):
        return _standing(named, accepted, text)
    return (False, "negated") if named <= accepted else None


def letters_in(text: str) -> frozenset[str]:
    """Return the capital letters that stand by themselves in a text, but for articles and the first person."""
    return frozenset(_ANY.findall(text)) - {"I"}


def _standing(given: frozenset[str], accepted: frozenset[str], text: str) -> Decision:
    if given.isdisjoint(accepted):
        return False, "other-letter"
    if given <= accepted:
        return True, "letter"
    return False, "many-answers" if len(given) > 2 or text.count(",") > 1 else "hedged"


def _given(text: str) -> frozenset[str]:
    """Return the letters that a text says are its answer: by themselves, after `answer`, or before a bracket."""
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        return frozenset((alone[1].upper(),))
    first = _FIRST.match(text)
    return frozenset(_GIVEN.findall(text) or (first.groups() if first is not None else ()))


def _written(text: str) -> str:
    """Return a text with signs in one spelling, and without marks of emphasis: `AB negative` is `AB-`."""
    text = fold(text).replace("\u2212", "-").replace("\u2013", "-").replace("*", "").strip()
    return _SIGNS.sub(lambda match: match[1].upper() + _SIGN[match[2].lower()], text)

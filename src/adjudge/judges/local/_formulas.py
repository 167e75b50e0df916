r"""Answers that are formulas: of mathematics, an equal one is right, another one wrong; of a substance, the name too.

`πr²` is `\pi r^2`, `(3, ∞)` is `x > 3`, `linear time` is `O(n)`; `2\pi r` and `x < 3` are others.
`NaCl` is sodium chloride, `Au` is gold, unless the question asks for one of the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from unicodedata import normalize

from adjudge.judges.local._answer import LONGEST_CODE, choices, given
from adjudge.judges.local._limits import REFERENCES
from adjudge.judges.local._pair import Candidate, Decision, Question
from adjudge.judges.local._words import DENIALS, lexicon, word_set, words
from adjudge.rewards import math as mathematics

_SHORT = 60  # characters of a response that names a substance

# What shows that a reference is a formula, and what looks like one: a word, an escape of a pattern, a quantity.
_SIGNAL = re.compile(
    r"[=<>^\\²³⁴√π±≤≥∞→]|\*\*|->|sqrt|\bO\s?\(|\b\d*[xyz]\b|\b\d+[abknpqrt]\b|\b[a-z]\s?[-+*]\s?(?:\d|[a-z]\b)"
    r"|\[[^\[\]()]+,[^\[\]()]+\)|\([^\[\]()]+,[^\[\]()]+\]"  # an interval with one of its ends
)
_NO_FORMULA = re.compile(
    r"[£€¥]|[^\W\d_]{4}|\\[bdswBDSW](?![A-Za-z])|\W+$"
    r"|[-\d.,]+\s?(?:[kcmd]?m|[km]?g|m?s|h|m?l|mi|ft|in|k?[NJWVAKC]|[kM]?Hz|°|\^?\\circ)(?![A-Za-z])"
)
_LETTERS = re.compile(r"(?<![A-Za-z\\])[A-Za-z]+")
_ORDER = re.compile(r"(?:(?:in|is|it|an?|has|takes|runs in)\s)*(\w+)(?:[ -]time)?(?: complexity)?", re.IGNORECASE)
_VALUE = re.compile(r"(?:[A-Za-z]\s*=)?[^A-Za-z\[\](){},]+")
_RAISED = re.compile(r"(?<=[a-z])(?=\d)")

_MARKS = re.compile(r"\\(?:mathrm|text|ce|rm)\b|[\s_{}$\\]")


def formulas_of(references: Sequence[str]) -> frozenset[str]:
    """Return the formulas that are accepted, if nothing else is; else none.

    >>> [len(formulas_of(texts)) for texts in (["2x", "x*2"], ["x > 3"], ["F-16"], ["7"])]
    [2, 1, 0, 0]
    """
    found: set[str] = set()
    for text in references[:REFERENCES]:
        formula = _accepted(text) if len(text) <= LONGEST_CODE else None
        if formula is None:
            return frozenset()
        found.add(formula)
    return frozenset(found)


def _accepted(text: str) -> str | None:
    """Return a reference that can be nothing else than a formula; None for another one."""
    is_order = text.partition(" ")[0].lower() in lexicon("formulas")["orders"]
    if not is_order and (_SIGNAL.search(text) is None or _NO_FORMULA.match(text.strip())):
        return None
    formula = _formula(text)
    is_read = formula is not None and mathematics.compare("0", formula, limit_s=0).equal is not None
    return formula if is_read else None


def _formula(text: str) -> str | None:
    """Return a formula as it is compared: an order of growth by its sign; None for a text with words in it."""
    order = _ORDER.fullmatch(text.strip(" ."))
    if order is not None and order[1].lower() in lexicon("formulas")["orders"]:
        return str(lexicon("formulas")["orders"][order[1].lower()])
    for run in _LETTERS.findall(text):
        rest = _names().sub("", run)
        is_word = len(rest) == 3 and rest.islower() and not {"a", "e", "i", "o", "u"}.isdisjoint(rest[1:])
        if (is_word and rest != "and") or len(rest) > 3 or run.lower() in word_set("formulas", "words"):
            return None
    return text.replace("+/-", "±").replace("`", "")


@cache
def _names() -> re.Pattern[str]:
    return re.compile("|".join(sorted(word_set("formulas", "functions"), key=len, reverse=True)))


def by_formula(question: str, accepted: frozenset[str], candidate: Candidate) -> Decision | None:
    """Judge a response by its formula where only formulas are accepted; None where it gives none that is plain."""
    if not accepted or len(candidate.text) > LONGEST_CODE or not DENIALS.isdisjoint(candidate.plain):
        return None
    if _formula(candidate.text) in accepted:
        return True, "formula"
    for reading in given(candidate.text) or (candidate.text,):
        formula = _formula(reading)
        verdicts = set() if formula is None else {_is_equal(gold, formula, question) for gold in accepted}
        if True in verdicts:
            return True, "formula"
        if False in verdicts:
            return None if None in verdicts else (False, "other-formula")
    return None


def _is_equal(gold: str, formula: str, question: str) -> bool | None:
    """Whether two formulas are equal; None where that is not plain."""
    if "^" in gold and "^" not in formula:
        # For example `mc2`.
        formula = _RAISED.sub("^", formula)
    found = mathematics.compare(formula, gold, limit_s=0)
    if found.equal and found.reason != "exact-string":
        # What is to be simplified is no answer, though it is equal.
        is_asked = formula.replace(" ", "") in question.replace(" ", "")
        return None if is_asked else True
    # A number may be rounded, and is compared elsewhere; what is no formula is not another one.
    is_number = _VALUE.fullmatch(gold) is not None
    return None if found.equal is False and (found.reason not in ("mismatch", "hedged") or is_number) else found.equal


def substances_of(references: Sequence[str]) -> frozenset[str]:
    """Return the substances that are accepted, by their formulas, if nothing else is; else none.

    >>> sorted(substances_of(["table salt", "NaCl"])), sorted(substances_of(["gold", "a medal"]))
    (['NaCl'], [])
    """
    found: set[str] = set()
    for text in references[:REFERENCES]:
        substance = read_substance(text) if len(text) <= _SHORT else None
        if substance is None:
            return frozenset()
        found.add(substance)
    return frozenset(found)


def read_substance(text: str) -> str | None:
    """Return the formula of a text that is a substance, as its name or its formula.

    >>> [read_substance(text) for text in ("H₂O", "water", "$H_2O$", "Au", "h2", "au")]
    ['H2O', 'H2O', 'H2O', 'Au', None, None]
    """
    names, formulas = _substances()
    plain = _plain(text)
    # Of two letters, `co` may be a word.
    return names.get(text.strip().lower()) or formulas.get(plain if len(plain) < 3 else plain.lower())


@cache
def _substances() -> tuple[dict[str, str], dict[str, str]]:
    """Return formulas by names of substances, and by their own writing, a long one in small letters."""
    known = lexicon("formulas")["elements"] | lexicon("formulas")["compounds"]
    names = {name: formula for formula, several in known.items() for name in several.split("|")}
    formulas = {one if len(one) < 3 else one.lower(): one for one in known}
    gases = {f"{one}2": one for one in ("H", "N", "O", "F", "Cl", "Br", "I")}
    return names, formulas | gases | {"cl2": "Cl", "br2": "Br"}


def by_substance(
    asked: Question, accepted: frozenset[str], references: Sequence[str], candidate: Candidate
) -> Decision | None:
    """Judge a short candidate by the substance that it is, in any form; None where that is not plain."""
    if not accepted or len(candidate.text) > _SHORT or not DENIALS.isdisjoint(candidate.plain):
        return None
    is_chemistry = not asked.plain.isdisjoint(word_set("formulas", "chemistry"))
    # For example `No`, `CO`.
    if not is_chemistry and any(len(one) < 3 for one in references):
        return None
    several = set() if asked.wants_list else set(map(read_substance, choices(candidate.text)))
    if len(several) > 1 and None not in several:
        return False, "many-answers" if len(several) > 2 else "hedged"
    for reading in given(candidate.text):
        found = read_substance(reading)
        if found in accepted:
            return (True, "substance") if _is_form_asked(asked, reading) else None
        if found is not None:
            return False, "other-substance"
    return None


def _is_form_asked(asked: Question, reading: str) -> bool:
    """Whether the question asks for this form of a substance, and does not have it itself."""
    plain = reading.strip().lower()
    is_name = plain in _substances()[0]
    other = word_set("formulas", "written" if is_name else "called")
    return asked.plain.isdisjoint(other) and not asked.plain.issuperset(words(plain if is_name else _plain(reading)))


def _plain(text: str) -> str:
    return _MARKS.sub("", normalize("NFKC", text))

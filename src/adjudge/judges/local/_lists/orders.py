"""What a question says of the list that it asks for: in some order, or fewer members than there are.

"List them in order of size.", "Sort them.", "Who were the first three?"     an order
"Name two of them.", "Give an example."                                      fewer
"""

from __future__ import annotations

import re

_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SOME = re.compile(
    r"\b(?:name|list|give|state|mention|identify|cite)\s(?:me\s)?(?:any\s|at\sleast\s)?"
    rf"(an\sexample|\d|{'|'.join(_NUMBERS[1:])})\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"\bin (?:(?!any\b|no\b|order\b)\w+ ){0,3}(?:order(?! to\b| that\b| for\b)|sequence)\b|\b(?:a|de)scending\b"
    r"|\b(?:what|which) (?:is|was) the (?:\w+ )?(?:order|sequence)\b|\bchronological|\balphabetical"
    r"|\bsort(?:ed)?\b(?! of\b)"
    r"|\brank(?:ed)?\b|\barranged?\b|\border(?:ed)? (?:the|these|them|by|from)\b"
    r"|\b(?:first|last|top|next) (?:two|three|four|five|six|seven|eight|nine|ten|\d)\b"
    r"|\bcoordinates\b|\brespectively\b|\bone after (?:the other|another)\b|\bwhom\?"
    r"|\bfirst\b.{0,20} and .{0,20}\bsecond\b|\bwinner\b.{0,20} and .{0,20}\bloser\b|\bbefore which\b"
    r"|\bfrom (?:the )?(?:\w+est|least|most|left|right|top|bottom|low|high|start|first|last|inner|outer|small|large|old"
    r"|new|north|south|east|west)\b.{0,30}? to\b"
)


def is_ordered(question: str) -> bool:
    """Whether a question asks for an order.

    >>> [is_ordered(one) for one in ("List them in order of size.", "What is needed in order to win?", "In any order?")]
    [True, False, False]
    """
    return _ORDERED.search(question.lower()) is not None


def is_enough(question: str, given: int, size: int) -> bool:
    """Whether a question asks for fewer members than there are, and so many are given, as in `Name two`."""
    found = _SOME.search(question)
    return found is not None and _wanted(found[1].lower()) <= given < size


def _wanted(number: str) -> int:
    return int(number) if number.isdecimal() else _NUMBERS.index(number) if number in _NUMBERS else 1

"""What a sentence states: `the area is $12$ cm.` states `12`."""

import re
from collections import deque
from typing import TYPE_CHECKING

from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._limits import MAX_ANSWER, LimitExceeded, Unreadable, spend
from adjudge.rewards.math._notation import grouped_number
from adjudge.rewards.math._tree import CONSTANTS, Items, Node, Relation, Sym, Text
from adjudge.rewards.math._words import choice_of
from adjudge.text.number_words import NUMBER_WORDS

if TYPE_CHECKING:
    from adjudge.rewards.math._extract import Found

_VERB = (
    r"\b(?:is|are|equals|be|was|were|by|it's|its|to)\s+"
    r"(?:equal to\s+|approximately\s+|about\s+)?|(?<![<>!=])[:=]\s"
)
_FORMULA = r"(?s)\$\$(.{1,1000}?)\$\$|\$([^$\n]{1,1000})\$|\\\((.{1,1000}?)\\\)|\\\[(.{1,1000}?)\\\]"
_MEASURE = r"([-+]?\d[\d,]*(?:\.\d+)?)\s*(?:mm|cm|km|kg|ft|m|g|s|h|l)(?:[²³]|\^[23])?[\s.]*"
_DENIAL = r"(?i)(?:\bnot|\bcannot|n't|\bnever)\s+(?:be\s+|equal\s+(?:to\s+)?)?$"
_OR = r"(?i)\b(?:or|maybe|perhaps|possibly)\b"
_MONEY = r"(\d+[.,]\d{2})\s*[$€£]"
# A root is taken with what is under it, and what is under a root or above a power is not a number by itself.
_NUMBER = r"(?<![\w.√^])[-+−]?(?:(?:\d+(?:\.\d+)?)?√\d+|\d+(?:,\d{3})*(?:\.\d+)?(?:\s?/\s?\d+)?(?:\s?\\?%)?)(?![\w√^])"


def readable(text: str) -> Node | None:
    """Return the tree of a text that is all mathematics, or nothing; `LimitExceeded` where it is too large."""
    from adjudge.rewards.math._parser import parse

    if len(text) > MAX_ANSWER:
        return None
    # Thousands may be marked by points or apostrophes, which the grammar does not have.
    number = grouped_number(text)
    try:
        node = parse(text if number is None else number)
    except Unreadable:
        return None
    except RecursionError:
        raise LimitExceeded("the expression is nested too deeply") from None
    return None if any(isinstance(part, Text) for part in _parts(node)) else node


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Items(items, _):
            return (node, *items)
        case Relation(_, items):
            return (node, *items[-1:])
        case _:
            return (node,)


def from_sentence(text: str, start: int, stop: int, *, whole: bool) -> "Found | None":
    """Return the value that a sentence states: all of it, what follows its verb, its last formula, its last number."""
    from adjudge.rewards.math._extract import Found

    while start < stop and text[start] in ' \t\r\n*_"`:,':
        start += 1
    while stop > start and text[stop - 1] in ' \t\r\n*_"`':
        stop -= 1
    sentence = text[start:stop]
    if not sentence:
        return None
    everything = Found(sentence, start, stop, "statement")
    if len(sentence) > MAX_ANSWER:
        return everything if whole else None
    try:
        if whole and (readable(sentence) is not None or choice_of(sentence) is not None):
            return everything
        return _value_in(sentence, start) or (everything if whole else None)
    except LimitExceeded:
        # A part that is small enough would be an answer that nobody gave.
        return everything


def _value_in(sentence: str, start: int) -> "Found | None":
    """Return what follows a sentence's last verb, or else its last formula or number."""
    from adjudge.rewards.math._extract import Found

    formulas = [found.span() for found in compile_once(_FORMULA).finditer(sentence)]
    # The last verb that is not inside a formula: what follows it is the statement.
    verb = None
    for found in compile_once(_VERB).finditer(sentence):
        spend(1 + len(formulas))
        if not any(low < found.start() < high for low, high in formulas):
            verb = found
    if verb is not None:
        tail = sentence[verb.end() :].strip(' .*"')
        at = start + (sentence.index(tail, verb.end()) if tail else len(sentence))
        measure = compile_once(_MEASURE).fullmatch(tail)
        if measure is not None:
            return Found(measure[1], at, at + len(measure[1]), "statement")
        node = readable(tail) if _mathematical(tail) else None
        if node is not None and not _bare_name(node) and not _is_denied(sentence, at - start):
            return Found(tail, at, at + len(tail), "statement")
    return _last_formula(sentence, start)


def _mathematical(text: str) -> bool:
    """Whether a text has a digit, a formula or a number word, and so may be a value."""
    if any(char.isdigit() or char in "$\\=<>+" for char in text):
        return True
    return any(word.lower().strip(".,-") in NUMBER_WORDS for word in text.replace("-", " ").split()[:8])


def _is_denied(sentence: str, at: int) -> bool:
    """Whether the text says that the answer is not what follows."""
    return compile_once(_DENIAL).search(sentence, max(0, at - 40), at) is not None


def _bare_name(node: Node) -> bool:
    return isinstance(node, Sym) and node.name not in CONSTANTS


def _last_formula(sentence: str, start: int) -> "Found | None":
    """Return the last formula of a sentence, with those it is listed with, or else its last number."""
    from adjudge.rewards.math._extract import Found

    formulas = [
        found
        for found in deque(compile_once(_FORMULA).finditer(sentence), maxlen=16)
        if (node := readable(next(filter(None, found.groups())))) is not None and not _bare_name(node)
    ]
    if formulas:
        first = len(formulas) - 1
        while first and sentence[formulas[first - 1].end() : formulas[first].start()].strip() in {
            ",",
            "and",
            "or",
            ", and",
        }:
            first -= 1
        low, high = formulas[first].start(), formulas[-1].end()
        after = re.match(r"\s?\\?%", sentence[high:])
        high += after.end() if after else 0
        return Found(sentence[low:high], start + low, start + high, "formula")
    for pattern in (_MONEY, _NUMBER):
        numbers = list(compile_once(pattern).finditer(sentence))
        if not numbers:
            continue
        is_money = pattern == _MONEY
        last, group = numbers[-1], int(is_money)
        if _is_denied(sentence, last.start()):
            return None
        low, high = last.start(group), last.end(group)
        for earlier in numbers[-2::-1]:
            between = sentence[earlier.end() : low]
            if between.strip(" \t") and compile_once(_OR).search(between) is None:
                break
            low = earlier.start(group)
        shown = sentence[low:high]
        return Found(shown.replace(",", ".") if is_money else shown, start + low, start + high, "number")
    return None

"""A text as the answers that it may be: one tree, or two where `3,250` is a number or a list."""

import contextlib
from dataclasses import dataclass

from adjudge.rewards.math._lexer import compile_once, repair
from adjudge.rewards.math._limits import LimitExceeded, Unreadable
from adjudge.rewards.math._notation import chinese_number, date_of, rewrite
from adjudge.rewards.math._numerals import literal_of
from adjudge.rewards.math._parser import parse_with_bound
from adjudge.rewards.math._tree import Node, Quantity, Text
from adjudge.rewards.math._words import choice_of
from adjudge.text.numbers import read_numeral
from adjudge.text.units import CURRENCIES


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The trees that a text may stand for, and the variables that its words bind."""

    nodes: tuple[Node, ...]
    bound: frozenset[str]


_GROUPED = r"(?<![\d.])\d{1,3}(?:,[1-9]\d{2})+(?![\d.])"
_MONEY = r"(?<!\d)(\d+),(\d{2})(?=\s*(?:\\?\$|€|£))|((?:\\?\$|€|£)\s?\d+),(\d{2})(?!\d)"
_CURRENCY = r"(?:\\\$|[€£¥])\s?([-+]?\d[\d,]*(?:\.\d+)?)"
_CURRENCY_NAMES = CURRENCIES | {"£": "gbp"}  # a pound may be a weight
_TIME = r"(\d:\d\d)[\s~]*(?:\\text\{\s*|\\ )?\b([apAP])\.?\s?[mM]\b\.?\}?"
_WORDS = r"(?<![\\a-zA-Z])[a-zA-Z]{3,}"
_VERB = r"\b(?:is|are|equals)\s+"


def _clean(text: str) -> str:
    if not text.isprintable():
        text = repair(text)
    text = text.strip().strip("*`").strip()
    if text.endswith("\\") and not text.endswith("\\\\"):
        text = text[:-1]
    if text[-1:] in {".", ",", ";", ":"}:
        text = text.rstrip(".,;: ")
    if "," in text and ("$" in text or "€" in text or "£" in text):
        text = compile_once(_MONEY).sub(lambda found: found.expand(r"\1\3.\2\4"), text)
    if ":" in text:
        text = compile_once(_TIME).sub(
            lambda found: f"{found[1]} {'post' if found[2] in 'pP' else 'ante'}meridian", text
        )
    return rewrite(text)


def _price(text: str) -> Node | None:
    """Return an amount of money that is all of a text, in its currency."""
    if not text.startswith(("\\$", "€", "£", "¥")):
        return None
    found = compile_once(_CURRENCY).fullmatch(text)
    numeral = None if found is None else read_numeral(found[1])
    if numeral is None:
        return None
    return Quantity(literal_of(numeral), _CURRENCY_NAMES[text.lstrip("\\")[0]])


def read(text: str) -> ParsedAnswer:
    """Read an answer; `Unreadable` and `LimitExceeded` say why there is none.

    >>> [type(node).__name__ for node in read("3,250").nodes]
    ['Num', 'Items']
    """
    text = _clean(text)
    if not text:
        raise Unreadable("nothing to read")
    # A plain numeral needs no parser.
    numeral = read_numeral(text) if len(text) < 40 and "," not in text else None
    if numeral is not None:
        return ParsedAnswer((literal_of(numeral),), frozenset())
    for find in (_price, date_of, chinese_number):
        found = find(text)
        if found is not None:
            return ParsedAnswer((found,), frozenset())
    choice = choice_of(text)
    try:
        node, bound = parse_with_bound(text)
    except Unreadable:
        if choice is not None and choice[1]:
            return read(choice[1])
        if len(compile_once(_WORDS).findall(text)) < 2:
            raise
        node, bound = Text(text), frozenset()
    nodes = [node]
    if choice is not None and choice[1]:
        with contextlib.suppress(Unreadable, LimitExceeded):
            nodes += read(choice[1]).nodes
    # `3,250` may be one number or a list of two.
    if "," in text and compile_once(_GROUPED).search(text) is not None:
        with contextlib.suppress(Unreadable, LimitExceeded):
            nodes.append(parse_with_bound(text, grouping=False)[0])
    if isinstance(node, Text):
        stated = _stated_value(node.words)
        if stated is not None:
            nodes.append(stated)
    return ParsedAnswer(tuple(nodes), bound)


def _stated_value(words: str) -> Node | None:
    """Return the value in `the answer is 5`."""
    verbs = list(compile_once(_VERB).finditer(words))
    if not verbs:
        return None
    try:
        node, _ = parse_with_bound(words[verbs[-1].end() :].lstrip("} "))
    except (Unreadable, LimitExceeded):
        return None
    return None if isinstance(node, Text) else node

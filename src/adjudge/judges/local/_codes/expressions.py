r"""Expressions in one writing, without any algebra: `$x\cdot 2$`, `2*x` and `2x` are one, `2(x+1)` and `2x+2` are two.

r"\frac{x^{2}}{2} + C"  ->  "+C+x^2/[2]";   "πr²"  ->  "+pi*r^2";   "2 apples"  ->  None
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from adjudge.text.numbers import VULGAR

_LONGEST = 120  # characters of an expression
_DEEPEST = 8  # brackets of one
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "λ": "lambda", "μ": "mu", "π": "pi",
    "ρ": "rho", "σ": "sigma", "θ": "theta", "φ": "phi", "ω": "omega", "Δ": "Delta", "Θ": "Theta", "Ω": "Omega",
}  # fmt: skip
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_RAISED_RUN = re.compile(f"[{''.join(_RAISED)}]+")
_SIGNS = {one: f" {name} " for one, name in _GREEK.items()} | {one: f"({n}/{d})" for one, (n, d) in VULGAR.items()}
_SIGNS |= {"×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "−": "-", "–": "-", "≤": "<=", "≥": ">=", "≠": "!="}
_SIGNS |= {one: f"_{n}" for n, one in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_SIGNS |= {"√": " sqrt ", "∞": " inf ", "∈": " in ", "$": "", "`": ""}
_WRITTEN = str.maketrans(_SIGNS)
_COMMANDS = {"cdot": "*", "times": "*", "div": "/", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">="}
_COMMANDS |= {"geqslant": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "pm": "±", "infty": " inf "}
_COMMANDS |= dict.fromkeys(("left", "right", "text", "mathrm", "mathbf", "mathcal", "displaystyle", "quad"), " ")
_SCIENTIFIC = re.compile(
    r"(?<=\d)(?:\s*[x*]\s*10\s*(?:\^|\*\*)\s*[{(]?([-+]?\d+)[})]?|e([-+]?\d+)\b)"
)  # `6e23`, `6 x 10^23`
_SHORT_FRACTION = re.compile(r"\\frac\s?(\d)(\d)")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)|([,;:! ()\[\]]))")
_FUNCTIONS = (
    "arcsin", "arccos", "arctan", "sqrt", "sinh", "cosh", "sin", "cos", "tan", "cot", "sec", "log", "ln", "exp",
)  # fmt: skip
_NAMES = (*_FUNCTIONS, "frac", "inf", *_GREEK.values())
_WORDS = frozenset(
    "is it in of or at to so no we be do if as an and the two one six ten not any all can has sq".split()
)
_VOWELS = frozenset("aeiou")
_RUN = re.compile(r"[A-Za-z]+")
_NAME = re.compile("|".join(sorted(_NAMES, key=len, reverse=True)))
_TOKEN = re.compile(
    rf"\s*(?:(\d+(?:\.\d+)?|\.\d+)|({_NAME.pattern}|[A-Za-z])"
    r"|(<=|>=|!=|[-+*/^=<>(){}!_'|]))"
)
_RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!="))
_OPERATORS = frozenset(one for one in _NAMES if one != "log")
_SIGNS_ALONE = frozenset("-+*/^=<>(){}!_'|") | {"<=", ">=", "!="}
_PLACES = 100  # figures of a number
_RAISING = ("^", "!", "'", "_")
_OPEN = {"(": ")", "{": "}", "|": "|"}
_ENDS = _RELATIONS | {"", "+", "-", ")", "}", "|"}
_UNCLEAR = re.compile(r"/\s*\d+[A-Za-z(]|(?<![A-Za-z])e\^-?\d+[A-Za-z]")  # `1/2x`, `e^2x`: who knows where it ends


def plain_signs(text: str) -> str:
    r"""Return an expression with the signs of a keyboard.

    >>> plain_signs(r"$2\cdot x² \leq ½$"), plain_signs(r"\left(a\right)**2")
    ('2* x^(2) <= (1/2)', '(a )^2')
    """
    if not text.isascii():
        text = _RAISED_RUN.sub(lambda run: f"^({''.join(_RAISED[one] for one in run[0])})", text)
    text = normalize("NFKC", text.translate(_WRITTEN))
    if "\\" in text:
        text = _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac"))
        text = _COMMAND.sub(lambda match: _COMMANDS.get(match[1], f" {match[1]} ") if match[1] else "", text)
    if "10" in text or "e" in text:
        text = _SCIENTIFIC.sub(lambda match: f"*10^({match[1] or match[2]})", text)
    return text.replace("**", "^").replace("+/-", "±").replace("+-", "±").strip()


@lru_cache(maxsize=4096)
def sides(text: str) -> tuple[str, ...] | None:
    """Return the sides of a relation and the signs between them, each in one writing; None for anything else.

    >>> sides("3 < 2*x"), sides("2 + y"), sides("E = m c^2"), sides("Rome")
    (('+3', '<', '+2*x'), ('+2+y',), ('+E', '=', '+c^2*m'), None)
    """
    if len(text) > _LONGEST or sum(map(text.count, _OPEN)) > _DEEPEST or _UNCLEAR.search(text):
        return None
    tokens = _tokens(text)
    if not tokens:
        return None
    reader = _Reader(tokens)
    try:
        return reader.relation()
    except ValueError:
        return None


def _tokens(text: str) -> list[str] | None:
    """Cut an expression; None for one with words in it."""
    for run in _RUN.findall(text):
        rest = _NAME.sub("", run)
        is_word = len(rest) == 3 and rest.islower() and not _VOWELS.isdisjoint(rest[1:])
        if is_word or len(rest) > 3 or run.lower() in _WORDS:
            return None
    found: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        if match[1] and found and (found[-1][0].isalpha() or found[-1][0].isdigit()) and found[-1] not in _OPERATORS:
            if found[-1][0].isdigit():
                # For example `2 3`.
                return None
            if match.start(1) == at:
                # For example `mc2`.
                found.append("_" if found[-1] == "log" else "^")
        found.append(match[1] or match[2] or match[3])
        at = match.end()
    return found


class _Term(NamedTuple):
    """A product: its sign, and what stands above and below the line."""

    sign: str
    above: tuple[str, ...]
    below: tuple[str, ...] = ()

    def __str__(self) -> str:
        above, below = (sorted(one for one in part if one != "1") for part in (self.above, self.below))
        if len(below) == 1 and len(above) <= 1 and "".join((*above, *below)).isdecimal() and int(below[0]):
            return self.sign + str(Fraction(int(above[0]) if above else 1, int(below[0])))
        return self.sign + ("*".join(above) or "1") + (f"/[{'*'.join(below)}]" if below else "")


class _Reader:
    """Reads tokens from the left; every method returns what it read in one writing, or raises `ValueError`."""

    __slots__ = ("_at", "_tokens")

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._next
        if not token or wanted not in ("", token):
            message = f"{token!r} at {self._at}"
            raise ValueError(message)
        self._at += 1
        return token

    def relation(self) -> tuple[str, ...]:
        """Read all of it."""
        found = [_written(self._sum())]
        while self._next in _RELATIONS:
            found += [self._take(), _written(self._sum())]
        if self._next:
            message = f"{self._next!r} is left"
            raise ValueError(message)
        return tuple(found)

    def _sum(self) -> list[_Term]:
        terms = [self._term()]
        while self._next in ("+", "-"):
            terms.append(self._term())
        return terms

    def _term(self) -> _Term:
        sign = "+"
        while self._next in ("+", "-"):
            sign = "-" if (self._take() == "-") != (sign == "-") else "+"
        first = self._factor()
        above, below = [*first.above], [*first.below]
        while self._next not in _ENDS:
            is_below = self._next == "/"
            if self._next in ("/", "*"):
                self._take()
            factor = self._factor()
            above += factor.below if is_below else factor.above
            below += factor.above if is_below else factor.below
        return _Term(sign, tuple(above), tuple(below))

    def _factor(self) -> _Term:
        """Read what may be raised to a power; a product in brackets is the product."""
        base = self._atom()
        if self._next not in _RAISING and len(base) == 1 and base[0].sign == "+":
            return base[0]
        text = _bracketed(base)
        while self._next in _RAISING:
            sign = self._take()
            text += sign if sign in "!'" else f"{sign}{self._raised()}"
        return _Term("+", (text,))

    def _raised(self) -> str:
        sign = self._take() if self._next == "-" else ""
        base = self._atom()
        if not sign and len(base) == 1 and base[0].sign == "-":
            return "-" + _bracketed([base[0]._replace(sign="+")])
        return sign + _bracketed(base)

    def _atom(self) -> list[_Term]:
        taken = self._take()
        if taken in _OPEN:
            inner = self._sum()
            self._take(_OPEN[taken])
            return inner if taken != "|" else [_Term("+", (f"|{_written(inner)}|",))]
        if taken == "frac":
            over, under = _lone(self._atom()), _lone(self._atom())
            return [_Term(over.sign, (*over.above, *under.below), (*over.below, *under.above))]
        if taken in _FUNCTIONS:
            return [_Term("+", (self._applied(taken),))]
        if taken[0].isalpha():
            return [_Term("+", (taken,))]
        if taken in _SIGNS_ALONE:
            message = f"{taken!r} at {self._at}"
            raise ValueError(message)
        value = Fraction(taken[:_PLACES])
        return [_Term("+", (str(value.numerator),), (str(value.denominator),))]

    def _applied(self, name: str) -> str:
        """Read what a function is applied to: `sin^2 x` is `(sin x)^2`."""
        raised = base = ""
        while self._next in ("^", "_"):
            if self._take() == "^":
                raised = f"^{self._raised()}"
            else:
                base = f"_{self._raised()}"
        is_open = self._next in _OPEN
        inner = self._atom() if is_open or name == "sqrt" else [self._factor()]
        return f"{name}{base}({_written(inner)}){raised}"


def _written(terms: list[_Term]) -> str:
    return "".join(sorted(map(str, terms)))


def _bracketed(terms: list[_Term]) -> str:
    text = _written(terms)
    return text[1:] if text[0] == "+" and text[1:].isalnum() else f"({text})"


def _lone(terms: list[_Term]) -> _Term:
    return terms[0] if len(terms) == 1 and terms[0].sign == "+" else _Term("+", (_bracketed(terms),))

"""Numbers as they are written and spoken, read from the tokens of a short text, with how precisely each is stated.

"1.5 k", "one and a half thousand", "1,500", "1.5 × 10^3"  are 1500;  "half a million" is 500000;  "a couple" is none
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from adjudge.text.number_words import NUMBER_WORDS, PART_WORDS, read_number_words
from adjudge.text.numbers import VULGAR, fold_symbols, read_numeral

_TOKEN = re.compile(
    r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d{1,3}(?![\da-z]))?|\.\d+|[a-z]+|\S",
)
_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d\d)(?![\d.,])")  # `9,99 €`
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
_LONGEST = 30  # figures of a number that is read
_SCALES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "mn": 10**6, "mio": 10**6, "mln": 10**6, "bn": 10**9, "tn": 10**12,
}  # fmt: skip
_LETTERS = {"k": 10**3, "m": 10**6, "b": 10**9}
_ONE = frozenset(("a", "an", "one"))


class Amount(NamedTuple):
    """How much, what the last stated figure counts, and how many figures are stated; `rounds` in powers of ten."""

    value: Fraction
    step: Fraction
    figures: int
    rounds: bool = False

    def times(self, factor: Fraction) -> Amount:
        """Return the amount of something so many times as large."""
        return self._replace(value=self.value * factor, step=self.step * abs(factor))


def tokens_of(text: str) -> list[str]:
    """Return figures, words and signs of a text, in small letters.

    >>> tokens_of("5′11″, or −1.5k"), tokens_of("twenty-five")
    (['5', "'", '11', '"', ',', 'or', '-', '1.5', 'k'], ['twenty', 'five'])
    """
    text = fold_symbols(text).lower()
    if "€" in text:
        text = _COMMA.sub(r"\1.\2", text)
    return _TOKEN.findall(_HYPHEN.sub(" ", text.replace("′", "'").replace("″", '"').replace("''", '"')))


def read_amount(tokens: Sequence[str], at: int, *, in_letters: bool = False) -> tuple[Amount, int] | None:
    """Read the number at a place: it, and where it ends; `in_letters` where `k`, `m` and `b` are thousands and more.

    >>> found, end = read_amount(tokens_of("minus 2.50 million euros"), 0)
    >>> int(found.value), int(found.step), found.figures, end
    (-2500000, 10000, 3, 3)
    """
    size = len(tokens)
    below = at < size and tokens[at] in ("-", "minus", "negative")
    at += below
    if at >= size:
        return None
    found = _figures(tokens, at) if not tokens[at].isalpha() else _spoken(tokens, at)
    if found is None:
        return None
    amount, at = found
    if tokens[at : at + 3] == ["and", "a", "half"]:
        amount, at = _exact(amount.value + Fraction(1, 2)), at + 3
    while at < size and (tokens[at] in _SCALES or (in_letters and tokens[at] in _LETTERS)):
        word = tokens[at]
        amount, at = amount.times(Fraction(_SCALES[word] if word in _SCALES else _LETTERS[word])), at + 1
    return amount.times(Fraction(-1)) if below else amount, at


def _figures(tokens: Sequence[str], at: int) -> tuple[Amount, int] | None:
    """Read a number in figures: a decimal, perhaps times a power of ten, a fraction, a mixed one."""
    word = tokens[at]
    if word in VULGAR:
        return _exact(Fraction(*VULGAR[word])), at + 1
    numeral = read_numeral(word) if len(word) <= _LONGEST else None
    if numeral is None:
        return None
    return _more_figures(_stated(word)._replace(value=numeral.value), word, tokens, at + 1)


def _more_figures(found: Amount, word: str, tokens: Sequence[str], at: int) -> tuple[Amount, int] | None:
    """Read on after a figure."""
    after = tokens[at] if at < len(tokens) else ""
    if after in VULGAR:
        return _exact(found.value + Fraction(*VULGAR[after])), at + 1
    if after == "/":
        return _parts(Fraction(0), word, tokens, at)
    if tokens[at + 1 : at + 2] == ["/"] and word.isdecimal() and after.isdecimal():
        return _parts(found.value, after, tokens, at + 1)
    if after in ("*", "x") and tokens[at + 1 : at + 3] == ["10", "^"]:
        return _power(found, tokens, at + 3)
    return found, at


def _parts(whole: Fraction, above: str, tokens: Sequence[str], at: int) -> tuple[Amount, int] | None:
    below = tokens[at + 1] if at + 1 < len(tokens) else ""
    if not all(one.isdecimal() and one.isascii() and len(one) <= _LONGEST for one in (above, below)) or not int(below):
        return None
    return _exact(whole + Fraction(int(above), int(below))), at + 2


def _power(found: Amount, tokens: Sequence[str], at: int) -> tuple[Amount, int] | None:
    below = tokens[at : at + 1] == ["-"]
    at += below
    if at >= len(tokens) or not tokens[at].isdecimal() or len(tokens[at]) > 3:
        return None
    exponent = int(tokens[at])
    return found.times(Fraction(10) ** (-exponent if below else exponent))._replace(rounds=True), at + 1


def _stated(word: str) -> Amount:
    """Return how precisely a number is stated; noughts at the end of a whole one only fill it up."""
    mantissa, _, exponent = word.replace(",", "").partition("e")
    whole, _, decimals = mantissa.partition(".")
    figures = (whole + decimals).lstrip("0")
    noughts = 0 if decimals else len(figures) - len(figures.rstrip("0"))
    last = int(exponent or 0) - len(decimals) + noughts
    return Amount(Fraction(0), Fraction(10) ** last, max(1, len(figures) - noughts), rounds=bool(exponent))


def _exact(value: Fraction) -> Amount:
    """Return an amount in words or as a fraction; a whole one is stated as in figures."""
    if value.denominator > 1:
        return Amount(value, Fraction(0), _LONGEST)
    return _stated(str(abs(value.numerator)))._replace(value=value)


def _spoken(tokens: Sequence[str], at: int) -> tuple[Amount, int] | None:
    """Read a number in words: `two hundred and five`, `a dozen`, `half a million`, `three quarters`."""
    word = tokens[at]
    if word == "half":
        end = at + 1 + (tokens[at + 1 : at + 2] in (["a"], ["an"]))
        return _exact(Fraction(1, 2)), end
    if word in _ONE and tokens[at + 1 : at + 2] == ["half"]:
        return _exact(Fraction(1, 2)), at + 2
    if word in ("a", "an"):
        return _exact(Fraction(1)), at + 1
    end = at
    while end < len(tokens) and (tokens[end] in NUMBER_WORDS or tokens[end] == "and"):
        end += 1
    while end > at:
        value = read_number_words(" ".join(tokens[at:end]))
        if value is not None:
            break
        end -= 1
    else:
        return None
    if tokens[end : end + 1] and tokens[end] in PART_WORDS and 0 < value < PART_WORDS[tokens[end]]:
        return _exact(Fraction(value, PART_WORDS[tokens[end]])), end + 1
    return _exact(Fraction(value)), end

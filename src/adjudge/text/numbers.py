"""What a numeral looks like in text: `-5`, `7,425,000`, `1 000`, `.4`, `1.5e3`, `½`.

>>> read_numeral("7,425,000")
Numeral(value=Fraction(7425000, 1), places=None, digits=7)
>>> read_numeral("0.0830")
Numeral(value=Fraction(83, 1000), places=4, digits=3)
>>> read_numeral("1,22") is None
True
"""

import re
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["MAX_DIGITS", "VULGAR", "Numeral", "fold_symbols", "read_numeral"]

MAX_DIGITS = 4000
"""Numerals longer than this are not converted: the conversion takes quadratic time."""

VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
    "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+")
_PLAIN = re.compile(r"([+-]?)(?:(\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d+)(\.\d*)?|(\.\d+))(?:[eE]([+-]?\d{1,4}))?")

_FOLD = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "＋": "+", "×": "*", "·": "*", "⋅": "*",
    "∙": "*", "÷": "/", "∕": "/", "⁄": "/", "／": "/", "＝": "=", "＜": "<", "＞": ">", "（": "(", "）": ")",
    "，": ",", "；": ";", "：": ":", "．": ".", "％": "%", "［": "[", "］": "]", "｛": "{", "｝": "}",
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u3000": " ", "\u200b": "", "\ufeff": "", "\u2061": "",
    "\u2062": "*", "“": '"', "”": '"', "‘": "'", "’": "'", "、": ",", "。": ".",
}  # fmt: skip
for _digit in range(10):
    _FOLD[chr(0xFF10 + _digit)] = str(_digit)
_TABLE = str.maketrans(_FOLD)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as it was written: its exact value, its decimal places and its significant digits."""

    value: Fraction
    places: int | None
    digits: int


def fold_symbols(text: str) -> str:
    """Write typographic minus signs, digits, spaces and brackets as their plain ASCII forms.

    >>> fold_symbols("−５ × ２")
    '-5 * 2'
    """
    return text if text.isascii() else text.translate(_TABLE)


def read_numeral(text: str) -> Numeral | None:
    """Read one plain numeral, or nothing where the text is anything else.

    >>> read_numeral("1.5e3").value
    Fraction(1500, 1)
    """
    if len(text) > MAX_DIGITS:
        return None
    found = _PLAIN.fullmatch(text.strip())
    if found is None:
        return None
    sign, whole, fraction, bare, exponent = found.groups()
    if whole is not None and ("," in whole or " " in whole):
        whole = whole.replace(",", "").replace(" ", "")
    point = bare or fraction or ""
    decimals = point[1:]
    literal = (whole or "") + decimals
    scale = (int(exponent) if exponent else 0) - len(decimals)
    number = int(literal or "0")
    value = Fraction(number * 10**scale) if scale >= 0 else Fraction(number, 10**-scale)
    if sign == "-":
        value = -value
    places = None if not point and exponent is None else max(-scale, 0)
    return Numeral(value, places, len(literal.lstrip("0")) or 1)

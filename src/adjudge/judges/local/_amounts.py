"""Numbers as they are written and spoken, with how precisely each is stated, and units beside them.

"1.5 k", "one and a half thousand", "1,500", "1.5 × 10^3"  are 1500;  "half a million" is 500000;  "a couple" is none
"km / h", "square feet", "° c", "us $", "gbp"              are units
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from adjudge.text.number_words import NUMBER_WORDS, PART_WORDS, read_number_words
from adjudge.text.numbers import VULGAR, fold_symbols, read_numeral
from adjudge.text.units import CURRENCIES, read_unit

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
        part = PART_WORDS.get(tokens[at + 1], 1) if at + 1 < len(tokens) else 1
        return _exact(Fraction(1, part)), at + 1 + (part > 1)
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


class Unit(NamedTuple):
    """What is measured, how many base units one is, and where its zero lies, in its own degrees."""

    dimension: str
    factor: Fraction
    zero: Fraction = Fraction(0)


_POUND = Fraction(45359237, 10**8)
_BYTES = ("byte", "kilobyte kb", "megabyte mb", "gigabyte gb", "terabyte tb", "petabyte pb")
_SIZES = {form: n for n, names in enumerate(_BYTES) for name in names.split() for form in (name, f"{name}s")}
_TABLE = {
    "celsius": Unit("temperature", Fraction(1), Fraction(27315, 100)),
    "fahrenheit": Unit("temperature", Fraction(5, 9), Fraction(45967, 100)),
    "kelvin": Unit("temperature", Fraction(1)),
    "lb": Unit("mass", _POUND), "oz": Unit("mass", _POUND / 16), "ounce": Unit("mass", _POUND / 16),
    "pound": Unit("mass", _POUND), "stone": Unit("mass", 14 * _POUND),
    "fortnight": Unit("time", Fraction(14 * 86400)),
    "decade": Unit("months", Fraction(120)), "century": Unit("months", Fraction(1200)),
    "millennium": Unit("months", Fraction(12000)),
    "hectare": Unit("length^2", Fraction(10**4)), "ha": Unit("length^2", Fraction(10**4)),
    "knot": Unit("length/time", Fraction(1852, 3600)),
    "'": Unit("length", Fraction(381, 1250)), '"': Unit("length", Fraction(127, 5000)),
    "hz": Unit("frequency", Fraction(1)), "hertz": Unit("frequency", Fraction(1)),
    "khz": Unit("frequency", Fraction(10**3)), "kilohertz": Unit("frequency", Fraction(10**3)),
    "mhz": Unit("frequency", Fraction(10**6)), "megahertz": Unit("frequency", Fraction(10**6)),
    "ghz": Unit("frequency", Fraction(10**9)), "gigahertz": Unit("frequency", Fraction(10**9)),
    "w": Unit("power", Fraction(1)), "kw": Unit("power", Fraction(1000)), "kilowatt": Unit("power", Fraction(1000)),
    "mw": Unit("power", Fraction(10**6)), "megawatt": Unit("power", Fraction(10**6)),
}  # fmt: skip
_NAMES = {
    "c": "celsius", "centigrade": "celsius", "f": "fahrenheit", "k": "kelvin", "kelvins": "kelvin", "kilo": "kg",
    "kilos": "kg", "gramme": "gram", "grammes": "gram", "yr": "year", "yrs": "year",
    "millimetre": "mm", "millimetres": "mm", "millilitre": "ml", "millilitres": "ml", "centuries": "century",
    "millennia": "millennium", "%": "percent", "t": "ton", "millisecond": "ms", "milliseconds": "ms", "kmh": "kph",
}  # fmt: skip
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3, "²": 2, "³": 3}
_DEGREES = frozenset(("°", "degree", "degrees", "deg"))
_MONEY = {sign: (f"money {name}", 1) for sign, name in CURRENCIES.items()} | {
    name: (f"money {kind}", parts)
    for kind, parts, names in (
        ("dollar", 1, "dollar dollars usd bucks"), ("dollar", 100, "cent cents ¢"), ("euro", 1, "euro euros eur"),
        ("pound", 1, "gbp sterling quid"), ("pound", 100, "pence"), ("yen", 1, "yen jpy"),
        ("rupee", 1, "rupee rupees inr rs"), ("yuan", 1, "yuan rmb cny renminbi"), ("franc", 1, "franc francs chf"),
        ("australian", 1, "aud"), ("canadian", 1, "cad"), ("won", 1, "won krw"),
        ("rouble", 1, "rouble roubles ruble rubles rub"),
    )
    for name in names.split()
}  # fmt: skip
_BEFORE = frozenset(CURRENCIES) | {"usd", "eur", "gbp", "jpy", "inr", "rs", "cad", "aud", "chf", "cny", "rmb"}
_WRITTEN = frozenset(("s", "m", "km", "cm", "mm", "ft", "mi"))  # units with a power stuck on: `m2`


def read_currency(tokens: Sequence[str], at: int) -> tuple[Unit, int] | None:
    """Read a currency that stands before its sum: `$`, `US$`, `EUR`."""
    if tokens[at : at + 2] == ["us", "$"]:
        at += 1
    word = tokens[at] if at < len(tokens) else ""
    if word not in _BEFORE:
        return None
    dimension, parts = _MONEY[word]
    return Unit(dimension, Fraction(1, parts)), at + 1


def read_unit_at(tokens: Sequence[str], at: int, *, other: bool = False, of: str = "") -> tuple[Unit, int] | None:
    """Read the unit at a place; `other` by its second meaning, `of` the kind that is meant.

    >>> read_unit_at(["km", "/", "h"], 0)[0].dimension, read_unit_at(["square", "feet"], 0)[1]
    ('length', 2)
    """
    if tokens[at : at + 1] == ["us"] and tokens[at + 1 : at + 2] and tokens[at + 1] in _MONEY:
        at += 1
    word, after = (tokens[one] if one < len(tokens) else "" for one in (at, at + 1))
    if word in _DEGREES:
        named = _NAMES.get(after, after)
        is_named = named in ("celsius", "fahrenheit", "kelvin")
        return (_TABLE[named], at + 2) if is_named else (Unit("angle", Fraction(1)), at + 1)
    if word in _POWERS and word.isalpha():
        found = _single(after, other=other, of=of)
        return None if found is None else (_raised(found, _POWERS[word]), at + 2)
    found = _single(word, other=other, of=of)
    if found is None:
        return None
    if word in ("pound", "pounds") and after == "sterling":
        return Unit("money pound", Fraction(1)), at + 2
    return _powered(found, word, tokens, at + 1)


def _powered(unit: Unit, word: str, tokens: Sequence[str], at: int) -> tuple[Unit, int]:
    """Read the power after a unit: `m²`, `m^2`, `m2`, `metres squared`."""
    after = tokens[at] if at < len(tokens) else ""
    if after in _POWERS:
        return _raised(unit, _POWERS[after]), at + 1
    if after == "^" and tokens[at + 1 : at + 2] in (["2"], ["3"]):
        return _raised(unit, int(tokens[at + 1])), at + 2
    if after in ("2", "3") and word in _WRITTEN:
        return _raised(unit, int(after)), at + 1
    return unit, at


def _raised(unit: Unit, power: int) -> Unit:
    return Unit(f"{unit.dimension}^{power}", unit.factor**power)


def _single(word: str, *, other: bool, of: str) -> Unit | None:
    if word == "m" and of == "time":
        word = "min"
    if other and word in ("pound", "pounds"):
        return Unit("money pound", Fraction(1))
    if word in _MONEY:
        dimension, parts = _MONEY[word]
        return Unit("money euro" if other and word in ("cent", "cents") else dimension, Fraction(1, parts))
    word = _NAMES.get(word, word)
    if word == "percent":
        # A half is `50 %`.
        return Unit("", Fraction(1, 100)) if other else Unit("percent", Fraction(1))
    if word in _SIZES:
        return Unit("data", Fraction((1024 if other else 1000) ** _SIZES[word]))
    return _TABLE.get(word) or _TABLE.get(word.removesuffix("s")) or _of_text(word)


def _of_text(word: str) -> Unit | None:
    """Return a unit that `adjudge.text` knows."""
    unit = read_unit(word) if word.isalpha() else None
    if unit is None:
        return None
    is_litre = unit.dimension == "volume"
    return Unit("length^3", unit.factor / 1000) if is_litre else Unit(unit.dimension, unit.factor)

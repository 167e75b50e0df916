"""Units and currencies among the tokens of a text: `km / h`, `square feet`, `° c`, `us $`, `gbp`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from adjudge.text.units import CURRENCIES, read_unit


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

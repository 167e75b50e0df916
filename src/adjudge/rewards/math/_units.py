"""Words after two numbers: whether they name the same unit, units of one kind, or different things."""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from adjudge.rewards.math._lexer import compile_once
from adjudge.rewards.math._tree import Items, Node, Num, Relation, Sym, Text, walk
from adjudge.text.units import read_unit

Dimension = frozenset[tuple[str, int]]
"""What a unit measures: base units with their powers."""

_LENGTH, _MASS, _TIME = {"length": 1}, {"mass": 1}, {"time": 1}
_FORCE = {"mass": 1, "length": 1, "time": -2}
_ENERGY = _FORCE | {"length": 2}
_POWER = _ENERGY | {"time": -3}
_PRESSURE = _FORCE | {"length": -1}
_VOLTAGE = _POWER | {"current": -1}
_CHARGE = {"current": 1, "time": 1}
_VOLUME = {"length": 3}
# Symbols with their case, since `mW` is not `MW`; a prefix may stand before each of them.
_SYMBOLS: dict[str, tuple[dict[str, int], Fraction]] = {
    "m": (_LENGTH, Fraction(1)), "g": (_MASS, Fraction(1, 1000)), "s": (_TIME, Fraction(1)),
    "A": ({"current": 1}, Fraction(1)), "K": ({"kelvin": 1}, Fraction(1)), "mol": ({"amount": 1}, Fraction(1)),
    "N": (_FORCE, Fraction(1)), "J": (_ENERGY, Fraction(1)), "W": (_POWER, Fraction(1)),
    "Pa": (_PRESSURE, Fraction(1)), "V": (_VOLTAGE, Fraction(1)), "Hz": ({"time": -1}, Fraction(1)),
    "C": (_CHARGE, Fraction(1)), "Ω": (_VOLTAGE | {"current": -2}, Fraction(1)),
    "F": (_CHARGE | {"mass": -1, "length": -2, "time": 4, "current": 2}, Fraction(1)),
    "T": ({"mass": 1, "time": -2, "current": -1}, Fraction(1)), "lm": ({"light": 1}, Fraction(1)),
    "L": (_VOLUME, Fraction(1, 1000)), "l": (_VOLUME, Fraction(1, 1000)), "Wh": (_ENERGY, Fraction(3600)),
    "eV": (_ENERGY, Fraction(1602176634, 10**28)), "cal": (_ENERGY, Fraction(4184, 1000)),
    "bit": ({"bit": 1}, Fraction(1)), "b": ({"bit": 1}, Fraction(1)), "B": ({"bit": 1}, Fraction(8)),
    "bar": (_PRESSURE, Fraction(10**5)), "rad": ({"radian": 1}, Fraction(1)), "M": ({"amount": 1, "length": -3},
    Fraction(1000)),
}  # fmt: skip
_PREFIXES = {"n": -9, "µ": -6, "μ": -6, "u": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
# Units that take no prefix, and names that stand for a symbol.
_OTHERS: dict[str, tuple[dict[str, int], Fraction]] = {
    "lb": (_MASS, Fraction(45359237, 10**8)), "oz": (_MASS, Fraction(45359237, 16 * 10**8)),
    "gallon": (_VOLUME, Fraction(3785411784, 10**12)), "quart": (_VOLUME, Fraction(3785411784, 4 * 10**12)),
    "pint": (_VOLUME, Fraction(3785411784, 8 * 10**12)), "atm": (_PRESSURE, Fraction(101325)),
    "rpm": ({"turn": 1, "time": -1}, Fraction(1, 60)), "decade": ({"months": 1}, Fraction(120)),
    "century": ({"months": 1}, Fraction(1200)), "bps": ({"bit": 1, "time": -1}, Fraction(1)),
    "dB": ({"decibel": 1}, Fraction(1)), "gbp": ({"pound": 1}, Fraction(1)), "pence": ({"pound": 1}, Fraction(1, 100)),
}  # fmt: skip
_NAMES = {
    "newton": "N", "joule": "J", "watt": "W", "pascal": "Pa", "volt": "V", "hertz": "Hz", "coulomb": "C", "ohm": "Ω",
    "omega": "Ω", "farad": "F", "tesla": "T", "ampere": "A", "amp": "A", "kelvin": "K", "mole": "mol", "calorie": "cal",
    "byte": "B", "atmosphere": "atm", "molar": "M", "electronvolt": "eV", "pound": "lb", "ounce": "oz",
    "usd": "dollar", "buck": "dollar", "eur": "euro", "rmb": "yuan", "jpy": "yen", "inr": "rupee",
    "litre": "L", "liter": "L", "radian": "rad", "kmh": "kph", "yr": "year", "wk": "week", "celsius": "C",
    "centigrade": "C", "fahrenheit": "F", "gal": "gallon",
}  # fmt: skip
_PREFIX_NAMES = {"nano": "n", "micro": "µ", "milli": "m", "centi": "c", "kilo": "k", "mega": "M", "giga": "G"}
_IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman"}
_FILLERS = frozenset(
    "a an the of in total different possible distinct altogether such more all exactly only there".split()
)
_TEMPERATURES = frozenset({"c", "f", "k", "celsius", "centigrade", "fahrenheit", "kelvin"})
_POWER_WORDS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cubed": 3}
_WORDS = r"/|[^\s/·*,.]+(?:\.(?=\d))?"


class _Measure(NamedTuple):
    """A unit with what it measures, and the other words beside it."""

    dimension: Dimension | None
    factor: Fraction
    rest: frozenset[str]
    words: frozenset[str]


def is_measurable(node: Node) -> bool:
    """Whether a value can have a unit: it has a number in it, or is a relation or a collection."""
    if isinstance(node, Relation):
        return is_measurable(node.items[-1])
    return not isinstance(node, Text | Items) and any(
        isinstance(part, Num) or (isinstance(part, Sym) and part.name == "pi") for part in walk(node)
    )


def conversion(one: str, other: str) -> Fraction | None:
    """Return how many of the first unit one of the second is; None where the words contradict each other.

    >>> conversion("kN", "N"), conversion("J", "W"), conversion("apples", "apple"), conversion("boys", "girls")
    (Fraction(1, 1000), None, Fraction(1, 1), None)
    """
    left, right = _measure(one), _measure(other)
    if not left.words or not right.words:
        return Fraction(1)
    if left.dimension is not None and right.dimension is not None:
        if not _within(left.rest, right.rest):
            return None
        if left.dimension == right.dimension:
            return right.factor / left.factor
        return Fraction(1) if _is_vague(left.dimension, right.dimension) or _are_pounds(left, right) else None
    return Fraction(1) if _within(left.words, right.words) else None


def names_unit(text: str) -> bool:
    """Whether any of the words after a number says what is counted or measured."""
    return bool(_measure(text).words)


def _within(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _is_vague(one: Dimension, other: Dimension) -> bool:
    """Square units are any area; `60 miles` is short for `60 mph` where only the number was asked for."""
    if any(base == "unit" for base, _ in one | other):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return shorter < longer and longer - shorter == {("time", -1)} and all(power > 0 for _, power in shorter)


def _are_pounds(one: _Measure, other: _Measure) -> bool:
    """Whether one is the word for a weight that is a currency as well, and the other that currency."""
    return "pound" in one.words | other.words and ("pound", 1) in (one.dimension or frozenset()) | (
        other.dimension or frozenset()
    )


@lru_cache(maxsize=1024)
def _measure(text: str) -> _Measure:
    """Read the words after a number: a unit first, as far as there is one, and whatever follows it."""
    words = [word for word in compile_once(_WORDS).findall(text) if len(word) < 60][:40]
    # `5 in all` has no inches, and `5 degrees C` no degrees of an angle.
    if len(words) > 1 and words[0] == "in" and words[1] != "/":
        words = words[1:]
    if len(words) > 1 and words[0].lower() in {"degree", "degrees"} and words[1].lower() in _TEMPERATURES:
        words = words[1:]
    words = [word for word in words if word.lower() not in _FILLERS or word in {"A", "in"}]
    kept = frozenset(_singular(word) for word in words)
    powers: dict[str, int] = {}
    factor, taken, sign, power = Fraction(1), 0, 1, 1
    for at, word in enumerate(words):
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        if word == "/" and taken:
            sign = -1
            continue
        if word.lower() in _POWER_WORDS and following:
            power = _POWER_WORDS[word.lower()]
            continue
        found = _unit(word)
        if found is None:
            break
        bases, size, own = found
        exponent = sign * power * own * (_POWER_WORDS.get(following, 1) if following in {"squared", "cubed"} else 1)
        for base, count in bases.items():
            powers[base] = powers.get(base, 0) + count * exponent
        factor *= size**exponent
        sign, power, taken = 1, 1, at + 1 + (following in {"squared", "cubed"})
        if following in {"squared", "cubed"} and taken < len(words) and words[taken] != "/":
            break
    rest = frozenset(_singular(word) for word in words[taken:])
    dimension = frozenset((base, count) for base, count in powers.items() if count) if taken else None
    return _Measure(dimension, factor, rest, kept)


def _singular(word: str) -> str:
    """Return a word as it is compared: short ones may be symbols and keep their case."""
    if len(word) <= 2:
        return word
    name = _IRREGULAR.get(word.lower(), word.lower())
    if name.endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    if name.endswith(("shes", "ches", "xes", "sses")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _unit(word: str) -> tuple[dict[str, int], Fraction, int] | None:
    """Return the base units, the size and the power of one word."""
    name, _, exponent = word.replace("²", "^2").replace("³", "^3").partition("^")
    exponent = exponent.strip("{}")
    power = int(exponent) if exponent.lstrip("-").isdigit() and len(exponent) < 3 else 1
    plain = _singular(name)
    found = _symbol(name) or _symbol(_NAMES.get(plain, plain)) or _prefixed_name(plain)
    if found is None:
        known = read_unit(_NAMES.get(plain, name))
        if known is None:
            return None
        # `mph` is a quotient already.
        above, _, below = known.dimension.partition("/")
        found = {above: 1} | ({below: -1} if below else {}), known.factor
    return *found, power


def _symbol(name: str) -> tuple[dict[str, int], Fraction] | None:
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if _singular(name) in _OTHERS:
        return _OTHERS[_singular(name)]
    if name[:1] in _PREFIXES and name[1:] in _SYMBOLS:
        bases, size = _SYMBOLS[name[1:]]
        return bases, size * Fraction(10) ** _PREFIXES[name[0]]
    return None


def _prefixed_name(name: str) -> tuple[dict[str, int], Fraction] | None:
    for prefix, letter in _PREFIX_NAMES.items():
        if name.startswith(prefix):
            symbol = _NAMES.get(name[len(prefix) :], name[len(prefix) :])
            found = _symbol(symbol)
            if found is None:
                known = read_unit(symbol)
                found = None if known is None else ({known.dimension: 1}, known.factor)
            return None if found is None else (found[0], found[1] * Fraction(10) ** _PREFIXES[letter])
    return None

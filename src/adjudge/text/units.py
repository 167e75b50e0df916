"""What units look like, and which of them measure the same thing.

A unit is a dimension and a factor, so that `100 cm` and `1 m` are the same length while `5 m` and `5 kg` are not
comparable. A word that is not a known unit (`apples`) has none and says nothing against equality.

>>> read_unit("cm"), read_unit("m^2")
(UnitOfMeasure(dimension='length', factor=Fraction(1, 100)), UnitOfMeasure(dimension='length^2', factor=Fraction(1, 1)))
>>> read_unit("apples") is None
True
"""

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["CURRENCIES", "UNIT_WORDS", "UnitOfMeasure", "read_unit"]


@dataclass(frozen=True, slots=True)
class UnitOfMeasure:
    """What a unit measures, and how many base units one of it is."""

    dimension: str
    factor: Fraction


CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}

_LENGTH = "length"
_TABLE: dict[str, tuple[str, int, int]] = {
    "mm": (_LENGTH, 1, 1000), "cm": (_LENGTH, 1, 100), "dm": (_LENGTH, 1, 10), "m": (_LENGTH, 1, 1),
    "km": (_LENGTH, 1000, 1), "in": (_LENGTH, 127, 5000), "inch": (_LENGTH, 127, 5000), "ft": (_LENGTH, 381, 1250),
    "foot": (_LENGTH, 381, 1250), "yd": (_LENGTH, 1143, 1250), "yard": (_LENGTH, 1143, 1250),
    "mi": (_LENGTH, 201168, 125), "mile": (_LENGTH, 201168, 125), "millimeter": (_LENGTH, 1, 1000),
    "centimeter": (_LENGTH, 1, 100), "decimeter": (_LENGTH, 1, 10), "meter": (_LENGTH, 1, 1),
    "kilometer": (_LENGTH, 1000, 1),
    "mg": ("mass", 1, 10**6), "g": ("mass", 1, 1000), "kg": ("mass", 1, 1), "gram": ("mass", 1, 1000),
    "kilogram": ("mass", 1, 1), "ton": ("mass", 1000, 1), "tonne": ("mass", 1000, 1),
    "milligram": ("mass", 1, 10**6), "ounce": ("avoirdupois", 1, 16), "oz": ("avoirdupois", 1, 16),
    "lb": ("avoirdupois", 1, 1),
    "ms": ("time", 1, 1000), "s": ("time", 1, 1), "sec": ("time", 1, 1), "second": ("time", 1, 1),
    "min": ("time", 60, 1), "minute": ("time", 60, 1), "h": ("time", 3600, 1), "hr": ("time", 3600, 1),
    "hour": ("time", 3600, 1), "day": ("time", 86400, 1), "week": ("time", 604800, 1),
    "month": ("months", 1, 1), "year": ("months", 12, 1),
    "ml": ("volume", 1, 1000), "l": ("volume", 1, 1), "liter": ("volume", 1, 1), "milliliter": ("volume", 1, 1000),
    "cent": ("money", 1, 100), "dollar": ("money", 1, 1), "euro": ("euro", 1, 1), "yuan": ("yuan", 1, 1),
    "degree": ("angle", 1, 1), "radian": ("radian", 1, 1), "rad": ("radian", 1, 1),
    "percent": ("percent", 1, 1), "pct": ("percent", 1, 1),
    "newton": ("force", 1, 1), "joule": ("energy", 1, 1), "watt": ("power", 1, 1), "volt": ("voltage", 1, 1),
    "mph": ("length/time", 1397, 3125), "kph": ("length/time", 5, 18), "yen": ("yen", 1, 1), "rupee": ("rupee", 1, 1),
    "antemeridian": ("before noon", 1, 1), "postmeridian": ("after noon", 1, 1), "unit": ("unit", 1, 1),
}  # fmt: skip
_PLURAL_EXCEPTIONS = {"feet": "foot", "inches": "inch", "metres": "meter", "metre": "meter", "litre": "liter",
                      "litres": "liter", "lbs": "lb", "hrs": "hr", "mins": "min", "secs": "sec",
                      "kilometre": "kilometer", "kilometres": "kilometer", "centimetre": "centimeter",
                      "centimetres": "centimeter", "percentage": "percent"}  # fmt: skip
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cubed": 3}

UNIT_WORDS = frozenset(_TABLE) | frozenset(_PLURAL_EXCEPTIONS) | frozenset(f"{w}s" for w in _TABLE if len(w) > 2)


def _single(word: str) -> tuple[str, Fraction] | None:
    name = word.lower().strip(".")
    name = _PLURAL_EXCEPTIONS.get(name, name)
    if name not in _TABLE and name.endswith("s"):
        name = name[:-1]
    found = _TABLE.get(name)
    return None if found is None else (found[0], Fraction(found[1], found[2]))


def read_unit(text: str) -> UnitOfMeasure | None:
    """Read a unit such as `cm`, `square meters`, `m^2`, `m²`, `km/h`.

    >>> read_unit("square feet").dimension, read_unit("km/h")
    ('length^2', UnitOfMeasure(dimension='length/time', factor=Fraction(5, 18)))
    """
    above, slash, below = text.partition("/")
    if slash:
        one, other = read_unit(above), read_unit(below)
        if one is None or other is None:
            return None
        return UnitOfMeasure(f"{one.dimension}/{other.dimension}", one.factor / other.factor)
    words = text.replace("²", "^2").replace("³", "^3").split()
    power = 1
    names: list[str] = []
    for word in words:
        if word.lower() in _POWERS:
            power = _POWERS[word.lower()]
            continue
        name, caret, exponent = word.partition("^")
        if caret and exponent.strip("{}").isdigit() and len(exponent) < 5:
            power = int(exponent.strip("{}"))
        names.append(name)
    if len(names) != 1:
        return None
    found = _single(names[0])
    if found is None or not 1 <= power <= 9:
        return None
    dimension, factor = found
    return UnitOfMeasure(dimension if power == 1 else f"{dimension}^{power}", factor**power)

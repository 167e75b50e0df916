"""The words from which the catalogue is made: 12 categories, 3 kinds of thing in each. Written for adjudge; CC0."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["AXES", "BRANDS", "Kind", "kinds"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing: what it is called, where it stands, what it can be like and cost.

    `name` and `materials` are nouns; `extras` are things that come with it, nouns at their end.
    """

    category: str
    aisle: str
    name: str
    materials: tuple[str, ...]
    extras: tuple[str, ...]
    attributes: tuple[str, ...]
    axes: tuple[str, ...]
    prices: tuple[float, float]


BRANDS = tuple(
    """Oakmere Brindlow Tavisk Quellan Norrvik Pelaria Sundrop Kestova Harlowen Miravel Duskwell Fennimore Galdera
    Ostrava Lumenka Wrenfield Zelbury Carrowby Ivendale Thornesse Juniper Vallory Rookwell Pasmora""".split()  # noqa: SIM905 (as words)
)

AXES = {
    "color": ("black", "white", "navy", "red", "forest green", "grey", "rose gold", "gold", "teal", "mustard", "lilac"),
    "finish": ("matte", "gloss", "brushed", "hammered", "speckled"),
    "size": ("x-small", "small", "medium", "large", "x-large", "xx-large"),
    "bed size": ("twin", "full", "queen", "king"),
    "shoe size": ("6", "7", "8", "9", "10", "11", "12"),
    "volume": ("8 ounce", "12 ounce", "16 ounce", "24 ounce", "32 ounce"),
    "count": ("single", "pack of 2", "pack of 4", "pack of 6", "pack of 12"),
    "length": ("3 feet", "6 feet", "10 feet", "15 feet"),
    "connection": ("wired", "wireless"),
    "scent": ("unscented", "cedar", "citrus", "vanilla", "sea salt", "eucalyptus"),
    "flavor": ("original", "honey", "dark cocoa", "sour cherry", "toasted coconut", "chili"),
    "capacity": ("2 person", "3 person", "4 person", "6 person"),
    "weight": ("2 pound", "5 pound", "8 pound", "12 pound"),
    "fit": ("slim", "regular", "relaxed"),
    "grade": ("beginner", "student", "concert"),
    "ruling": ("blank", "six stave", "ten stave", "twelve stave"),
}


@cache
def kinds() -> tuple[Kind, ...]:
    """Return the kinds of thing in `kinds.txt`, in its order, on which every made item depends.

    A line is: category / aisle / name | materials | extras | attributes | axes | lowest - highest price
    """
    text = files("adjudge.environments.webshop").joinpath("kinds.txt").read_text(encoding="utf-8")
    found = []
    for line in text.splitlines():
        head, *lists, prices = line.split(" | ")
        category, aisle, name = head.split(" / ")
        low, high = map(float, prices.split(" - "))
        materials, extras, attributes, axes = (tuple(words.split(", ")) for words in lists)
        found.append(Kind(category, aisle, name, materials, extras, attributes, axes, (low, high)))
    return tuple(found)

"""What a shop is made of: items and goals, the two together, and a search engine over the items; all of it frozen.

Item(asin="AJ0000KQ2M", title="Oakmere Insulated Steel Water Bottle with Carry Loop", price=18.5, ...)
Goal(asin="AJ0000KQ2M", attributes=("leak proof",), options={"color": "navy"}, price_upper=30.0, ...)

The search engine is BM25 over an inverted index, in plain Python, built once and read by everybody. Its parameters and
analysis are those of the original's engine: k1 = 0.9, b = 0.4, words in lower case without stop words, and plurals
reduced to their stem (by a smaller stemmer than Porter's). Any text is a query; there is no query language.

Reference: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from math import log

__all__ = ["NO_LIMIT", "Catalogue", "Goal", "Index", "Item", "Review"]

NO_LIMIT = 1_000_000.0  # the price limit of a goal that names none, as in the original's files

K1, B = 0.9, 0.4
MOST_TERMS = 256  # different words of a query that count

_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with""".split()  # noqa: SIM905 (a vocabulary reads best as words)
)


def terms(text: str) -> list[str]:
    """Return the words of a text as the index knows them.

    >>> terms("The Boxes, of 2 berries & glass")
    ['box', '2', 'berry', 'glass']
    """
    return [_stem(word) for word in _WORD.findall(text.casefold()) if word not in _STOP]


def _stem(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("xes", "ches", "shes", "sses", "zes")):
        return word[:-2]
    return word[:-1]


class Index:
    """Documents by their words; `search` returns the places of the best ones.

    The amount that a word adds to a document's score does not depend on the query, so it is computed here:

        idf(t) · tf / (tf + k1 · (1 - b + b · length / mean length)),   idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5))

    >>> Index(["red cup", "blue cup", "red hat with a red rim"]).search("red cups", 10)
    [0, 2, 1]
    """

    __slots__ = ("_postings", "size")

    def __init__(self, documents: Sequence[str]) -> None:
        self.size = len(documents)
        counts = [Counter(terms(document)) for document in documents]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / self.size if any(lengths) else 1.0
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for term, times in count.items():
                found[term].append((place, times))
        norms = [K1 * (1.0 - B + B * length / mean) for length in lengths]
        self._postings: dict[str, tuple[array[int], array[float]]] = {}
        for term, postings in found.items():
            idf = log(1.0 + (self.size - len(postings) + 0.5) / (len(postings) + 0.5))
            shares = (idf * times / (times + norms[place]) for place, times in postings)
            self._postings[term] = array("l", (place for place, _ in postings)), array("d", shares)

    def search(self, query: str, most: int) -> list[int]:
        """Return the places of the `most` best documents that share a word with the query, best first.

        Equal scores keep the order of the documents.
        """
        scores: dict[int, float] = {}
        known = scores.get
        for term in list(dict.fromkeys(terms(query)))[:MOST_TERMS]:
            for place, share in zip(*self._postings.get(term, ((), ())), strict=True):
                scores[place] = known(place, 0.0) + share
        best = nsmallest(most, ((-score, place) for place, score in scores.items()))
        return [place for _, place in best]


@dataclass(frozen=True, slots=True)
class Review:
    """What a buyer wrote: a title, stars from 1 to 5, a text."""

    title: str
    stars: int
    body: str


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on sale. `price` is what it costs, `price_tag` what the pages show, which may be a range.

    `product_category` is a path with "›" between its parts; `query` is what a buyer would call such a thing.
    """

    asin: str
    title: str
    category: str
    query: str
    product_category: str
    price: float
    price_tag: str
    attributes: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bullets: tuple[str, ...] = ()
    description: str = ""
    rating: str = "N.A."
    reviews: tuple[Review, ...] = ()

    def document(self) -> str:
        """Return the text that the search engine knows: title, description, first bullet, options."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        return " ".join((self.title, self.description, *self.bullets[:1], options))


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be bought: the item `asin` is one that reaches reward 1, with `options` chosen."""

    asin: str
    instruction: str
    title: str
    category: str
    query: str
    product_category: str
    attributes: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    price_upper: float = NO_LIMIT


@dataclass(frozen=True)
class Catalogue:
    """Items and goals; a task id is a place in `goals`. Built once in a process and shared: nothing changes it.

    `name` says whose items these are; results show it.
    """

    name: str
    items: tuple[Item, ...]
    goals: tuple[Goal, ...]

    @cached_property
    def index(self) -> Index:
        """The search engine over the items."""
        return Index([item.document() for item in self.items])

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each item, by its number in lower case, as a click names it."""
        return {item.asin.lower(): place for place, item in enumerate(self.items)}

    def item(self, asin: str) -> Item:
        """Return the item of that number."""
        return self.items[self.places[asin.lower()]]

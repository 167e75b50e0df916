"""What a shop is made of: items, goals and the two together, frozen, so that any number of episodes can share them.

Item(asin="AJ0000KQ2M", title="Oakmere Insulated Steel Water Bottle with Carry Loop", price=18.5, ...)
Goal(asin="AJ0000KQ2M", attributes=("leak proof",), options={"color": "navy"}, price_upper=30.0, ...)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from adjudge.environments.webshop._search import Index

__all__ = ["Catalogue", "Goal", "Item", "Review"]

NO_LIMIT = 1_000_000.0  # the price limit of a goal that names none, as in the original's files


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

    `name` says whose items these are, as it stands in results.
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
        """Where each item stands, by its number in lower case, as a click has it."""
        return {item.asin.lower(): place for place, item in enumerate(self.items)}

    def item(self, asin: str) -> Item:
        """Return the item of that number."""
        return self.items[self.places[asin.lower()]]

"""Our own catalogue, made from our own words with a fixed seed: 432 items with near-duplicates, and a goal for each.

It is made when it is first used, in some tens of milliseconds: the words are 12 kB, the finished items would be half a
megabyte in every install. Only `Random.random` is used, whose sequence Python promises to keep; our own code chooses
words and orders with it, so that the catalogue is the same on every version and machine.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from adjudge.environments.webshop._goods import NO_LIMIT, Catalogue, Goal, Item, Review
from adjudge.environments.webshop._words import AXES, BRANDS, Kind, kinds

__all__ = ["Chance", "goal_for", "make_catalogue", "price_limit"]

NAME = "adjudge shop 1"
EACH = 12  # items of a kind: so many that a search finds more than one page of them
_SEED = 20260917
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that is mistaken for another

Thing = TypeVar("Thing")


class Chance:
    """Choices drawn from a seed, the same on every version of Python."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed)  # noqa: S311 (a fixed sequence is the point)

    def below(self, end: int) -> int:
        """Return a whole number from 0 to end - 1."""
        return int(self._random.random() * end)

    def between(self, low: float, high: float) -> float:
        """Return a number from low to high."""
        return low + (high - low) * self._random.random()

    def pick(self, things: Sequence[Thing]) -> Thing:
        """Return one of the things."""
        return things[self.below(len(things))]

    def some(self, things: Sequence[Thing], count: int) -> list[Thing]:
        """Return so many of the things, in their order."""
        left = list(range(len(things)))
        chosen = [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]
        return [things[place] for place in sorted(chosen)]


def make_catalogue() -> Catalogue:
    """Make the items and the goals."""
    chance = Chance(_SEED)
    items: list[Item] = []
    for kind in kinds():
        for number in range(EACH):
            asin = f"AJ{len(items):04d}{''.join(chance.pick(_LETTERS) for _ in range(4))}"
            # Every third item is the one before it in another edition.
            items.append(_twin(chance, items[-1], kind, asin) if number % 3 == 2 else _item(chance, kind, asin))
    return Catalogue(NAME, tuple(items), tuple(_goal(chance, item) for item in items))


def _item(chance: Chance, kind: Kind, asin: str) -> Item:
    brand, material, extra = chance.pick(BRANDS), chance.pick(kind.materials), chance.pick(kind.extras)
    attributes = tuple(chance.some(kind.attributes, 3 + chance.below(2)))
    options = {axis: tuple(chance.some(AXES[axis], 2 + chance.below(3))) for axis in kind.axes}
    if chance.below(5) == 0:
        options.pop(kind.axes[-1])
    title = f"{brand} {attributes[0].title()} {material.title()} {kind.name.title()} with {extra.title()}"
    return _complete(chance, kind, asin, title, attributes, options)


def _twin(chance: Chance, other: Item, kind: Kind, asin: str) -> Item:
    """Return an item with the title of another one, apart from its edition, that differs in one attribute."""
    # One attribute other than the original's, so that a goal tells the two apart.
    left = [attribute for attribute in kind.attributes if attribute not in other.attributes]
    attributes = (*other.attributes[:-1], chance.pick(left))
    options = {name: values if chance.below(2) else values[:-1] for name, values in other.options.items()}
    edition = chance.pick(("Second Edition", "Classic", "Plus", "Mini"))
    return _complete(chance, kind, asin, f"{other.title}, {edition}", attributes, options)


def _complete(
    chance: Chance,
    kind: Kind,
    asin: str,
    title: str,
    attributes: tuple[str, ...],
    options: dict[str, tuple[str, ...]],
) -> Item:
    price = round(round(chance.between(*kind.prices)) - 0.01 * chance.pick((1, 5, 51)), 2)
    tag = f"${price:.2f}"
    if chance.below(8) == 0:  # a range: the buyer pays its upper end at most
        low = price
        price = round(low * chance.between(1.05, 1.3), 2)
        tag = f"${low:.2f} to ${price:.2f}"
    noun = _one(kind.name)
    praised = chance.some(attributes, 2)
    bullets = (
        f"{praised[0].capitalize()}: made for people who use their {noun} every day",
        f"{praised[1].capitalize()} by design, tested in our own workshop",
        chance.pick(_CARE).format(noun=noun),
    )
    description = (
        f"{chance.pick(_OPENING).format(noun=noun, aisle=kind.aisle)} "
        f"Noted for: {chance.pick(attributes)}. {chance.pick(_CLOSING).format(noun=noun)}"
    )
    stars = [2 + chance.below(4) for _ in range(2 + chance.below(2))]
    return Item(
        asin=asin,
        title=title,
        category=kind.category,
        query=kind.name,
        product_category=f"{kind.category.title()} › {kind.aisle.title()} › {kind.name.title()}",
        price=price,
        price_tag=tag,
        attributes=attributes,
        options=options,
        bullets=bullets,
        description=description,
        rating=f"{sum(stars) / len(stars):.1f}",
        reviews=tuple(_review(chance, noun, star) for star in stars),
    )


def _one(name: str) -> str:
    """Return the name of one such thing: a water bottle, a pair of hiking boots."""
    return f"pair of {name}" if name.endswith("s") else name


def _review(chance: Chance, noun: str, stars: int) -> Review:
    title, body = chance.pick(_PRAISE if stars > 3 else _DOUBT)
    return Review(title, stars, body.format(noun=noun))


def _goal(chance: Chance, item: Item) -> Goal:
    """Return a goal that this item reaches in full."""
    attributes = tuple(chance.some(item.attributes, 2 + chance.below(2)))
    options = {name: chance.pick(values) for name, values in item.options.items()}
    if len(options) > 1 and chance.below(4) == 0:
        options.pop(chance.pick(list(options)))
    upper = 5.0 * (
        item.price // 5.0 + 1.0 + chance.below(2)
    )  # near the price, so that a more expensive twin is over it
    wanted = ", and ".join(f"{name}: {value}" for name, value in options.items())
    noun = _one(item.query)
    a_noun = f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
    text = chance.pick(_WISHES).format(a_noun=a_noun, noun=item.query, attributes=" and ".join(attributes))
    if wanted:
        text += f" with {wanted}"
    return goal_for(item, text, attributes, options, upper)


def goal_for(
    item: Item, text: str, attributes: tuple[str, ...], options: Mapping[str, str], price_upper: float
) -> Goal:
    """Return a goal that this item reaches; its instruction is the text and the price limit, if there is one."""
    limit = "" if price_upper == NO_LIMIT else f", and price lower than {price_upper:.2f} dollars"
    return Goal(
        asin=item.asin,
        instruction=text + limit,
        title=item.title,
        category=item.category,
        query=item.query,
        product_category=item.product_category,
        attributes=attributes,
        options=options,
        price_upper=price_upper,
    )


def price_limit(price: float, chance: Chance) -> float:
    """Return a limit above the price, as the original draws it: the greater of two out of the next four tens."""
    tens = [10.0 * number for number in range(1, 100) if 10.0 * number > price][:4]
    return max(chance.some(tens, 2)) if len(tens) >= 2 else NO_LIMIT


_OPENING = (
    "One {noun} that does one thing and does it well.",
    "This {noun} belongs to our {aisle} line and is finished by hand.",
    "Our best liked {noun}, improved once more.",
    "The {noun} for those who are tired of replacing theirs.",
)
_CLOSING = (
    "Every {noun} comes with a two year warranty.",
    "Send it back within thirty days if it is not for you.",
    "It arrives ready to use.",
)
_CARE = (
    "Wipe your {noun} with a damp cloth and let it dry",
    "Replacement parts for this {noun} are kept for ten years",
    "Packed without plastic; the {noun} comes in a paper box",
)
_PRAISE = (
    ("Better than expected", "I have had this {noun} for half a year and would buy it again."),
    ("Exactly as described", "The {noun} looks like the picture and came on time."),
    ("Third one in the family", "My sister saw my {noun} and wanted one, then my father did."),
)
_DOUBT = (
    ("It is all right", "A decent {noun}, though I had hoped for more at this price."),
    ("Not for me", "Nothing wrong with the {noun}, but the one I had before was nicer."),
    ("Slow delivery", "The {noun} took two weeks to get here."),
)
_WISHES = (
    "i am looking for {a_noun} described as {attributes}",
    "find me {attributes} {noun}",
    "i need {a_noun} marked {attributes}",
    "i want to buy {a_noun} known to be {attributes}",
)

"""The pages of the shop: what they say and what can be clicked on them; pure.

A page is a list of pieces. The agent gets them as one text, in the forms of the original: `text` joins them by
" [SEP] ", `text_rich` has one a line and marks what can be clicked and what has been.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from adjudge.environments.webshop._goods import Catalogue, Goal, Item
from adjudge.environments.webshop._reward import Purchase

__all__ = ["Page", "PageKind", "Piece", "Visit", "page_of"]

WINDOW = 10  # items on a page of results
MOST_RESULTS = 50

BACK, PREVIOUS, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
PageKind: TypeAlias = Literal["search", "results", "item", "description", "features", "reviews", "attributes", "done"]
SUB_PAGES: dict[str, PageKind] = {
    "description": "description",
    "features": "features",
    "reviews": "reviews",
    "attributes": "attributes",
}  # by what is clicked; the button says the same with a capital
Role: TypeAlias = Literal["text", "button", "option", "product"]


class Piece(NamedTuple):
    """A text on a page; every role but `text` can be clicked, `is_chosen` says that it has been."""

    text: str
    role: Role = "text"
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """Where in the shop somebody is. `hits` are the places of the items found; `seen` the items looked at."""

    page: PageKind = "search"
    hits: tuple[int, ...] = ()
    number: int = 1
    item: Item | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    purchase: Purchase | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it is shown."""

    kind: PageKind
    pieces: tuple[Piece, ...]

    @property
    def clickables(self) -> list[str]:
        """What `click[...]` takes here, in lower case; `Search` is no click but an action of its own."""
        clickables = (piece.text.lower() for piece in self.pieces if piece.role != "text" and piece.text != "Search")
        return list(dict.fromkeys(clickables))

    def text(self) -> str:
        """Return the page as the original's mode `text` has it."""
        return " [SEP] ".join([piece.text for piece in self.pieces])

    def rich(self) -> str:
        """Return the page as the original's mode `text_rich` has it."""
        clicked = "".join(
            f"You have clicked {piece.text}.\n" for piece in self.pieces if piece.role == "option" and piece.is_chosen
        )
        return clicked + "".join(map(_rich, self.pieces))


def _rich(piece: Piece) -> str:
    if piece.role == "text":
        return f"{piece.text}\n"
    word = "clicked button" if piece.is_chosen else "button"
    lead = {"option": "  ", "product": "\n"}.get(piece.role, "")
    return f"{lead}[{word}] {piece.text} [{word}_]\n"


def page_of(visit: Visit, goal: Goal, catalogue: Catalogue) -> Page:
    """Return the page that a visitor sees."""
    if visit.page == "done":
        return Page("done", tuple(_done(visit)))
    lead = (Piece("Instruction:"), Piece(goal.instruction))
    if visit.page == "search":
        return Page("search", (Piece("WebShop"), *lead, Piece("Search", "button")))
    body = _results(visit, catalogue) if visit.page == "results" else _item(visit)
    return Page(visit.page, (*lead, Piece(BACK, "button"), *body))


def has_next(visit: Visit) -> bool:
    """Say whether there is another page of results."""
    return visit.number * WINDOW < len(visit.hits)


def shown(visit: Visit) -> tuple[int, ...]:
    """Return the places of the items on this page of results."""
    return visit.hits[(visit.number - 1) * WINDOW : visit.number * WINDOW]


def _results(visit: Visit, catalogue: Catalogue) -> list[Piece]:
    pieces = [Piece(f"Page {visit.number} (Total results: {len(visit.hits)})")]
    if visit.number > 1:
        pieces.append(Piece(PREVIOUS, "button"))
    if has_next(visit):
        pieces.append(Piece(NEXT, "button"))
    for place in shown(visit):
        item = catalogue.items[place]
        pieces += (
            Piece(item.asin, "product", item.asin in visit.seen),
            Piece(item.title),
            Piece(item.price_tag),
        )
    return pieces


def _item(visit: Visit) -> Iterator[Piece]:
    yield Piece(PREVIOUS, "button")
    item = visit.item
    if item is None:
        return
    if visit.page == "item":
        for name, values in item.options.items():
            yield Piece(name)
            chosen = visit.options.get(name)
            for value in values:
                yield Piece(value, "option", value == chosen)
        yield from (Piece(item.title), Piece(f"Price: {item.price_tag}"), Piece(f"Rating: {item.rating}"))
        yield from (Piece(name, "button") for name in (*map(str.title, SUB_PAGES), BUY))
    elif visit.page == "description":
        yield Piece(item.description)
    elif visit.page == "features":
        yield from map(Piece, item.bullets)
    elif visit.page == "reviews":
        for review in item.reviews:
            yield from (Piece(f'"{review.title}"'), Piece(str(review.stars)), Piece(review.body))
    else:
        yield from map(Piece, (*item.attributes, item.category, item.query, item.product_category))


def _done(visit: Visit) -> Iterator[Piece]:
    yield Piece("Thank you for shopping with us!")
    yield Piece("Your score (min 0.0, max 1.0)")
    if visit.purchase is not None:
        yield Piece(str(visit.purchase.reward))
        yield Piece(f"nouns by {visit.purchase.nouns}")

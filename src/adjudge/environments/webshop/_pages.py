"""The shop's pages and what an action does on them; pure.

A page is a list of parts. The agent gets them as one text, in the forms of the original: `text` joins them by
" [SEP] ", `text_rich` has one a line and marks what can be clicked and what has been. An action takes a visitor from
one page to the next; one that is not possible does nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from adjudge.environments.webshop._goods import Catalogue, Goal, Item
from adjudge.environments.webshop._reward import NounFinder, Purchase, score_purchase

__all__ = ["Action", "Page", "PageKind", "PagePart", "Shop", "Visit", "page_of", "read_action"]

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


class PagePart(NamedTuple):
    """A text on a page; every role but `text` can be clicked; `is_chosen` if it has been."""

    text: str
    role: Role = "text"
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """Where a visitor is in the shop. `hits` are the positions of the items found; `seen` the items looked at."""

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
    parts: tuple[PagePart, ...]

    @property
    def clickables(self) -> list[str]:
        """What `click[...]` takes here, in lower case; `Search` is an action of its own, not a click."""
        # Options of two axes may have the same text; a click chooses the first, so it is listed once.
        clickables = (part.text.lower() for part in self.parts if part.role != "text" and part.text != "Search")
        return list(dict.fromkeys(clickables))

    def text(self) -> str:
        """Return the page in the original's mode `text`."""
        return " [SEP] ".join([part.text for part in self.parts])

    def rich(self) -> str:
        """Return the page in the original's mode `text_rich`."""
        clicked = "".join(
            f"You have clicked {part.text}.\n" for part in self.parts if part.role == "option" and part.is_chosen
        )
        return clicked + "".join(map(_rich, self.parts))


def _rich(part: PagePart) -> str:
    if part.role == "text":
        return f"{part.text}\n"
    word = "clicked button" if part.is_chosen else "button"
    lead = {"option": "  ", "product": "\n"}.get(part.role, "")
    return f"{lead}[{word}] {part.text} [{word}_]\n"


def page_of(visit: Visit, goal: Goal, catalogue: Catalogue) -> Page:
    """Return the page that a visitor sees."""
    if visit.page == "done":
        return Page("done", tuple(_done(visit)))
    lead = (PagePart("Instruction:"), PagePart(goal.instruction))
    if visit.page == "search":
        return Page("search", (PagePart("WebShop"), *lead, PagePart("Search", "button")))
    body = _results(visit, catalogue) if visit.page == "results" else _item(visit)
    return Page(visit.page, (*lead, PagePart(BACK, "button"), *body))


def has_next(visit: Visit) -> bool:
    """Return whether there is another page of results."""
    return visit.number * WINDOW < len(visit.hits)


def visible_items(visit: Visit) -> tuple[int, ...]:
    """Return the positions of the items on this page of results."""
    return visit.hits[(visit.number - 1) * WINDOW : visit.number * WINDOW]


def _results(visit: Visit, catalogue: Catalogue) -> list[PagePart]:
    parts = [PagePart(f"Page {visit.number} (Total results: {len(visit.hits)})")]
    if visit.number > 1:
        parts.append(PagePart(PREVIOUS, "button"))
    if has_next(visit):
        parts.append(PagePart(NEXT, "button"))
    for place in visible_items(visit):
        item = catalogue.items[place]
        parts += (
            PagePart(item.asin, "product", item.asin in visit.seen),
            PagePart(item.title),
            PagePart(item.price_tag),
        )
    return parts


def _item(visit: Visit) -> Iterator[PagePart]:
    yield PagePart(PREVIOUS, "button")
    item = visit.item
    if item is None:
        return
    if visit.page == "item":
        for name, values in item.options.items():
            yield PagePart(name)
            chosen = visit.options.get(name)
            for value in values:
                yield PagePart(value, "option", value == chosen)
        yield from (PagePart(item.title), PagePart(f"Price: {item.price_tag}"), PagePart(f"Rating: {item.rating}"))
        yield from (PagePart(name, "button") for name in (*map(str.title, SUB_PAGES), BUY))
    elif visit.page == "description":
        yield PagePart(item.description)
    elif visit.page == "features":
        yield from map(PagePart, item.bullets)
    elif visit.page == "reviews":
        for review in item.reviews:
            yield from (PagePart(f'"{review.title}"'), PagePart(str(review.stars)), PagePart(review.body))
    else:
        yield from map(PagePart, (*item.attributes, item.category, item.query, item.product_category))


def _done(visit: Visit) -> Iterator[PagePart]:
    yield PagePart("Thank you for shopping with us!")
    yield PagePart("Your score (min 0.0, max 1.0)")
    if visit.purchase is not None:
        yield PagePart(str(visit.purchase.reward))
        yield PagePart(f"nouns by {visit.purchase.nouns}")


class Action(NamedTuple):
    """`search[words]` or `click[text]`, its text with case folded."""

    name: Literal["search", "click"]
    text: str


def read_action(text: str) -> Action | None:
    """Return the action that a text is, or None. The text ends at the last bracket, so it may hold brackets itself.

    >>> read_action(" Click[ < Prev ] "), read_action("search[a [b] & c]"), read_action("buy now")
    (Action(name='click', text='< prev'), Action(name='search', text='a [b] & c'), None)
    """
    head, bracket, rest = text.strip().partition("[")
    # The last one: product names and queries may have brackets in them.
    end = rest.rfind("]")
    inner = rest[:end].strip().casefold() if bracket and end >= 0 else ""
    match head.strip().casefold():
        case "search" if inner:
            return Action("search", inner)
        case "click" if inner:
            return Action("click", inner)
    return None


class Shop(NamedTuple):
    """The rules of one episode: its items, its goal, and its noun finder."""

    catalogue: Catalogue
    goal: Goal
    nouns: NounFinder

    def after(self, visit: Visit, action: Action | None) -> Visit:
        """Return where the visitor is after an action; after an invalid one, the same visit."""
        if action is None or visit.page == "done":
            return visit
        if action.name == "search":
            # The search bar is on the first page only, as in the original.
            if visit.page != "search":
                return visit
            hits = tuple(self.catalogue.index.search(action.text, MOST_RESULTS))
            return Visit("results", hits=hits, seen=visit.seen)
        return self._click(visit, _plain(action.text))

    def _click(self, visit: Visit, text: str) -> Visit:
        if visit.page == "search":
            return visit
        if text == BACK.lower():
            return Visit(seen=visit.seen)
        if visit.page == "results":
            return self._click_result(visit, text)
        if visit.page == "item":
            return self._click_item(visit, text)
        return replace(visit, page="item") if text == PREVIOUS.lower() else visit

    def _click_result(self, visit: Visit, text: str) -> Visit:
        if text == NEXT.lower() and has_next(visit):
            return replace(visit, number=visit.number + 1)
        if text == PREVIOUS.lower() and visit.number > 1:
            return replace(visit, number=visit.number - 1)
        # A number that is not on this page does nothing: an agent must find an item before it can open it.
        place = self.catalogue.places.get(text)
        if place is None or place not in visible_items(visit):
            return visit
        item = self.catalogue.items[place]
        return replace(visit, page="item", item=item, seen=visit.seen | {item.asin})

    def _click_item(self, visit: Visit, text: str) -> Visit:
        item = visit.item
        if item is None:
            return visit
        if text == BUY.lower():
            return replace(visit, page="done", purchase=score_purchase(self.goal, item, visit.options, self.nouns))
        if text == PREVIOUS.lower():  # the chosen options are lost, as in the original
            return replace(visit, page="results", item=None, options={})
        if text in SUB_PAGES:
            return replace(visit, page=SUB_PAGES[text])
        for name, values in item.options.items():
            for value in values:
                if _plain(value) == text:
                    return replace(visit, options={**visit.options, name: value})
        return visit


def _plain(text: str) -> str:
    """Return a text for comparison: without case, white space as single spaces."""
    return " ".join(text.casefold().split())

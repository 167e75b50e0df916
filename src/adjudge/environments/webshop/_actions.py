"""What an action does: it takes a visitor from one page to the next; pure. What is not possible does nothing."""

from dataclasses import replace
from typing import Literal, NamedTuple

from adjudge.environments.webshop._goods import Catalogue, Goal
from adjudge.environments.webshop._nouns import NounFinder
from adjudge.environments.webshop._pages import (
    BACK,
    BUY,
    MOST_RESULTS,
    NEXT,
    PREVIOUS,
    SUB_PAGES,
    Visit,
    has_next,
    shown,
)
from adjudge.environments.webshop._reward import score_purchase

__all__ = ["Action", "Shop", "read_action"]


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
    end = rest.rfind("]")
    inner = rest[:end].strip().casefold() if bracket and end >= 0 else ""
    match head.strip().casefold():
        case "search" if inner:
            return Action("search", inner)
        case "click" if inner:
            return Action("click", inner)
    return None


class Shop(NamedTuple):
    """The rules of one episode: its items, its goal, and who finds nouns."""

    catalogue: Catalogue
    goal: Goal
    nouns: NounFinder

    def after(self, visit: Visit, action: Action | None) -> Visit:
        """Return where the visitor is after an action; an invalid one leaves the visit as it is."""
        if action is None or visit.page == "done":
            return visit
        if action.name == "search":
            return self._search(visit, action.text) if visit.page == "search" else visit
        return self._click(visit, _plain(action.text))

    def _search(self, visit: Visit, query: str) -> Visit:
        hits = tuple(self.catalogue.index.search(query, MOST_RESULTS))
        return Visit("results", hits=hits, seen=visit.seen)

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
        place = self.catalogue.places.get(text)
        if place is None or place not in shown(visit):
            return visit
        item = self.catalogue.items[place]
        return replace(visit, page="item", item=item, seen=visit.seen | {item.asin})

    def _click_item(self, visit: Visit, text: str) -> Visit:
        item = visit.item
        if item is None:
            return visit
        if text == BUY.lower():
            return replace(visit, page="done", purchase=score_purchase(self.goal, item, visit.options, self.nouns))
        if text == PREVIOUS.lower():  # what was chosen is forgotten, as in the original
            return replace(visit, page="results", item=None, options={})
        if text in SUB_PAGES:
            return replace(visit, page=SUB_PAGES[text])
        for name, values in item.options.items():
            for value in values:
                if _plain(value) == text:
                    return replace(visit, options={**visit.options, name: value})
        return visit


def _plain(text: str) -> str:
    """Return a text as it is compared: without case, white space as single spaces."""
    return " ".join(text.casefold().split())

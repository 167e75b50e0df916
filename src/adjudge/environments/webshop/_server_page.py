"""A page of the official server, read: its texts, what can be clicked and where that leads, the score; pure.

The server speaks HTML only, so this rests on its templates: ids `search_input` and `reward`, classes `btn` and
`product-link`, radio buttons with a `data-url`, one form around each button. What a template hides is not shown to the
agent: the last page carries the goal in a hidden part.
"""

from html.parser import HTMLParser
from typing import NamedTuple

__all__ = ["Link", "ServerPage", "read_page"]

_SILENT = frozenset({"head", "script", "style", "title"})


class Link(NamedTuple):
    """Where a click leads."""

    method: str
    address: str


class ServerPage(NamedTuple):
    """What stands on a page; `links` by their text in lower case, `search` where a search goes, `reward` once done."""

    texts: tuple[str, ...]
    links: dict[str, Link]
    search: str | None
    reward: str | None


def read_page(text: str) -> ServerPage:
    """Read a page, however badly its tags are closed.

    >>> read_page('<form method="post" action="/a"><button class="btn">Buy Now</button></form>').links
    {'buy now': Link(method='POST', address='/a')}
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return ServerPage(tuple(reader.texts), reader.links, reader.search, reader.reward)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.links: dict[str, Link] = {}
        self.search: str | None = None
        self.reward: str | None = None
        self._form = ""
        self._link: Link | None = None
        self._hidden: tuple[str, int] | None = None  # the tag that hides, and how deep in tags of its name we are
        self._is_score = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if self._hidden is not None:
            if tag == self._hidden[0]:
                self._hidden = (tag, self._hidden[1] + 1)
            return
        if tag in _SILENT or "hidden" in named or "display:none" in named.get("style", "").replace(" ", ""):
            self._hidden = (tag, 1)
            return
        classes = named.get("class", "").split()
        if tag == "form":
            self._form = named.get("action", "")
        elif tag == "button" and "btn" in classes:
            self._link = Link("POST", self._form)
        elif tag == "a" and "product-link" in classes:
            self._link = Link("GET", named.get("href", ""))
        elif tag == "input" and named.get("type") == "radio":
            self.links[" ".join(named.get("value", "").lower().split())] = Link("GET", named.get("data-url", ""))
        elif named.get("id") == "search_input":
            self.search = self._form
        elif named.get("id") == "reward":
            self._is_score = True
        elif tag == "pre" and self._is_score and self.reward is None:
            self.reward = ""

    def handle_endtag(self, tag: str) -> None:
        if self._hidden is not None:
            if tag == self._hidden[0]:
                self._hidden = (tag, self._hidden[1] - 1) if self._hidden[1] > 1 else None
        elif tag in ("button", "a"):
            self._link = None
        elif tag == "pre":
            self._is_score = False

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or self._hidden is not None:
            return
        self.texts.append(text)
        if self._link is not None:
            self.links[text.lower()] = self._link
        if self._is_score and self.reward == "":
            self.reward = text

"""The shop as a web site: pages as HTML for people and browsing agents, each visitor with a world of its own.

Everything that is not our own markup is escaped. What an agent may look for has the names of the original:
`instruction-text`, `search_input`, `btn`, `product-link`, `reward`. Every control is a button that posts one action;
there is no script.
"""

import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from zlib import crc32

from adjudge.environments._errors import EnvBadTask
from adjudge.environments.webshop._goods import Catalogue, Item
from adjudge.environments.webshop._pages import (
    BACK,
    BUY,
    NEXT,
    PREVIOUS,
    SUB_PAGES,
    Shop,
    Visit,
    has_next,
    visible_items,
)
from adjudge.environments.webshop._reward import colour_of
from adjudge.environments.webshop._world import ShopWorld, WebShopSpec
from adjudge.http import server_log

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["ShopSite", "home_page", "visit_page"]

MOST_VISITORS = 4096  # the one who was away longest makes room
_LARGEST = 64 << 10  # bytes of a form
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class ShopSite:
    """Serves the pages of a shop: `async with site.serving("127.0.0.1", 0) as address`.

    `/` lists tasks, `/task/7` starts task 7 and leads to the visitor's own page, whose buttons post actions.
    """

    def __init__(self, spec: WebShopSpec | None = None) -> None:
        self._spec = spec or WebShopSpec()
        self._visitors: OrderedDict[str, tuple[int, ShopWorld]] = OrderedDict()
        self._style = files("adjudge.environments.webshop").joinpath("style.css").read_text(encoding="utf-8")

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Listen, and yield the address."""
        from aiohttp import web

        app = web.Application(client_max_size=_LARGEST)
        app.router.add_get("/", self._home)
        app.router.add_get("/style.css", self._css)
        app.router.add_get("/task", self._start)
        app.router.add_get("/task/{number}", self._start)
        app.router.add_get("/visit/{visitor}", self._show)
        app.router.add_post("/visit/{visitor}", self._act)
        runner = web.AppRunner(app, access_log=None, logger=server_log(), shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            name = f"[{host}]" if ":" in host else host
            yield f"http://{name}:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _home(self, _request: "web.Request") -> "web.Response":
        return _respond(home_page(self._spec.catalogue()))

    async def _css(self, _request: "web.Request") -> "web.Response":
        return _respond(self._style, content_type="text/css")

    async def _start(self, request: "web.Request") -> "web.Response":
        number = request.match_info.get("number", request.query.get("number", ""))
        world = self._spec.build()
        try:
            world.reset(number)
        except EnvBadTask as error:
            return _respond(message_page("No such task", error.message), 404)
        # Whoever knows the address may act, so it must not be guessed.
        visitor = secrets.token_urlsafe(12)
        self._visitors[visitor] = (int(number), world)
        if len(self._visitors) > MOST_VISITORS:
            self._visitors.popitem(last=False)
        return _see(visitor)

    async def _show(self, request: "web.Request") -> "web.Response":
        visitor = request.match_info["visitor"]
        found = self._visitors.get(visitor)
        if found is None or found[1].shop is None:
            return _gone()
        task, world = found
        return _respond(visit_page(f"/visit/{visitor}", task, found[1].shop, world.visit))

    async def _act(self, request: "web.Request") -> "web.Response":
        visitor = request.match_info["visitor"]
        found = self._visitors.get(visitor)
        if found is None:
            return _gone()
        self._visitors.move_to_end(visitor)
        form = await request.post()
        action, query = form.get("action"), form.get("search_query")
        # The form of a search sends its button too; the words are what counts.
        if isinstance(query, str):
            found[1].step(f"search[{query}]")
        elif isinstance(action, str):
            found[1].step(action)
        return _see(visitor)


def _respond(text: str = "", status: int = 200, content_type: str = "text/html", location: str = "") -> "web.Response":
    from aiohttp import web

    headers = {**_HEADERS, "Location": location} if location else _HEADERS
    return web.Response(text=text, status=status, content_type=content_type, headers=headers)


def _see(visitor: str) -> "web.Response":
    return _respond(status=303, location=f"/visit/{visitor}")


def _gone() -> "web.Response":
    return _respond(message_page("This visit is over", "The shop no longer knows it. Start the task again."), 404)


SAMPLES = 12


def home_page(catalogue: Catalogue) -> str:
    """Return the first page: what this is, and tasks to choose from."""
    count = len(catalogue.goals)
    # Spread over all tasks, because neighbours are often of the same kind.
    every = max(1, count // SAMPLES)
    tasks = "".join(
        f'<li class="card"><a href="/task/{number}">Task {number}</a> <span>{escape(goal.instruction)}</span></li>'
        for number, goal in list(enumerate(catalogue.goals))[::every]
    )
    return _document(
        "adjudge shop",
        f"""<h1>Find it, choose, buy</h1>
<p>An instruction says what somebody wants. Search the shop, look at the items, choose the options and buy one: the
score says how much of the instruction was met. {len(catalogue.items):,} items, {count:,} tasks.</p>
<form action="/task" method="get"><div class="seek card"><input name="number" type="number" min="0" max="{count - 1}"
 value="0" aria-label="Number of the task" required><button class="btn main">Start this task</button></div></form>
<h2>Some of them</h2><ul class="tasks">{tasks}</ul>""",
        catalogue.name,
    )


def message_page(title: str, text: str) -> str:
    """Return a page with one message."""
    body = f'<div class="card"><h1>{escape(title)}</h1><p>{escape(text)}</p><p><a href="/">To the tasks</a></p></div>'
    return _document(title, body)


def visit_page(address: str, task: int, shop: Shop, visit: Visit) -> str:
    """Return the page on which a visitor is; its buttons post to `address`."""
    if visit.page == "done":
        return _document(f"Task {task}: done", _done(task, shop, visit), shop.catalogue.name)
    instruction = '<div id="instruction-text"><h4><b>Instruction:</b>' + escape(shop.goal.instruction) + "</h4></div>"
    body = (
        _search()
        if visit.page == "search"
        else _results(shop.catalogue, visit)
        if visit.page == "results"
        else _item(visit)
    )
    form = f'<form method="post" action="{escape(address)}">{body}</form>'
    return _document(f"Task {task}", instruction + form, shop.catalogue.name)


def _document(title: str, body: str, catalogue: str = "") -> str:
    about = f"<span>items: {escape(catalogue)}</span>" if catalogue else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · adjudge shop</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
</head><body><header><div class="inner"><a href="/">adjudge shop</a>{about}</div></header><main>{body}
<footer>After the rules and pages of WebShop. What is scored here is called adjudge shop: these are not WebShop scores.
</footer></main></body></html>
"""


def _button(text: str, kind: str = "btn", action: str | None = None) -> str:
    action = action or f"click[{text}]"
    return f'<button class="{kind}" name="action" value="{escape(action)}">{escape(text)}</button>'


def _search() -> str:
    return """<div class="card"><h1>What are you looking for?</h1><div class="seek">
<input id="search_input" name="search_query" placeholder="Search..." aria-label="Search" autofocus required>
<button class="btn main" name="action" value="search">Search</button></div></div>"""


def _results(catalogue: Catalogue, visit: Visit) -> str:
    buttons = [_button(BACK)]
    if visit.number > 1:
        buttons.append(_button(PREVIOUS))
    if has_next(visit):
        buttons.append(_button(NEXT))
    cards = "".join(_card(catalogue.items[place], visit) for place in visible_items(visit))
    nothing = "" if visit.hits else '<p class="card">Nothing was found. Go back and try other words.</p>'
    return f"""<div class="bar">{"".join(buttons)}
<span class="count">Page {visit.number} (Total results: {len(visit.hits)})</span></div>
{nothing}<div class="results">{cards}</div>"""


def _card(item: Item, visit: Visit) -> str:
    seen = " seen" if item.asin in visit.seen else ""
    return f"""<div class="item card{seen}">{picture(item)}{_button(item.asin, "link product-link")}
{_button(item.title, "link", f"click[{item.asin}]")}<span class="price">{escape(item.price_tag)}</span></div>"""


def _item(visit: Visit) -> str:
    item = visit.item
    if item is None:
        return ""
    bar = f'<div class="bar">{_button(BACK)}{_button(PREVIOUS)}</div>'
    if visit.page != "item":
        return f'{bar}<div class="card"><h1>{visit.page.title()}</h1>{_sub_page(item, visit)}</div>'
    axes = "".join(
        f'<h2>{escape(name)}</h2><div class="options">'
        + "".join(_button(value, f"btn{' chosen' if visit.options.get(name) == value else ''}") for value in values)
        + "</div>"
        for name, values in item.options.items()
    )
    more = "".join(_button(name.title()) for name in SUB_PAGES)
    return f"""{bar}<div class="item-page"><div>{picture(item, tuple(visit.options.values()))}</div>
<div><h1>{escape(item.title)}</h1><p class="facts">{escape(item.asin)} · Rating: {escape(item.rating)}</p>{axes}
<h2>About it</h2><div class="options">{more}</div></div>
<div class="card"><p class="price">Price: {escape(item.price_tag)}</p>{_button(BUY, "btn purchase")}</div></div>"""


def _sub_page(item: Item, visit: Visit) -> str:
    if visit.page == "description":
        return f"<p>{escape(item.description)}</p>"
    if visit.page == "features":
        return _list(item.bullets)
    if visit.page == "attributes":
        return _list(item.attributes) + f'<p class="facts">{escape(item.product_category)}</p>'
    reviews = "".join(
        f'<h2>"{escape(review.title)}"</h2><p class="stars" aria-label="{review.stars} of 5">'
        f"{'★' * review.stars}{'☆' * (5 - review.stars)}</p><p>{escape(review.body)}</p>"
        for review in item.reviews
    )
    return reviews or "<p>Nobody has written anything yet.</p>"


def _list(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def _done(task: int, shop: Shop, visit: Visit) -> str:
    bought, goal = visit.purchase, shop.goal
    if bought is None or visit.item is None:
        return ""
    kind = f"{bought.r_type:g}: title {bought.title_score:.2f}, nouns by {bought.nouns}"
    attributes = _marks(goal.attributes, bought.attributes_met)
    options = _marks(goal.options.values(), bought.options_met)
    price = _marks([f"{visit.item.price:.2f} for at most {goal.price_upper:.2f} dollars"], (), is_all=bought.price_met)
    following = (task + 1) % len(shop.catalogue.goals)
    return f"""<div class="card"><h1>Thank you for shopping with us!</h1>
<div id="reward">Your score (min 0.0, max 1.0)<pre class="score">{bought.reward:.4g}</pre></div>
<p class="facts">{escape(goal.instruction)}</p>
<table><tr><th>Bought</th><td>{escape(visit.item.title)} <span class="facts">{escape(bought.asin)}</span></td></tr>
<tr><th>Attributes</th><td>{attributes}</td></tr><tr><th>Options</th><td>{options}</td></tr>
<tr><th>Price</th><td>{price}</td></tr><tr><th>Type</th><td>{escape(kind)}</td></tr></table>
<p><a href="/task/{task}">Again</a> · <a href="/task/{following}">Task {following}</a> ·
<a href="/">All tasks</a></p></div>"""


def _marks(wanted: Iterable[str], met: Iterable[str], *, is_all: bool = False) -> str:
    there = set(met)
    marks = (
        f'<div class="yes">✓ {escape(text)}</div>'
        if is_all or text in there
        else f'<div class="no">✗ {escape(text)}</div>'
        for text in wanted
    )
    return "".join(marks) or "none asked for"


_BOX = '<path d="M10 22l22-10 22 10v24L32 56 10 46z"/><path d="M10 22l22 10 22-10M32 32v24" fill="none"/>'

_PAINT = {
    "black": "#3a3f47",
    "white": "#fbfaf7",
    "navy": "#2d3f73",
    "red": "#c8473f",
    "green": "#3f7d57",
    "grey": "#9aa1ab",
    "rose gold": "#dca597",
    "gold": "#d8b04a",
    "teal": "#2f8f8b",
    "mustard": "#d29f2b",
    "lilac": "#b79ad6",
}
_PLAIN = ("#8fb3c9", "#c9b38f", "#a9c58f", "#c99a8f", "#a99ac9", "#8fc4b4")  # for items without a colour to choose


@cache
def _shapes() -> dict[str, str]:
    """Return the shapes by kind of thing, in a field of 64 by 64; `currentColor` is the item's colour."""
    text = files("adjudge.environments.webshop").joinpath("pictures.txt").read_text(encoding="utf-8")
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: shape for name, _, shape in pairs}


def picture(item: Item, options: tuple[str, ...] = ()) -> str:
    """Return the item's picture as SVG, with its title as its description."""
    values = (*options, *(value for axis in item.options.values() for value in axis))  # the first colour to be had
    paints = (_PAINT.get(colour_of(value) or "") for value in values)
    colour = next((paint for paint in paints if paint is not None), _PLAIN[crc32(item.asin.encode()) % len(_PLAIN)])
    return (
        f'<svg class="picture" viewBox="0 0 64 64" role="img" aria-label="{escape(item.title)}" color="{colour}"'
        ' fill="currentColor" stroke="#2c3038" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">'
        f"{_shapes().get(item.query, _BOX)}</svg>"
    )

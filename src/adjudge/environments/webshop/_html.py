"""The shop's pages as HTML for people and browsing agents; pure. Everything that is not markup of ours is escaped.

What an agent may look for has the names of the original: `instruction-text`, `search_input`, `btn`, `product-link`,
`reward`. Every control is a button that posts one action; there is no script.
"""

from collections.abc import Iterable
from html import escape

from adjudge.environments.webshop._actions import Shop
from adjudge.environments.webshop._goods import Catalogue, Item
from adjudge.environments.webshop._pages import BACK, BUY, NEXT, PREVIOUS, SUB_PAGES, Visit, has_next, shown
from adjudge.environments.webshop._picture import picture

__all__ = ["home_page", "message_page", "visit_page"]

SAMPLES = 12


def home_page(catalogue: Catalogue) -> str:
    """Return the first page: what this is, and tasks to choose from."""
    count = len(catalogue.goals)
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
    """Return a page that says one thing."""
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
<footer>After the rules and pages of WebShop. What is scored here is called adjudge shop: these are no WebShop scores.
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
    cards = "".join(_card(catalogue.items[place], visit) for place in shown(visit))
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

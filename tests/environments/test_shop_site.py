"""The shop's pages, its terminal and its command line, with real sockets and processes."""

import asyncio
import html
import re
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar

from adjudge.environments.webshop import Catalogue, Goal, Item, Review, ShopSite, ShopWorld, WebShopSpec, noun_finder
from adjudge.environments.webshop._play import play_terminal
from adjudge.environments.webshop._site import home_page, visit_page

CATALOGUE = WebShopSpec().catalogue()
NASTY = """<script>alert("1")</script> & 'x' </button>"""


class Forms(HTMLParser):
    """Collects where a page posts to, and the actions of its buttons."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.address = ""
        self.actions: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what matters."""
        named = dict(attrs)
        self.tags.append(tag)
        if tag == "form":
            self.address = named.get("action") or ""
        if tag == "button" and named.get("name") == "action":
            self.actions.append(named.get("value") or "")


def served(visit: Any) -> Any:
    """Serve the shop, and run `visit(session, address)`."""

    async def run() -> Any:
        async with ShopSite().serving() as address, ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            return await visit(session, address)

    return asyncio.run(run())


def test_a_person_can_buy_with_buttons_alone() -> None:
    """From the list of tasks to the score: every page leads on by a link or a button, without a script."""
    goal = CATALOGUE.goals[5]

    async def visit(session: ClientSession, address: str) -> list[str]:
        pages: list[str] = []

        async def post(**form: str) -> str:
            async with session.post(address + Forms(pages[-1]).address, data=form) as reply:
                return await reply.text()

        async with session.get(f"{address}/") as reply:
            assert "/task/0" in await reply.text()
        async with session.get(f"{address}/task/5") as reply:
            pages.append(await reply.text())
        pages.append(await post(search_query=goal.title))
        for clicked in (goal.asin, *goal.options.values(), "Reviews", "< Prev", "Buy Now"):
            action = f"click[{clicked}]"
            assert action in Forms(pages[-1]).actions
            pages.append(await post(action=action))
        return pages

    pages = served(visit)
    assert all(html.escape(goal.instruction) in page for page in pages)
    assert 'id="search_input"' in pages[0]
    assert '<pre class="score">1</pre>' in pages[-1]
    assert "nouns by lexicon-1" in pages[-1]
    assert not any("script" in Forms(page).tags for page in pages)


def test_visitors_do_not_meet() -> None:
    """Two visitors of one task have pages of their own."""

    async def visit(session: ClientSession, address: str) -> tuple[str, str]:
        async with session.get(f"{address}/task/1") as one, session.get(f"{address}/task/1") as other:
            first, second = await one.text(), str(other.url)
        async with session.post(address + Forms(first).address, data={"search_query": "mug"}) as reply:
            found = await reply.text()
        async with session.get(second) as reply:
            return found, await reply.text()

    found, untouched = served(visit)
    assert "Total results" in found
    assert "search_input" in untouched


@pytest.mark.parametrize("path", ["/task/x", "/task/-1", "/task/99999", "/task", "/visit/nobody", "/task/%00"])
def test_what_is_not_there_is_404(path: str) -> None:
    """An unknown task or visit is a page that says so, not a fault."""

    async def visit(session: ClientSession, address: str) -> tuple[int, str]:
        async with session.get(address + path) as reply:
            return reply.status, await reply.text()

    status, text = served(visit)
    assert status == 404
    assert "To the tasks" in text


@pytest.mark.parametrize(
    "form", [{}, {"action": "x"}, {"action": NASTY}, {"search_query": ""}, {"search_query": "]\n["}]
)
def test_any_form_leads_back_to_a_page(form: dict[str, str]) -> None:
    """Whatever is posted, the answer is the visitor's page, and no page may load or run anything foreign."""

    async def visit(session: ClientSession, address: str) -> tuple[int, Any, str]:
        async with session.get(f"{address}/task/2") as reply:
            page = await reply.text()
        async with session.post(address + Forms(page).address, data=form) as reply:
            return reply.status, reply.headers, await reply.text()

    status, headers, text = served(visit)
    assert status == 200
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Instruction:" in text


def test_everything_is_escaped() -> None:
    """No text of an item, a review, an option or a goal becomes markup, on any page."""
    item = Item(
        *("B'\"<1>", NASTY, NASTY, NASTY, NASTY, 1.0, NASTY),
        attributes=(NASTY,),
        options={NASTY: (NASTY, "b")},
        bullets=(NASTY,),
        description=NASTY,
        rating=NASTY,
        reviews=(Review(NASTY, 3, NASTY),),
    )
    goal = Goal(item.asin, NASTY, NASTY, NASTY, NASTY, NASTY, (NASTY,), {NASTY: NASTY}, 2.0)
    world = ShopWorld(Catalogue(NASTY, (item,), (goal,)), noun_finder("words"))
    world.reset(0)
    pages = [home_page(world.catalogue)]
    for action in (
        *("", "search[script]", f"click[{item.asin}]", f"click[{NASTY}]", "click[description]", "click[< prev]"),
        *("click[features]", "click[< prev]", "click[reviews]", "click[< prev]", "click[attributes]", "click[< prev]"),
        "click[buy now]",
    ):
        assert world.step(action).info["valid"] or not action
        assert world.shop is not None
        pages.append(visit_page("/visit/x", 0, world.shop, world.visit))
    assert world.outcome().reward == 1.0
    for page in pages:
        assert "<script" not in page.lower()
        assert Forms(page).tags.count("button") == page.count("</button>")


def test_pages_of_all_kinds_have_a_picture() -> None:
    """Every kind of thing of the catalogue has a picture of its own."""
    from adjudge.environments.webshop._site import _shapes

    assert set(_shapes()) == {item.query for item in CATALOGUE.items}


def test_play_takes_words_numbers_and_actions() -> None:
    """In the terminal, words search, numbers press buttons, actions are taken as they stand; nothing else does harm."""
    goal = CATALOGUE.goals[5]
    answers = iter([goal.title, "99", "1", "[", f"search[{goal.title}]", goal.asin.lower(), "Buy Now"])
    said: list[str] = []
    outcome = play_terminal(WebShopSpec().build(), "5", lambda _: next(answers), said.append)
    assert outcome.done_reason == "bought"
    assert f"[1] {'Back to Search'}" in "\n".join(said)
    assert sum("does nothing" in line for line in said) == 2


def test_play_can_be_left() -> None:
    """The end of the input, or an empty line, ends the visit without a purchase."""

    def gone(_: str) -> str:
        raise EOFError

    for ask in (gone, lambda _: " "):
        assert play_terminal(WebShopSpec().build(), 0, ask, lambda _: None).reward == 0.0


def adjudge(*arguments: str, text: str = "") -> SimpleNamespace:
    """Run the command line."""
    done = subprocess.run(
        [sys.executable, "-m", "adjudge", "shop", *arguments], input=text, capture_output=True, text=True, check=False
    )
    return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)


def test_play_on_the_command_line() -> None:
    """`adjudge shop play` ends with the reward under its own name."""
    done = adjudge("play", "5", text="water bottle\n")
    assert done.code == 0
    assert done.out.endswith("adjudge shop, task 5: reward 0.0000\n")


def test_bad_tasks_and_folders_on_the_command_line() -> None:
    """A bad task or folder is one line that says what to do."""
    assert "there is no task 999" in adjudge("play", "999").err
    missing = adjudge("play", "--data", "nowhere", "--nouns", "words")
    assert (missing.code, "no items_shuffle.json" in missing.err) == (2, True)


def test_serve_says_where_it_is_and_stops() -> None:
    """`adjudge shop serve` prints its address, on this machine only, and ends when interrupted."""
    import signal
    from urllib.request import urlopen

    command = [sys.executable, "-u", "-m", "adjudge", "shop", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert found, line
            with urlopen(found[0]) as reply:  # noqa: S310 (our own server)
                assert b"Find it, choose, buy" in reply.read()
            taken = adjudge("serve", "--port", found[0].rpartition(":")[2])
            assert (taken.code, "try another --port" in taken.err) == (2, True)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130

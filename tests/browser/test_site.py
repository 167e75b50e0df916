"""The documentation site in a real browser, from its folder: search, keyboard, narrow screens, dark mode, axe.

`make docs` builds it; `make browser` builds it and runs this.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("ADJUDGE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
AXE = Path(os.environ.get("ADJUDGE_AXE") or ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js")
SITE = ROOT / "build" / "site"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOUND = """() => [...document.querySelectorAll("div")].filter(one => one.shadowRoot)
    .flatMap(one => [...one.shadowRoot.querySelectorAll("a[href]")]).map(one => one.href)"""
SEARCHES = [
    ("alfworld", "how-to/alfworld"),
    ("anthropic", "how-to/chat"),
    ("api key", "how-to/chat"),
    ("calibrate", "how-to/judges"),
    ("canary", "how-to/judges"),
    ("compare two runs", "how-to/compare"),
    ("confidence interval", "explanation/statistics"),
    ("crag", "how-to/crag"),
    ("csv", "reference/rows"),
    ("environment", "how-to/environments"),
    ("exact match", "reference/rewards"),
    ("exit code", "how-to/gate"),
    ("f1", "reference/rewards"),
    ("github action", "how-to/action"),
    ("grpo", "how-to/trainers/trl"),
    ("label", "how-to/label"),
    ("langfuse", "how-to/sinks"),
    ("langgraph", "how-to/frameworks/langgraph"),
    ("latex", "explanation/math"),
    ("openai agents", "how-to/frameworks/openai-agents"),
    ("otlp endpoint", "how-to/receivers"),
    ("parquet", "reference/rows"),
    ("pytest", "how-to/pytest"),
    ("resume", "explanation/runs"),
    ("reward server", "how-to/serve"),
    ("scenario", "how-to/scenarios"),
    ("scienceworld", "how-to/scienceworld"),
    ("sqlite", "explanation/runs"),
    ("traces", "reference/traces"),
    ("trl", "how-to/trainers/trl"),
    ("trust", "explanation/trust"),
    ("unscored", "explanation/outcomes"),
    ("verl", "how-to/trainers/verl"),
    ("viewer", "how-to/view"),
    ("webshop", "how-to/shop"),
]
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make docs")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a browser that has no network."""
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Open the first page as a file, with a record of what it asks the network for."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.asked = []
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else page.asked.append(request.url),
    )
    page.goto((SITE / "index.html").as_uri())
    yield page
    assert page.asked == []
    context.close()


def search(page: Any, words: str) -> list[str]:
    """Return the pages that a search finds, best first, each once."""
    page.keyboard.press("Control+k")
    page.wait_for_timeout(300)
    page.keyboard.type(words)
    page.wait_for_function(f"({FOUND})().length > 0", timeout=10_000)
    page.wait_for_timeout(300)
    found = [link.removeprefix(f"{SITE.as_uri()}/").partition(".html")[0] for link in page.evaluate(FOUND)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(("words", "place"), SEARCHES, ids=[words for words, _ in SEARCHES])
def test_a_search_finds_the_page(page: Any, words: str, place: str) -> None:
    """What people type leads to the page that answers them: it is among the first three."""
    assert place in search(page, words)[:3]


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["index", "tutorials/gate", "how-to/gate", "reference/commands", "reference/api/adjudge.judges"]
)
def test_pages_are_clean(browser: Any, name: str, scheme: str, width: int) -> None:
    """On narrow and wide screens, light and dark, nothing is wider than the page and axe finds nothing serious."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()
    page.goto((SITE / f"{name}.html").as_uri())
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    assert page.evaluate(OVERFLOW) <= 0
    context.close()


def test_the_keyboard_is_enough(page: Any) -> None:
    """A search is opened, a result chosen and a page reached without a mouse."""
    search(page, "github action")
    page.keyboard.press("Enter")
    page.wait_for_url("**/how-to/action.html*")
    assert page.title().startswith("The gate as a GitHub Action")

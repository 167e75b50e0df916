"""The viewer in a real browser: no script of a row runs, no layout breaks, the keyboard is enough, axe finds nothing.

`make browser` installs Chromium and runs this; ADJUDGE_AXE is the path of axe.min.js.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.view import ViewServer, write_report
from support import ROOT
from view.looking import key, make_run, rows_of
from view.test_hostile import HOSTILE, hostile_agent, hostile_rows
from view.test_monitors import WARNING, WINDOW, write

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("ADJUDGE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
AXE = Path(os.environ.get("ADJUDGE_AXE") or ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="there is no Chromium: make browser")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Make two plain runs, and one that is hostile."""
    import adjudge
    from view.looking import QUICK, noted

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder / "base.run", rows_of(80, skill=2))
        make_run(folder / "new.run", rows_of(80))
        scorers = [noted, "qa_f1_reward"]
        adjudge.evaluate(hostile_rows(), agent=hostile_agent, scorers=scorers, run=folder / "hostile.run", config=QUICK)
        shutil.copy(ROOT / "tests" / "golden" / "runs" / "scenarios.run", folder)
        warnings = [{**WARNING, "rule": text, "says": text, "examples": [text]} for text, _ in HOSTILE]
        write(folder / "monitor.jsonl", WINDOW, *warnings, WINDOW, {**WARNING, "says": "rows have no score"})
        yield folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ViewServer]:
    """Serve all of them."""
    with ViewServer([folder], cache=folder / "cache") as server:
        yield server


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:
    """Start a browser, after the runs are made: it has an event loop in this thread."""
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Any, server: ViewServer) -> Iterator[Callable[..., Any]]:
    """Open a page that has followed the link, with a record of what went wrong on it."""
    contexts: list[Any] = []

    def open_(width: int = 1600, scheme: str = "light", **more: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda message: page.faults.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: page.faults.append(dialog.message))
        page.goto(server.link)
        return page

    yield open_
    for context in contexts:
        context.close()


def addresses(folder: Path) -> dict[str, str]:
    """Every kind of page."""
    base, new = key(folder / "base.run"), key(folder / "new.run")
    return {
        "list": "/?list=1",
        "run": f"/runs/{new}",
        "filtered": f"/runs/{new}?verdict=wrong&words=country&scorer=1",
        "row": f"/runs/{new}/rows/3",
        "scenario": f"/runs/{key(folder / 'scenarios.run')}/rows/0",
        "compare": f"/compare?base={base}&new={new}&by=tags",
        "pair": f"/compare/row?base={base}&new={new}&id=q2",
        "label": f"/runs/{new}/label?kind=stratified&size=10",
        "labels": f"/runs/{new}/labels",
        "monitor": f"/monitors/{key(folder / 'monitor.jsonl')}",
        "missing": "/runs/none",
    }


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    open_page: Callable[..., Any], server: ViewServer, folder: Path, width: int, scheme: str
) -> None:
    """Names, contrast and structure of every page are fit for everybody, and nothing is wider than the window."""
    if not AXE.exists():
        pytest.skip("there is no axe-core: make browser")
    page = open_page(width, scheme, bypass_csp=True)
    for name, path in addresses(folder).items():
        page.goto(server.base_url + path)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], name
        assert page.evaluate(OVERFLOW) <= 0, name


def test_no_hostile_text_runs_or_breaks_the_layout(
    open_page: Callable[..., Any], server: ViewServer, folder: Path, tmp_path: Path
) -> None:
    """No script of a row runs, nothing is loaded from elsewhere, and no page is wider than its window."""
    asked: list[str] = []
    page = open_page(400)
    page.on("request", lambda request: asked.append(request.url))
    name = key(folder / "hostile.run")
    write_report(folder / "hostile.run", out=tmp_path / "report.html")
    rows = [f"{server.base_url}/runs/{name}/rows/{number}" for number in range(len(HOSTILE))]
    monitor = f"{server.base_url}/monitors/{key(folder / 'monitor.jsonl')}"
    for address in (f"{server.base_url}/runs/{name}", monitor, (tmp_path / "report.html").as_uri(), *rows):
        page.goto(address)
        assert page.evaluate("window.ran") is None, address
        assert page.evaluate(OVERFLOW) <= 0, address
    assert page.faults == []
    assert {address.partition("://")[0] for address in asked} <= {"http", "file", "data"}
    assert all(address.startswith((server.base_url, "file:///tmp/", "data:")) for address in asked)


def test_the_keyboard_is_enough(open_page: Callable[..., Any], server: ViewServer, folder: Path) -> None:
    """Somebody without a mouse goes from the list to a row, on to the next, back, and compares two runs."""
    page = open_page()
    page.goto(f"{server.base_url}/runs/{key(folder / 'new.run')}")
    page.keyboard.press("/")
    page.keyboard.type("country")
    page.keyboard.press("Enter")
    page.wait_for_url("**words=country**")
    for pressed in ("j", "j", "Enter"):
        page.keyboard.press(pressed)
    page.wait_for_url("**/rows/1?**")
    page.keyboard.press("j")
    page.wait_for_url("**/rows/2?**")
    page.keyboard.press("k")
    page.wait_for_url("**/rows/1?**")
    page.keyboard.press("o")
    assert page.evaluate("[...document.querySelectorAll('main details')].every((one) => one.open)")
    page.keyboard.press("u")
    page.wait_for_url("**words=country")
    page.goto(f"{server.base_url}/?list=1")
    assert page.locator("#compare").is_disabled()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.getAttribute('href')").startswith("/runs/")
    for name in ("base.run", "new.run"):
        page.locator(f"a[href='/runs/{key(folder / name)}']").focus()
        page.keyboard.press("x")
    page.locator("#compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?base=**")
    assert page.faults == []


def test_an_address_names_columns_only_where_they_are_not_the_usual_ones(
    open_page: Callable[..., Any], server: ViewServer, folder: Path
) -> None:
    """A column that is ticked is in the table and in the address; the usual ones leave the address as it was."""
    page = open_page()
    place = f"{server.base_url}/runs/{key(folder / 'new.run')}"
    page.goto(place)
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("tags", exact=True).check()
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**columns=column%3Atags**")
    assert page.get_by_role("columnheader", name="tags").is_visible()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("tags", exact=True).uncheck()
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url(lambda url: "columns" not in url)
    assert not page.faults


def test_labelling_by_keys(open_page: Callable[..., Any], server: ViewServer, folder: Path) -> None:
    """Rows are labelled by keys alone; a key that is held down labels one row."""
    page = open_page()
    place = f"{server.base_url}/runs/{key(folder / 'base.run')}"
    page.goto(f"{place}/label?size=20")
    for done, pressed in enumerate(("y", "n", "u", "ArrowRight", "ArrowLeft"), 1):
        page.keyboard.press(pressed)
        page.wait_for_selector(f"text={done} of 20 labelled")
    row = page.locator("input[name=row]").input_value()
    page.keyboard.press("s")
    page.wait_for_function("row => document.querySelector('input[name=row]')?.value !== row", arg=row)
    page.keyboard.press("b")
    page.wait_for_url("**row=**")
    assert page.locator("button[aria-current=true]").get_attribute("value") == "wrong"
    page.keyboard.press("y")
    page.wait_for_url("**after=**")
    page.goto(f"{place}/label?size=20")
    press = "dispatchEvent(new KeyboardEvent('keydown', {key: 'y', repeat}))"
    page.evaluate(f"for (const repeat of [false, true, true, true]) {press}")
    page.wait_for_selector("text=6 of 20 labelled")
    page.goto(f"{place}/labels")
    assert "5 labels count" in page.content()
    assert page.faults == []


def test_labelling_without_scripts(open_page: Callable[..., Any], server: ViewServer, folder: Path) -> None:
    """Without JavaScript the buttons do the same."""
    page = open_page(java_script_enabled=False)
    page.goto(f"{server.base_url}/runs/{key(folder / 'new.run')}/labels")
    page.locator("form.bar button").click()
    page.locator("button[value=right]").click()
    page.locator("text=1 of 80 labelled").wait_for()
    page.locator("button[value=wrong]").click()
    page.locator("text=2 of 80 labelled").wait_for()


def test_a_report_opens_from_disk_and_asks_nobody(browser: Any, folder: Path, tmp_path: Path) -> None:
    """The file is whole: styled, without a request, and without a complaint of its own policy."""
    write_report(folder / "base.run", folder / "new.run", out=tmp_path / "two.html")
    write_report(folder / "new.run", out=tmp_path / "one.html")
    for name in ("one.html", "two.html"):
        page = browser.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda message, said=said: said.append(message.text))
        page.goto((tmp_path / name).as_uri())
        assert page.evaluate("getComputedStyle(document.querySelector('h1')).fontWeight") == "600"
        assert (len(asked), said) == (1, [])
        page.close()

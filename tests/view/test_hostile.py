"""Whatever rows and models wrote is text on a page, and nothing else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.view import ViewServer, write_report
from adjudge.view._templates import render
from adjudge.view._text import shown
from support import golden
from view.looking import QUICK, Page, Visitor, key, noted

HOSTILE = [(row["input"] * row.get("repeat", 1), row["why"]) for row in golden("hostile")]
OURS = frozenset(
    (
        *("a", "b", "bdi", "body", "button", "circle", "code", "dd", "del", "details", "div", "dl", "dt", "form", "h1"),
        *("h2", "h3", "head", "header", "html", "input", "ins", "kbd", "label", "li", "line", "link", "main", "meta"),
        *("nav", "ol", "option", "p", "polyline", "pre", "rect", "script", "section", "select", "span", "style"),
        *("summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul"),
    )
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def hostile_rows() -> list[dict[str, Any]]:
    """Return rows that have a hostile text in every place."""
    return [
        {
            "id": f"{text[:3000]}{at}",
            "question": text,
            "answer": ["Paris", text[:500]],
            "tags": [text[:100] or "empty", "all"],
            "note": text,
            "topic": text[:60],
            f"column {text[:200]}": text[:5000],
            "source": {"deep": [text[:2000]]},
        }
        for at, (text, _) in enumerate(HOSTILE)
    ]


def hostile_agent(case: Any) -> dict[str, Any]:
    """Answer with the question, in every part of a record."""
    text = case.question
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": f"f{text[:60]}", "arguments": json.dumps({"a": text[:9000]})},
    }
    image = {"type": "image_url", "image_url": {"url": text[:500]}}
    return {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": text[:5000]}, image]},
            {"role": "assistant", "content": text[:5000], "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": text[:5000]},
            {"role": "assistant", "content": f"?{text}" if len(text) % 2 else text},
        ]
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run of hostile texts, under a hostile name."""
    path = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=ran=1>\u202e.run"
    adjudge.evaluate(hostile_rows(), agent=hostile_agent, scorers=[noted, "qa_f1_reward"], run=path, config=QUICK)
    return path


@pytest.fixture(scope="module")
def visitor(run: Path) -> Iterator[Visitor]:
    """Somebody who looks at it."""
    with ViewServer([run], cache=run.parent / "cache") as server:
        yield Visitor(server)


def check(page: Page, *, is_report: bool = False) -> None:
    """Check that a page has no element, attribute or address but ours, and no character that nobody sees."""
    assert {tag for tag, _ in page.elements} <= OURS, sorted({tag for tag, _ in page.elements} - OURS)
    for _, attributes in page.elements:
        assert not any(name.startswith(("on", "style", "srcdoc", "formaction")) for name in attributes)
        for name in ("href", "src", "action"):
            address = attributes.get(name) or ""
            assert address in ("", "data:,") or re.match(r"[/#][^/]|/$", address), address
    scripts = page.all("script")
    assert scripts == ([] if is_report else [{"src": "/static/view.js", "defer": None}])
    # The value of a choice is what an address gets; nobody sees it.
    visible = [value for _, one in page.elements for name, value in one.items() if name != "value" and value]
    assert not HIDDEN.search("".join([*page.texts, *visible]))


def test_no_row_is_more_than_text(visitor: Visitor, run: Path) -> None:
    """The page of a row has our elements alone, and shows what the row says as it was written."""
    for number, (text, why) in enumerate(HOSTILE):
        page = visitor.page(f"/runs/{key(run)}/rows/{number}")
        check(page)
        assert len(page.source) < 1_200_000, why
        whole = "".join(page.texts)
        assert shown(text[:300]).strip() in whole, why


def test_no_event_of_a_log_is_more_than_text(tmp_path: Path) -> None:
    """What a log of Inspect says of its events, errors and attachments is text, whatever it is; so are its columns."""
    samples: list[dict[str, Any]] = []
    for number, (text, _) in enumerate(HOSTILE):
        error = {"message": text, "traceback": text, "traceback_ansi": text}
        events: list[Any] = [
            {"event": kind, "timestamp": text, "function": text, "arguments": {text[:99]: text}, "error": error}
            for kind in ("tool", text[:99])
        ]
        events += [{"event": "state", "changes": [{"path": text, "value": "attachment://1"}]}, {"event": [text]}, text]
        sample = {"id": f"{number}", "epoch": 1, "input": "attachment://1", "target": text, "messages": text}
        sample |= {"metadata": {text[:99]: text}, "attachments": {"1": text}, "events": events}
        samples.append({**sample, "error": error} if number else {**sample, "scores": {"f1": {"value": 0.5}}})
    header = {"task": "t", "model": "m", "created": "2026-01-01", "dataset": {}, "config": {}}
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "status": "error", "eval": header, "samples": samples}))
    with ViewServer([log], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        check(visitor.page(f"/runs/{key(log)}"))
        for number in range(len(HOSTILE)):
            place = f"/runs/{key(log)}/rows/{number}"
            check(visitor.page(place))
            answer = visitor.get(f"{place}/json")
            assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.text.isascii()


def test_lists_filters_and_comparisons_are_ours(visitor: Visitor, run: Path) -> None:
    """What is set in an address comes back as text, too; so do tags, reasons and names in menus."""
    name = key(run)
    check(visitor.page("/?list=1"))
    check(visitor.page(f"/runs/{name}"))
    check(visitor.page(f"/compare?base={name}&new={name}&by=tags"))
    evil = "%22%3E%3Cscript%3Eran%3D1%3C%2Fscript%3E%E2%80%AE"
    check(visitor.page(f"/runs/{name}?words={evil}&tag={evil}&reason={evil}&after={evil}"))
    check(visitor.page(f"/compare?base={name}&new={name}&by={evil}"))
    for path in (f"/runs/{evil}", f"/compare/row?base={name}&new={name}&id={evil}"):
        check(Page(visitor.get(path).text))


def test_a_report_is_ours(run: Path, tmp_path: Path) -> None:
    """The report names no address at all, and has no script; markup in a text ends nothing."""
    write_report(run, out=tmp_path / "one.html")
    write_report(run, run, out=tmp_path / "two.html")
    for name in ("one.html", "two.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert len(text.encode()) < 1_500_000
        page = Page(text)
        check(page, is_report=True)
        assert not any("href" in one or "src" in one for _, one in page.elements)
        policy = next(one["content"] or "" for one in page.all("meta") if "http-equiv" in one)
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert len(page.all("style")) == 1


def test_no_template_marks_a_text_as_safe() -> None:
    """Everything that a template is given is escaped, strings of any kind included."""
    page = render("message.html", message="<b>" + "\ud800")
    assert "&lt;b&gt;" in page
    page.encode()

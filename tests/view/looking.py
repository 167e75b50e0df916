"""Somebody who looks: a visitor of a viewer, and runs to look at."""

import http.client
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import adjudge
from adjudge.model import Score
from adjudge.runs import RowReply, RunConfig
from adjudge.view import ViewServer
from adjudge.view._sources import About, Spent, ViewRow, key_of

QUICK = RunConfig(cache="off", max_unscored=1.0)


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str


class Visitor:
    """Asks a viewer as a browser does that has opened its link."""

    def __init__(self, server: ViewServer) -> None:
        self.place = urlsplit(server.link)
        self.cookie = self.get(f"/?{self.place.query}").headers["set-cookie"].partition(";")[0]

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Ask for a page."""
        connection = http.client.HTTPConnection(self.place.hostname or "", self.place.port, timeout=60)
        known = {"cookie": self.cookie} if hasattr(self, "cookie") else {}
        try:
            connection.request(method, path, headers={**known, **headers})
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read().decode())
        finally:
            connection.close()

    def page(self, path: str) -> "Page":
        """Ask for a page that is there."""
        answer = self.get(path)
        assert answer.status == 200, answer.text
        return Page(answer.text)


class Page(HTMLParser):
    """A page as a browser reads it: its elements and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.source = text
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All texts, with single spaces."""
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    def links(self, part: str) -> list[str]:
        """Return the addresses of links that hold this."""
        return [link for one in self.all("a") if part in (link := one.get("href") or "")]


def key(path: Path) -> str:
    """Return the name of a file in addresses."""
    return key_of(path)


@adjudge.reward
def noted(final_response: str, note: str = "") -> Score:
    """Score by the first letter, and say what the row says."""
    if final_response.startswith("?"):
        return Score.unscored(f"unsure: {note}")
    return Score.scored(float(final_response.startswith("P")), reason=note or None)


def make_run(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Score rows into a run file."""
    adjudge.evaluate(rows, scorers=["qa_f1_reward", noted], run=path, config=QUICK)
    return path


def rows_of(count: int, skill: int = 3) -> list[dict[str, Any]]:
    """Return rows of which one in `skill` is wrong."""
    return [
        {
            "id": f"q{at}",
            "question": f"Capital of country {at}?",
            "answer": "Paris",
            "final_response": "Paris" if at % skill else "It is Lyon",
            "tags": ["even" if at % 2 == 0 else "odd"],
            "note": f"note {at}",
        }
        for at in range(count)
    ]


class RowsSource:
    """Rows in memory, which may become more; `done` says how many are there."""

    is_kept = False
    in_order = True
    is_running = False
    calibration = None
    early = None

    def __init__(self, path: Path, rows: Sequence[ViewRow], scorers: Sequence[str], judged: int | None = None) -> None:
        self.path = path
        self.all = list(rows)
        self.done = len(self.all)
        self.changes = 0
        self.about = About(path.name, "run", scorers=tuple(scorers), ranges=((0.0, 1.0),) * len(scorers), judged=judged)

    @property
    def stamp(self) -> str:
        """What changes with the rows."""
        return f"{self.done} {self.changes}"

    @property
    def identity(self) -> str:
        """What tells it from others."""
        return str(self.path)

    @property
    def total(self) -> int:
        """All rows."""
        return len(self.all)

    @property
    def spent(self) -> Spent | None:
        """Nothing."""
        return None

    def rows(self, first: int) -> Iterator[ViewRow]:
        """Give the rows from a number on."""
        return (self.row(number) for number in range(first, len(self.all)))

    def row(self, number: int) -> ViewRow:
        """Return a row, which has no scores if it is not done."""
        row = self.all[number]
        return row if number < self.done else ViewRow(row.number, row.id, row.columns)

    def replies(self, number: int) -> tuple[RowReply, ...]:
        """Return nothing."""
        return ()

"""A run, or two, as one file: the same parts as the pages, with the style inside and no script.

    write_report("july.run", out="july.html")
    write_report("main.run", "branch.run", out="changes.html")

It asks nobody for anything, which its own policy enforces, and it stays small: the rows that failed come first, and
what does not fit any more is counted.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from adjudge.comparison import Comparison
from adjudge.datasets import whole_file
from adjudge.errors import AdjudgeError
from adjudge.scenarios import Gate, load_gate
from adjudge.view._checks import gate_view, scenarios_of
from adjudge.view._compare_pages import compare_files, comparison_values
from adjudge.view._diff import word_diff
from adjudge.view._index import RowIndex
from adjudge.view._pages import STATIC, number_of, row_line, waiting_of
from adjudge.view._queries import Query
from adjudge.view._rows import shown_score
from adjudge.view._sources import ViewRow, open_source
from adjudge.view._templates import render
from adjudge.view._text import cut, material_of, one_line

MOST_ROWS = 1_000
MOST_BYTES = 1_150_000  # of rows; figures and style take the rest of 1.5 MB
MOST_TEXT = 1_200  # characters of one text
LINE = 120  # characters of a text on a line


def write_report(
    run: str | Path, other: str | Path | None = None, *, out: str | Path, gate: str | Path | None = None
) -> None:
    """Write a run as one HTML file; with another, what changed from the first to the second.

    A check is held against the `gate` of a file; without one, every workflow has to pass.
    """
    text = (
        run_report(Path(run), None if gate is None else load_gate(gate))
        if other is None
        else two_reports(Path(run), Path(other))
    )
    with whole_file(str(out)) as file:
        file.write(text.encode())


def write_comparison(found: Comparison, base: str | Path, new: str | Path, *, out: str | Path) -> None:
    """Write a comparison of two files as one HTML file."""
    with whole_file(str(out)) as file:
        file.write(changes_report(found, None, Path(base), Path(new)).encode())


def run_report(path: Path, gate: Gate | None = None) -> str:
    """Return the report of one run."""
    index = RowIndex(open_source(path))
    try:
        index.refresh()
        figures, about = index.figures(), index.source.about
        room = Room()
        cases, lines = [], []
        for row in _rows(index):
            if _failed(row, about.judged or 0):
                case = _case(row)
                if room.take(case["texts"]):
                    cases.append(case)
                continue
            line = row_line(row, about.scorers, LINE)
            if room.take([line["id"], line["question"], line["response"]]):
                lines.append(line)
        return render(
            "report.html",
            about=about,
            figures=figures,
            waiting=waiting_of(index, figures),
            is_running=index.source.is_running,
            gate=gate_view(index, gate),
            groups=scenarios_of(index),
            cases=cases,
            lines=lines,
            left_out=figures.rows - len(cases) - len(lines),
            **_style(),
        )
    finally:
        index.close()


def two_reports(base: Path, new: Path) -> str:
    """Return the report of what changed between two files."""
    return changes_report(*compare_files(base, new, ""), base, new)


def changes_report(found: Comparison, warning: str | None, base: Path, new: Path) -> str:
    """Return the report of a comparison; the rows that changed are read from both files, where those can be."""
    values = comparison_values(found, warning)
    room = Room()
    pairs: dict[str, dict[str, Any]] = {}
    indexes: list[RowIndex] = []
    try:
        indexes.extend(RowIndex(open_source(path)) for path in (base, new))
        for index in indexes:
            index.refresh()
        for change in values["changes"]:
            pair = _pair(indexes, change.id)
            if room.take(pair["texts"]):
                pairs[change.id] = pair
    except AdjudgeError:
        pairs = {}  # such as a table of answers: what it says can be compared, and not looked at
    finally:
        for index in indexes:
            index.close()
    return render("report_two.html", pairs=pairs, **values, **_style())


class Room:
    """How much of a report is left."""

    def __init__(self) -> None:
        self.rows, self.bytes = MOST_ROWS, MOST_BYTES

    def take(self, texts: list[str]) -> bool:
        """Take the room of a row with these texts, and return whether there was any."""
        size = 1_000 + sum(len(text.encode("utf-8", "replace")) + 4 * _escaped(text) for text in texts)
        if self.rows < 1 or size > self.bytes:
            return False
        self.rows, self.bytes = self.rows - 1, self.bytes - size
        return True


def _escaped(text: str) -> int:
    return sum(text.count(one) for one in "<>&\"'")


def _rows(index: RowIndex) -> Iterator[ViewRow]:
    """Give the rows of a run: errors, those without a score, and then the lowest first."""
    scorer = index.source.about.judged or 0
    given = 0
    for query in (Query(scorer, "error"), Query(scorer, "unscored"), Query(scorer, sort="value")):
        after: str | None = ""
        while after is not None and given < MOST_ROWS:
            page = index.page(query if not after else query.behind(after))
            given, after = given + len(page.numbers), page.next
            yield from map(index.row, page.numbers)


def _failed(row: ViewRow, scorer: int) -> bool:
    scores = list((row.scores or {}).values())
    return scorer >= len(scores) or scores[scorer].value is None or (scores[scorer].value or 0.0) < 1.0


def _case(row: ViewRow) -> dict[str, Any]:
    """Return a row that failed, with what a reader needs to see why."""
    found = material_of(row)
    scores = [shown_score(name, score) for name, score in (row.scores or {}).items()]
    texts = {
        "Question": found.question,
        "Reference": "\n".join(found.references[:20]) or None,
        "Response": found.response,
        "Fault": row.fault,
    }
    parts = [(name, cut(text, MOST_TEXT)) for name, text in texts.items() if text]
    reasons = [(one.name, one.score, cut(one.reason.text, 400) if one.reason else None) for one in scores]
    said = [*(text.text for _, text in parts), *(one.text for _, _, one in reasons if one is not None)]
    return {"id": one_line(row.id, 160), "parts": parts, "scores": reasons, "texts": [*said, row.id[:160]]}


def _pair(indexes: list[RowIndex], id_: str) -> dict[str, Any]:
    """Return the question of a row, and what differs between the responses of two runs."""
    rows = []
    for index in indexes:
        number = number_of(index, id_)
        rows.append(None if number is None else material_of(index.row(number)))
    question = next((row.question for row in rows if row is not None and row.question), "")
    texts = [(row.response or "")[:MOST_TEXT] if row is not None else "" for row in rows]
    return {"question": cut(question, 400), "diff": word_diff(*texts), "texts": [question[:400], *texts]}


@lru_cache(maxsize=1)
def _style() -> dict[str, str]:
    """Return the style sheet, and the sum by which the policy of a report knows it."""
    text = STATIC["view.css"].read_text(encoding="utf-8")
    return {"style": text, "style_sum": b64encode(sha256(text.encode()).digest()).decode()}

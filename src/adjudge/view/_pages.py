"""The pages as text: what each shows, put into its template."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adjudge.comparison import CompareOptions, compare_results, read_results
from adjudge.errors import AdjudgeError, UsageError
from adjudge.view._diff import word_diff
from adjudge.view._index import Index
from adjudge.view._library import Entry
from adjudge.view._queries import SORTS, Query
from adjudge.view._rows import RowView, view_of
from adjudge.view._templates import FOLDER, render
from adjudge.view._text import material_of, one_line

STATIC = {name: FOLDER / "static" / name for name in ("view.css", "view.js")}
MOST_CHANGES = 200  # rows that changed, of a comparison
MOST_TREND = 30  # runs of one name in a trend


def message_page(message: str) -> str:
    """Return a page that says what went wrong."""
    return render("message.html", message=message)


def list_page(entries: Sequence[Entry]) -> str:
    """Return the list of runs, each with the means of earlier runs of its name."""
    trends: dict[str, list[float]] = {}
    lines = []
    for entry in reversed(entries):
        name = _series(entry)
        head = entry.figures.headline if entry.figures is not None else None
        if head is not None and head.mean is not None:
            trends.setdefault(name, []).append(head.mean.value)
        lines.append((entry, head, trends.get(name, [])[-MOST_TREND:]))
    return render("list.html", lines=lines[::-1])


def _series(entry: Entry) -> str:
    """Return what runs of one series have in common: their name without numbers, and what scored them."""
    stem = "".join(one for one in entry.path.stem if not one.isdigit()).strip("-_. ")
    return f"{stem} {'' if entry.about is None else entry.about.scorers[:1]}"


def progress_page(index: Index, key: str) -> str:
    """Return the page that waits for the first reading of a large file."""
    done, total = index.progress
    return render("progress.html", name=index.source.about.name, key=key, done=done, total=total)


def run_page(index: Index, key: str, query: Query) -> str:
    """Return the page of a run."""
    about, figures = index.source.about, index.figures()
    page = index.page(query)
    rows = [index.row(number) for number in page.numbers]
    if any(index.is_stale(row) for row in rows):
        index.rebuild()
    count, is_more = index.count(query)
    total = index.source.total
    scorer = figures.scorers[query.scorer] if figures.scorers else None
    return render(
        "run.html",
        about=about,
        figures=figures,
        scorer=scorer,
        key=key,
        query=query,
        sorts=SORTS,
        rows=[_line(row, about.scorers) for row in rows],
        next=page.next,
        count=count,
        is_more=is_more,
        waiting=0 if total is None else max(0, total - figures.rows),
        is_running=index.source.is_running,
        version=f"{figures.rows} {'running' if index.source.is_running else 'at rest'}",
    )


def _line(row: Any, scorers: Sequence[str]) -> dict[str, Any]:
    """Return one line of the table of rows."""
    found = material_of(row)
    scores = row.scores or {}
    return {
        "number": row.number,
        "id": one_line(row.id, 40),
        "question": one_line(found.question or "", 140),
        "response": one_line(found.response or row.fault or "", 140),
        "seconds": row.seconds,
        "scores": [scores.get(name) for name in scorers],
    }


def row_page(index: Index, key: str, query: Query, number: int) -> str:
    """Return the page of one row."""
    row = index.row(number)
    before, after = index.neighbours(query, number)
    view = view_of(row, index.source.replies(number))
    return render("row.html", about=index.source.about, key=key, query=query, view=view, before=before, after=after)


def compare_page(base: tuple[str, Path], new: tuple[str, Path], by: str) -> str:
    """Return two runs side by side: every metric with its interval, then the rows that changed."""
    sides = {"base": base, "new": new}
    options = CompareOptions(by=(by,) if by else (), allow_mismatch=False)
    warning = None
    results = [read_results(path, keep=(by,) if by else ()) for _, path in sides.values()]
    try:
        found = compare_results(*results, options)
    except AdjudgeError as error:
        # A page may show what a gate must refuse, if it says so.
        warning = error.message
        found = compare_results(*results, CompareOptions(by=(by,) if by else (), allow_mismatch=True))
    metrics = list(found.metrics.values())
    reach = max((max(abs(one.difference.low or 0), abs(one.difference.high or 0), abs(one.difference.value))
                 for one in metrics if one.difference is not None), default=1.0)
    return render(
        "compare.html",
        sides=sides,
        found=found,
        metrics=metrics,
        reach=reach,
        changes=found.changes[:MOST_CHANGES],
        more=max(0, len(found.changes) - MOST_CHANGES),
        warning=warning,
        by=by,
    )


def pair_page(indexes: Sequence[Index], keys: Sequence[str], id_: str) -> str:
    """Return one row of two runs, with what differs in their responses marked."""
    views: list[RowView | None] = []
    numbers: list[int | None] = []
    for index in indexes:
        number = _number_of(index, id_)
        numbers.append(number)
        views.append(None if number is None else view_of(index.row(number)))
    if views[0] is None and views[1] is None:
        raise UsageError("Neither run has a row with that id.", code="no-such-row")
    texts = ["" if view is None else view.material.response or "" for view in views]
    return render(
        "pair.html",
        id=id_,
        keys=keys,
        names=[index.source.about.name for index in indexes],
        views=views,
        numbers=numbers,
        diff=word_diff(*texts),
    )


def _number_of(index: Index, id_: str) -> int | None:
    """Return the number of a case; repeats of a scenario are `ID#1` and so on in their run."""
    found = index.number_of(id_)
    return index.number_of(f"{id_}#1") if found is None else found

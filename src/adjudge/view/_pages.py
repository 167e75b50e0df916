"""The pages as text: what each shows, put into its template."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.errors import UsageError
from adjudge.model import decode_json, to_json
from adjudge.scenarios import Gate
from adjudge.view._calibrations import CalibrationView
from adjudge.view._checks import gate_view, scenario_view, scenarios_of, turns_of
from adjudge.view._figures import RunFigures
from adjudge.view._index import RowIndex
from adjudge.view._library import ListEntry
from adjudge.view._queries import MOST_COLUMNS, Query
from adjudge.view._rows import OWN_COLUMNS, view_of
from adjudge.view._sources import About, ViewRow
from adjudge.view._templates import FOLDER, money, render, seconds
from adjudge.view._text import material_of, one_line, pretty

STATIC = {name: FOLDER / "static" / name for name in ("view.css", "view.js", "label.js")}
MOST_TREND = 30  # runs of one name in a trend
SORTS = (
    ("number", "of the run"),
    ("value", "lowest first"),
    ("-value", "highest first"),
    ("-seconds", "slowest first"),
    ("seconds", "fastest first"),
)


def message_page(message: str) -> str:
    """Return a page that says what went wrong."""
    return render("message.html", message=message)


def list_page(
    entries: Sequence[ListEntry],
    chosen: Sequence[str] = (),
    calibrations: Mapping[str, Path] | None = None,
    monitors: Mapping[str, Path] | None = None,
) -> str:
    """Return the list of runs, each with the means of earlier runs of its name; some may be chosen already."""
    trends: dict[str, list[float]] = {}
    lines = []
    for entry in reversed(entries):
        name = _series(entry)
        head = entry.figures.headline if entry.figures is not None else None
        if head is not None and head.mean is not None:
            trends.setdefault(name, []).append(head.mean.value)
        lines.append((entry, head, trends.get(name, [])[-MOST_TREND:]))
    # Files of one name are told apart by their folder.
    names = Counter(entry.path.name for entry in entries)
    folders = {entry.key: str(entry.path.parent) for entry in entries if names[entry.path.name] > 1}
    others = {"calibrations": calibrations or {}, "monitors": monitors or {}}
    return render("list.html", lines=lines[::-1], chosen=chosen, folders=folders, **others)


def _series(entry: ListEntry) -> str:
    """Return what runs of one series have in common: their name without numbers, and what scored them."""
    stem = "".join(one for one in entry.path.stem if not one.isdigit()).strip("-_. ")
    return f"{stem} {'' if entry.about is None else entry.about.scorers[:1]}"


def progress_page(index: RowIndex, key: str) -> str:
    """Return the page that waits for the first reading of a large file."""
    done, total = index.progress
    return render("progress.html", name=index.source.about.name, key=key, done=done, total=total)


def run_page(index: RowIndex, key: str, query: Query, gate: Gate | None = None) -> str:
    """Return the page of a run; a check is held against a gate."""
    about, figures = index.source.about, index.figures()
    page = index.page(query)
    rows = [index.row(number) for number in page.numbers]
    columns = table_columns(about, rows, query.columns)
    # An address names only what is not as usual.
    if all(one.is_shown == one.is_usual for one in columns):
        query = replace(query, columns=())
    if any(index.is_stale(row) for row in rows):
        index.rebuild()
    count, is_more = index.count(query)
    return render(
        "run.html",
        about=about,
        figures=figures,
        key=key,
        query=query,
        sorts=SORTS,
        columns=columns,
        rows=[{**row_line(row, about.scorers), "cells": _cells(row, columns)} for row in rows],
        next=page.next,
        count=count,
        is_more=is_more,
        typed={"low": _typed(query.low), "high": _typed(query.high), **dict(query.wrong)},
        waiting=waiting_of(index, figures),
        is_running=index.source.is_running,
        version=version_of(index),
        calibration=_calibration(index, figures),
        groups=scenarios_of(index),
        gate=gate_view(index, gate),
        **_choices(figures, query),
    )


def _typed(bound: float | None) -> str:
    return "" if bound is None else str(bound)


def _choices(figures: RunFigures, query: Query) -> dict[str, Any]:
    """Return what the filters offer: pairs of a value and its words; what is set is always among them."""
    scorer = figures.scorers[query.scorer] if figures.scorers else None
    reasons = list(scorer.reasons) if scorer is not None else []
    offered = {}
    for name, values, given in (("reasons", reasons, query.reason), ("tags", figures.offered, query.tag)):
        known = dict.fromkeys([*values, *([given] if given else [])])
        offered[name] = [("", "any"), *((one, one) for one in known)] if known else []
    return {**offered, "scorer_names": [(at, one.name) for at, one in enumerate(figures.scorers)]}


def _calibration(index: RowIndex, figures: RunFigures) -> CalibrationView | None:
    """Return what was measured of the judge, with the run's score corrected for its errors."""
    known, judged = index.source.calibration, index.source.about.judged
    if known is None:
        return None
    # A run that was only judged has one score.
    return CalibrationView.of(known, figures.scorers[judged or 0] if figures.scorers else None)


def waiting_of(index: RowIndex, figures: RunFigures) -> int:
    """Return how many cases have no outcome yet."""
    total = index.source.total
    spared = 0 if figures.early is None else figures.early.spared
    return 0 if total is None else max(0, total - figures.rows - spared)


def version_of(index: RowIndex) -> str:
    """Return a text that is another one when there are other rows to show."""
    return f"{index.size} {'running' if index.source.is_running else 'at rest'}"


class TableColumn(NamedTuple):
    """A column of the table of rows; `kind` is text, score or number; the usual ones are shown where none is chosen."""

    key: str
    label: str
    kind: str
    is_shown: bool
    is_usual: bool


def table_columns(about: About, rows: Sequence[ViewRow], chosen: Sequence[str]) -> list[TableColumn]:
    """Return what columns a table may have, and which are shown: those that were chosen, or the usual ones."""
    scores = [f"score:{name}" for name in about.scorers]
    given = dict.fromkeys(f"column:{name}" for row in rows for name in row.columns if name not in OWN_COLUMNS)
    asked = [one for one in chosen if one.startswith("column:")]
    others = list(dict.fromkeys([*asked, *given]))[:MOST_COLUMNS]
    kinds = {"question": "text", "response": "text", **dict.fromkeys(scores, "score")}
    kinds |= {**dict.fromkeys(("time", "tokens", "cost"), "number"), **dict.fromkeys(others, "text")}
    usual = {"question", "response", *scores[:6], "time"}
    shown = {*chosen} & {*kinds} or usual
    return [
        TableColumn(key, key.partition(":")[2] or key, kind, key in shown, key in usual) for key, kind in kinds.items()
    ]


def _cells(row: ViewRow, columns: Sequence[TableColumn]) -> dict[str, Any]:
    """Return what a row has in the columns that are shown."""
    line, record = row_line(row, ()), row.trajectory
    tokens = 0 if record is None else (record.prompt_tokens or 0) + (record.completion_tokens or 0)
    known = {
        "question": line["question"],
        "response": line["response"],
        "time": seconds(row.seconds),
        "tokens": f"{tokens:,}" if tokens else "–",
        "cost": money(None if record is None else record.cost),
    }
    scores = row.scores or {}
    for one in columns:
        if one.is_shown and one.kind == "score":
            known[one.key] = scores.get(one.label)
        elif one.is_shown and one.key not in known:
            value = row.columns.get(one.label)
            known[one.key] = "" if value is None else one_line(value if isinstance(value, str) else pretty(value), 240)
    return known


def row_line(row: ViewRow, scorers: Sequence[str], most: int = 240) -> dict[str, Any]:
    """Return one line of a table of rows."""
    found = material_of(row)
    scores = row.scores or {}
    return {
        "number": row.number,
        "id": one_line(row.id, 80),
        "question": one_line(found.question or "", most),
        "response": one_line(found.response or row.fault or "", most),
        "seconds": row.seconds,
        "scores": [scores.get(name) for name in scorers],
    }


def row_page(index: RowIndex, key: str, query: Query, number: int) -> str:
    """Return the page of one row."""
    row = index.row(number)
    before, after = index.neighbours(query, number)
    view = view_of(row, index.source.replies(number))
    return render(
        "row.html",
        about=index.source.about,
        key=key,
        query=query,
        view=view,
        before=before,
        after=after,
        scenario=scenario_view(view, index),
        turns=turns_of(row, index),
        is_spared=row.scores is None and index.source.early is not None,
    )


def row_json(index: RowIndex, number: int) -> bytes:
    """Return all that is known of a row as JSON, in ASCII: no character of it hides or turns another."""
    row, *replies = [decode_json(to_json(one)) for one in (index.row(number), *index.source.replies(number))]
    return json.dumps({"row": row, "replies": replies}, indent=1).encode()


def number_of(index: RowIndex, id_: str) -> int | None:
    """Return the number of a case; repeats of a scenario are `ID#1` and so on in their run."""
    found = index.number_of(id_)
    return index.number_of(f"{id_}#1") if found is None else found


def missing_row() -> UsageError:
    """Return the error of an id that no run has."""
    return UsageError("Neither run has a row with that id.", code="no-such-row")

"""The pages where people label rows, and what their labels say.

    GET  /runs/KEY/label?kind=stratified&size=200     the next row of the sample: question, references, response
    POST /runs/KEY/label                              what its reader said; the next row follows
    GET  /runs/KEY/labels                             agreement, the corrected score, who labelled how many

No page with a row to label has a verdict on it. Everything works without JavaScript; keys are a convenience.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

from adjudge.errors import DataError, MissingExtra, UsageError
from adjudge.judges.columns import SOURCES, one_value, texts_of
from adjudge.statistics import Estimate
from adjudge.view._index import RowIndex
from adjudge.view._label_desk import LabelDesk, LabelQuery, digest_of
from adjudge.view._label_sample import KINDS
from adjudge.view._labels import LABELS
from adjudge.view._library import Library
from adjudge.view._rows import view_of
from adjudge.view._sources import ViewRow
from adjudge.view._templates import render
from adjudge.view._text import Shown, cut

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError:
    raise MissingExtra.of("view", "the viewer") from None

LARGEST_FORM = 4096  # bytes: a form holds names and numbers only

Handler = Callable[[Request], Awaitable[Response]]


def label_routes(library: Library, safe: Callable[[Handler], Handler], desk: LabelDesk | None = None) -> list[Route]:
    """Return the addresses of labelling; `safe` makes an error of ours a page."""
    pages = LabelPages(library, desk or LabelDesk())
    return [
        Route("/runs/{key}/label", safe(pages.ask), methods=["GET"]),
        Route("/runs/{key}/label", safe(pages.take), methods=["POST"]),
        Route("/runs/{key}/labels", safe(pages.figures), methods=["GET"]),
    ]


class LabelPages:
    """The answers to requests about labels."""

    def __init__(self, library: Library, desk: LabelDesk) -> None:
        self.library = library
        self.desk = desk

    async def ask(self, request: Request) -> Response:
        """Answer with the next row to label."""
        key, index = await self._index(request)
        query = _query(index, dict(request.query_params))
        return HTMLResponse(await run_in_threadpool(label_page, self.desk, index, key, query))

    async def take(self, request: Request) -> Response:
        """Write a label, and lead to the next row."""
        form = await _form(request)
        if not hmac.compare_digest(form.get("proof", "").encode(), self.desk.proof.encode()):
            raise UsageError("This form is of another session: load the page again.", code="bad-option")
        key, index = await self._index(request)
        query = _query(index, form)
        if query.row is None:
            raise UsageError("The form names no row.", code="bad-option")
        answer = next((name for name in LABELS if name == form.get("answer", "")), None)
        if answer is not None:
            shown = form.get("shown", "")
            is_taken = await run_in_threadpool(self.desk.answer, index, query, query.row, answer, shown=shown)
            if not is_taken:
                page = await run_in_threadpool(label_page, self.desk, index, key, query, is_changed=True)
                return HTMLResponse(page, 409)
        # A row that was skipped comes again behind all others.
        return RedirectResponse(f"/runs/{key}/label{query.address(after=query.row)}", 303)

    async def figures(self, request: Request) -> Response:
        """Answer with what the labels say."""
        key, index = await self._index(request)
        query = _query(index, dict(request.query_params))
        return HTMLResponse(await run_in_threadpool(figures_page, self.desk, index, key, query))

    async def _index(self, request: Request) -> tuple[str, RowIndex]:
        key = request.path_params["key"]
        index = await self.library.read(key)
        if index.is_new:
            raise UsageError("This file is still being read: try again in a moment.", code="in-use")
        return key, index


def _query(index: RowIndex, given: dict[str, str]) -> LabelQuery:
    about = index.source.about
    return LabelQuery.of(given, len(about.scorers), about.judged or 0)


async def _form(request: Request) -> dict[str, str]:
    """Read a small form; `Guard` has seen to it that it comes from a page of ours."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_FORM:
            raise UsageError("This form is too large.", code="bad-option")
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def label_page(desk: LabelDesk, index: RowIndex, key: str, query: LabelQuery, *, is_changed: bool = False) -> str:
    """Return the page with the next row, without any score of it; `is_changed` says that an answer was refused."""
    task = desk.task(index, query)
    view = None if task.row is None else view_of(task.row)
    return render(
        "label.html",
        about=index.source.about,
        key=key,
        query=query,
        task=task,
        view=view,
        digest="" if task.row is None else digest_of(index, task.row),
        is_changed=is_changed,
        sources=() if view is None else view.sources or _sources_of(view.row),
        annotator=desk.annotator,
        proof=desk.proof,
    )


def _sources_of(row: ViewRow) -> tuple[Shown, ...]:
    """Return the sources that came with a row, where no agent found some."""
    name, value = one_value(row.columns, SOURCES)
    try:
        return tuple(cut(one, 2000) for one in texts_of(value, name)) if value is not None else ()
    except DataError:
        return ()


def figures_page(desk: LabelDesk, index: RowIndex, key: str, query: LabelQuery) -> str:
    """Return the page with what the labels say."""
    found, more = desk.figures(index, query)
    scorers = index.figures().scorers
    names: dict[str, Any] = {
        "accuracy": found.accuracy,
        "kappa": found.kappa,
        "corrected": found.corrected,
    }
    return render(
        "labels.html",
        about=index.source.about,
        key=key,
        query=query,
        more=more,
        mean=scorers[query.scorer].mean if scorers else None,
        kinds=KINDS,
        found=found,
        shown_estimates={name: None if one is None else estimate_words(one) for name, one in names.items()},
        people=[
            (one, other, known, estimate_words(known.accuracy), known.kappa and estimate_words(known.kappa))
            for one, other, known in found.people
        ],
        annotator=desk.annotator,
        file=str(desk.file(index).path),
        is_running=index.source.is_running,
    )


def estimate_words(found: Estimate) -> tuple[str, str]:
    """Return a number and its interval as texts.

    >>> estimate_words(Estimate(0.5, None, 0.25, 0.75, 4, None, None, "wilson"))
    ('0.500', '95 % interval 0.250 .. 0.750')
    """
    if found.low is None or found.high is None:
        return f"{found.value:.3f}", "no interval"
    return f"{found.value:.3f}", f"{found.confidence:.0%} interval {found.low:.3f} .. {found.high:.3f}".replace(
        "%", " %"
    )

"""The pages: addresses and what answers them. What is on a page is made elsewhere; here it is asked for and handed out.

/                                  the list of runs
/runs/KEY                          one run: figures, and a table of its rows
/runs/KEY/rows/7                   one row whole
/runs/KEY/rows/7/json              the same as JSON
/runs/KEY/version                  changes when the run has new rows: the page asks while a run goes on
/calibrations/KEY                  what was measured of a judge
/monitors/KEY                      what watched a reward
/compare?base=KEY&new=KEY          two runs
/compare/row?base=..&new=..&id=..  one row of both
/runs/KEY/label, /runs/KEY/labels  labelling, and what the labels say: `_label_pages`
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Self

from adjudge.errors import AdjudgeError, MissingExtra, UsageError
from adjudge.http import is_loopback
from adjudge.scenarios import load_gate
from adjudge.view._guard import Guard, names_of
from adjudge.view._index import RowIndex
from adjudge.view._label_desk import LabelDesk
from adjudge.view._library import Library
from adjudge.view._queries import Query, whole_number

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError:
    raise MissingExtra.of("view", "the viewer") from None

from adjudge.view._calibrations import calibration_page
from adjudge.view._compare_pages import compare_page, pair_page
from adjudge.view._label_pages import label_routes
from adjudge.view._monitors import monitor_page
from adjudge.view._pages import (
    STATIC,
    list_page,
    message_page,
    progress_page,
    row_json,
    row_page,
    run_page,
    version_of,
)
from adjudge.view._sources import stamp_of

if TYPE_CHECKING:
    from uvicorn import Server

Handler = Callable[[Request], Awaitable[Response]]


class Pages:
    """The answers to requests for one library."""

    def __init__(self, library: Library, desk: LabelDesk) -> None:
        self.library = library
        self.desk = desk

    @property
    def routes(self) -> list[Route]:
        """Every address."""
        return [
            Route("/", self._safe(self.runs)),
            Route("/runs/{key}", self._safe(self.run)),
            Route("/runs/{key}/version", self._safe(self.version)),
            Route("/runs/{key}/rows/{number}", self._safe(self.row)),
            Route("/runs/{key}/rows/{number}/json", self._safe(self.row_json)),
            Route("/compare", self._safe(self.compare)),
            Route("/compare/row", self._safe(self.pair)),
            Route("/calibrations/{key}", self._safe(self.calibration)),
            Route("/monitors/{key}", self._safe(self.monitor)),
            Route("/monitors/{key}/version", self._safe(self.monitor_version)),
            Route("/static/{name}", self._safe(self.static)),
            *label_routes(self.library, self._safe, self.desk),
        ]

    def _safe(self, handler: Handler) -> Handler:
        """Make an error of ours a page that says so."""

        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except AdjudgeError as error:
                return HTMLResponse(message_page(error.message), _status_of(error))

        return answer

    async def runs(self, request: Request) -> Response:
        """Answer with the list of runs; two that are chosen are compared, of others it says how to choose."""
        chosen = request.query_params.getlist("run")
        if len(chosen) == 2:
            # The older one is the base: the list shows the newest first.
            return RedirectResponse(f"/compare?base={chosen[-1]}&new={chosen[0]}", 303)
        entries = await run_in_threadpool(self.library.entries)
        calibrations, monitors = self.library.calibrations(), self.library.monitors()
        places = [f"/runs/{entry.key}" for entry in entries]
        places += [*(f"/calibrations/{key}" for key in calibrations), *(f"/monitors/{key}" for key in monitors)]
        if len(places) == 1 and not self.library.has_folders and "list" not in request.query_params:
            return RedirectResponse(places[0], 303)
        return HTMLResponse(await run_in_threadpool(list_page, entries, chosen, calibrations, monitors))

    async def run(self, request: Request) -> Response:
        """Answer with a run, or with how far the first reading of its file is."""
        key = request.path_params["key"]
        index = await self.library.read(key)
        if index.is_new:
            return HTMLResponse(progress_page(index, key))
        query = _query(request, index)
        return HTMLResponse(await run_in_threadpool(run_page, index, key, query, self.library.gate))

    async def version(self, request: Request) -> Response:
        """Answer with what changes when the run has new rows."""
        index = await self.library.read(request.path_params["key"])
        return PlainTextResponse(await run_in_threadpool(version_of, index))

    async def row(self, request: Request) -> Response:
        """Answer with one row."""
        key, index, number = await self._row(request)
        query = _query(request, index)
        return HTMLResponse(await run_in_threadpool(row_page, index, key, query, number))

    async def row_json(self, request: Request) -> Response:
        """Answer with one row as JSON: what the page cuts is whole here."""
        _, index, number = await self._row(request)
        return Response(await run_in_threadpool(row_json, index, number), media_type="application/json")

    async def _row(self, request: Request) -> tuple[str, RowIndex, int]:
        key, number = request.path_params["key"], whole_number(request.path_params["number"])
        if number is None:
            raise UsageError("There is no such row.", code="no-such-row")
        index = await self.library.read(key)
        return key, index, number

    async def compare(self, request: Request) -> Response:
        """Answer with two runs side by side."""
        base, new = self._two(request)
        by = request.query_params.get("by", "")
        return HTMLResponse(await run_in_threadpool(compare_page, base, new, by))

    async def pair(self, request: Request) -> Response:
        """Answer with one row of two runs."""
        (base_key, _), (new_key, _) = two = self._two(request)
        indexes = [await self.library.read(key) for key in (base_key, new_key)]
        id_ = request.query_params.get("id", "")
        return HTMLResponse(await run_in_threadpool(pair_page, indexes, [key for key, _ in two], id_))

    async def calibration(self, request: Request) -> Response:
        """Answer with what was measured of a judge."""
        path = _file_of(request, self.library.calibrations())
        return HTMLResponse(await run_in_threadpool(calibration_page, path))

    async def monitor(self, request: Request) -> Response:
        """Answer with what watched a reward."""
        path = _file_of(request, self.library.monitors())
        run = request.query_params.get("run", "")
        return HTMLResponse(await run_in_threadpool(monitor_page, path, request.path_params["key"], run))

    async def monitor_version(self, request: Request) -> Response:
        """Answer with what changes when the file has new lines."""
        return PlainTextResponse(stamp_of(_file_of(request, self.library.monitors())))

    async def static(self, request: Request) -> Response:
        """Answer with a style sheet or a script, which are the same for everybody."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise UsageError("There is no such page.", code="no-such-row")
        return FileResponse(STATIC[name], headers={"cache-control": "max-age=60"})

    def _two(self, request: Request) -> tuple[tuple[str, Path], tuple[str, Path]]:
        files = self.library.files()
        keys = [request.query_params.get(name, "") for name in ("base", "new")]
        if not all(key in files for key in keys):
            raise UsageError("Choose two runs of the list to compare.", code="no-such-row")
        return (keys[0], files[keys[0]]), (keys[1], files[keys[1]])


def _file_of(request: Request, files: Mapping[str, Path]) -> Path:
    path = files.get(request.path_params["key"])
    if path is None:
        raise UsageError("There is no such file here.", code="no-such-row")
    return path


def _query(request: Request, index: RowIndex) -> Query:
    columns = request.query_params.getlist("columns")
    return Query.of(request.query_params, len(index.source.about.scorers), columns)


def _status_of(error: AdjudgeError) -> int:
    if error.code == "no-such-row":
        return 404
    return 400 if isinstance(error, UsageError) else 500


async def _not_found(_request: Request, _error: Exception) -> Response:
    return HTMLResponse(message_page("There is no such page."), 404)


def _uvicorn() -> ModuleType:
    """Return the module, which starts what ends with the process as soon as it is imported."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra.of("view", "the viewer") from None
    return uvicorn


class ViewServer:
    """Serves the pages for some files and folders, from a thread of its own, in a `with` statement.

    `link` has the token that opens it. It listens on this machine only, unless `host` is another. Labels of people go
    to `labels`, or to a file beside the run that they are about, under the name `annotator`, or the login name. A
    check is held against the `gate` of a file; without one, every workflow has to pass.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        cache: str | Path | None = None,
        labels: str | Path | None = None,
        annotator: str | None = None,
        gate: str | Path | None = None,
    ) -> None:
        cache = None if cache is None else Path(cache)
        self.library = Library([Path(path) for path in paths], cache, None if gate is None else load_gate(gate))
        self.library.files()  # a path that is not there is an error now, and not a page
        self._desk = LabelDesk(labels, annotator)
        self._host = host
        self._wanted = port
        self._token = secrets.token_urlsafe(18)
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._socket: socket.socket | None = None

    @property
    def link(self) -> str:
        """The address to open."""
        return f"{self.base_url}/?token={self._token}"

    @property
    def base_url(self) -> str:
        """Where it listens."""
        if self._socket is None:
            raise UsageError("the viewer is not running: use it in a `with` statement", code="not-running")
        name = names_of(self._host)[0]
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{self._socket.getsockname()[1]}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self._host)

    def start(self) -> None:
        """Start to serve."""
        uvicorn = _uvicorn()
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self._host, self._wanted))
            # From now on a browser that comes too early waits, and is not refused.
            listener.listen(128)
        except OSError as error:
            listener.close()
            reason = error.strerror or error
            raise UsageError(f"cannot listen on {self._host}:{self._wanted}: {reason}", code="cannot-listen") from None
        self._socket = listener
        app = Starlette(routes=Pages(self.library, self._desk).routes, exception_handlers={404: _not_found})
        guarded = Guard(app, host=self._host, port=listener.getsockname()[1], token=self._token)
        config = uvicorn.Config(
            guarded,
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="adjudge viewer", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        server, listener = self._server, self._socket
        if server is not None and listener is not None:
            asyncio.run(server.serve(sockets=[listener]))

    def wait(self) -> None:
        """Wait until somebody interrupts."""
        with suppress(KeyboardInterrupt):
            while self._thread is not None and self._thread.is_alive():
                self._thread.join(0.5)

    def stop(self) -> None:
        """Stop to serve, and close all files."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        if self._socket is not None:
            self._socket.close()
        self._server = self._thread = self._socket = None
        self.library.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

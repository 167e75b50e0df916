"""Local servers that speak what Langfuse and LangSmith speak, page by page, with faults on order."""

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from adjudge.http import LoopThread

BEGIN = "2026-01-02T03:04:"


def observation(trace: str, number: int, kind: str, name: str, parent: int | str | None = None) -> dict[str, Any]:
    """Return an observation as Langfuse's API gives it."""
    return {
        "id": f"{number:016x}",
        "traceId": trace,
        "projectId": "project-1",
        "type": kind,
        "name": name,
        "parentObservationId": f"{parent:016x}" if isinstance(parent, int) else parent,
        "startTime": f"2026-01-02T03:{number // 60:02d}:{number % 60:02d}.000Z",
        "endTime": f"2026-01-02T03:{number // 60:02d}:{number % 60:02d}.500Z",
        "input": '{"query": "bridge"}',
        "output": "found",
        "metadata": {},
        "level": "DEFAULT",
    }


def run(trace: str, number: int, kind: str, name: str, parent: int | None = None, **more: Any) -> dict[str, Any]:
    """Return a run as LangSmith's API gives it."""
    return {
        "id": f"00000000-0000-4000-8000-{number:012x}",
        "trace_id": trace,
        "parent_run_id": None if parent is None else f"00000000-0000-4000-8000-{parent:012x}",
        "run_type": kind,
        "name": name,
        "start_time": f"2026-01-02T03:{number // 60 % 60:02d}:{number % 60:02d}.000000",
        "end_time": f"2026-01-02T03:{number // 60 % 60:02d}:{number % 60:02d}.500000",
        "inputs": {"query": "bridge"},
        "outputs": {"output": "found"},
        **more,
    }


@dataclass
class Service:
    """A server in a thread; `faults` are answered in turn before anything else is, `seen` is what was asked."""

    items: list[dict[str, Any]] = field(default_factory=list)
    sessions: dict[str, list[str]] = field(default_factory=dict)
    faults: list[tuple[int, Mapping[str, str], bytes]] = field(default_factory=list)
    seen: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    base_url: str = ""
    after: Callable[["Service"], None] = lambda _: None

    def __enter__(self) -> Self:
        self._thread = LoopThread(self._serving, "service")
        self.base_url = f"http://127.0.0.1:{self._thread.start()}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.stop()

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[int]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        asked = {**request.query, **body}
        self.seen.append((request.path, asked))
        if self.faults:
            status, headers, content = self.faults.pop(0)
            return web.Response(status=status, headers=headers, body=content)
        if not self.is_allowed(request.headers):
            return web.json_response({"message": "Invalid credentials"}, status=401)
        answer = self.page(request.path, asked)
        self.after(self)
        return web.json_response({"message": "not found"}, status=404) if answer is None else web.json_response(answer)

    def is_allowed(self, headers: Mapping[str, str]) -> bool:
        """Say whether the keys are right."""
        return bool(headers)

    def page(self, path: str, asked: Mapping[str, Any]) -> Any:
        """Return the answer to a question; None where there is none."""
        del path, asked

    def paths(self) -> list[str]:
        """Return the paths that were asked for, in order."""
        return [path for path, _ in self.seen]


class Langfuse(Service):
    """Langfuse 4: observations by cursor."""

    def is_allowed(self, headers: Mapping[str, str]) -> bool:
        """Say whether the keys are right."""
        return headers.get("Authorization") == "Basic " + base64.b64encode(b"pk-test:sk-test").decode()

    def page(self, path: str, asked: Mapping[str, Any]) -> Any:
        """Return a page of observations."""
        if path != "/api/public/v2/observations":
            return None
        start, size = int(asked.get("cursor", "0")), min(int(asked["limit"]), 1000)
        found = self.of(asked)
        names = {"id", "traceId", "projectId", "type", "startTime", "endTime", "parentObservationId", "name", "level"}
        names |= {"input", "output"} if "io" in asked.get("fields", "") else set()
        data = [{key: one[key] for key in one if key in names} for one in found[start : start + size]]
        return {"data": data, "meta": {"cursor": str(start + size)} if start + size < len(found) else {}}

    def of(self, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the observations that are asked for, the latest first, as Langfuse does."""
        wanted = self.sessions.get(asked["sessionId"], []) if "sessionId" in asked else [asked["traceId"]]
        return sorted((one for one in self.items if one["traceId"] in wanted), key=lambda one: one["id"], reverse=True)


class OldLangfuse(Langfuse):
    """Langfuse 3: observations by page numbers, and traces."""

    output: Any = "The bridge is 300 m long."

    def page(self, path: str, asked: Mapping[str, Any]) -> Any:
        """Return a page of observations or traces, or a trace."""
        if path == "/api/public/observations":
            return self.numbered(self.of(asked), asked)
        if path == "/api/public/traces":
            return self.numbered([{"id": one} for one in self.sessions.get(asked["sessionId"], [])], asked)
        name = path.removeprefix("/api/public/traces/")
        if any(one["traceId"] == name for one in self.items):
            return {"id": name, "name": "chat", "timestamp": f"{BEGIN}00.000Z", "output": self.output}
        return None

    def numbered(self, found: list[dict[str, Any]], asked: Mapping[str, Any]) -> Any:
        """Return one page of what was found."""
        number, size = int(asked["page"]), min(int(asked["limit"]), 100)
        total = -(-len(found) // size)
        meta = {"page": number, "limit": size, "totalItems": len(found), "totalPages": total}
        return {"data": found[(number - 1) * size : number * size], "meta": meta}


class LangSmith(Service):
    """LangSmith: runs by cursor."""

    def is_allowed(self, headers: Mapping[str, str]) -> bool:
        """Say whether the key is right."""
        return headers.get("x-api-key") == "lsv2-test"

    def page(self, path: str, asked: Mapping[str, Any]) -> Any:
        """Return a page of runs."""
        if path != "/runs/query":
            return None
        start, size = int(asked.get("cursor", "0")), min(int(asked.get("limit", 100)), 100)
        found = list(self.of(asked))
        following = str(start + size) if start + size < len(found) else None
        return {"runs": found[start : start + size], "cursors": {"next": following}}

    def of(self, asked: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        """Return the runs that are asked for."""
        if "trace" in asked:
            return [one for one in self.items if one["trace_id"] == asked["trace"]]
        session = json.loads(asked["filter"].partition("eq(metadata_value, ")[2].removesuffix("))"))
        wanted = self.sessions.get(session, [])
        return [one for one in self.items if one["trace_id"] in wanted and one["parent_run_id"] is None]


class NewLangSmith(LangSmith):
    """LangSmith where only the newer interface is left."""

    def page(self, path: str, asked: Mapping[str, Any]) -> Any:
        """Return the runs of a trace, in the newer words."""
        parts = path.split("/")
        if parts[:4] != ["", "api", "v2", "traces"] or asked.get("project_id") != "project-1":
            return None
        return {
            "items": [
                {
                    **{key: one[key] for key in one if key != "parent_run_id"},
                    "run_type": one["run_type"].upper(),
                    "parent_run_ids": ["x", one["parent_run_id"]] if one["parent_run_id"] else [],
                }
                for one in self.items
                if one["trace_id"] == parts[4]
            ]
        }

"""Traces from LangSmith, through its API.

All runs of a trace come from `/runs/query`, by cursor. Where that is switched off (501, or gone), they come from
`/api/v2/traces/{id}/runs`, which needs the project.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from adjudge.calling import run_sync
from adjudge.chat import Key
from adjudge.errors import UsageError
from adjudge.http import Limits
from adjudge.model import Trajectory
from adjudge.receivers._errors import ReceiverError
from adjudge.receivers._service import MOST, Fetched, Gone, Service, all_pages, in_pages, poll, setting
from adjudge.receivers._whole import SETTLE, Wait
from adjudge.traces import Record, decode_langsmith

CLOUD = "https://api.smith.langchain.com"
KEYS = "LANGSMITH_API_KEY"
_SELECT = (
    *("id", "name", "run_type", "start_time", "end_time", "parent_run_id", "trace_id"),
    *("inputs", "outputs", "error", "extra", "status"),
)
_V2_SELECT = (
    *("ID", "NAME", "RUN_TYPE", "START_TIME", "END_TIME", "PARENT_RUN_IDS", "TRACE_ID"),
    *("INPUTS", "OUTPUTS", "ERROR", "EXTRA", "STATUS"),
)
_SESSION_KEYS = ("session_id", "thread_id", "conversation_id")
_TIMEOUT = 60.0


class LangSmithReceiver:
    """Fetches traces from LangSmith.

    The address is `base_url`, or `LANGSMITH_ENDPOINT`, or LangSmith's cloud; the key is `LANGSMITH_API_KEY` unless it
    is given (a key, or the path of a file that holds it). `project` is the id of the tracing project: sessions can be
    looked up only in one, and some servers want it for traces too. A key for several workspaces needs
    `LANGSMITH_WORKSPACE_ID`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | Path | None = None,
        project: str | None = None,
        limits: Limits | None = None,
        allow_private: bool = True,
    ) -> None:
        key = Key(api_key, KEYS)
        workspace = setting(None, "LANGSMITH_WORKSPACE_ID", default="")
        address = setting(base_url, "LANGSMITH_ENDPOINT", default=CLOUD)
        self._service = Service(
            address, lambda: _headers(key, workspace), keys=KEYS, limits=limits, allow_private=allow_private
        )
        self._project = project
        self._is_new = False  # whether the server has only the newer interface

    async def trajectory(
        self,
        trace_id: str,
        *,
        timeout: float = _TIMEOUT,  # noqa: ASYNC109 (what comes after it is an answer, not an error)
        roots: int = 1,
        settle: float = SETTLE,
        parent: str | None = None,
    ) -> Trajectory:
        """Ask for all runs of a trace until it is whole, and return what its agent did.

        It is whole when as many root runs as `roots` have ended, no parent is missing, and the next request brings
        nothing new. A trace that is not whole after `timeout` seconds is returned as it is, with `complete=False`. 32
        hexadecimal digits are read as a UUID; with a `project`, any other text is a session (a thread), whose traces
        are taken together. `parent` is a run outside the trace that started it.
        """
        wait = Wait(timeout, roots, settle, parent)
        return await poll(lambda left: self._fetch(trace_id, left), wait, trace_id)

    def fetch(self, trace_id: str, **options: Any) -> Trajectory:
        """Return the same as `trajectory`, for code that cannot await."""
        return run_sync(self.trajectory(trace_id, **options), "fetch", instead="trajectory")

    async def resolve(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the traces of a session, in the order in which they began; none for an unknown session."""
        if self._project is None:
            raise UsageError("a session can be looked up only in a project: give its id as project=")
        named = ", ".join(json.dumps(key) for key in _SESSION_KEYS)
        which = f"and(in(metadata_key, [{named}]), eq(metadata_value, {json.dumps(session_id)}))"
        query = {"session": [self._project], "is_root": True, "filter": which, "select": ["id", "trace_id"]}
        runs = await in_pages(lambda size: self._query({**query, "order": "asc"}, size, _TIMEOUT))
        return tuple(dict.fromkeys(str(run.get("trace_id") or run.get("id")) for run in runs))

    async def close(self) -> None:
        """Close the connections."""
        await self._service.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _fetch(self, key: str, left: float) -> Fetched:
        trace = _uuid(key)
        runs = [] if trace is None else await self._runs(trace, left)
        if not runs and self._project is not None and not self._is_new:
            runs = [run for one in await self.resolve(key) for run in await self._runs(one, left)]
        elif trace is None and self._project is None:
            raise UsageError(f"{key[:80]!a} is not a trace id; to look up a session, give project=")
        records = decode_langsmith(runs)
        faults = tuple(dict.fromkeys(fault for record in records for fault in record.faults))
        if len(runs) > MOST:
            faults = (*faults, f"the trace has more than {MOST} runs")
        found = Record(key, tuple(span for record in records for span in record.spans), faults)
        return Fetched(found, found)

    async def _runs(self, trace: str, left: float) -> list[Any]:
        if not self._is_new:
            query = {"trace": trace, "select": list(_SELECT)}
            try:
                return await in_pages(lambda size: self._query(query, size, left))
            except Gone:
                if self._project is None:
                    raise
                self._is_new = True
        return await self._newer(trace, left)

    async def _query(self, query: Mapping[str, Any], size: int, left: float) -> list[Any]:
        async def ask(cursor: str | None) -> Any:
            body = {**query, "limit": size} | ({} if cursor is None else {"cursor": cursor})
            return await self._service.ask("/runs/query", body=body, deadline_s=left)

        def following(page: Any, _: object) -> Any:
            cursors = page.get("cursors")
            return cursors.get("next") if isinstance(cursors, Mapping) else None

        pages = await all_pages(ask, lambda page: _listed(page, "runs"), following)
        return [run for page in pages for run in page["runs"]]

    async def _newer(self, trace: str, left: float) -> list[Any]:
        query = {"project_id": self._project, "selects": _V2_SELECT}
        page = await self._service.ask(f"/api/v2/traces/{trace}/runs", query, deadline_s=left)
        return [_as_before(run) for run in _listed(page, "items")]


def _headers(key: Key, workspace: str) -> dict[str, str]:
    secret = key.reveal()
    if secret is None:
        raise ReceiverError(f"LangSmith needs a key: set {KEYS}", code="unauthorised")
    known = {"x-api-key": secret, "Content-Type": "application/json", "Accept": "application/json"}
    return {**known, "X-Tenant-Id": workspace} if workspace else known


def _listed(page: Any, key: str) -> list[Mapping[str, Any]]:
    found = page.get(key) if isinstance(page, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise ReceiverError("LangSmith answered with something that is not a page of runs", code="bad-answer")
    return found


def _as_before(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run of the newer interface with the field names of the older one."""
    above = run.get("parent_run_ids")
    kind = run.get("run_type")
    return {
        **run,
        "run_type": kind.lower() if isinstance(kind, str) else kind,
        "parent_run_id": above[-1] if isinstance(above, list) and above else None,
    }


def _uuid(key: str) -> str | None:
    try:
        return str(UUID(key))
    except ValueError:
        return None

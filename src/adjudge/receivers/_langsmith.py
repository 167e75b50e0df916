"""Traces from LangSmith, through its API.

All runs of a trace come from `/runs/query`, by cursor. Where that is switched off (501, or gone), they come from
`/api/v2/traces/{id}/runs`, which needs the project.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from adjudge.chat import Key
from adjudge.errors import UsageError
from adjudge.http import Limits
from adjudge.receivers._service import MOST, TIMEOUT, Fetched, Gone, TraceReceiver, setting
from adjudge.receivers._whole import ReceiverError, join_records
from adjudge.traces import decode_langsmith

CLOUD = "https://api.smith.langchain.com"
_SELECT = (
    *("id", "name", "run_type", "start_time", "end_time", "parent_run_id", "trace_id"),
    *("inputs", "outputs", "error", "extra", "status"),
)
_V2_SELECT = (
    *("ID", "NAME", "RUN_TYPE", "START_TIME", "END_TIME", "PARENT_RUN_IDS", "TRACE_ID"),
    *("INPUTS", "OUTPUTS", "ERROR", "EXTRA", "STATUS"),
)
_SESSION_KEYS = ("session_id", "thread_id", "conversation_id")


class LangSmithReceiver(TraceReceiver):
    """Fetches traces from LangSmith.

    The address is `base_url`, or `LANGSMITH_ENDPOINT`, or LangSmith's cloud; the key is `LANGSMITH_API_KEY` unless it
    is given (a key, or the path of a file that holds it). `project` is the id of the tracing project: sessions can be
    looked up only in one, and some servers want it for traces too. A key for several workspaces needs
    `LANGSMITH_WORKSPACE_ID`. 32 hexadecimal digits are read as a UUID; with a `project`, any other text is a session
    (a thread).
    """

    name = "LangSmith"
    items = "runs"
    variables = "LANGSMITH_API_KEY"

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | Path | None = None,
        project: str | None = None,
        limits: Limits | None = None,
        allow_private: bool = True,
    ) -> None:
        address = setting(base_url, "LANGSMITH_ENDPOINT", default=CLOUD)
        super().__init__(address, limits, Key(api_key, self.variables), allow_private=allow_private)
        self._workspace = setting(None, "LANGSMITH_WORKSPACE_ID", default="")
        self._project = project
        self._is_new = False  # whether the server has only the newer interface

    async def resolve(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the traces of a session, in the order in which they began; none for an unknown session."""
        if self._project is None:
            raise UsageError("a session can be looked up only in a project: give its id as project=")
        # LangSmith knows a session under several names; which one depends on the agent's framework.
        named = ", ".join(json.dumps(key) for key in _SESSION_KEYS)
        which = f"and(in(metadata_key, [{named}]), eq(metadata_value, {json.dumps(session_id)}))"
        query = {"session": [self._project], "is_root": True, "filter": which, "select": ["id", "trace_id"]}
        runs = await self._query({**query, "order": "asc"}, TIMEOUT)
        return tuple(dict.fromkeys(str(run.get("trace_id") or run.get("id")) for run in runs))

    def _headers(self) -> dict[str, str]:
        secret = self._keys[0].reveal()
        if secret is None:
            raise ReceiverError(f"LangSmith needs a key: set {self.variables}", code="unauthorised")
        known = {"x-api-key": secret, "Content-Type": "application/json", "Accept": "application/json"}
        return {**known, "X-Tenant-Id": self._workspace} if self._workspace else known

    async def _fetch(self, key: str, left: float) -> Fetched:
        try:
            trace = str(UUID(key))
        except ValueError:
            trace = None
        runs = [] if trace is None else await self._runs(trace, left)
        if not runs and self._project is not None and not self._is_new:
            runs = [run for one in await self.resolve(key) for run in await self._runs(one, left)]
        elif trace is None and self._project is None:
            raise UsageError(f"{key[:80]!a} is not a trace id; to look up a session, give project=")
        more = [f"the trace has more than {MOST} runs"] if len(runs) > MOST else []
        found = join_records(key, decode_langsmith(runs), *more)
        return Fetched(found, found)

    async def _runs(self, trace: str, left: float) -> list[Any]:
        if not self._is_new:
            try:
                return await self._query({"trace": trace, "select": list(_SELECT)}, left)
            except Gone:
                if self._project is None:
                    raise
                self._is_new = True
        query = {"project_id": self._project, "selects": _V2_SELECT}
        page = await self._ask(f"/api/v2/traces/{trace}/runs", query, deadline_s=left)
        return [_as_before(run) for run in self._listed(page, "items")]

    async def _query(self, query: Mapping[str, Any], left: float) -> list[Any]:
        async def ask(cursor: str | None, size: int) -> Any:
            body = {**query, "limit": size} | ({} if cursor is None else {"cursor": cursor})
            return await self._ask("/runs/query", body=body, deadline_s=left)

        def following(page: Any, _: object) -> Any:
            cursors = page.get("cursors")
            return cursors.get("next") if isinstance(cursors, Mapping) else None

        pages = await self._pages(ask, "runs", following)
        return [run for page in pages for run in page["runs"]]


def _as_before(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run of the newer interface with the field names of the older one."""
    # The newer interface lists all ancestors, the nearest last.
    above = run.get("parent_run_ids")
    kind = run.get("run_type")
    return {
        **run,
        "run_type": kind.lower() if isinstance(kind, str) else kind,
        "parent_run_id": above[-1] if isinstance(above, list) and above else None,
    }

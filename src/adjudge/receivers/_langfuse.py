"""Traces from Langfuse, through its API.

Langfuse 4 has one way to read recent observations, `/api/public/v2/observations` with a cursor. A server without it
(self-hosted, before version 4) has `/api/public/observations` by page numbers and `/api/public/traces/{id}`.
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adjudge.chat import Key
from adjudge.http import Limits
from adjudge.receivers._service import TIMEOUT, Fetched, Gone, TraceReceiver, setting
from adjudge.receivers._whole import ReceiverError, join_records
from adjudge.traces import Record, decode_langfuse

CLOUD = "https://cloud.langfuse.com"
_FIELDS = "core,basic,io,metadata"


class LangfuseReceiver(TraceReceiver):
    """Fetches traces from Langfuse.

    The address is `base_url`, or `LANGFUSE_BASE_URL`, or `LANGFUSE_HOST`, or Langfuse's cloud; the keys are
    `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY` unless they are given (a key, or the path of a file that holds it).
    The `parent` of a trace is by default the first half of its id, as adjudge sends it to agents.
    """

    name = "Langfuse"
    items = "observations"
    variables = "LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"

    def __init__(
        self,
        base_url: str | None = None,
        *,
        public_key: str | Path | None = None,
        secret_key: str | Path | None = None,
        limits: Limits | None = None,
        allow_private: bool = True,
    ) -> None:
        address = setting(base_url, "LANGFUSE_BASE_URL", "LANGFUSE_HOST", default=CLOUD)
        keys = Key(public_key, "LANGFUSE_PUBLIC_KEY"), Key(secret_key, "LANGFUSE_SECRET_KEY")
        super().__init__(address, limits, *keys, allow_private=allow_private)
        self._is_old: bool | None = None  # whether the server has only the older interface; None until that is known

    async def resolve(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the traces of a session, in the order in which they began; none for an unknown session."""
        which = {"sessionId": session_id}
        pages: list[Any] = []
        if not self._is_old:
            # This also shows which interface the server has.
            pages = await self._observations(which, TIMEOUT, "core,basic")
        if self._is_old:
            pages = await self._by_number("/api/public/traces", which, TIMEOUT)
        began: dict[str, str] = {}
        for page in pages:
            for one in self._listed(page, "data"):
                name = one.get("traceId") or one.get("id")
                if isinstance(name, str):
                    start = str(one.get("startTime") or one.get("timestamp") or "")
                    began[name] = min(began.get(name, start), start)
        return tuple(sorted(began, key=lambda name: (began[name], name)))

    def _outer(self, trace_id: str) -> str:
        return trace_id[:16]

    def _headers(self) -> dict[str, str]:
        public, secret = (key.reveal() for key in self._keys)
        if public is None or secret is None:
            raise ReceiverError(f"Langfuse needs keys: set {self.variables}", code="unauthorised")
        basic = base64.b64encode(f"{public}:{secret}".encode()).decode()
        return {"Authorization": f"Basic {basic}", "Accept": "application/json"}

    async def _fetch(self, key: str, left: float) -> Fetched:
        pages = await self._observations({"traceId": key}, left)
        if any(self._listed(page, "data") for page in pages):
            spans = join_records(key, decode_langfuse(pages))
            return Fetched(spans, await self._with_trace(key, pages, left) if self._is_old else spans)
        # There is no such trace: the key may be a session, whose traces are taken together.
        if self._is_old:
            pages = [
                page for trace in await self.resolve(key) for page in await self._observations({"traceId": trace}, left)
            ]
        else:
            pages = await self._observations({"sessionId": key}, left)
        spans = join_records(key, decode_langfuse(pages))
        return Fetched(spans, spans)

    async def _with_trace(self, key: str, pages: list[Any], left: float) -> Record:
        """Return the observations with the fields of the trace itself, above all its answer."""
        try:
            query = {"fields": "core,io"}
            trace = await self._ask(f"/api/public/traces/{quote(key, safe='')}", query, deadline_s=left)
        except Gone:
            return join_records(key, decode_langfuse(pages))
        # The older interface has the answer of the agent only in the trace itself.
        observations = [one for page in pages for one in self._listed(page, "data")]
        whole = {**trace, "observations": observations} if isinstance(trace, Mapping) else observations
        return next(iter(decode_langfuse(whole)), Record(key, ()))

    async def _observations(self, which: Mapping[str, str], left: float, fields: str = _FIELDS) -> list[Any]:
        async def ask(cursor: str | None, size: int) -> Any:
            query = {**which, "fields": fields, "limit": size} | ({} if cursor is None else {"cursor": cursor})
            return await self._ask("/api/public/v2/observations", query, deadline_s=left)

        if not self._is_old:
            try:
                found = await self._pages(ask, "data", lambda page, _: _meta(page).get("cursor"))
            except Gone:
                # It had the interface a moment ago: this is an error, not an older server.
                if self._is_old is False:
                    raise
                self._is_old = True
            else:
                self._is_old = False
                return found
        return await self._by_number("/api/public/observations", which, left)

    async def _by_number(self, path: str, which: Mapping[str, str], left: float) -> list[Any]:
        async def ask(number: int | None, size: int) -> Any:
            return await self._ask(path, {**which, "limit": size, "page": number or 1}, deadline_s=left)

        def following(page: Any, number: int | None) -> int | None:
            total = _meta(page).get("totalPages")
            after = (number or 1) + 1
            return after if isinstance(total, int) and after <= total else None

        return await self._pages(ask, "data", following)


def _meta(page: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = page.get("meta")
    return meta if isinstance(meta, Mapping) else {}

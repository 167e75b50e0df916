"""Traces from Langfuse, through its API.

Langfuse 4 has one way to read recent observations, `/api/public/v2/observations` with a cursor. A server without it
(self-hosted, before version 4) has `/api/public/observations` by page numbers and `/api/public/traces/{id}`.
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from adjudge.calling import run_sync
from adjudge.chat import Key
from adjudge.http import Limits
from adjudge.model import Trajectory
from adjudge.receivers._errors import ReceiverError
from adjudge.receivers._service import Fetched, Gone, Service, all_pages, in_pages, poll, setting
from adjudge.receivers._whole import SETTLE, Wait
from adjudge.traces import Record, decode_langfuse

CLOUD = "https://cloud.langfuse.com"
KEYS = "LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"
_FIELDS = "core,basic,io,metadata"
_TIMEOUT = 60.0


class LangfuseReceiver:
    """Fetches traces from Langfuse.

    The address is `base_url`, or `LANGFUSE_BASE_URL`, or `LANGFUSE_HOST`, or Langfuse's cloud; the keys are
    `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY` unless they are given (a key, or the path of a file that holds it).
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        public_key: str | Path | None = None,
        secret_key: str | Path | None = None,
        limits: Limits | None = None,
        allow_private: bool = True,
    ) -> None:
        public, secret = Key(public_key, "LANGFUSE_PUBLIC_KEY"), Key(secret_key, "LANGFUSE_SECRET_KEY")
        address = setting(base_url, "LANGFUSE_BASE_URL", "LANGFUSE_HOST", default=CLOUD)
        self._service = Service(
            address, lambda: _headers(public, secret), keys=KEYS, limits=limits, allow_private=allow_private
        )
        self._is_old: bool | None = None  # whether the server has only the older interface; None until that is known

    async def trajectory(
        self,
        trace_id: str,
        *,
        timeout: float = _TIMEOUT,  # noqa: ASYNC109 (what comes after it is an answer, not an error)
        roots: int = 1,
        settle: float = SETTLE,
        parent: str | None = None,
    ) -> Trajectory:
        """Ask for all observations of a trace until it is whole, and return what its agent did.

        It is whole when as many root observations as `roots` have ended, no parent is missing, and the next request
        brings nothing new. A trace that is not whole after `timeout` seconds is returned as it is, with
        `complete=False`. `trace_id` may be a session: then all its traces are taken together. `parent` is the outer
        span that the agent was given, by default the first half of the trace id, as adjudge sends it.
        """
        wait = Wait(timeout, roots, settle, parent or trace_id[:16])
        return await poll(lambda left: self._fetch(trace_id, left), wait, trace_id)

    def fetch(self, trace_id: str, **options: Any) -> Trajectory:
        """Return the same as `trajectory`, for code that cannot await."""
        return run_sync(self.trajectory(trace_id, **options), "fetch", instead="trajectory")

    async def resolve(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the traces of a session, in the order in which they began; none for an unknown session."""
        pages = await self._of_session(session_id, _TIMEOUT)
        began: dict[str, str] = {}
        for page in pages:
            for one in _items(page):
                name = one.get("traceId") or one.get("id")
                if isinstance(name, str):
                    start = str(one.get("startTime") or one.get("timestamp") or "")
                    began[name] = min(began.get(name, start), start)
        return tuple(sorted(began, key=lambda name: (began[name], name)))

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
        pages = await self._observations({"traceId": key}, left)
        if any(_items(page) for page in pages):
            spans = _record(key, pages)
            return Fetched(spans, await self._with_trace(key, pages, left) if self._is_old else spans)
        if self._is_old:
            pages = [
                page for trace in await self.resolve(key) for page in await self._observations({"traceId": trace}, left)
            ]
        else:
            pages = await self._observations({"sessionId": key}, left)
        spans = _record(key, pages)
        return Fetched(spans, spans)

    async def _with_trace(self, key: str, pages: list[Any], left: float) -> Record:
        """Return the observations with the fields of the trace itself, above all its answer."""
        try:
            trace = await self._service.ask(
                f"/api/public/traces/{quote(key, safe='')}", {"fields": "core,io"}, deadline_s=left
            )
        except Gone:
            return _record(key, pages)
        observations = [one for page in pages for one in _items(page)]
        whole = {**trace, "observations": observations} if isinstance(trace, Mapping) else observations
        return next(iter(decode_langfuse(whole)), Record(key, ()))

    async def _observations(self, which: Mapping[str, str], left: float, fields: str = _FIELDS) -> list[Any]:
        if not self._is_old:
            wanted = {**which, "fields": fields}
            try:
                found = await in_pages(lambda size: self._by_cursor(wanted, size, left))
            except Gone:
                if self._is_old is False:
                    raise
                self._is_old = True
            else:
                self._is_old = False
                return found
        return await in_pages(lambda size: self._by_number("/api/public/observations", which, size, left))

    async def _of_session(self, session_id: str, left: float) -> list[Any]:
        which = {"sessionId": session_id}
        if not self._is_old:
            found = await self._observations(which, left, "core,basic")  # shows which interface the server has
            if not self._is_old:
                return found
        return await in_pages(lambda size: self._by_number("/api/public/traces", which, size, left))

    async def _by_cursor(self, which: Mapping[str, str], size: int, left: float) -> list[Any]:
        async def ask(cursor: str | None) -> Any:
            query = {**which, "limit": size} | ({} if cursor is None else {"cursor": cursor})
            return await self._service.ask("/api/public/v2/observations", query, deadline_s=left)

        return await all_pages(ask, _items, lambda page, _: _meta(page).get("cursor"))

    async def _by_number(self, path: str, which: Mapping[str, str], size: int, left: float) -> list[Any]:
        async def ask(number: int | None) -> Any:
            return await self._service.ask(path, {**which, "limit": size, "page": number or 1}, deadline_s=left)

        def following(page: Any, number: int | None) -> int | None:
            total = _meta(page).get("totalPages")
            after = (number or 1) + 1
            return after if isinstance(total, int) and after <= total else None

        return await all_pages(ask, _items, following)


def _headers(public: Key, secret: Key) -> dict[str, str]:
    names = public.reveal(), secret.reveal()
    if None in names:
        raise ReceiverError(f"Langfuse needs keys: set {KEYS}", code="unauthorised")
    basic = base64.b64encode(f"{names[0]}:{names[1]}".encode()).decode()
    return {"Authorization": f"Basic {basic}", "Accept": "application/json"}


def _items(page: Any) -> list[Mapping[str, Any]]:
    found = page.get("data") if isinstance(page, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise ReceiverError("Langfuse answered with something that is not a page of observations", code="bad-answer")
    return found


def _meta(page: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = page.get("meta")
    return meta if isinstance(meta, Mapping) else {}


def _record(key: str, pages: list[Any]) -> Record:
    """Return the observations as one record, even where they belong to several traces of a session."""
    records = decode_langfuse(pages)
    faults = tuple(dict.fromkeys(fault for record in records for fault in record.faults))
    return Record(key, tuple(span for record in records for span in record.spans), faults)

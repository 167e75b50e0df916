"""A service that stores traces: its JSON interface with keys, polled until a trace is whole."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from adjudge.chat import cleaned
from adjudge.errors import DataError
from adjudge.http import (
    Again,
    BadStatus,
    HttpClient,
    HttpError,
    HttpReply,
    Limits,
    ReplyTooLarge,
    Request,
    is_transient,
)
from adjudge.model import Trajectory, decode_json, to_json
from adjudge.receivers._errors import ReceiverError
from adjudge.receivers._whole import Wait, find_outstanding, links_of, trajectory_of
from adjudge.traces import Record

LIMITS = Limits(in_flight=8, attempts=4, attempt_timeout_s=30.0, deadline_s=60.0, max_reply_bytes=64_000_000)
MOST = 100_000  # observations or runs of one trace that are asked for; LangSmith itself stops at 25,000
PAGES = (100, 20, 4, 1)  # items on a page, where pages of more are too large
_GONE = frozenset({404, 405, 410, 501})
_REFUSED = frozenset({401, 403})
_BETWEEN_S, _LONGEST_S = 0.5, 5.0  # seconds between two questions, growing
_LEAST_S = 5.0  # seconds that a question has, however little time is left


class Gone(ReceiverError):
    """The service has no such thing, or no such interface."""

    default_code = "not-there"


class Service:
    """Asks one service; `headers` is called for every request, so that no key is kept or shown."""

    def __init__(
        self,
        base_url: str,
        headers: Callable[[], Mapping[str, str]],
        *,
        keys: str,
        limits: Limits | None,
        allow_private: bool,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = headers
        self._keys = keys
        self._client = HttpClient(limits or LIMITS, allow_private=allow_private)

    async def ask(
        self, path: str, query: Mapping[str, Any] | None = None, *, body: object = None, deadline_s: float
    ) -> Any:
        """Return the answer to a request; `Gone` where there is nothing at that path.

        A path that begins with `/api/` starts at the root of the server, even where the address ends in `/api/v1`.
        """
        root = self.base_url
        if path.startswith("/api/"):
            root = root.removesuffix("/api/v1").removesuffix("/api")
        url = f"{root}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        content = None if body is None else to_json(body)
        request = Request(url, content, "GET" if body is None else "POST", self._headers)
        seconds = min(self._client.limits.deadline_s, max(deadline_s, _LEAST_S))
        return await self._client.send(request, self._read, deadline_s=seconds)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _read(self, reply: HttpReply) -> Any:
        if 200 <= reply.status < 300:
            try:
                return decode_json(reply.body, place="the answer: ")
            except (DataError, RecursionError):
                return Again(ReceiverError(f"{self.base_url} answered with something that is not JSON"), times=2)
        said = cleaned(reply.body[:2000].decode("utf-8", "replace"))
        if reply.status in _REFUSED:
            raise ReceiverError(f"{self.base_url} refused the key (set {self._keys}): {said}", code="unauthorised")
        if reply.status in _GONE:
            raise Gone(f"{self.base_url} answered {reply.status}: {said}")
        error = BadStatus(f"{self.base_url} answered {reply.status}: {said}", status=reply.status)
        if is_transient(reply.status):
            return Again(error)
        raise error


class Fetched(NamedTuple):
    """What a service has of a trace: its spans, and the spans together with the fields of the trace itself."""

    spans: Record
    whole: Record


async def poll(fetch: Callable[[float], Awaitable[Fetched]], wait: Wait, trace_id: str) -> Trajectory:
    """Ask for a trace until it is whole and stays so, or time is out.

    `fetch` gets the seconds that are left. A service that does not answer is asked again; if it never does, its error
    is raised: the result is never an empty trace.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait.timeout
    pause, before = _BETWEEN_S, -1
    while True:
        failure, late = None, None
        found = Fetched(Record(trace_id, ()), Record(trace_id, ()))
        try:
            found = await fetch(deadline - clock())
            late, _ = find_outstanding([links_of(found.spans)], parent=wait.parent, roots=wait.roots)
            late = late or next(iter(found.spans.faults), None)
        except (HttpError, ReceiverError) as error:
            if not _may_pass(error):
                raise
            failure = error
        # Whole once is not enough: spans may still be on their way, so the number must stay the same for a while.
        is_settled = failure is None and late is None and before == len(found.spans.spans)
        before = -1 if failure is not None else len(found.spans.spans)
        step = wait.settle if failure is None and late is None else pause
        if is_settled or clock() + step >= deadline:
            break
        await asyncio.sleep(step)
        pause = min(_LONGEST_S, pause * 1.5)
    if failure is not None:
        raise failure
    return await asyncio.to_thread(trajectory_of, found.whole, trace_id=trace_id, parent=wait.parent, late=late)


def _may_pass(error: HttpError | ReceiverError) -> bool:
    if isinstance(error, BadStatus):
        return is_transient(error.status)
    return error.code in ("unreachable", "timeout", "deadline", "reply-unreadable", "receiver")


async def in_pages(ask: Callable[[int], Awaitable[list[Any]]]) -> list[Any]:
    """Return all pages; where one is too large for a reply, start again with smaller ones."""
    for size in PAGES[:-1]:
        try:
            return await ask(size)
        except ReplyTooLarge:
            continue
    return await ask(PAGES[-1])


async def all_pages(
    ask: Callable[[Any], Awaitable[Any]],
    items: Callable[[Any], list[Any]],
    following: Callable[[Any, Any], Any],
) -> list[Any]:
    """Return the pages of a list, up to about `MOST` items.

    `ask` returns the page at a place, None for the first; `following` returns the place of the page after it.
    """
    pages: list[Any] = []
    place, count = None, 0
    while count <= MOST:
        page = await ask(place)
        found = items(page)
        pages.append(page)
        count += len(found)
        after = following(page, place)
        if not found or not after or after == place:
            break
        place = after
    return pages


def setting(given: str | None, *names: str, default: str) -> str:
    """Return what is given, or the first of some environment variables that is set."""
    return given or next((value for name in names if (value := os.environ.get(name))), default)

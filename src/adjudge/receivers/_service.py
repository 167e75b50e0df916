"""A service that stores traces: its JSON interface with keys, polled until a trace is whole."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import urlencode

from adjudge.calling import run_sync
from adjudge.chat import Key, check_base_url, cleaned
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
from adjudge.receivers._whole import SETTLE, ReceiverError, Wait, find_outstanding, links_of, trajectory_of
from adjudge.traces import Record

LIMITS = Limits(in_flight=8, attempts=4, attempt_timeout_s=30.0, deadline_s=60.0, max_reply_bytes=64_000_000)
TIMEOUT = 60.0
MOST = 100_000  # observations or runs of one trace that are asked for; LangSmith itself stops at 25,000
MOST_SAID = 20_000  # bytes of an error that are looked at
PAGES = (100, 20, 4, 1)  # items on a page, where pages of more are too large
_GONE = frozenset({404, 405, 410, 501})
_REFUSED = frozenset({401, 403})
_BETWEEN_S, _LONGEST_S = 0.5, 5.0  # seconds between two questions, growing
_LEAST_S = 5.0  # seconds that a question has, however little time is left


class Gone(ReceiverError):
    """The service has no such thing, or no such interface."""

    default_code = "not-there"


class Fetched(NamedTuple):
    """What a service has of a trace: its spans, and the spans together with the fields of the trace itself."""

    spans: Record
    whole: Record


class TraceReceiver(ABC):
    """Fetches traces from a service that stores them, through its JSON interface; close it, or use `async with`."""

    name: ClassVar[str]  # what messages call the service,
    items: ClassVar[str]  # and the parts of a trace there
    variables: ClassVar[str]  # of the environment, that hold its keys

    def __init__(self, base_url: str, limits: Limits | None, *keys: Key, allow_private: bool) -> None:
        self._base_url = check_base_url(base_url)  # messages show it, so there is no key in it
        self._keys = keys
        self._client = HttpClient(limits or LIMITS, allow_private=allow_private)

    async def trajectory(
        self,
        trace_id: str,
        *,
        timeout: float = TIMEOUT,  # noqa: ASYNC109 (what comes after it is an answer, not an error)
        roots: int = 1,
        settle: float = SETTLE,
        parent: str | None = None,
    ) -> Trajectory:
        """Ask for all of a trace until it is whole, and return what its agent did.

        It is whole when as many roots as `roots` have ended, no parent is missing, and the next request brings nothing
        new. A trace that is not whole after `timeout` seconds is returned as it is, with `complete=False`. `trace_id`
        may be a session: then all its traces are taken together. `parent` is a span outside the trace that started it.
        """
        wait = Wait(timeout, roots, settle, parent or self._outer(trace_id))
        return await poll(lambda left: self._fetch(trace_id, left), wait, trace_id)

    def fetch(self, trace_id: str, **options: Any) -> Trajectory:
        """Return the same as `trajectory`, for code that cannot await."""
        return run_sync(self.trajectory(trace_id, **options), "fetch", instead="trajectory")

    @abstractmethod
    async def resolve(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the traces of a session, in the order in which they began; none for an unknown session."""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _outer(self, trace_id: str) -> str | None:  # noqa: ARG002 (for services whose traces have one)
        """Return the span around a trace, where it follows from the trace's id."""
        return None

    @abstractmethod
    def _headers(self) -> Mapping[str, str]:
        """Return the headers with the key; called for every request, so that no key is kept or shown."""

    @abstractmethod
    async def _fetch(self, key: str, left: float) -> Fetched:
        """Return what the service has now of a trace or a session, asked within the seconds that are left."""

    async def _ask(
        self, path: str, query: Mapping[str, Any] | None = None, *, body: object = None, deadline_s: float
    ) -> Any:
        """Return the answer to a request; `Gone` where there is nothing at that path.

        A path that begins with `/api/` starts at the root of the server, even where the address ends in `/api/v1`.
        """
        root = self._base_url
        if path.startswith("/api/"):
            root = root.removesuffix("/api/v1").removesuffix("/api")
        url = f"{root}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        content = None if body is None else to_json(body)
        request = Request(url, content, "GET" if body is None else "POST", self._headers)
        # Even the last question gets a few seconds, or it could never be answered.
        seconds = min(self._client.limits.deadline_s, max(deadline_s, _LEAST_S))
        return await self._client.send(request, self._read, deadline_s=seconds)

    def _read(self, reply: HttpReply) -> Any:
        if 200 <= reply.status < 300:
            try:
                return decode_json(reply.body, place="the answer: ")
            except (DataError, RecursionError):
                # A proxy may answer in place of a server that restarts.
                return Again(ReceiverError(f"{self._base_url} answered with something that is not JSON"), times=2)
        # A server that refuses a key may repeat it, and so may a gateway in front of it.
        body = reply.body[:MOST_SAID]
        for key in self._keys:
            body = key.hidden(body)
        said = cleaned(body.decode("utf-8", "replace"))
        if reply.status in _REFUSED:
            message = f"{self._base_url} refused the key (set {self.variables}): {said}"
            raise ReceiverError(message, code="unauthorised")
        if reply.status in _GONE:
            raise Gone(f"{self._base_url} answered {reply.status}: {said}")
        error = BadStatus(f"{self._base_url} answered {reply.status}: {said}", status=reply.status)
        if is_transient(reply.status):
            return Again(error)
        raise error

    async def _pages(
        self, ask: Callable[[Any, int], Awaitable[Any]], key: str, following: Callable[[Any, Any], Any]
    ) -> list[Any]:
        """Return the pages of a list, up to about `MOST` items; where one is too large, again with smaller ones.

        `ask` returns the page at a place, None for the first, of so many items, which are under `key`; `following`
        returns the place of the page after it.
        """
        for size in PAGES:
            pages: list[Any] = []
            place, count = None, 0
            try:
                while count <= MOST:
                    page = await ask(place, size)
                    found = self._listed(page, key)
                    pages.append(page)
                    count += len(found)
                    # A server that names the same page again would be asked for ever.
                    after = following(page, place)
                    if not found or not after or after == place:
                        break
                    place = after
            except ReplyTooLarge:
                if size == PAGES[-1]:
                    raise
                continue
            break
        return pages

    def _listed(self, page: Any, key: str) -> list[Mapping[str, Any]]:
        found = page.get(key) if isinstance(page, Mapping) else None
        if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
            message = f"{self.name} answered with something that is not a page of {self.items}"
            raise ReceiverError(message, code="bad-answer")
        return found


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
        # A service that is down for a moment is asked again; a wrong key is not.
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


def setting(given: str | None, *names: str, default: str) -> str:
    """Return what is given, or the first of some environment variables that is set."""
    return given or next((value for name in names if (value := os.environ.get(name))), default)

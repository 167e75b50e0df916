"""One request on its way: attempts, waits, and the one error that is left in the end."""

import asyncio
import random
import time
from contextlib import nullcontext
from os import environ
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from adjudge.errors import AdjudgeError
from adjudge.http._errors import (
    AddressRefused,
    AttemptTimeout,
    ClientClosed,
    ConnectionFailed,
    DeadlineExceeded,
    HttpError,
    ReplyTooLarge,
    ReplyUnreadable,
)
from adjudge.http._lane import Door, Lane, trust_of
from adjudge.http._pace import Pace, SentCall
from adjudge.http._reply import HttpReply, read_reply
from adjudge.http._request import Again, Exchange, Limits, Reader, Request
from adjudge.http._retry import backoff_s, quotas, retry_after_s
from adjudge.http._watch import attempt_watch

__all__ = ["Sending"]

T = TypeVar("T")

_UNREADABLE_TIMES = 2
"""How often a reply that is too large or not HTTP is asked for again."""

_OVERLOAD = (429, 503, 529)
"""The statuses that say that the server is asked too much."""

_BYTES_A_TOKEN, _MOST_TOKENS = 4, 1000
"""A guess at what a call costs: a low one uses up a limit on tokens sooner, a high one never uses it."""

_PATIENCE, _PATIENCE_S = 2.0, 30.0
"""How long a request that is watched waits for its first turn beyond its time: in deadlines, or at least in seconds."""


class Sending(Generic[T]):
    """One request, sent until it is answered, refused for good, or out of time."""

    def __init__(
        self, lane: Lane, limits: Limits, request: Request, read: Reader[T], total_s: float, chance: random.Random
    ) -> None:
        self._lane = lane
        self._limits = limits
        self._request = request
        self._read = read
        self._total_s = total_s
        self._chance = chance
        parts = urlsplit(request.url)
        self._host = parts.netloc
        endpoint = f"{parts.scheme}://{parts.netloc}"
        if endpoint not in lane.doors:
            proxy = None if lane.proxies is None else lane.proxies.find(parts)
            is_secure = parts.scheme == "https" or (proxy is not None and proxy.url.startswith("https"))
            trust = trust_of(environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")) if is_secure else True
            lane.doors[endpoint] = Door(Pace(limits.in_flight), proxy, trust)
        self._door = lane.doors[endpoint]
        if self._door.proxy is not None:
            self._host += f" (through {self._door.proxy.shown})"
        self._now = asyncio.get_running_loop().time
        self._deadline = self._now() + total_s
        self._attempts = 0
        self._first_refused: SentCall | None = None
        self._watch = attempt_watch.get()
        # Without a watch nobody is owed patience: the wait for a turn counts against the deadline.
        self._patience_s = 0.0 if self._watch is None else max(_PATIENCE * total_s, _PATIENCE_S)
        self._waited_s = 0.0
        self._asked_wait_s: float | None = None
        self._failures: dict[type[AdjudgeError], int] = {}
        self._last: AdjudgeError | None = None

    async def run(self, exchange: Exchange | None = None) -> T:
        """Return what the reader makes of the reply; every failure is an `AdjudgeError`."""
        door = self._door
        while True:
            # Most calls start at once: nobody waits before them, and the pace allows it.
            if door.waiting or door.pace.wait_s(now := time.monotonic()) > 0:
                call = await self._wait_for_turn()
            else:
                call = door.pace.start(now)
            reply: HttpReply | Again | None = None
            try:
                reply = await self._attempt(exchange or self._exchange)
            finally:
                if isinstance(reply, HttpReply):
                    self._report(call, reply)
                else:
                    door.pace.failed(call)
                if door.waiting:
                    door.admit()
            # The reader decides what a status means; only what may pass comes back as `Again`.
            outcome = self._read(reply) if isinstance(reply, HttpReply) else reply
            if not isinstance(outcome, Again):
                return outcome
            if self._watch is not None:
                self._watch.failed(self._attempts, outcome.error)
            await asyncio.sleep(self._wait_s(outcome))

    async def _wait_for_turn(self) -> SentCall:
        """Wait for a turn.

        Where somebody watches, the wait before the first attempt is not the request's own time, as far as its patience
        goes: others cause it. Once it has been tried, its deadline is total.
        """
        watch = None if self._attempts else self._watch
        began = self._now()
        try:
            async with asyncio.timeout_at(self._deadline if watch is None else self._deadline + self._patience_s):
                with nullcontext() if watch is None else watch.waiting():
                    return await self._door.enter(retry=self._attempts > 0)
        except TimeoutError:
            pass
        finally:
            if watch is not None:
                waited = self._now() - began
                self._waited_s += waited
                self._patience_s -= waited
                self._deadline += waited
        raise self._too_late()

    async def _attempt(self, exchange: Exchange) -> HttpReply | Again:
        """Ask once, within the time for an attempt; whoever watches may refuse it."""
        if self._lane.closed:
            raise ClientClosed("the client is closed")
        self._attempts += 1
        if self._watch is not None:
            self._watch.begin(self._attempts)
        self._asked_wait_s = None
        until = self._now() + self._limits.attempt_timeout_s
        try:
            async with asyncio.timeout_at(min(until, self._deadline)):
                return await exchange(self._request)
        except TimeoutError:
            # Whichever limit came first decides which error it is.
            if until >= self._deadline:
                raise self._too_late() from None
        return Again(AttemptTimeout(f"{self._host} did not answer within {self._limits.attempt_timeout_s:g} s"))

    async def _exchange(self, request: Request) -> HttpReply | Again:
        """Send once; what aiohttp raises stays here, because it holds the request with its headers."""
        import aiohttp

        final: HttpError
        proxy = self._door.proxy
        headers = request.headers()
        options = {"headers": headers} if proxy is None else proxy.options(headers)
        try:
            async with self._lane.session.request(
                request.method, request.url, data=request.body, allow_redirects=False, ssl=self._door.trust, **options
            ) as response:
                reply = await read_reply(response, self._limits.max_reply_bytes)
                return reply if proxy is None else proxy.read(reply)
        except (ReplyTooLarge, ReplyUnreadable) as error:
            return Again(error, times=_UNREADABLE_TIMES)
        except TimeoutError:
            raise
        except aiohttp.InvalidURL:
            final = AddressRefused("the URL cannot be read")
        except aiohttp.ClientConnectorCertificateError:
            final = ConnectionFailed(f"{self._host} has no certificate that can be trusted", code="tls")
        except aiohttp.ClientHttpProxyError as error:
            assert proxy is not None  # noqa: S101 (nobody else answers so)
            return proxy.failed(error.status)
        except aiohttp.ClientProxyConnectionError as error:
            assert proxy is not None  # noqa: S101 (same)
            return Again(ConnectionFailed(f"{proxy.shown}: {_describe(error)}", code="proxy"))
        except aiohttp.ClientResponseError:
            return Again(ReplyUnreadable(f"{self._host} answered with something that is not HTTP"), _UNREADABLE_TIMES)
        except (aiohttp.ClientError, OSError) as error:
            return Again(ConnectionFailed(f"{self._host}: {_describe(error)}"))
        raise final

    def _report(self, call: SentCall, reply: HttpReply) -> None:
        """Report to the pace what status and headers say about the load."""
        pace, now, status = self._door.pace, time.monotonic(), reply.status
        wait = self._asked_wait_s = None if status < 400 else retry_after_s(reply.headers)
        if status in _OVERLOAD:
            # A wait that is too long for this request must not stop the others.
            heeded = wait if wait is None or wait <= self._limits.max_wait_s else None
            pace.refused(call, now, heeded, first=self._first_refused)
            self._first_refused = self._first_refused or call
            return
        if status >= 500:
            pace.failed(call)
            return
        # Every other status was served, whatever it says: the load was not too much.
        pace.accepted(call, now)
        if found := quotas(reply.headers):
            # Servers count tokens in their own way; the bytes that went to and fro are near enough.
            size = len(self._request.body or b"") + len(reply.body)
            tokens = max(1.0, min(_MOST_TOKENS, size / _BYTES_A_TOKEN))
            # The scarcest of them decides.
            calls = [(left / tokens if counts_tokens else left, until_s) for left, until_s, counts_tokens in found]
            left, until_s = min(calls, key=lambda quota: quota[0] / (quota[1] + 1e-9))
            pace.spread(call, now, left, min(until_s, self._limits.max_wait_s))

    def _wait_s(self, again: Again) -> float:
        """How long to wait before the next attempt, never beyond the deadline; raises where there is none."""
        error = self._last = again.error
        failures = self._failures[type(error)] = self._failures.get(type(error), 0) + 1
        # A reader may allow fewer attempts for one kind of error than the limits do.
        if self._attempts >= self._limits.attempts or (again.times is not None and failures > again.times):
            raise self._final(error)
        wait = backoff_s(self._attempts, self._chance)
        left = self._deadline - self._now()
        if left <= 0:
            raise self._too_late()
        if self._asked_wait_s is None:
            # The time that is left is for trying, not for waiting.
            return min(wait, left / 2)
        if self._asked_wait_s > self._limits.max_wait_s:
            raise self._final(error, f", which asks to wait for {self._asked_wait_s:.0f} s")
        if self._asked_wait_s >= left:
            raise self._too_late()
        # Callers that were asked to wait for the same time must not come back all at once.
        return self._asked_wait_s + 0.1 * wait

    def _final(self, error: AdjudgeError, more: str = "") -> AdjudgeError:
        """Say in the error how often it was tried."""
        tried = "" if self._attempts == 1 else f" ({self._attempts} attempts)"
        error.message += more + tried
        error.args = (error.message,)
        return error

    def _too_late(self) -> DeadlineExceeded:
        last = "" if self._last is None else f"; the last: {self._last.reason}"
        times = "1 attempt" if self._attempts == 1 else f"{self._attempts} attempts"
        turn = f", with {self._waited_s:.3g} s of waiting for a turn before" if self._waited_s >= self._total_s else ""
        text = f"{self._host} gave no good answer within {self._total_s:.3g} s and {times}{turn}{last}"
        return DeadlineExceeded(text)


def _describe(error: Exception) -> str:
    """Say what became of a connection, without the request."""
    import aiohttp

    if isinstance(error, aiohttp.ClientPayloadError):
        return "the reply stopped in the middle"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the connection was closed without a reply"
    cause = getattr(error, "os_error", error)
    text = "connection refused" if isinstance(cause, ConnectionRefusedError) else getattr(cause, "strerror", None)
    return str(text) if text else f"the connection failed ({type(error).__name__})"

"""`adjudge env serve`: environments of this machine's pools, leased over HTTP.

A session is a lease: it ends when it is closed, when nobody has called it for its time to live, or with the server. A
request that comes again under the same key is answered as before, or waits for the first to be answered.
"""

import asyncio
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.environments._errors import EnvDied, EnvError, EnvProtocolError
from adjudge.environments._http import KEY, SESSION
from adjudge.environments._lease import NO_EPISODE, LeasedEnvironment
from adjudge.environments._pool import Pool
from adjudge.environments._protocol import describe_error
from adjudge.errors import AdjudgeError, Caught, UsageError

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["EnvServer", "is_loopback"]

_KEPT = 8  # answers of a session that are kept for a request that comes again
_KEPT_OPENS = 4096
_MOST_BYTES = 8 << 20
_JSON = "application/json"
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])

Answer = tuple[int, bytes]


class _Session:
    """One lease, and what it answered last."""

    __slots__ = ("answers", "lease")

    def __init__(self, lease: LeasedEnvironment) -> None:
        self.lease = lease
        self.answers = _Answers(_KEPT)


class _Answers:
    """Answers by key: the same request is done once."""

    __slots__ = ("_kept", "_most")

    def __init__(self, most: int) -> None:
        self._kept: OrderedDict[str, tuple[bytes, asyncio.Task[Answer]]] = OrderedDict()
        self._most = most

    async def get(self, key: str, request: bytes, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer to a request, done now or before; done to its end, whether the caller stays or not."""
        digest = hashlib.sha256(request).digest()
        before = self._kept.get(key) if key else None
        if before is not None:
            if before[0] != digest:
                raise UsageError("the idempotency key was used for another request", code="key-reused")
            return await asyncio.shield(before[1])

        async def done() -> Answer:
            return await work()

        task = asyncio.ensure_future(done())
        if key:
            self._kept[key] = (digest, task)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return await asyncio.shield(task)


class EnvServer:
    """Serves the environments of some pools over HTTP, on the running event loop.

    Only loopback addresses are served without a token.
    """

    def __init__(self, pools: Iterable[Pool], *, token: str | None = None) -> None:
        self.pools: dict[str, Pool] = {}
        for pool in pools:
            if self.pools.setdefault(pool.spec.kind, pool) is not pool:
                raise UsageError(f"a server has one pool of a kind, not two of {pool.spec.kind}", code="ambiguous-kind")
        self._token = token
        self._sessions: dict[str, _Session] = {}
        self._opens = _Answers(_KEPT_OPENS)

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
        """Listen; yields the port. All leases end with it."""
        from aiohttp import web

        if self._token is None and not is_loopback(host):
            raise UsageError(f"{host} can be reached from elsewhere: give a token", code="token-needed")
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_get("/v1/status", self._status)
        app.router.add_post("/v1/{what}", self._call)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port)
            await site.start()
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()
            for session in self._sessions.values():
                await session.lease.close()

    async def _status(self, request: "web.Request") -> "web.Response":
        """Say how the pools stand."""
        if not self._is_allowed(request):
            return self._refused()
        counts = {kind: {**asdict(pool.counts()), "size": pool.size} for kind, pool in self.pools.items()}
        return _response((200, _ENCODER.encode(counts)))

    async def _call(self, request: "web.Request") -> "web.Response":
        """Answer one call; whatever is in it, the answer is one of ours."""
        if not self._is_allowed(request):
            return self._refused()
        with Caught() as caught:
            if request.content_type != _JSON:  # what a page of a browser cannot send unasked
                raise UsageError(f"only {_JSON} is read", code="bad-content-type")
            body = await _read(request)
            what = request.match_info["what"]
            return _response(await self._answer(what, body, request.headers.get(SESSION), request.headers.get(KEY, "")))
        return _response(_failed(caught))

    async def _answer(self, what: str, body: bytes, name: str | None, key: str) -> Answer:
        given = _arguments(body)
        if what == "open":
            return await self._opens.get(key, body, lambda: _guarded(lambda: self._open(given)))
        session = self._sessions.get(name or "")
        if session is None:
            raise EnvDied("there is no such session: it was closed, has expired, or the server was started anew")
        if what == "close":
            self._sessions.pop(name or "", None)
            await session.lease.close()
            return 200, b"{}"
        work = _CALLS.get(what)
        if work is None:
            raise UsageError(f"there is no call {what!r}", code="unknown-call")
        return await session.answers.get(
            key, what.encode() + b"\n" + body, lambda: _guarded(lambda: work(session, given))
        )

    async def _open(self, given: dict[str, Any]) -> object:
        pool = self.pools.get(str(given.get("kind")))
        if pool is None:
            kinds = ", ".join(self.pools)
            raise UsageError(f"this server has no {given.get('kind')!r}, only {kinds}", code="unknown-environment")
        ours = _DECODER.decode(_ENCODER.encode(asdict(pool.spec)))
        if given.get("spec", ours) != ours:
            raise UsageError(
                f"this server's {pool.spec.kind} has the spec {ours}, not {given['spec']}", code="other-spec"
            )
        self._forget_ended()
        name = secrets.token_urlsafe(18)
        lease = await pool.acquire(name, timeout=min(600.0, float(given.get("timeout", 60.0))))
        self._sessions[name] = _Session(lease)
        return {"session": name}

    def _forget_ended(self) -> None:
        for name in [name for name, session in self._sessions.items() if not session.lease.is_open]:
            del self._sessions[name]

    def _is_allowed(self, request: "web.Request") -> bool:
        if self._token is None:
            try:
                return is_loopback(request.url.host or "")  # no name that somebody else's page has made to lead here
            except ValueError:  # a header that names no host
                return False
        given = request.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode(errors="surrogateescape"), f"Bearer {self._token}".encode())

    def _refused(self) -> "web.Response":
        error = UsageError("the token is missing or wrong: set ADJUDGE_ENV_TOKEN", code="unauthorised")
        return _response((401, _ENCODER.encode({"error": describe_error(error)})))


async def _reset(session: _Session, given: dict[str, Any]) -> object:
    await session.lease.reset(given.get("task"))
    return session.lease.first


async def _step(session: _Session, given: dict[str, Any]) -> object:
    return await session.lease.step(given.get("action"))  # type: ignore[arg-type]  # what is no text is refused there


async def _outcome(session: _Session, given: dict[str, Any]) -> object:
    del given
    outcome = await session.lease.outcome()
    if outcome.done_reason == NO_EPISODE:
        raise EnvError("no episode was started", code=NO_EPISODE)
    return outcome


async def _health(session: _Session, given: dict[str, Any]) -> object:
    del given
    if not await session.lease.health():
        raise EnvDied("the instance does not answer")
    return {}


_CALLS: dict[str, Callable[[_Session, dict[str, Any]], Awaitable[object]]] = {
    "reset": _reset,
    "step": _step,
    "outcome": _outcome,
    "health": _health,
}


async def _guarded(work: Callable[[], Awaitable[object]]) -> Answer:
    """Do something and encode how it went."""
    with Caught() as caught:
        return 200, _ENCODER.encode(await work())
    return _failed(caught)


def _failed(caught: Caught) -> Answer:
    error = caught.error
    if not isinstance(error, AdjudgeError):
        error = EnvError(str(caught.reason))
    status = 400 if isinstance(error, UsageError) else 409
    return status, _ENCODER.encode({"error": describe_error(error)})


async def _read(request: "web.Request") -> bytes:
    from aiohttp import web

    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise EnvProtocolError(f"the request is larger than {_MOST_BYTES:,} bytes") from error


def _arguments(body: bytes) -> dict[str, Any]:
    try:
        return _DECODER.decode(body or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the body is no JSON object: {error}", code="bad-body") from error


def _response(answer: Answer) -> "web.Response":
    from aiohttp import web

    status, body = answer
    return web.Response(status=status, body=body, content_type=_JSON)


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

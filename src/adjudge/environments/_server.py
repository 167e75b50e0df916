"""`adjudge env serve`: environments of this machine's pools, leased over HTTP.

A session is a lease: it ends when it is closed, when nobody has called it for the pool's `lease_s`, or with the server.
While a rollout has claimed it, every process that knows the rollout's id reaches it.
A request that arrives again with the same key gets the same answer, or waits until the first one has it.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.environments._errors import NO_ENVIRONMENT, EnvDied, EnvError, EnvProtocolError
from adjudge.environments._http import KEY, SESSION
from adjudge.environments._lease import NO_EPISODE, LeasedEnvironment
from adjudge.environments._pool import Pool
from adjudge.environments._protocol import describe_error
from adjudge.environments._world import whole
from adjudge.errors import AdjudgeError, Caught, UsageError
from adjudge.http import is_loopback, server_log

if TYPE_CHECKING:
    from aiohttp import web


_KEPT = 8  # answers of a session that are kept for a request that arrives again
_KEPT_OPENS = 4096
_MOST_PAST = 10_000  # rollouts to remember that have an environment no more
_MOST_BYTES = 8 << 20
_JSON = "application/json"
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])

Answer = tuple[int, bytes]


class _Answers:
    """Answers by key: a request that arrives twice is done once."""

    __slots__ = ("_kept", "_most")

    def __init__(self, most: int) -> None:
        self._kept: OrderedDict[str, tuple[bytes, asyncio.Task[Answer]]] = OrderedDict()
        self._most = most

    async def get(self, key: str, request: bytes, work: Callable[[], Awaitable[object]]) -> Answer:
        """Return the answer to a request, done now or before; it is done to its end even if the caller leaves."""
        digest = hashlib.sha256(request).digest()
        before = self._kept.get(key) if key else None
        if before is not None:
            if before[0] != digest:
                raise UsageError("the idempotency key was used for another request", code="key-reused")
            return await asyncio.shield(before[1])

        # A task of its own, and shielded: a client that hangs up must not leave the call half done.
        task = asyncio.create_task(_guard(work))
        if key:
            self._kept[key] = (digest, task)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return await asyncio.shield(task)


@dataclass(slots=True)
class _Session:
    """A lease, the answers to its last requests, and the rollout that has claimed it."""

    lease: LeasedEnvironment
    answers: _Answers
    rollout: str | None = None
    turn: int = 0

    @property
    def claim(self) -> tuple[str | None, str]:
        """By what it is found."""
        return self.rollout, self.lease.spec.kind


class EnvServer:
    """Serves the environments of some pools over HTTP, on the running event loop; with `openenv` to its clients, too.

    Only loopback addresses are served without a token.
    """

    def __init__(self, pools: Iterable[Pool], *, token: str | None = None, openenv: bool = False) -> None:
        self.pools: dict[str, Pool] = {}
        for pool in pools:
            if self.pools.setdefault(pool.spec.kind, pool) is not pool:
                raise UsageError(f"a server can have only one pool of the kind {pool.spec.kind}", code="ambiguous-kind")
        self._token = token
        self._openenv = openenv
        self._sessions: dict[str, _Session] = {}
        self._claims: dict[tuple[str | None, str], str] = {}  # names of sessions, by rollout and kind
        self._past: OrderedDict[tuple[str | None, str], str] = OrderedDict()  # why a rollout has none any more
        self._opens = _Answers(_KEPT_OPENS)

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
        """Listen, and yield the port; all leases end with it."""
        from aiohttp import web

        if self._token is None and not is_loopback(host):
            raise UsageError(f"other machines can reach {host}: give a token", code="token-needed")
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_get("/v1/status", self._status)
        app.router.add_post("/v1/{what}", self._call)
        if self._openenv:
            from adjudge.environments._openenv_server import OpenEnvDoor

            for kind, pool in self.pools.items():
                door = OpenEnvDoor(self, pool)
                for prefix in [f"/{kind}", ""] if len(self.pools) == 1 else [f"/{kind}"]:
                    door.add_routes(app, prefix)
        runner = web.AppRunner(app, access_log=None, logger=server_log(), shutdown_timeout=1.0)
        await runner.setup()
        try:
            # Inside, so that a port that is taken leaves nothing behind either.
            site = web.TCPSite(runner, host, port)
            await site.start()
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()
            for session in self._sessions.values():
                await session.lease.close()

    async def _status(self, request: "web.Request") -> "web.Response":
        """Return the counts of the pools."""
        if not self.is_allowed(request):
            return _refusal()
        counts = {kind: {**asdict(pool.counts()), "size": pool.size} for kind, pool in self.pools.items()}
        return _response(200, _ENCODER.encode(counts))

    async def _call(self, request: "web.Request") -> "web.Response":
        """Answer one call; whatever it contains, the answer is one of ours."""
        from aiohttp import web

        if not self.is_allowed(request):
            return _refusal()
        with Caught() as caught:
            if request.content_type != _JSON:  # which a foreign page in a browser cannot send without permission
                raise UsageError(f"the content type must be {_JSON}", code="bad-content-type")
            try:
                body = await request.read()
            except web.HTTPRequestEntityTooLarge as error:
                raise EnvProtocolError(f"the request is larger than {_MOST_BYTES:,} bytes") from error
            return _response(*await self._answer(request.match_info["what"], body, request.headers))
        return _response(*_failure(caught))

    async def _answer(self, what: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        try:
            given = _DECODER.decode(body or b"{}")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"the body is not a JSON object: {error}", code="bad-body") from error
        key = headers.get(KEY, "")
        if what == "open":
            return await self._opens.get(key, body, lambda: self._open(given))
        if what == "join":
            return 200, _ENCODER.encode(self._join(given))
        name = headers.get(SESSION, "")
        session = self._sessions.get(name)
        if session is None:
            raise EnvDied("there is no such session: it was closed, it expired, or the server was restarted")
        if what == "close":
            self.drop(name, "released")
            await session.lease.close()
            return 200, b"{}"
        if what == "claim":
            claimed = self.claim(name, str(given.get("rollout")), whole(given.get("turn")) or 0)
            return 200, _ENCODER.encode({"claimed": claimed})
        if what == "unclaim":
            if session.rollout == given.get("rollout"):
                self._unclaim(session, "released")
            return 200, b"{}"
        if what not in _CALLS:
            raise UsageError(f"there is no call {what!r}", code="unknown-call")
        lease = session.lease
        return await session.answers.get(key, what.encode() + b"\n" + body, lambda: _call(lease, what, given))

    async def _open(self, given: dict[str, Any]) -> object:
        name, _ = await self.lease(self._pool(given), min(600.0, float(given.get("timeout", 60.0))))
        return {"session": name}

    async def lease(self, pool: Pool, timeout: float) -> tuple[str, LeasedEnvironment]:  # noqa: ASYNC109 (as acquire)
        """Open a session; return its name and its lease."""
        # Sessions that have expired are dropped when the next one opens: no timer is needed, and the dict stays small.
        for ended in [name for name, session in self._sessions.items() if not session.lease.is_open]:
            self.drop(ended, "expired")
        # Whoever knows the name may act in the session, so it must not be guessed.
        name = secrets.token_urlsafe(18)
        lease = await pool.acquire(name, timeout=timeout)
        self._sessions[name] = _Session(lease, _Answers(_KEPT))
        return name, lease

    def _pool(self, given: dict[str, Any]) -> Pool:
        """Return the pool that a request names; a spec that is not ours is refused."""
        pool = self.pools.get(str(given.get("kind")))
        if pool is None:
            kinds = ", ".join(self.pools)
            raise UsageError(f"this server has {kinds}, not {given.get('kind')!r}", code="unknown-environment")
        # Through JSON, so that tuples and lists compare as the client sent them.
        ours = _DECODER.decode(_ENCODER.encode(asdict(pool.spec)))
        if given.get("spec", ours) != ours:
            raise UsageError(
                f"this server's {pool.spec.kind} has the spec {ours}, not {given['spec']}", code="other-spec"
            )
        return pool

    def _join(self, given: dict[str, Any]) -> object:
        """Find the session that a rollout has, for another process."""
        rollout, kind = str(given.get("rollout")), self._pool(given).spec.kind
        name = self._claims.get((rollout, kind), "")
        session = self._sessions.get(name)
        if session is None:
            raise self._gone(rollout, kind)
        lease = session.lease
        if not lease.is_open:
            self.drop(name, "expired")
            raise self._gone(rollout, kind)
        return {"session": name, "turn": session.turn, "task": lease.task, "first": lease.first, "last": lease.last}

    def _gone(self, rollout: str, kind: str) -> EnvError:
        """Say why a rollout has no environment here."""
        why = self._past.get((rollout, kind))
        if why is None:
            return EnvError(f"no {kind} environment of rollout {rollout} is known here", code=NO_ENVIRONMENT)
        return EnvDied(f"the {kind} environment of rollout {rollout} was {why} before it was read", code=f"lease-{why}")

    def claim(self, name: str, rollout: str | None, turn: int) -> bool:
        """Make a session the rollout's, unless it has one that is as new."""
        session = self._sessions[name]
        other = self._sessions.get(self._claims.get((rollout, session.lease.spec.kind), ""))
        if other is not None and other is not session and other.lease.is_open and other.turn >= turn:
            return False
        self._unclaim(session, "released")
        if rollout is None:
            return True
        session.rollout, session.turn = rollout, turn
        self._claims[session.claim] = name
        self._past.pop(session.claim, None)
        return True

    def _unclaim(self, session: _Session, why: str) -> None:
        """Take a session from its rollout, and remember why: a reward that is asked too late must say so."""
        claim, session.rollout = session.claim, None
        if claim[0] is None or self._sessions.get(self._claims.get(claim, "")) is not session:
            return  # nobody's, or the rollout has another one by now
        del self._claims[claim]
        self._past[claim] = why
        if len(self._past) > _MOST_PAST:
            self._past.popitem(last=False)

    def drop(self, name: str, why: str) -> None:
        """Forget a session, if it is known."""
        session = self._sessions.get(name)
        if session is not None:
            self._unclaim(session, why)
            del self._sessions[name]

    def is_allowed(self, request: "web.Request") -> bool:
        """Whether a request has the token, or needs none."""
        if self._token is None:
            try:
                # The host that the client named: a foreign page may use a name of its own that leads to this machine.
                return is_loopback(request.url.host or "")
            except ValueError:  # a header without a valid host
                return False
        # Compared in constant time: the time of an answer must not tell how much of a guess was right.
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        # OpenEnv's client can send a token only as the password of its URL.
        basic = base64.b64encode(f"token:{self._token}".encode())
        wanted = (f"Bearer {self._token}".encode(), b"Basic " + basic)
        return hmac.compare_digest(given, wanted[0]) or hmac.compare_digest(given, wanted[1])

    def refusal(self) -> "web.Response":
        """Return the answer to a request that is not allowed."""
        return _refusal()


_CALLS = ("reset", "step", "outcome", "health")


async def _call(lease: LeasedEnvironment, what: str, given: dict[str, Any]) -> object:
    """Do one of `_CALLS` with a lease."""
    if what == "reset":
        await lease.reset(given.get("task"))
        return lease.first
    if what == "step":
        return await lease.step(given.get("action"))  # type: ignore[arg-type]  # which rejects what is not text
    if what == "outcome":
        outcome = await lease.outcome()
        # Our own client never asks before a reset, because its lease knows that there was none.
        if outcome.done_reason == NO_EPISODE:
            raise EnvError("no episode was started", code=NO_EPISODE)
        return outcome
    if not await lease.health():
        raise EnvDied("the instance does not answer")
    return {}


async def _guard(work: Callable[[], Awaitable[object]]) -> Answer:
    """Do something and encode how it went."""
    with Caught() as caught:
        return 200, _ENCODER.encode(await work())
    return _failure(caught)


def _failure(caught: Caught) -> Answer:
    error = caught.error
    if not isinstance(error, AdjudgeError):
        error = EnvError(str(caught.reason))
    # What the caller can mend, and what it cannot; the body says the rest.
    status = 400 if isinstance(error, UsageError) else 409
    return status, _ENCODER.encode({"error": describe_error(error)})


def _refusal() -> "web.Response":
    error = UsageError("the token is missing or wrong: set ADJUDGE_ENV_TOKEN", code="unauthorised")
    return _response(401, _ENCODER.encode({"error": describe_error(error)}))


def _response(status: int, body: bytes) -> "web.Response":
    from aiohttp import web

    return web.Response(status=status, body=body, content_type=_JSON)

"""An environment behind `adjudge env serve`: JSON over HTTP, each call done once however often it is sent.

    POST /v1/open      {"kind", "spec", "timeout"}   -> {"session"}
    POST /v1/join      {"kind", "spec", "rollout"}   -> {"session", "turn", "task", "first", "last"}
    POST /v1/claim     {"rollout", "turn"}           -> {"claimed"}, false where the rollout has another session
    POST /v1/unclaim   {"rollout"}                   -> {}
    POST /v1/reset     {"task"}                      -> a Step
    POST /v1/step      {"action"}                    -> a Step
    POST /v1/outcome   {}                            -> an Outcome
    POST /v1/health    {}                            -> {}
    POST /v1/close     {}                            -> {}

All but the first two carry `Adjudge-Session`, all carry `Idempotency-Key`: a request that is sent again with the same
key gets the same answer. An error is `{"error": [kind, code, message]}`. A session is claimed for the rollout that
uses it, so that other processes can join it by the rollout's id. `RemoteInstance` is what instances behind any HTTP
server have in common.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from adjudge.chat import Key
from adjudge.environments._errors import NO_ENVIRONMENT, EnvDied, EnvError, EnvProtocolError, EnvStepTimeout
from adjudge.environments._hosts import Host, Hosts
from adjudge.environments._loops import BACKGROUND
from adjudge.environments._protocol import ANYTHING, AskedInstance, restore_error
from adjudge.environments._world import EnvSpec, Instance, Joined, PoolLimits
from adjudge.errors import AdjudgeError, Caught, DataError, UsageError
from adjudge.http import (
    Again,
    AttemptTimeout,
    BadStatus,
    DeadlineExceeded,
    HttpClient,
    HttpError,
    HttpReply,
    Limits,
    Reader,
    Request,
    is_transient,
)
from adjudge.model import Step, decode_json, to_json

__all__ = ["KEY", "SESSION", "TOKEN_VARIABLE", "HttpBackend", "RemoteInstance", "SharedClient", "read_json"]

T = TypeVar("T")

SESSION = "Adjudge-Session"
KEY = "Idempotency-Key"
TOKEN_VARIABLE = "ADJUDGE_ENV_TOKEN"  # noqa: S105 (the name of a variable)

_ATTEMPTS = 6
_ERROR = msgspec.json.Decoder(dict[str, tuple[str, str, str]])
_PROBE_S = 2.0
_SLACK_S = 5.0
_MOST_IN_FLIGHT = 4096


class SharedClient:
    """The client of all sessions of one backend; its connections are closed with the last of them.

    `take` and `let_go` are called on the background loop only.
    """

    def __init__(self, *, attempts: int) -> None:
        self._attempts = attempts
        self._client: HttpClient | None = None
        self._users = 0

    def take(self, limits: PoolLimits) -> HttpClient:
        """Return a client whose attempts outlast the longest call that the server may take."""
        self._users += 1
        if self._client is None:
            # Longer than any limit of a call, so that the server gives up first: its error says more than silence.
            longest = max(limits.step_s, limits.start_s) + _SLACK_S
            self._client = HttpClient(
                Limits(
                    in_flight=_MOST_IN_FLIGHT,
                    attempts=self._attempts,
                    attempt_timeout_s=longest,
                    deadline_s=2 * longest,
                )
            )
        return self._client

    async def let_go(self) -> None:
        """Close the client when its last session ends."""
        self._users -= 1
        if self._users == 0 and self._client is not None:
            client, self._client = self._client, None
            await client.close()


def read_json(reply: HttpReply) -> Any:
    """Return the JSON of a successful answer."""
    if not 200 <= reply.status < 300:
        text = reply.body[:300].decode("utf-8", "replace")
        raise EnvProtocolError(f"the environment server answered {reply.status}: {text}")
    try:
        return decode_json(reply.body, place="the answer: ")
    except (DataError, RecursionError) as error:
        raise EnvProtocolError(f"the environment server's answer is not JSON: {error}") from error


class RemoteInstance(Instance):
    """One session with a server. After a call without an answer, nobody knows the state of the episode."""

    def __init__(self, shared: SharedClient, url: str, limits: PoolLimits) -> None:
        self._shared: SharedClient | None = shared
        self._client = shared.take(limits)
        self._url = url.rstrip("/")
        self._broken = False

    @property
    def alive(self) -> bool:
        """Whether every call so far had an answer."""
        return not self._broken

    async def hang_up(self) -> None:
        """Release the client; calling it twice is legal."""
        self._broken = True
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared.let_go()

    def headers(self) -> Mapping[str, str]:
        """Return what every request carries."""
        return {"Content-Type": "application/json"}

    def lost(self) -> None:
        """Note that the server did not answer."""

    async def _send(
        self,
        path: str,
        body: Any,
        read: Reader[T],
        *,
        method: str = "POST",
        more: Mapping[str, str] | None = None,
        deadline_s: float | None = None,
    ) -> T:
        if self._broken:
            raise EnvDied(f"a call to {self._url} ended without an answer: the state of the episode is unknown")
        headers = {**self.headers(), **(more or {})}
        content = None if method == "GET" else to_json(body)
        request = Request(f"{self._url}{path}", content, method, lambda: headers)
        answered = False
        try:
            value = await self._client.send(request, read, deadline_s=deadline_s)
            answered = True
        except (AttemptTimeout, DeadlineExceeded) as error:
            self.lost()
            raise EnvStepTimeout(error.message) from error
        except HttpError as error:
            self.lost()
            raise EnvDied(f"the environment server cannot be reached: {error.message}") from error
        except AdjudgeError as error:  # raised by `read`: the server did answer
            # Where its own lease ended while it was asked, this session is over as well.
            answered = not isinstance(error, EnvDied | EnvStepTimeout) and error.code != "lease-released"
            raise
        finally:
            self._broken = not answered
        return value


class HttpBackend:
    """Leases environments from servers that run `adjudge env serve`, at one URL or several.

    Of several, the one with the least to do gets the next session; one that does not answer is left out for a while.
    `token` is the servers' bearer token: a text, a file (a `Path`), or else the variable ADJUDGE_ENV_TOKEN or the file
    that ADJUDGE_ENV_TOKEN_FILE names.
    """

    def __init__(self, urls: str | Sequence[str] = "http://127.0.0.1:8765", *, token: str | Path | None = None) -> None:
        self._hosts = Hosts(urls)
        self._token = Key(token, TOKEN_VARIABLE)
        self._client = SharedClient(attempts=_ATTEMPTS)
        self._probe = SharedClient(attempts=1)  # for servers that are likely to be gone

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "HttpInstance":
        """Open a session: a server leases one of its instances to it."""
        failure: EnvError | None = None
        for host in await self._hosts.by_load(lambda host: self._load(host, spec, limits)):
            host.sent += 1
            instance = HttpInstance(self._client, host, limits, self._token)
            try:
                await instance.open(spec, limits.start_s)
            except (EnvDied, EnvStepTimeout) as error:
                failure = error
                await instance.close()
                host.leave_out()
            except BaseException:
                await instance.close()
                raise
            else:
                return instance
        raise failure or EnvDied("there is no environment server")

    async def claim(self, instance: Instance, rollout_id: str, turn: int) -> bool:
        """Make a session the rollout's; False where, in its first turn, another process has claimed one already."""
        return isinstance(instance, HttpInstance) and await instance.claim(rollout_id, turn)

    async def unclaim(self, instance: Instance, rollout_id: str) -> None:
        """Note that a session is not the rollout's any more; called on the background loop."""
        if isinstance(instance, HttpInstance) and instance.alive:
            with Caught(fatal_too=True):
                await instance.unclaim(rollout_id)

    async def join(self, spec: EnvSpec, rollout_id: str, limits: PoolLimits, *, thorough: bool) -> "Joined | None":
        """Return the session that another process has claimed for the rollout; None if every server knows of none.

        A server that cannot be asked may have it: that is `EnvDied`. Unless this is `thorough`, one that has just been
        left out is not asked again.
        """
        # A client is taken and released on the background loop only.
        work = self._join(spec, rollout_id, limits, thorough=thorough)
        return await asyncio.wrap_future(BACKGROUND.submit(work))

    async def _join(self, spec: EnvSpec, rollout_id: str, limits: PoolLimits, *, thorough: bool) -> "Joined | None":
        asked = [host for host in self._hosts.all if thorough or not host.is_out]
        # Nobody waits long for a server that has just not answered.
        instances = [
            HttpInstance(self._probe if host.is_out else self._client, host, limits, self._token) for host in asked
        ]
        joins = (instance.join(spec, rollout_id) for instance in instances)
        answers = await asyncio.gather(*joins, return_exceptions=True)
        found = [answer for answer in answers if isinstance(answer, Joined)]
        # After a death the rollout went on elsewhere: its latest session counts.
        latest = max((one.turn for one in found), default=0)
        best = [one for one in found if one.turn == latest]
        for one in found:
            if len(best) > 1 or one not in best:
                await one.instance.close()
        if len(best) > 1:
            message = (
                f"two processes acquired the {spec.kind} environment of rollout {rollout_id} on two servers at once"
            )
            raise EnvError(message, code="rollout-shared")
        if best:
            return best[0]
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        if len(asked) < len(self._hosts.all):
            raise EnvDied(f"a server that may have the environment of rollout {rollout_id} cannot be reached")
        return None

    async def _load(self, host: Host, spec: EnvSpec, limits: PoolLimits) -> tuple[int, int]:
        """Ask a server how busy it is."""
        probe = HttpInstance(self._probe, host, limits, self._token)
        try:
            counts = await probe.status(spec)
        finally:
            await probe.hang_up()
        # Not `starting`: somebody waits for each of these.
        return counts["leased"] + counts["waiting"], counts["size"]


class _Claim(msgspec.Struct):
    """What a server says of a rollout's session."""

    session: str
    turn: int
    task: Any = None
    first: Step | None = None
    last: Step | None = None


_CLAIM = msgspec.json.Decoder(_Claim)


class HttpInstance(RemoteInstance, AskedInstance):
    """One session with our own server."""

    def __init__(self, shared: SharedClient, host: Host, limits: PoolLimits, token: Key) -> None:
        super().__init__(shared, host.url, limits)
        self._host = host
        self._token = token
        self._session = ""
        self._is_guest = False  # in a session that another process opened and will close

    @property
    def alive(self) -> bool:
        """Whether every call so far had an answer, and the server answers other sessions."""
        return not self._broken and not self._host.is_out

    def headers(self) -> Mapping[str, str]:
        """Return what every request carries."""
        token = self._token.reveal()
        authorisation = {} if token is None else {"Authorization": f"Bearer {token}"}
        session = {SESSION: self._session} if self._session else {}
        return {"Content-Type": "application/json", **authorisation, **session}

    async def open(self, spec: EnvSpec, timeout_s: float) -> None:
        """Ask for a session."""
        # Less than our own timeout, so that the server's answer arrives in time.
        patience = 0.8 * timeout_s
        found = await self._ask("open", ANYTHING, kind=spec.kind, spec=asdict(spec), timeout=patience)
        self._session = str(found.get("session", ""))
        if not self._session:
            raise EnvProtocolError(f"{self._url} opened a session but sent no session id")

    async def join(self, spec: EnvSpec, rollout_id: str) -> Joined | None:
        """Find the session of a rollout; None if this server knows of none, and nothing is held then."""
        found: _Claim | None = None
        try:
            found = await self._ask("join", _CLAIM, kind=spec.kind, spec=asdict(spec), rollout=rollout_id)
            self._session, self._is_guest = found.session, True
            return Joined(found.session, self, found.turn, found.task, found.first, found.last)
        except EnvError as error:
            if error.code == NO_ENVIRONMENT:
                return None
            raise
        finally:
            if found is None:
                await self.hang_up()

    async def claim(self, rollout_id: str, turn: int) -> bool:
        """Ask for the session to be the rollout's."""
        return bool((await self._ask("claim", ANYTHING, rollout=rollout_id, turn=turn)).get("claimed"))

    async def unclaim(self, rollout_id: str) -> None:
        """Say that the session is not the rollout's any more."""
        await self._ask("unclaim", ANYTHING, rollout=rollout_id)

    async def status(self, spec: EnvSpec) -> dict[str, int]:
        """Ask for the counts of the spec's pool, with little patience."""
        counts: dict[str, Any] = await self._send("/v1/status", None, read_json, method="GET", deadline_s=_PROBE_S)
        if spec.kind not in counts:
            raise UsageError(f"{self._url} has {', '.join(counts)}, not {spec.kind!r}", code="unknown-environment")
        return dict(counts[spec.kind])

    async def close(self) -> None:
        """Give the instance back to the server; a guest only leaves."""
        with Caught(fatal_too=True):
            if self._session and not self._is_guest:
                # The server would otherwise keep the lease until it expires.
                self._broken = False  # closing works whatever came before
                await self._ask("close", ANYTHING)
        await self.hang_up()

    def lost(self) -> None:
        """Note that the server did not answer."""
        self._host.leave_out()

    async def _ask(self, what: str, decoder: "msgspec.json.Decoder[T]", **arguments: Any) -> T:
        def read(reply: HttpReply) -> T | Again:
            try:
                if 200 <= reply.status < 300:
                    return decoder.decode(reply.body)
                described = _ERROR.decode(self._token.hidden(reply.body)).get("error")
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                # A gateway in between answers with pages of its own. Ours always sends JSON, also for errors.
                if is_transient(reply.status):
                    return Again(BadStatus(f"the server answered {reply.status}", status=reply.status))
                raise EnvProtocolError(f"the server answered {reply.status} with an invalid body: {error}") from error
            if described is None:
                raise EnvDied(f"the server answered {reply.status} without a reason")
            raise restore_error(*described)

        # The same key for every attempt: a request that arrives twice is done once.
        return await self._send(f"/v1/{what}", arguments, read, more={KEY: secrets.token_hex(16)})

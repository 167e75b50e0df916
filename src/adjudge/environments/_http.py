"""An environment behind `adjudge env serve`: JSON over HTTP, each call done once however often it is sent.

    POST /v1/open      {"kind", "spec", "timeout"}   -> {"session"}
    POST /v1/reset     {"task"}                      -> a Step
    POST /v1/step      {"action"}                    -> a Step
    POST /v1/outcome   {}                            -> an Outcome
    POST /v1/health    {}                            -> {}
    POST /v1/close     {}                            -> {}

All but the first carry `Adjudge-Session`, all carry `Idempotency-Key`: a request that is sent again with the same key
gets the same answer. An error is `{"error": [kind, code, message]}`. `RemoteInstance` is what instances behind any
HTTP server have in common.
"""

import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from adjudge.chat import Key
from adjudge.environments._errors import EnvDied, EnvProtocolError, EnvStepTimeout
from adjudge.environments._protocol import ANYTHING, AskedInstance, restore_error
from adjudge.environments._world import EnvSpec, Instance, PoolLimits
from adjudge.errors import AdjudgeError, Caught, DataError
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
from adjudge.model import decode_json, to_json

__all__ = ["KEY", "SESSION", "TOKEN_VARIABLE", "HttpBackend", "RemoteInstance", "SharedClient", "read_json"]

T = TypeVar("T")

SESSION = "Adjudge-Session"
KEY = "Idempotency-Key"
TOKEN_VARIABLE = "ADJUDGE_ENV_TOKEN"  # noqa: S105 (the name of a variable)

_ATTEMPTS = 6
_ERROR = msgspec.json.Decoder(dict[str, tuple[str, str, str]])
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

    async def _send(
        self, path: str, body: Any, read: Reader[T], *, method: str = "POST", more: Mapping[str, str] | None = None
    ) -> T:
        if self._broken:
            raise EnvDied(f"a call to {self._url} ended without an answer: the state of the episode is unknown")
        headers = {**self.headers(), **(more or {})}
        content = None if method == "GET" else to_json(body)
        request = Request(f"{self._url}{path}", content, method, lambda: headers)
        answered = False
        try:
            value = await self._client.send(request, read)
            answered = True
        except (AttemptTimeout, DeadlineExceeded) as error:
            raise EnvStepTimeout(error.message) from error
        except HttpError as error:
            raise EnvDied(f"the environment server cannot be reached: {error.message}") from error
        except AdjudgeError as error:  # raised by `read`: the server did answer
            answered = not isinstance(error, EnvDied | EnvStepTimeout)
            raise
        finally:
            self._broken = not answered
        return value


class HttpBackend:
    """Leases environments from a server that runs `adjudge env serve`.

    `token` is the server's bearer token: a text, a file (a `Path`), or else the variable ADJUDGE_ENV_TOKEN or the file
    that ADJUDGE_ENV_TOKEN_FILE names.
    """

    def __init__(self, url: str = "http://127.0.0.1:8765", *, token: str | Path | None = None) -> None:
        self.url = url
        self._token = Key(token, TOKEN_VARIABLE)
        self._client = SharedClient(attempts=_ATTEMPTS)

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "HttpInstance":
        """Open a session: the server leases one of its instances to it."""
        instance = HttpInstance(self._client, self.url, limits, self._token)
        try:
            await instance.open(spec, limits.start_s)
        except BaseException:
            await instance.close()
            raise
        return instance


class HttpInstance(RemoteInstance, AskedInstance):
    """One session with our own server."""

    def __init__(self, shared: SharedClient, url: str, limits: PoolLimits, token: Key) -> None:
        super().__init__(shared, url, limits)
        self._token = token
        self._session = ""

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

    async def close(self) -> None:
        """Give the instance back to the server."""
        with Caught(fatal_too=True):
            if self._session:
                # The server would otherwise keep the lease until it expires.
                self._broken = False  # closing works whatever came before
                await self._ask("close", ANYTHING)
        await self.hang_up()

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

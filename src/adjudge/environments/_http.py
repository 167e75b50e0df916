"""An environment behind `adjudge env serve`: JSON over HTTP, each call done once however often it is sent.

    POST /v1/open      {"kind", "spec", "timeout"}   -> {"session"}
    POST /v1/reset     {"task"}                      -> a Step
    POST /v1/step      {"action"}                    -> a Step
    POST /v1/outcome   {}                            -> an Outcome
    POST /v1/health    {}                            -> {}
    POST /v1/close     {}                            -> {}

All but the first carry `Adjudge-Session`, all carry `Idempotency-Key`: a request that is sent again with the same key
gets the answer of the first time. An error is `{"error": [kind, code, message]}`.
"""

import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from adjudge.chat import Key
from adjudge.environments._backend import PoolLimits, error_of
from adjudge.environments._errors import EnvDied, EnvProtocolError
from adjudge.environments._remote import Remote, SharedClient
from adjudge.environments._world import EnvSpec
from adjudge.errors import Caught
from adjudge.http import Again, BadStatus, HttpReply, is_transient
from adjudge.model import Outcome, Step

__all__ = ["KEY", "SESSION", "TOKEN", "HttpBackend"]

T = TypeVar("T")

SESSION = "Adjudge-Session"
KEY = "Idempotency-Key"
TOKEN = "ADJUDGE_ENV_TOKEN"  # noqa: S105 (the name of a variable)
_ATTEMPTS = 6
_STEP = msgspec.json.Decoder(Step)
_OUTCOME = msgspec.json.Decoder(Outcome)
_MAPPING = msgspec.json.Decoder(dict[str, Any])
_ERROR = msgspec.json.Decoder(dict[str, tuple[str, str, str]])


class HttpBackend:
    """Leases environments from a server that runs `adjudge env serve`.

    `token` is the server's bearer token: a text, a file (a `Path`), or else the variable ADJUDGE_ENV_TOKEN or the file
    that ADJUDGE_ENV_TOKEN_FILE names.
    """

    def __init__(self, url: str = "http://127.0.0.1:8765", *, token: str | Path | None = None) -> None:
        self.url = url
        self._token = Key(token, TOKEN)
        self._client = SharedClient(attempts=_ATTEMPTS)

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "HttpInstance":
        """Open a session: the server leases one of its instances to it."""
        instance = HttpInstance(self._client, self.url, limits, self._token)
        is_open = False
        try:
            await instance.open(spec, limits.start_s)
            is_open = True
        finally:
            if not is_open:
                await instance.close()
        return instance


class HttpInstance(Remote):
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
        wanted = {"kind": spec.kind, "spec": asdict(spec), "timeout": 0.8 * timeout_s}  # it has to tell us in time
        found = await self._ask("open", wanted, _MAPPING)
        self._session = str(found.get("session", ""))
        if not self._session:
            raise EnvProtocolError(f"{self._url} opened a session without a name")

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        return await self._ask("reset", {"task": task}, _STEP)

    async def step(self, action: str) -> Step:
        """Do one action, once."""
        return await self._ask("step", {"action": action}, _STEP)

    async def outcome(self) -> Outcome:
        """Read the outcome."""
        return await self._ask("outcome", {}, _OUTCOME)

    async def health(self) -> bool:
        """Ask the server whether the instance answers."""
        with Caught():
            await self._ask("health", {}, _MAPPING)
            return True
        return False

    async def close(self) -> None:
        """Give the instance back to the server."""
        with Caught(fatal_too=True):
            if self._session:
                self._broken = False  # this much can be asked whatever came before
                await self._ask("close", {}, _MAPPING)
        await self.hang_up()

    async def _ask(self, what: str, body: Any, decoder: "msgspec.json.Decoder[T]") -> T:
        def read(reply: HttpReply) -> T | Again:
            return _read(reply, decoder)

        return await self._send(f"/v1/{what}", body, read, more={KEY: secrets.token_hex(16)})


def _read(reply: HttpReply, decoder: "msgspec.json.Decoder[T]") -> T | Again:
    try:
        if 200 <= reply.status < 300:
            return decoder.decode(reply.body)
        told = _ERROR.decode(reply.body).get("error")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if is_transient(reply.status):
            return Again(BadStatus(f"the server answered {reply.status}", status=reply.status))
        raise EnvProtocolError(
            f"the server answered {reply.status} and something that is no answer: {error}"
        ) from error
    if told is None:
        raise EnvDied(f"the server answered {reply.status} and no reason")
    raise error_of(*told)

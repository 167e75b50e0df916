"""Langfuse: `POST /api/public/scores`, as the servers of its SDK 5.x take it, and as older ones do.

A list of scores is answered with 202, or with 207 and counts that do not say which scores are refused; older servers
take one score a request. Both replace a score that comes again with the same id and time, so nothing arrives twice.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from adjudge.errors import Caught, UsageError
from adjudge.http import HttpClient, HttpReply, Limits, Request
from adjudge.sinks._delivery import RemoteSink
from adjudge.sinks._scores import OutScore, Receipt, Rejected, cleaned_score, why_not_sendable
from adjudge.sinks._wire import (
    REFUSALS,
    BasicKeys,
    BatchRefused,
    DeliveryFault,
    address,
    as_json,
    each,
    exchange,
    json_object,
    refused,
    said_by,
    setting,
)

__all__ = ["LangfuseSink", "LangfuseWire", "langfuse_keys"]

_HOST = "https://cloud.langfuse.com"
_RECEIVER = "Langfuse"
_NAMES = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
_KEYS = " and ".join(_NAMES)


class LangfuseSink:
    """Scores to Langfuse: through an outbox with our own client, or through a `client` of its SDK.

    `host` defaults to `LANGFUSE_BASE_URL` or `LANGFUSE_HOST`, the keys to `LANGFUSE_PUBLIC_KEY` and
    `LANGFUSE_SECRET_KEY`, `environment` to `LANGFUSE_TRACING_ENVIRONMENT`. With a `client` each score becomes its
    `create_score(name=..., value=..., trace_id=...)` call; such a client does not say what was delivered, so the
    receipt counts those scores as `unconfirmed`.

    A score that names a session and no trace goes to the session's trace where it has exactly one, else to the session.
    """

    def __init__(
        self,
        outbox: str | Path = "adjudge.outbox",
        *,
        client: object = None,
        host: str | None = None,
        public_key: str | None = None,
        secret_key: str | None = None,
        environment: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._client = client
        wire = LangfuseWire(host, environment, langfuse_keys(public_key, secret_key))
        self._remote = RemoteSink(wire, outbox, limits)

    def send(self, scores: Iterable[OutScore]) -> Receipt:
        """Deliver scores and what an earlier delivery left; see `Receipt` for what became of them."""
        return self._remote.send(scores) if self._client is None else self._hand_over(scores)

    async def asend(self, scores: Iterable[OutScore]) -> Receipt:
        """Deliver scores from inside an event loop."""
        if self._client is None:
            return await self._remote.asend(scores)
        return await asyncio.get_running_loop().run_in_executor(None, self._hand_over, list(scores))

    def _hand_over(self, scores: Iterable[OutScore]) -> Receipt:
        return hand_over(self._client, [cleaned_score(score) for score in scores])

    def __repr__(self) -> str:
        return f"LangfuseSink(outbox={str(self._remote.outbox)!r})"


def langfuse_keys(public_key: str | None = None, secret_key: str | None = None) -> BasicKeys:
    """Return the keys, those that are not given from the environment."""
    return BasicKeys(public_key, secret_key, _NAMES)


class LangfuseWire:
    """The requests to Langfuse and their replies."""

    name = "langfuse"
    most_bytes = 900_000  # the server takes a body of 1 MB

    def __init__(self, host: str | None, environment: str | None, keys: BasicKeys) -> None:
        self._given = host
        self._environment = environment
        self._keys = keys
        self._form: Literal["list", "object"] | None = None  # None: not known yet

    @property
    def most(self) -> int:
        """How many scores go into one request, or are on their way at once."""
        return 8 if self._form == "object" else 100

    @property
    def _host(self) -> str:
        return address(self._given, "LANGFUSE_BASE_URL", "LANGFUSE_HOST") or _HOST

    def about(self) -> Mapping[str, str]:
        """Return host and environment."""
        environment = setting(self._environment, "LANGFUSE_TRACING_ENVIRONMENT")
        return {"kind": "langfuse", "host": self._host, **({"environment": environment} if environment else {})}

    def why_not(self, score: OutScore) -> str | None:
        """Ask for a value, and a trace or a session."""
        return why_not_sendable(score, placed=True)

    async def trace_of(self, client: HttpClient, session: str) -> tuple[bool, str | None]:
        """Return the session's trace, where it has exactly one."""
        query = urlencode({"sessionId": session, "limit": 2, "fields": "core"})
        request = Request(f"{self._host}/api/public/traces?{query}", method="GET", headers=self._keys.headers)
        reply = await exchange(client, request, receiver=_RECEIVER, keys=_KEYS)
        if reply.status >= 300:
            return True, None  # this server does not list traces, and will not on another try
        listed = json_object(reply, _RECEIVER).get("data")
        found = [one.get("id") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        return True, found[0] if len(found) == 1 and isinstance(found[0], str) else None

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send the scores in the form that the server takes, and find out which that is."""
        if self._form == "object":
            return await each(lambda score: self._post_one(client, score), scores)
        reply = await self._ask(client, msgspec.json.encode([self._body(score) for score in scores]))
        if 200 <= reply.status < 300:
            counts = self._acknowledgement(reply)
            self._form = "list"
            if counts.get("rejected"):
                raise refused(reply, self._keys.secrets())
            return [None] * len(scores)
        # An older server refuses a list as such: try one score alone before blaming the scores.
        if self._form is None and reply.status != 413:
            return await self._try_objects(client, scores, reply)
        raise self._refusal(reply)

    async def _try_objects(
        self, client: HttpClient, scores: Sequence[OutScore], reply: HttpReply
    ) -> Sequence[str | None]:
        """Find out whether a server that answered a list with `reply` takes one score a request."""
        first = await self._ask(client, msgspec.json.encode(self._body(scores[0])))
        if 200 <= first.status < 300 and "id" in json_object(first, _RECEIVER):
            self._form = "object"
            return [None, *await each(lambda score: self._post_one(client, score), scores[1:])]
        refusal = self._refusal(reply)
        if len(scores) == 1 and isinstance(refusal, BatchRefused):
            raise BatchRefused(f"{refusal.message}; as a request of its own, {said_by(first, self._keys.secrets())}")
        raise refusal

    async def _post_one(self, client: HttpClient, score: OutScore) -> None:
        reply = await self._ask(client, msgspec.json.encode(self._body(score)))
        if reply.status >= 300:
            raise self._refusal(reply)
        self._acknowledgement(reply)

    async def _ask(self, client: HttpClient, body: bytes) -> HttpReply:
        request = Request(f"{self._host}/api/public/scores", body, headers=as_json(self._keys.headers))
        return await exchange(client, request, receiver=_RECEIVER, keys=_KEYS)

    def _acknowledgement(self, reply: HttpReply) -> dict[str, Any]:
        found = json_object(reply, _RECEIVER)
        if not found.keys() & {"message", "accepted", "id"}:
            raise DeliveryFault(f"{_RECEIVER} answered {reply.status} without an acknowledgement", code="reply")
        return found

    def _refusal(self, reply: HttpReply) -> BatchRefused | DeliveryFault:
        if reply.status in REFUSALS:
            return refused(reply, self._keys.secrets())
        return DeliveryFault(f"{_RECEIVER} answered {reply.status}: check its address", code="http-status")

    def _body(self, score: OutScore) -> dict[str, Any]:
        at_trace = score.trace_id is not None
        body = {
            "id": score.id,
            "traceId": score.trace_id,
            "sessionId": None if at_trace else score.session_id,
            "observationId": score.observation_id if at_trace else None,
            "name": score.name,
            "value": float(score.value) if isinstance(score.value, bool) else score.value,
            "dataType": str(score.data_type).upper(),
            "comment": score.comment,
            "metadata": dict(score.metadata) or None,
            "environment": setting(self._environment, "LANGFUSE_TRACING_ENVIRONMENT"),
            "timestamp": score.timestamp.astimezone(UTC).isoformat(timespec="milliseconds"),
        }
        return {key: value for key, value in body.items() if value is not None}


def hand_over(client: object, scores: Sequence[OutScore]) -> Receipt:
    """Call the client once a score, then its `flush`, if it has one; an exception is that score's reason."""
    call = _call_of(client)
    rejected = [_rejected(score, reason) for score in scores if (reason := _hand_one(call, score)) is not None]
    flush = getattr(client, "flush", None)
    if callable(flush):
        with Caught(fatal_too=True):  # the scores count as unconfirmed either way
            flush()
    return Receipt(unconfirmed=len(scores) - len(rejected), rejected=tuple(rejected))


def _call_of(client: object) -> Callable[..., object]:
    for name in ("create_score", "score"):
        call = getattr(client, name, None)
        if callable(call):
            found: Callable[..., object] = call
            return found
    raise UsageError(f"a Langfuse client must have create_score, got {type(client).__name__}", code="bad-client")


def _hand_one(call: Callable[..., object], score: OutScore) -> str | None:
    reason = why_not_sendable(score, placed=True)
    if reason is not None:
        return reason
    wanted = _arguments(score)
    taken = _accepted(call, wanted)
    if not taken.keys() & {"trace_id", "session_id"}:
        return "no-trace: this client cannot attach a score to a session"
    with Caught(fatal_too=True) as caught:
        call(**taken)
    return caught.reason


def _arguments(score: OutScore) -> dict[str, Any]:
    at_trace = score.trace_id is not None
    wanted: dict[str, Any] = {
        "name": score.name,
        "value": float(score.value) if isinstance(score.value, bool) else score.value,
        "trace_id": score.trace_id,
        "session_id": None if at_trace else score.session_id,
        "observation_id": score.observation_id if at_trace else None,
        "score_id": score.id,
        "id": score.id,
        "data_type": str(score.data_type).upper(),
        "comment": score.comment,
        "metadata": dict(score.metadata) or None,
        "timestamp": score.timestamp,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _accepted(call: Callable[..., object], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that this release of the client has parameters for."""
    try:
        parameters = dict(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        parameters = {}
    named = {name for name, one in parameters.items() if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}
    takes_all = not parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    if takes_all and "id" not in named:
        named |= wanted.keys() - {"id"}
    return {name: value for name, value in wanted.items() if name in named}


def _rejected(score: OutScore, reason: str) -> Rejected:
    return Rejected(score.id, score.name, reason, score.trace_id)

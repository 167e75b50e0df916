"""Langfuse: `POST /api/public/scores`, as the servers of its SDK 5.x take it, and as older ones do.

A list of scores is answered with 202, or with 207 and counts that do not say which scores are refused; older servers
take one score a request. Both replace a score that comes again with the same id and time, so nothing arrives twice.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from adjudge.errors import Caught, UsageError
from adjudge.http import HttpClient, HttpReply, Limits
from adjudge.sinks._delivery import ClientSink
from adjudge.sinks._scores import OutScore, Receipt
from adjudge.sinks._wire import REFUSALS, BasicKeys, BatchRefused, DeliveryFault, Wire, each, setting

_NAMES = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")


class LangfuseSink(ClientSink):
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
        wire = LangfuseWire(host, environment, langfuse_keys(public_key, secret_key))
        super().__init__(wire, outbox, limits, client)

    def _hand_over(self, scores: Iterable[OutScore]) -> Receipt:
        receipt = super()._hand_over(scores)
        flush = getattr(self._client, "flush", None)
        if callable(flush):
            # The scores count as unconfirmed either way.
            with Caught(fatal_too=True):
                flush()
        return receipt

    def _emitter(self) -> tuple[Callable[[OutScore], None], bool]:
        """Return a function that calls the client once a score, with the arguments that its release has."""
        calls = [getattr(self._client, name, None) for name in ("create_score", "score")]
        call = next((one for one in calls if callable(one)), None)
        if call is None:
            message = f"a Langfuse client must have create_score, got {type(self._client).__name__}"
            raise UsageError(message, code="bad-client")

        def emit(score: OutScore) -> None:
            taken = _accepted(call, _arguments(score))
            if not taken.keys() & {"trace_id", "session_id"}:
                raise DeliveryFault("this client cannot attach a score to a session", code="no-trace")
            call(**taken)

        return emit, True


def langfuse_keys(public_key: str | None = None, secret_key: str | None = None) -> BasicKeys:
    """Return the keys, those that are not given from the environment."""
    return BasicKeys(public_key, secret_key, _NAMES)


class LangfuseWire(Wire):
    """The requests to Langfuse and their replies."""

    name = "langfuse"
    receiver = "Langfuse"
    variables = " and ".join(_NAMES)
    addresses = ("LANGFUSE_BASE_URL", "LANGFUSE_HOST")
    default = "https://cloud.langfuse.com"

    def __init__(self, host: str | None, environment: str | None, keys: BasicKeys) -> None:
        super().__init__(host, keys)
        self._keys = keys
        self._given_environment = environment
        self._form: Literal["list", "object"] | None = None  # None: not known yet

    @property
    def most(self) -> int:
        """How many scores go into one request, or are on their way at once."""
        return 8 if self._form == "object" else 100

    @property
    def project(self) -> str:
        """A public key belongs to one project."""
        return self._keys.owner

    @property
    def _environment(self) -> dict[str, str]:
        found = setting(self._given_environment, "LANGFUSE_TRACING_ENVIRONMENT")
        return {"environment": found} if found else {}

    def about(self) -> dict[str, str]:
        """Return address, project and environment."""
        return {**super().about(), **self._environment}

    async def trace_of(self, client: HttpClient, session: str) -> tuple[bool, str | None]:
        """Return the session's trace, where it has exactly one."""
        query = urlencode({"sessionId": session, "limit": 2, "fields": "core"})
        reply = await self.ask(client, f"{self.host}/api/public/traces?{query}", method="GET")
        if reply.status >= 300:
            # This server does not list traces, and will not on another try.
            return True, None
        listed = self.read(reply).get("data")
        found = [one.get("id") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        return True, found[0] if len(found) == 1 and isinstance(found[0], str) else None

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send the scores in the form that the server takes, and find out which that is."""
        if self._form == "object":
            return await each(lambda score: self._post_one(client, score), scores)
        reply = await self._send(client, [self._body(score) for score in scores])
        if 200 <= reply.status < 300:
            # 207 counts what was refused and does not say which: the delivery halves the batch to find out.
            counts = self._acknowledgement(reply)
            self._form = "list"
            if counts.get("rejected"):
                raise self.refusal(reply)
            return [None] * len(scores)
        refused = self._refusal(reply)
        # An older server refuses a list as such: try one score alone before blaming the scores.
        if self._form is None and reply.status != 413:
            first = await self._send(client, self._body(scores[0]))
            if 200 <= first.status < 300 and "id" in self.read(first):
                self._form = "object"
                return [None, *await each(lambda score: self._post_one(client, score), scores[1:])]
            if len(scores) == 1 and isinstance(refused, BatchRefused):
                raise BatchRefused(f"{refused.message}; as a request of its own, {self.quote(first)}")
        raise refused

    async def _post_one(self, client: HttpClient, score: OutScore) -> None:
        reply = await self._send(client, self._body(score))
        if reply.status >= 300:
            raise self._refusal(reply)
        self._acknowledgement(reply)

    async def _send(self, client: HttpClient, body: object) -> HttpReply:
        return await self.ask(client, f"{self.host}/api/public/scores", body)

    def _acknowledgement(self, reply: HttpReply) -> dict[str, Any]:
        found = self.read(reply)
        if not found.keys() & {"message", "accepted", "id"}:
            raise DeliveryFault(f"{self.receiver} answered {reply.status} without an acknowledgement", code="reply")
        return found

    def _refusal(self, reply: HttpReply) -> BatchRefused | DeliveryFault:
        return self.refusal(reply) if reply.status in REFUSALS else self.fault(reply)

    def _body(self, score: OutScore) -> dict[str, Any]:
        """Return a score with the names that the API has for what the SDK calls its arguments."""
        known = _arguments(score)
        body = {_API_NAMES.get(name, name): value for name, value in known.items() if name != "score_id"}
        # The time of the first attempt: Langfuse recognises a score that comes again by its id and time.
        at = score.timestamp.astimezone(UTC).isoformat(timespec="milliseconds")
        return {**body, **self._environment, "timestamp": at}


_API_NAMES = {
    "trace_id": "traceId",
    "session_id": "sessionId",
    "observation_id": "observationId",
    "data_type": "dataType",
}


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
    # Releases of the SDK differ: an argument that one does not know would be an error.
    named = {name for name, one in parameters.items() if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}
    takes_all = not parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    # A client that takes anything gets the newer name of the id alone, not both.
    if takes_all and "id" not in named:
        named |= wanted.keys() - {"id"}
    return {name: value for name, value in wanted.items() if name in named}

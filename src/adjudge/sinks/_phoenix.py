"""Phoenix: annotations of traces, spans and sessions, which a later one with the same identifier replaces."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.http import HttpClient, Limits, Request
from adjudge.sinks._delivery import RemoteSink
from adjudge.sinks._scores import OutScore, why_not_sendable
from adjudge.sinks._wire import REFUSALS, TokenKey, Unready, address, as_json, exchange, json_object, refused, said_by

__all__ = ["PhoenixSink", "PhoenixWire"]

_RECEIVER = "Phoenix"
_KEYS = "PHOENIX_API_KEY"
_HOST = "http://localhost:6006"


class PhoenixSink(RemoteSink):
    """Scores to Phoenix, as annotations of the trace, of the span or of the session that they name.

    `host` defaults to `PHOENIX_COLLECTOR_ENDPOINT`, else to port 6006 of this machine; `api_key` to `PHOENIX_API_KEY`.
    """

    def __init__(
        self, outbox: str | Path, *, host: str | None = None, api_key: str | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(PhoenixWire(host, TokenKey(api_key, _KEYS)), outbox, limits)


class PhoenixWire:
    """The requests to Phoenix and their replies."""

    name = "phoenix"
    most = 50
    most_bytes = 900_000

    def __init__(self, host: str | None, key: TokenKey) -> None:
        self._given = host
        self._key = key

    def about(self) -> Mapping[str, str]:
        """Return the host."""
        return {"kind": "phoenix", "host": self._host}

    def why_not(self, score: OutScore) -> str | None:
        """Ask for a value, and a trace or a session."""
        return why_not_sendable(score, placed=True)

    async def trace_of(self, client: HttpClient, session: str) -> tuple[bool, str | None]:  # noqa: ARG002 (the protocol's)
        """Leave a session a session: Phoenix annotates those too."""
        return False, None

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send the annotations of each kind in one request."""
        reasons: dict[str, str | None] = {}
        for kind in ("trace", "span", "session"):
            chosen = [score for score in scores if _kind(score) == kind]
            if chosen:
                found = await self._post_kind(client, kind, chosen)
                reasons.update(zip((score.id for score in chosen), found, strict=True))
        return [reasons[score.id] for score in scores]

    @property
    def _host(self) -> str:
        return (address(self._given, "PHOENIX_COLLECTOR_ENDPOINT") or _HOST).removesuffix("/v1/traces")

    async def _post_kind(self, client: HttpClient, kind: str, scores: Sequence[OutScore]) -> list[str | None]:
        body = msgspec.json.encode({"data": [_annotation(kind, score) for score in scores]})
        url = f"{self._host}/v1/{kind}_annotations?sync=true"
        request = Request(url, body, headers=as_json(self._key.headers))
        reply = await exchange(client, request, receiver=_RECEIVER, keys=_KEYS)
        if reply.status == 404:
            if len(scores) > 1:
                raise refused(reply, self._key.secrets())
            return [Unready(f"no-{kind}: {said_by(reply, self._key.secrets())}")]
        if reply.status in REFUSALS:
            raise refused(reply, self._key.secrets())
        json_object(reply, _RECEIVER)
        return [None] * len(scores)


def _kind(score: OutScore) -> str:
    if score.trace_id is None:
        return "session"
    return "trace" if score.observation_id is None else "span"


def _annotation(kind: str, score: OutScore) -> dict[str, Any]:
    places = {"trace": score.trace_id, "span": score.observation_id, "session": score.session_id}
    value = score.value
    label = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else None
    return {
        f"{kind}_id": places[kind],
        "name": score.name,
        "annotator_kind": "CODE",
        "identifier": score.id,
        "result": {
            "label": label,
            "score": None if isinstance(value, str) else float(value or 0.0),
            "explanation": score.comment,
        },
        "metadata": {**score.metadata, "adjudge.run": score.run},
    }

"""Phoenix: annotations of traces, spans and sessions, which a later one with the same identifier replaces."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adjudge.http import HttpClient, Limits
from adjudge.sinks._delivery import RemoteSink
from adjudge.sinks._scores import OutScore
from adjudge.sinks._wire import REFUSALS, TokenKey, Unready, Wire


class PhoenixSink(RemoteSink):
    """Scores to Phoenix, as annotations of the trace, of the span or of the session that they name.

    `host` defaults to `PHOENIX_COLLECTOR_ENDPOINT`, else to port 6006 of this machine; `api_key` to `PHOENIX_API_KEY`.
    """

    def __init__(
        self, outbox: str | Path, *, host: str | None = None, api_key: str | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(PhoenixWire(host, api_key), outbox, limits)


class PhoenixWire(Wire):
    """The requests to Phoenix and their replies; it annotates sessions too, so no trace is looked up for them."""

    name = "phoenix"
    receiver = "Phoenix"
    variables = "PHOENIX_API_KEY"
    addresses = ("PHOENIX_COLLECTOR_ENDPOINT",)
    default = "http://localhost:6006"
    most = 50

    def __init__(self, host: str | None, api_key: str | None = None) -> None:
        super().__init__(host, TokenKey(api_key, self.variables))

    @property
    def host(self) -> str:
        """The address to send to."""
        return super().host.removesuffix("/v1/traces")

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send the annotations of each kind in one request."""
        reasons: dict[str, str | None] = {}
        # Each kind has an address of its own.
        for kind in ("trace", "span", "session"):
            chosen = [score for score in scores if _kind(score) == kind]
            if chosen:
                found = await self._post_kind(client, kind, chosen)
                reasons.update(zip((score.id for score in chosen), found, strict=True))
        return [reasons[score.id] for score in scores]

    async def _post_kind(self, client: HttpClient, kind: str, scores: Sequence[OutScore]) -> list[str | None]:
        data = [_annotation(kind, score) for score in scores]
        reply = await self.ask(client, f"{self.host}/v1/{kind}_annotations?sync=true", {"data": data})
        # 404 means that one of them has no trace yet; which one shows when it is alone.
        if reply.status == 404 and len(scores) == 1:
            return [Unready(f"no-{kind}: {self.quote(reply)}")]
        if reply.status in (404, *REFUSALS):
            raise self.refusal(reply)
        self.read(reply)
        return [None] * len(scores)


def _kind(score: OutScore) -> str:
    if score.trace_id is None:
        return "session"
    return "trace" if score.observation_id is None else "span"


def _annotation(kind: str, score: OutScore) -> dict[str, Any]:
    places = {"trace": score.trace_id, "span": score.observation_id, "session": score.session_id}
    value = score.value
    # Phoenix has no truth values: they are a label and a number.
    label = str(value).lower() if isinstance(value, bool) else None
    if isinstance(value, str):
        label = value
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

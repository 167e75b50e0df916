"""MLflow: assessments of traces, one request each, under our own ids: one that exists already is updated."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from adjudge.http import HttpClient, HttpReply, Limits, Request
from adjudge.sinks._delivery import RemoteSink
from adjudge.sinks._scores import OutScore, why_not_sendable
from adjudge.sinks._wire import (
    REFUSALS,
    DeliveryFault,
    TokenKey,
    Unready,
    address,
    as_json,
    each,
    exchange,
    json_object,
    refused,
    said_by,
)

__all__ = ["MlflowSink", "MlflowWire"]

_RECEIVER = "MLflow"
_KEYS = "MLFLOW_TRACKING_TOKEN"
_PREFIX = "tr-"  # MLflow's trace id is an OpenTelemetry one with this before it


class MlflowSink(RemoteSink):
    """Scores to an MLflow tracking server (3.x), as feedback on the trace that they name.

    `host` defaults to `MLFLOW_TRACKING_URI`, `token` to `MLFLOW_TRACKING_TOKEN`.
    """

    def __init__(
        self, outbox: str | Path, *, host: str | None = None, token: str | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(MlflowWire(host, TokenKey(token, _KEYS)), outbox, limits)


class MlflowWire:
    """The requests to MLflow and their replies."""

    name = "mlflow"
    most = 8  # on their way at once
    most_bytes = 900_000

    def __init__(self, host: str | None, key: TokenKey) -> None:
        self._given = host
        self._key = key

    def about(self) -> Mapping[str, str]:
        """Return the host."""
        return {"kind": "mlflow", "host": address(self._given, "MLFLOW_TRACKING_URI") or ""}

    def why_not(self, score: OutScore) -> str | None:
        """Ask for a value and a trace."""
        reason = why_not_sendable(score, placed=True)
        if reason is None and score.trace_id is None:
            return "no-trace: MLflow keeps scores of traces only"
        return reason

    async def trace_of(self, client: HttpClient, session: str) -> tuple[bool, str | None]:  # noqa: ARG002 (the protocol's)
        """MLflow has no sessions."""
        return False, None

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Create or update one assessment a score."""
        return await each(lambda score: self._post_one(client, score), scores)

    @property
    def _host(self) -> str:
        host = address(self._given, "MLFLOW_TRACKING_URI")
        if host is None:
            raise DeliveryFault("the URL is missing: set MLFLOW_TRACKING_URI", code="no-address")
        return host

    async def _post_one(self, client: HttpClient, score: OutScore) -> str | None:
        trace = str(score.trace_id)
        trace = trace if trace.startswith(_PREFIX) else f"{_PREFIX}{trace}"
        place = f"{self._host}/api/3.0/mlflow/traces/{quote(trace, safe='')}/assessments"
        body = _assessment(score, trace)
        # Creating and updating are different requests: look first whether the assessment exists.
        older = await self._ask(client, Request(f"{place}/{score.id}", method="GET", headers=self._key.headers))
        if 200 <= older.status < 300:
            changes = {"assessment": body, "update_mask": "feedback,rationale,metadata"}
            request = self._request(f"{place}/{score.id}", changes, "PATCH")
        else:
            request = self._request(place, {"assessment": body}, "POST")
        reply = await self._ask(client, request)
        if reply.status == 404:
            return Unready(f"no-trace: {said_by(reply, self._key.secrets())}")
        if reply.status in REFUSALS:
            raise refused(reply, self._key.secrets())
        json_object(reply, _RECEIVER)
        return None

    def _request(self, url: str, body: object, method: str) -> Request:
        return Request(url, msgspec.json.encode(body), method, headers=as_json(self._key.headers))

    async def _ask(self, client: HttpClient, request: Request) -> HttpReply:
        return await exchange(client, request, receiver=_RECEIVER, keys=_KEYS)


def _assessment(score: OutScore, trace: str) -> dict[str, Any]:
    at = score.timestamp.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    metadata = {str(key): msgspec.json.encode(value).decode() for key, value in score.metadata.items()}
    body = {
        "assessment_id": score.id,
        "assessment_name": score.name,
        "trace_id": trace,
        "span_id": score.observation_id,
        "source": {"source_type": "CODE", "source_id": "adjudge"},
        "create_time": at,
        "last_update_time": at,
        "feedback": {"value": score.value},
        "rationale": score.comment,
        "metadata": {**metadata, "adjudge.run": score.run},
    }
    return {key: value for key, value in body.items() if value is not None}

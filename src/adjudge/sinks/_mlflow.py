"""MLflow: assessments of traces, one request each, under our own ids: one that exists already is updated."""

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from adjudge.http import HttpClient, Limits
from adjudge.sinks._delivery import RemoteSink
from adjudge.sinks._scores import OutScore
from adjudge.sinks._wire import REFUSALS, DeliveryFault, TokenKey, Unready, Wire, each

_PREFIX = "tr-"  # MLflow's trace id is an OpenTelemetry one with this before it


class MlflowSink(RemoteSink):
    """Scores to an MLflow tracking server (3.x), as feedback on the trace that they name.

    `host` defaults to `MLFLOW_TRACKING_URI`, `token` to `MLFLOW_TRACKING_TOKEN`.
    """

    def __init__(
        self, outbox: str | Path, *, host: str | None = None, token: str | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(MlflowWire(host, token), outbox, limits)


class MlflowWire(Wire):
    """The requests to MLflow and their replies; it has no sessions."""

    name = "mlflow"
    receiver = "MLflow"
    variables = "MLFLOW_TRACKING_TOKEN"
    addresses = ("MLFLOW_TRACKING_URI",)

    def __init__(self, host: str | None, token: str | None = None) -> None:
        super().__init__(host, TokenKey(token, self.variables))

    def why_not(self, score: OutScore) -> str | None:
        """Ask for a value and a trace."""
        reason = super().why_not(score)
        if reason is None and score.trace_id is None:
            return "no-trace: MLflow keeps scores of traces only"
        return reason

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Create or update one assessment a score."""
        return await each(lambda score: self._post_one(client, score), scores)

    async def _post_one(self, client: HttpClient, score: OutScore) -> str | None:
        # Missing only when something is sent: an outbox can be filled before the server's address is known.
        if not self.host:
            raise DeliveryFault("the URL is missing: set MLFLOW_TRACKING_URI", code="no-address")
        trace = f"{_PREFIX}{str(score.trace_id).removeprefix(_PREFIX)}"
        place = f"{self.host}/api/3.0/mlflow/traces/{quote(trace, safe='')}/assessments"
        body = _assessment(score, trace)
        # Creating and updating are different requests: look first whether the assessment exists.
        older = await self.ask(client, f"{place}/{score.id}", method="GET")
        if 200 <= older.status < 300:
            changes = {"assessment": body, "update_mask": "feedback,rationale,metadata"}
            reply = await self.ask(client, f"{place}/{score.id}", changes, "PATCH")
        else:
            reply = await self.ask(client, place, {"assessment": body})
        if reply.status == 404:
            return Unready(f"no-trace: {self.quote(reply)}")
        if reply.status in REFUSALS:
            raise self.refusal(reply)
        self.read(reply)
        return None


def _assessment(score: OutScore, trace: str) -> dict[str, Any]:
    at = score.timestamp.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    # MLflow takes texts as metadata, nothing else.
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

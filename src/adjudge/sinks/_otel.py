"""OpenTelemetry: one `gen_ai.evaluation.result` event a score, as a log record of the trace that it judges.

Without a logger provider the events go as OTLP/HTTP with JSON, through the outbox, one a request, so that a partial
success names its event. A collector keeps an event that comes twice; `adjudge.score.id` shows that it is the same.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from adjudge.errors import MissingExtra
from adjudge.http import HttpClient, Limits
from adjudge.sinks._delivery import ClientSink
from adjudge.sinks._scores import OutScore, why_not_sendable
from adjudge.sinks._wire import REFUSALS, Wire, address, setting

EVENT = "gen_ai.evaluation.result"
_HEX = frozenset("0123456789abcdef")


class OtelSink(ClientSink):
    """Scores as OpenTelemetry events: through an outbox to an OTLP/HTTP endpoint, or to a `logger_provider`.

    `endpoint` is the address of the collector, by default that of `OTEL_EXPORTER_OTLP_ENDPOINT`, with headers of
    `OTEL_EXPORTER_OTLP_HEADERS`. A provider does not report what it does with its events: they count as `unconfirmed`.
    """

    def __init__(
        self,
        outbox: str | Path = "adjudge.outbox",
        *,
        logger_provider: Any = None,
        endpoint: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(OtelWire(endpoint), outbox, limits, logger_provider)

    def _emitter(self) -> tuple[Callable[[OutScore], None], bool]:
        """Return a function that emits one score through the provider."""
        try:
            from opentelemetry._logs import LogRecord, SeverityNumber
            from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context
        except ImportError:
            raise MissingExtra.of("otel", "emitting OpenTelemetry events") from None
        logger = self._client.get_logger("adjudge")

        def emit(score: OutScore) -> None:
            place = _place(score)
            trace, span = (int(place.get(key, "0"), 16) for key in ("traceId", "spanId"))
            judged = SpanContext(trace, span, is_remote=True, trace_flags=TraceFlags(1))
            logger.emit(
                LogRecord(
                    timestamp=_nanoseconds(score),
                    context=set_span_in_context(NonRecordingSpan(judged)),
                    severity_number=SeverityNumber.INFO,
                    event_name=EVENT,
                    attributes=attributes_of(score),
                )
            )

        return emit, False


class OtelHeaders:
    """The headers that the environment has for an OTLP endpoint, keys among them."""

    variable = "OTEL_EXPORTER_OTLP_HEADERS"

    def headers(self) -> dict[str, str]:
        """Return the headers of a request."""
        pairs = (pair.partition("=") for pair in (setting(None, self.variable) or "").split(","))
        return {name.strip(): unquote(value.strip()) for name, found, value in pairs if found and name.strip()}

    def secrets(self) -> list[str]:
        """Return what must not be shown: of `Bearer KEY` the key, with which a server need not repeat the word."""
        return [word for value in self.headers().values() for word in value.split()]


class OtelWire(Wire):
    """The requests to an OTLP/HTTP endpoint and their replies; OpenTelemetry has no sessions."""

    name = "otel"
    receiver = "the OTLP endpoint"
    variables = OtelHeaders.variable
    addresses = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    default = "http://localhost:4318"
    most = 1

    def __init__(self, endpoint: str | None) -> None:
        super().__init__(endpoint, OtelHeaders())

    @property
    def host(self) -> str:
        """The address of log records."""
        # The variable for logs is the whole address; the general one is the part before /v1/logs.
        exact = None if self._given else address(None, self.addresses[0])
        base = address(self._given, self.addresses[1]) or self.default
        return exact or (base if base.endswith("/v1/logs") else f"{base}/v1/logs")

    def why_not(self, score: OutScore) -> str | None:
        """Ask only for a value: an event needs no trace."""
        return why_not_sendable(score, placed=False)

    async def post(self, client: HttpClient, scores: Sequence[OutScore]) -> Sequence[str | None]:
        """Send one event."""
        (score,) = scores
        reply = await self.ask(client, self.host, _export(score))
        if reply.status in REFUSALS:
            raise self.refusal(reply)
        # A collector takes a log record or refuses it: 404 means that there is another server.
        if reply.status >= 300:
            raise self.fault(reply)
        partial = self.read(reply).get("partialSuccess") if reply.body.strip() else None
        if isinstance(partial, dict) and str(partial.get("rejectedLogRecords") or 0) != "0":
            raise self.refusal(reply)
        return [None]


def attributes_of(score: OutScore) -> dict[str, str | float]:
    """Return the attributes of a score's event, as the conventions name them."""
    value = score.value
    found: dict[str, str | float | None] = {
        "gen_ai.evaluation.name": score.name,
        "gen_ai.evaluation.score.value": None if value is None or isinstance(value, str) else float(value),
        "gen_ai.evaluation.score.label": _label(value),
        "gen_ai.evaluation.explanation": score.comment,
        "adjudge.score.id": score.id,
        "adjudge.run": score.run or None,
        "session.id": score.session_id,
        **{f"adjudge.{key}": _as_text(one) for key, one in score.metadata.items()},
    }
    return {key: one for key, one in found.items() if one is not None}


def _label(value: bool | float | str | None) -> str | None:
    if isinstance(value, bool):
        return "pass" if value else "fail"
    return value if isinstance(value, str) else None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _export(score: OutScore) -> dict[str, Any]:
    nanoseconds = str(_nanoseconds(score))
    record = {
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": 9,
        "eventName": EVENT,
        "attributes": [_pair(key, value) for key, value in attributes_of(score).items()],
        **_place(score),
    }
    scope = {"scope": {"name": "adjudge"}, "logRecords": [record]}
    resource = {"attributes": [_pair("service.name", "adjudge")]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}


def _nanoseconds(score: OutScore) -> int:
    return int(score.timestamp.timestamp() * 1_000_000) * 1_000


def _pair(key: str, value: str | float) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}}


def _place(score: OutScore) -> dict[str, str]:
    """Return trace and span where their ids are OpenTelemetry's."""
    trace, span = score.trace_id or "", score.observation_id or ""
    # Trace ids of other systems would make the whole record invalid.
    if len(trace) != 32 or not set(trace) <= _HEX:
        return {}
    return {"traceId": trace, **({"spanId": span} if len(span) == 16 and set(span) <= _HEX else {})}

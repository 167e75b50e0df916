"""The real OpenTelemetry SDK: as the provider of a sink, and as the reader of what our own sender sends."""

from pathlib import Path

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

from adjudge.sinks import OtelSink, OutScore
from sinks.recorded import recorded

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SCORES = [
    OutScore("faithful", 0.75, trace_id=TRACE, observation_id=SPAN, comment="Mostly.", metadata={"tags": ["a"]}),
    OutScore("workflow_pass", value=False, trace_id=TRACE),
    OutScore("verdict", "good", trace_id="not-a-trace-id"),
    OutScore("nothing", float("nan"), trace_id=TRACE),
]


def test_provider_gets_events() -> None:
    """Each score with a value is one event, with the conventions' names, in the trace and span that it judges."""
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    receipt = OtelSink(logger_provider=provider).send(SCORES)
    assert (receipt.unconfirmed, [one.name for one in receipt.rejected]) == (3, ["nothing"])
    records = [one.log_record for one in exporter.get_finished_logs()]
    assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
    assert [record.trace_id for record in records] == [int(TRACE, 16), int(TRACE, 16), 0]
    assert [record.span_id for record in records] == [int(SPAN, 16), 0, 0]
    attributes = dict(records[0].attributes or {})
    assert attributes["gen_ai.evaluation.name"] == "faithful"
    assert attributes["gen_ai.evaluation.score.value"] == 0.75
    assert attributes["gen_ai.evaluation.explanation"] == "Mostly."
    assert attributes["adjudge.tags"] == '["a"]'
    provider.shutdown()


def test_bodies_are_otlp(tmp_path: Path) -> None:
    """What goes over HTTP is read by the SDK's own protobuf messages, with nothing that they do not know."""
    with recorded(lambda *_: (200, {})) as told:
        receipt = OtelSink(tmp_path / "a.outbox", endpoint=told.host).send(SCORES)
    assert (receipt.delivered, len(receipt.rejected)) == (3, 1)
    for _, _, body in told.asked:
        for resource in body["resourceLogs"]:
            for scope in resource["scopeLogs"]:
                for record in scope["logRecords"]:  # OTLP writes ids in hexadecimal, protobuf's own JSON in base 64
                    record.pop("traceId", None)
                    record.pop("spanId", None)
        message = ParseDict(body, ExportLogsServiceRequest())
        assert message.resource_logs[0].scope_logs[0].log_records[0].event_name == "gen_ai.evaluation.result"

"""What the real SDKs export reaches the local endpoint, and what it answers is what they understand."""

import logging
import os
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import langsmith
import pytest
from google.protobuf.json_format import ParseDict
from google.rpc.status_pb2 import Status
from langfuse import Langfuse
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from adjudge.receivers import EndpointLimits, LangfuseReceiver, LangSmithReceiver, OtlpEndpoint
from receivers.services import Langfuse as LangfuseService
from receivers.services import LangSmith, observation, run

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "research"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pdf_retrieval"}
SECRET = {"secret_key": "sk-test"}
EXPORTERS: dict[str, Any] = {
    "protobuf": lambda url: OTLPSpanExporter(endpoint=url),
    "protobuf, gzip": lambda url: OTLPSpanExporter(endpoint=url, compression=Compression.Gzip),
    "protobuf, deflate": lambda url: OTLPSpanExporter(endpoint=url, compression=Compression.Deflate),
    "json": lambda url: JsonExporter(endpoint=url),
}


@pytest.mark.parametrize("name", EXPORTERS)
@pytest.mark.parametrize("runs", [1, 40])
def test_exporters_of_opentelemetry(name: str, runs: int) -> None:
    """Spans under adjudge's `traceparent`, in either encoding, packed or not, give whole traces."""
    traces = [secrets.token_hex(16) for _ in range(runs)]
    with OtlpEndpoint() as endpoint:
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(EXPORTERS[name](endpoint.url), schedule_delay_millis=50))
        tracer = provider.get_tracer("story")
        for trace in traces:
            outer = TraceContextTextMapPropagator().extract({"traceparent": f"00-{trace}-{trace[:16]}-01"})
            with tracer.start_as_current_span("a", context=outer, attributes=AGENT):
                for _ in range(5):
                    with tracer.start_as_current_span("t", attributes=TOOL):
                        pass
        for trace in traces:
            found = endpoint.wait(trace, settle=0.1)
            assert (found.complete, found.agents_called, found.tools_used) == (
                True,
                ("research",),
                ("pdf_retrieval",) * 5,
            )
        provider.shutdown()
        assert (endpoint.counts.refused, endpoint.counts.rejected) == (0, 0)


def test_log_records_of_opentelemetry() -> None:
    """Messages that the SDK sends as log records are those of the span that they were written in."""
    asked = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    said = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [asked]}}
    with OtlpEndpoint() as endpoint:
        spans, logs = TracerProvider(), LoggerProvider()
        spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint.url), schedule_delay_millis=50))
        exporter = OTLPLogExporter(endpoint=f"{endpoint.base_url}/v1/logs")
        logs.add_log_record_processor(BatchLogRecordProcessor(exporter, schedule_delay_millis=50))
        with spans.get_tracer("story").start_as_current_span(
            "chat", attributes={"gen_ai.operation.name": "chat"}
        ) as one:
            trace = f"{one.get_span_context().trace_id:032x}"
            for place, (name, body) in enumerate((("gen_ai.user.message", {"content": "q"}), ("gen_ai.choice", said))):
                logs.get_logger("story").emit(LogRecord(timestamp=place + 1, event_name=name, body=body))
            logs.get_logger("story").emit(LogRecord(timestamp=3, body="an ordinary record"))
        logs.force_flush()
        found = endpoint.wait(trace, settle=0.2)
        spans.shutdown()
        logs.shutdown()
        assert (endpoint.counts.refused, endpoint.counts.rejected) == (0, 0)
    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert (found.tools_requested, found.complete) == (("search",), True)


AUTO = """
from opentelemetry import trace
from opentelemetry.sdk._configuration import _initialize_components
_initialize_components()
with trace.get_tracer("story").start_as_current_span("a", attributes={"gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "research", "session.id": "the-session"}):
    pass
trace.get_tracer_provider().shutdown()
"""


def test_an_instrumented_program_needs_only_the_environment() -> None:
    """A program that is set up by OTEL variables sends its spans here, whatever it was set to before."""
    before = {"OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=secret", "OTEL_TRACES_SAMPLER": "always_off"}
    with OtlpEndpoint() as endpoint:
        environment = {**os.environ, **before, **endpoint.environment()}
        subprocess.run([sys.executable, "-c", AUTO], env=environment, check=True, timeout=60)
        assert endpoint.wait("the-session", settle=0.1).agents_called == ("research",)


def test_the_sdk_of_langfuse() -> None:
    """Langfuse's SDK, given the endpoint as its address, sends its observations here."""
    trace = secrets.token_hex(16)
    with OtlpEndpoint() as endpoint:
        client = Langfuse(public_key="pk-sdk", **SECRET, base_url=endpoint.base_url)
        with (
            client.start_as_current_observation(name="research", as_type="agent", trace_context={"trace_id": trace}),
            client.start_as_current_observation(name="pdf_retrieval", as_type="tool"),
        ):
            pass
        client.flush()
        found = endpoint.wait(trace, settle=0.1)
        client.shutdown()
    assert (found.complete, found.agents_called, found.tools_used) == (True, ("research",), ("pdf_retrieval",))


def post(url: str, body: bytes) -> tuple[int, bytes]:
    """Send protobuf."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/x-protobuf"})  # noqa: S310 (our own)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 (same)
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_answers_are_messages_of_the_protocol() -> None:
    """Success, partial success and refusal are read by the protocol's own classes."""
    good = {"traceId": "q80BAgMEBQYHCAkKCwwNDg==", "spanId": "q80BAgMEBQY=", "name": "a"}
    request = ParseDict(
        {"resourceSpans": [{"scopeSpans": [{"spans": [good, {"name": "b"}]}]}]}, ExportTraceServiceRequest()
    )
    with OtlpEndpoint() as endpoint:
        status, body = post(endpoint.url, request.SerializeToString())
        answer = ExportTraceServiceResponse.FromString(body)
        assert (status, answer.partial_success.rejected_spans) == (200, 1)
        assert "trace_id" in answer.partial_success.error_message
        status, body = post(endpoint.url, b"\xff" * 20)
        assert (status, Status.FromString(body).code) == (400, 3)
        assert Status.FromString(body).message
        status, body = post(endpoint.url, b"")
        assert (status, ExportTraceServiceResponse.FromString(body).HasField("partial_success")) == (200, False)


def test_exporters_give_up_what_is_too_large(caplog: pytest.LogCaptureFixture) -> None:
    """A 413 is final for an exporter: it is sent once."""
    caplog.set_level(logging.CRITICAL)
    with OtlpEndpoint(limits=EndpointLimits(request_bytes=100)) as endpoint:
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint.url)))
        with provider.get_tracer("story").start_as_current_span("a", attributes={"x": "y" * 1000}):
            pass
        provider.shutdown()
        assert (endpoint.counts.requests, endpoint.counts.refused) == (1, 1)


def test_the_client_of_langsmith_reads_the_same_pages() -> None:
    """The local server speaks what LangSmith's own client asks for: both read the same runs."""
    trace = "0af76519-16cd-43dd-8448-eb211c80319c"
    runs = [run(trace, 1, "chain", "research"), *(run(trace, number, "tool", "t", 1) for number in range(2, 200))]
    with LangSmith(runs) as service:
        client = langsmith.Client(api_url=service.base_url, api_key="lsv2-test", auto_batch_tracing=False)
        theirs = {str(one.id) for one in client.list_runs(trace_id=trace)}
        ours = LangSmithReceiver(service.base_url, api_key="lsv2-test").fetch(trace, settle=0.05)
    assert len(theirs) == len(runs)
    assert len(ours.tools_used) == len(runs) - 1


def test_the_client_of_langfuse_reads_the_same_pages() -> None:
    """The local server speaks what Langfuse's own client asks for: both read the same observations."""
    trace = secrets.token_hex(16)
    items = [
        observation(trace, 1, "AGENT", "research"),
        *(observation(trace, n, "TOOL", "t", 1) for n in range(2, 200)),
    ]
    with LangfuseService(items) as service:
        client = Langfuse(public_key="pk-test", **SECRET, base_url=service.base_url, tracing_enabled=False)
        theirs: set[str] = set()
        cursor = None
        while True:
            page = client.api.observations.get_many(trace_id=trace, limit=50, cursor=cursor, fields="core,basic,io")
            theirs |= {one.id for one in page.data}
            cursor = page.meta.cursor
            if cursor is None:
                break
        ours = LangfuseReceiver(service.base_url, public_key="pk-test", secret_key=SECRET["secret_key"]).fetch(
            trace, settle=0.05
        )
    assert len(theirs) == len(items)
    assert len(ours.tools_used) == len(items) - 1

"""What the real SDKs emit for one run is read as one Trajectory, whichever SDK it was.

`python tests/oracle/test_traces_sdks.py` writes what they emit to the golden files that `make test` reads.
"""

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import langfuse
import openai
import pytest
from google.protobuf.json_format import MessageToJson
from langsmith.run_trees import RunTree
from openinference.instrumentation import (
    get_input_attributes,
    get_llm_attributes,
    get_output_attributes,
    get_tool_attributes,
)
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from adjudge.traces import iter_protobuf_spans, load, missing
from traces.encodings import genai_messages, tool_attributes
from traces.story import AGENTS, ANSWER, HANDOFF, MESSAGES, Agent, Model, Tool, expected

agents: Any = import_module("agents")  # the tests' own folder `agents` would confuse a type checker
tracing: Any = import_module("agents.tracing")
OpenInferenceProvider: Any = import_module("openinference.instrumentation").TracerProvider

GOLDEN = Path(__file__).parents[1] / "golden" / "traces"


def opentelemetry(limits: SpanLimits | None = None) -> ExportTraceServiceRequest:
    """Emit the story with the OpenTelemetry SDK and the `gen_ai.*` conventions."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("story")
    with tracer.start_as_current_span("run"):
        for agent in AGENTS:
            with tracer.start_as_current_span(f"invoke_agent {agent.name}", attributes=tool_attributes(agent, None)):
                for step in agent.steps:
                    attributes = tool_attributes(agent, step)
                    if isinstance(step, Model):
                        attributes |= genai_messages(step)
                    with tracer.start_as_current_span("step", attributes=attributes):
                        pass
    return encode_spans(memory.get_finished_spans())


def openinference() -> ExportTraceServiceRequest:
    """Emit the story with OpenInference's tracer and helpers; the handoff as its instrumentation of the Agents SDK."""
    memory = InMemorySpanExporter()
    provider = OpenInferenceProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("story")
    with tracer.start_as_current_span("run", openinference_span_kind="chain") as root:
        for agent in AGENTS:
            with tracer.start_as_current_span(
                agent.name, openinference_span_kind="agent", attributes={"agent.name": agent.name}
            ):
                for step in agent.steps:
                    _openinference_step(tracer, agent, step)
        root.set_attributes(get_output_attributes(ANSWER))
    return encode_spans(memory.get_finished_spans())


def _openinference_step(tracer: Any, agent: Agent, step: Model | Tool) -> None:
    if isinstance(step, Model):
        known = [{key: value for key, value in each.items() if value is not None} for each in MESSAGES]
        attributes = get_llm_attributes(
            model_name="m",
            input_messages=known[: step.given],
            output_messages=[known[step.given]],
        )
        with tracer.start_as_current_span("chat", openinference_span_kind="llm", attributes=attributes):
            return
    if step is HANDOFF:
        with tracer.start_as_current_span(f"handoff to {agent.next_agent}", openinference_span_kind="tool"):
            return
    attributes = {
        **get_tool_attributes(name=step.name, parameters={}),
        **get_input_attributes(step.arguments),
        **get_output_attributes(step.result),
    }
    with tracer.start_as_current_span(step.name, openinference_span_kind="tool", attributes=attributes):
        pass


def langfuse_sdk() -> ExportTraceServiceRequest:
    """Emit the story with Langfuse's SDK, its spans through an exporter in memory."""
    memory = InMemorySpanExporter()
    client = langfuse.Langfuse(
        public_key=f"pk-{random.random()}",  # noqa: S311 (one client a key)
        secret_key="sk",  # noqa: S106 (goes nowhere)
        base_url="http://127.0.0.1:9",
        tracer_provider=TracerProvider(),
        span_exporter=memory,
    )
    with client.start_as_current_observation(name="run", as_type="span") as root:
        for agent in AGENTS:
            with client.start_as_current_observation(name=agent.name, as_type="agent"):
                for step in agent.steps:
                    if isinstance(step, Model):
                        given, said = MESSAGES[: step.given], MESSAGES[step.given]
                        with client.start_as_current_observation(
                            name="chat", as_type="generation", model="m", input=given, output=said
                        ):
                            continue
                    with client.start_as_current_observation(
                        name=step.name, as_type="tool", input=step.arguments, output=step.result
                    ):
                        continue
        root.update(output=ANSWER)
    client.flush()
    return encode_spans(memory.get_finished_spans())


class Captured:
    """Stands in for LangSmith's client: keeps what run trees post and patch."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.runs: dict[str, dict[str, Any]] = {}

    def create_run(self, **run: Any) -> None:
        """Keep a run."""
        self.runs[str(run["id"])] = run

    def update_run(self, run_id: object, **run: Any) -> None:
        """Add what a run had when it ended."""
        changes = {key: value for key, value in run.items() if value is not None}
        self.runs[str(run_id)] = {**self.runs.get(str(run_id), {}), **changes}


def langsmith() -> list[dict[str, Any]]:
    """Emit the story with LangSmith's run trees, as they reach the client; agents are named by their metadata."""
    client = Captured()
    root = RunTree(name="run", run_type="chain", inputs={}, client=client)
    root.post()
    for agent in AGENTS:
        chain = root.create_child(agent.name, "chain", extra={"metadata": {"agent_name": agent.name}})
        chain.post()
        for step in agent.steps:
            if isinstance(step, Model):
                given = {"messages": MESSAGES[: step.given]}
                child = chain.create_child("chat", "llm", inputs=given)
                outputs: dict[str, Any] = {"choices": [{"message": MESSAGES[step.given], "finish_reason": "stop"}]}
            elif step is HANDOFF:
                inputs = {"from_agent": agent.name, "to_agent": agent.next_agent}
                child, outputs = chain.create_child("Handoff", "chain", inputs=inputs), {}
            else:
                child = chain.create_child(step.name, "tool", inputs=step.arguments)
                outputs = {"output": step.result}
            child.post()
            child.end(outputs=outputs)
            child.patch()
        chain.end()
        chain.patch()
    root.end(outputs={"output": ANSWER})
    root.patch()
    return json.loads(json.dumps(list(client.runs.values()), default=str))  # type: ignore[no-any-return]


class Exports:
    """A processor for the OpenAI Agents SDK that keeps what spans and traces export."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.items: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        """Nothing to keep yet."""

    def on_trace_end(self, trace: Any) -> None:
        """Keep the trace."""
        self.items.append(trace.export())

    def on_span_start(self, span: Any) -> None:
        """Nothing to keep yet."""

    def on_span_end(self, span: Any) -> None:
        """Keep the span."""
        self.items.append(span.export())

    def shutdown(self) -> None:
        """Nothing is open."""

    def force_flush(self) -> None:
        """Nothing waits."""


@contextmanager
def exported() -> Iterator[Exports]:
    """Let the Agents SDK export to a list."""
    processor = Exports()
    tracing.set_trace_processors([processor])
    tracing.set_tracing_disabled(disabled=False)
    yield processor
    tracing.set_trace_processors([])


def agents_sdk() -> list[Any]:
    """Emit the story with the tracing of the OpenAI Agents SDK, where function spans have no call id."""
    with exported() as processor, tracing.trace("run"):
        for agent in AGENTS:
            with tracing.agent_span(agent.name):
                for step in agent.steps:
                    if isinstance(step, Model):
                        with tracing.generation_span(MESSAGES[: step.given], [MESSAGES[step.given]], model="m"):
                            continue
                    if step is HANDOFF:
                        with tracing.handoff_span(agent.name, agent.next_agent):
                            continue
                    with tracing.function_span(step.name, json.dumps(step.arguments), step.result):
                        continue
    return processor.items


def as_json(request: ExportTraceServiceRequest) -> str:
    """Return a request as protobuf's own JSON, where ids are base64."""
    return str(MessageToJson(request, indent=1))


EMITTERS: dict[str, Callable[[], bytes]] = {
    "sdk-opentelemetry.pb": lambda: opentelemetry().SerializeToString(),
    "sdk-opentelemetry.json": lambda: as_json(opentelemetry()).encode(),
    "sdk-openinference.pb": lambda: openinference().SerializeToString(),
    "sdk-openinference.json": lambda: as_json(openinference()).encode(),
    "sdk-langfuse.pb": lambda: langfuse_sdk().SerializeToString(),
    "sdk-langfuse.json": lambda: as_json(langfuse_sdk()).encode(),
    "sdk-langsmith.json": lambda: json.dumps(langsmith(), indent=1).encode(),
    "sdk-openai-agents.json": lambda: json.dumps(agents_sdk(), indent=1).encode(),
}


@pytest.mark.parametrize("name", EMITTERS)
def test_every_sdk_tells_the_same_story(name: str) -> None:
    """What an SDK emits for the story is the story."""
    payload = EMITTERS[name]()
    assert missing(payload) == ()
    assert load(payload) == expected()


@pytest.mark.parametrize("emit", [opentelemetry, openinference, langfuse_sdk])
def test_protobuf_is_read_as_the_package_reads_it(emit: Callable[[], ExportTraceServiceRequest]) -> None:
    """Our reader of protobuf finds the spans, times and attributes that the protobuf package finds."""
    request = emit()
    theirs = [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]
    ours = list(iter_protobuf_spans(request.SerializeToString()))
    assert len(ours) == len(theirs) > 8
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine.id, mine.trace) == (other.span_id.hex(), other.trace_id.hex())
        assert (mine.parent or "", mine.name) == (other.parent_span_id.hex(), other.name)
        assert (mine.start, mine.end) == (other.start_time_unix_nano, other.end_time_unix_nano)
        assert mine.attributes == {pair.key: plain(pair.value) for pair in other.attributes}


def plain(value: Any) -> Any:
    """Return a protobuf AnyValue as a plain value."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: plain(pair.value) for pair in value.kvlist_value.values}
    return getattr(value, kind) if kind else None


def test_attributes_that_the_sdk_cuts_are_noticed() -> None:
    """An attribute that the SDK's length limit cuts off makes the record incomplete, and so does one that it drops."""
    cut = opentelemetry(SpanLimits(max_span_attribute_length=80)).SerializeToString()
    assert any("is cut off" in fault for fault in missing(cut))
    assert not load(cut).complete
    dropped = opentelemetry(SpanLimits(max_span_attributes=3)).SerializeToString()
    assert any("dropped" in fault for fault in missing(dropped))


def test_a_remote_parent_is_no_missing_parent() -> None:
    """A root whose parent is remote, as the SDK's flags say, is a root: the run was started from elsewhere."""
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    outside = SpanContext(7, 8, is_remote=True, trace_flags=TraceFlags(1))
    context = set_span_in_context(NonRecordingSpan(outside))
    with provider.get_tracer("story").start_as_current_span("run", context=context):
        pass
    assert load(encode_spans(memory.get_finished_spans()).SerializeToString()).complete


REPLIES: list[dict[str, Any]] = [
    {"tool_calls": [{"id": "h", "type": "function", "function": {"name": "transfer_to_research", "arguments": "{}"}}]},
    {
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"word": "bridge"}'}}
        ]
    },
    {"content": "Done."},
]


def test_a_real_run_of_the_agents_sdk() -> None:
    """A run of the SDK's own runner, with a handoff and a tool, over a model behind HTTP."""
    replies = iter(REPLIES)

    def answer(request: httpx.Request) -> httpx.Response:
        message = {"role": "assistant", "content": None, **next(replies)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return httpx.Response(
            200, json={"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        )

    def look_up(word: str) -> str:
        """Look a word up."""
        return f"{word}: a way over water"

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    client = openai.AsyncOpenAI(api_key="k", base_url="http://model.test/v1", http_client=http)
    model = agents.OpenAIChatCompletionsModel(model="m", openai_client=client)
    research = agents.Agent(name="research", model=model, tools=[agents.function_tool(look_up)])
    orchestrator = agents.Agent(name="orchestrator", model=model, handoffs=[research])
    with exported() as processor:
        asyncio.run(agents.Runner.run(orchestrator, "What is a bridge?"))
    found = load(processor.items)
    assert missing(processor.items) == ()
    assert found.agents_called == ("orchestrator", "research")
    assert found.tools_used == found.tools_requested == ("look_up",)
    assert found.tool_calls is not None
    assert found.tool_calls[0].id == "c"
    assert found.tool_calls[0].result == "bridge: a way over water"
    assert found.final_response == "Done."


@pytest.mark.parametrize("log_format", ["json", "eval"])
def test_a_real_log_of_inspect(log_format: str, tmp_path: Path) -> None:
    """A log of Inspect, with a handoff, a tool and a grader that is a model, as JSON and as an archive."""
    log = _inspected(log_format, tmp_path)
    found = load(log)
    assert missing(log) == ()
    assert found.agents_called == ("orchestrator", "research")
    assert found.tools_used == found.tools_requested == ("look_up",)
    assert found.tool_calls is not None
    assert found.tool_calls[0].result == "bridge: a way over water"
    assert found.final_response == "Found it."


def _inspected(log_format: str, folder: Path) -> Path:
    """Run an evaluation with a scripted model and return its log."""
    inspect, models, tools = (import_module(f"inspect_ai{name}") for name in ("", ".model", ".tool"))
    agent, scorer = import_module("inspect_ai.agent"), import_module("inspect_ai.scorer")

    @tools.tool  # type: ignore[untyped-decorator]
    def look_up() -> Any:
        async def execute(word: str) -> str:
            """Look a word up.

            Args:
                word: The word.

            """
            return f"{word}: a way over water"

        return execute

    replies = [
        models.ModelOutput.for_tool_call("m", "transfer_to_research", {}),
        models.ModelOutput.for_tool_call("m", "look_up", {"word": "bridge"}),
        *(models.ModelOutput.from_content("m", text) for text in ("Found it.", "GRADE: C")),
    ]
    for reply in replies:
        reply.usage = models.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it counts over the net
    model = models.get_model("mockllm/model", custom_outputs=replies)
    research = agent.react(name="research", description="Researches.", tools=[look_up()], submit=False)
    task = inspect.Task(
        dataset=[import_module("inspect_ai.dataset").Sample("What is a bridge?", target="x")],
        solver=agent.react(name="orchestrator", tools=[agent.handoff(research)], submit=False),
        scorer=scorer.model_graded_qa(model=model),
    )
    (log,) = inspect.eval(task, model=model, log_dir=str(folder), log_format=log_format, display="none")
    assert log.status == "success"
    return Path(log.location.removeprefix("file://"))


if __name__ == "__main__":
    for file, emit_payload in EMITTERS.items():
        (GOLDEN / file).write_bytes(emit_payload())

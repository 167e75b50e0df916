"""The story in the encodings that need no SDK; `python tests/traces/encodings.py` writes them to the golden files."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from traces.story import AGENTS, ANSWER, HANDOFF, MESSAGES, SPEAKERS, Agent, Model, Tool

GOLDEN = Path(__file__).parents[1] / "golden" / "traces"
TRACE = "0af7651916cd43dd8448eb211c80319c"
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def spoken() -> list[dict[str, Any]]:
    """Return the messages with the names of the agents that wrote them."""
    return [
        {**message, "name": SPEAKERS[index]} if index in SPEAKERS else message for index, message in enumerate(MESSAGES)
    ]


def chat() -> object:
    """Chat Completions messages."""
    return spoken()


def segments() -> object:
    """Segments of messages, one for each agent, as AgentFly has them."""
    messages = spoken()
    return [messages[:4], messages[4:]]


def responses() -> object:
    """Items of the Responses API; the agents are told by `name`, as in `chat`."""
    items: list[dict[str, Any]] = []
    for message in spoken():
        if message["role"] == "tool":
            items.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
            continue
        content = [{"type": "output_text", "text": message["content"]}] if message["content"] else []
        name = {"name": message["name"]} if "name" in message else {}
        items.append({"type": "message", "role": message["role"], "content": content, **name})
        items.extend(
            {
                "type": "function_call",
                "id": f"fc_{call['id']}",
                "call_id": call["id"],
                "name": call["function"]["name"],
                "arguments": call["function"]["arguments"],
            }
            for call in message.get("tool_calls", ())
        )
    return items


def steps() -> Iterator[tuple[Agent, Model | Tool | None, int]]:
    """Give each agent, then each of its steps, with a clock that goes on by one second."""
    clock = 0
    for agent in AGENTS:
        yield agent, None, clock
        for step in agent.steps:
            clock += 1
            yield agent, step, clock
        clock += 1


def otlp(attributes: Callable[[Agent, Model | Tool | None], dict[str, Any]], name: str) -> dict[str, Any]:
    """Return OTLP spans: a root, one for each agent, one for each step; the attributes are a dialect."""
    start = int(BEGIN.timestamp()) * 10**9
    spans = [span("root", "", name, start, start + 20 * 10**9, {})]
    for agent, step, clock in steps():
        identity = f"{agent.name}" if step is None else f"{agent.name} {clock}"
        parent = "root" if step is None else agent.name
        end = clock + (len(agent.steps) + 1 if step is None else 1)
        found = attributes(agent, step)
        events = found.pop("events", [])
        spans.append(span(identity, parent, identity, start + clock * 10**9, start + end * 10**9, found, events))
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": name}, "spans": spans}]}]}


def span(
    identity: str,
    parent: str,
    name: str,
    start: int,
    end: int,
    attributes: dict[str, Any],
    events: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return one span of OTLP in JSON."""
    return {
        "traceId": TRACE,
        "spanId": span_id(identity),
        "parentSpanId": span_id(parent) if parent else "",
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": [{"key": key, "value": value_of(value)} for key, value in attributes.items()],
        "events": events or [],
    }


def span_id(name: str) -> str:
    """Return a span id made of a name."""
    return name.encode().hex().rjust(16, "0")[-16:]


def value_of(value: object) -> dict[str, Any]:
    """Return a value as OTLP's AnyValue."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value_of(inner)} for key, inner in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [value_of(inner) for inner in value]}}
    return {"stringValue": value} if value is not None else {}


def tool_attributes(agent: Agent, step: Model | Tool | None) -> dict[str, Any]:
    """Return the attributes of agents and tools in OpenTelemetry's conventions."""
    if step is None:
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent.name}
    if isinstance(step, Tool):
        return {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": step.name,
            "gen_ai.tool.call.id": step.id,
            "gen_ai.tool.call.arguments": json.dumps(step.arguments),
            "gen_ai.tool.call.result": step.result,
        }
    return {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def parts(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message in the parts of OpenTelemetry's current conventions."""
    if message["role"] == "tool":
        found = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]
    else:
        found = [{"type": "text", "content": message["content"]}] if message["content"] else []
        for call in message.get("tool_calls", ()):
            body = call["function"]
            arguments = json.loads(body["arguments"])
            found.append({"type": "tool_call", "id": call["id"], "name": body["name"], "arguments": arguments})
    return {"role": message["role"], "parts": found}


def genai_messages(step: Model) -> dict[str, Any]:
    """Return the message attributes of a model call in the current conventions."""
    said = {**parts(MESSAGES[step.given]), "finish_reason": "stop"}
    return {
        "gen_ai.system_instructions": json.dumps(parts(MESSAGES[0])["parts"]),
        "gen_ai.input.messages": json.dumps([parts(message) for message in MESSAGES[1 : step.given]]),
        "gen_ai.output.messages": json.dumps([said]),
    }


def genai() -> object:
    """OTLP with the current `gen_ai.*` attributes."""

    def attributes(agent: Agent, step: Model | Tool | None) -> dict[str, Any]:
        return tool_attributes(agent, step) | (genai_messages(step) if isinstance(step, Model) else {})

    return otlp(attributes, "current")


def genai_events() -> object:
    """OTLP with one span event a message, as up to version 1.36."""

    def attributes(agent: Agent, step: Model | Tool | None) -> dict[str, Any]:
        found = tool_attributes(agent, step)
        if isinstance(step, Model):
            found["events"] = [
                event(f"gen_ai.{message['role']}.message", body(message)) for message in MESSAGES[: step.given]
            ]
            said = body(MESSAGES[step.given])
            found["events"].append(event("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": said}))
        return found

    return otlp(attributes, "events")


def body(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as the body of an event has it: a result's call id is called `id`."""
    return {"id" if key == "tool_call_id" else key: value for key, value in message.items() if value is not None}


def event(name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return one span event."""
    pairs = [{"key": key, "value": value_of(value)} for key, value in attributes.items()]
    return {"timeUnixNano": "0", "name": name, "attributes": pairs}


def genai_logs() -> object:
    """Two documents: spans, and log records with the messages (`gen_ai.client.inference.operation.details`)."""
    records = []
    for agent, step, clock in steps():
        if isinstance(step, Model):
            details = {
                key: json.loads(value) for key, value in genai_messages(step).items() if key.startswith("gen_ai.")
            }
            records.append(
                {
                    "traceId": TRACE,
                    "spanId": span_id(f"{agent.name} {clock}"),
                    "eventName": "gen_ai.client.inference.operation.details",
                    "attributes": [{"key": key, "value": value_of(value)} for key, value in details.items()],
                }
            )
    return [otlp(tool_attributes, "logs"), {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}]


def genai_numbered() -> object:
    """OTLP with numbered attributes (`gen_ai.prompt.0.role`), as OpenLLMetry writes them."""

    def attributes(agent: Agent, step: Model | Tool | None) -> dict[str, Any]:
        if step is None:
            return {"traceloop.span.kind": "agent", "traceloop.entity.name": agent.name}
        if isinstance(step, Tool):
            return {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": step.name,
                "traceloop.entity.input": json.dumps(step.arguments),
                "traceloop.entity.output": step.result,
            }
        found: dict[str, Any] = {"gen_ai.request.model": "m"}
        for index, message in enumerate(MESSAGES[: step.given]):
            found |= numbered(f"gen_ai.prompt.{index}", message)
        return found | numbered("gen_ai.completion.0", MESSAGES[step.given])

    return otlp(attributes, "numbered")


def numbered(prefix: str, message: dict[str, Any]) -> dict[str, Any]:
    """Return a message in numbered attributes."""
    found = {f"{prefix}.{key}": message[key] for key in ("role", "content", "tool_call_id") if message.get(key)}
    for index, call in enumerate(message.get("tool_calls", ())):
        found |= {f"{prefix}.tool_calls.{index}.{key}": value for key, value in call["function"].items()}
        found[f"{prefix}.tool_calls.{index}.id"] = call["id"]
    return found


def observations() -> list[dict[str, Any]]:
    """Return Langfuse's observations, input and output as raw text, as its second API gives them."""
    found = []
    for agent, step, clock in steps():
        item: dict[str, Any] = {
            "id": span_id(agent.name if step is None else f"{agent.name} {clock}"),
            "traceId": TRACE,
            "parentObservationId": None if step is None else span_id(agent.name),
            "startTime": iso(clock),
            "endTime": iso(clock + (len(agent.steps) + 1 if step is None else 1)),
            "level": "DEFAULT",
            "type": "AGENT",
            "name": agent.name,
            "input": None,
            "output": None,
        }
        if isinstance(step, Model):
            given, said = MESSAGES[: step.given], MESSAGES[step.given]
            item |= {"type": "GENERATION", "name": "chat", "input": json.dumps(given), "output": json.dumps(said)}
        elif isinstance(step, Tool):
            item |= {"type": "TOOL", "name": step.name, "input": json.dumps(step.arguments), "output": step.result}
        found.append(item)
    return found


def iso(clock: int) -> str:
    """Return a time as Langfuse's API writes it."""
    return (BEGIN + timedelta(seconds=clock)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def langfuse_pages() -> object:
    """Pages of observations, two of them, newest first."""
    found = observations()[::-1]
    meta = {"limit": 5, "totalItems": len(found), "totalPages": 2}
    return [{"data": found[:5], "meta": {**meta, "page": 1}}, {"data": found[5:], "meta": {**meta, "page": 2}}]


def langfuse_trace() -> object:
    """Return a trace with all its observations."""
    return {"id": TRACE, "name": "run", "timestamp": iso(0), "output": ANSWER, "observations": observations()}


def inspect_log() -> object:
    """Return a log of Inspect with one sample; a long text is an attachment."""
    events: list[dict[str, Any]] = []
    for agent, step, clock in steps():
        if step is None:
            if events:
                events.append({"event": "span_end", "id": "orchestrator", "timestamp": iso(clock)})
            events.append(
                {"event": "span_begin", "id": agent.name, "type": "agent", "name": agent.name, "timestamp": iso(clock)}
            )
            continue
        common = {"span_id": agent.name, "timestamp": iso(clock), "completed": iso(clock + 1), "uuid": f"e{clock}"}
        if isinstance(step, Model):
            said = {"message": inspected(MESSAGES[step.given]), "stop_reason": "stop"}
            given = [inspected(message) for message in MESSAGES[: step.given]]
            events.append({"event": "model", "model": "m", "input": given, "output": {"choices": [said]}, **common})
        else:
            found = {"event": "tool", "function": step.name, "arguments": step.arguments, "id": step.id}
            is_handoff = {"agent": agent.next_agent} if step is HANDOFF else {}
            events.append({**found, "result": step.result, **is_handoff, **common})
    events.append({"event": "span_end", "id": "research", "timestamp": iso(20)})
    sample = {"id": 1, "epoch": 1, "input": "...", "messages": [], "events": events, "attachments": {"a1": ANSWER}}
    return {"version": 2, "status": "success", "eval": {"task": "bridge"}, "samples": [sample]}


def inspected(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as Inspect has it."""
    found = {**message, "content": message["content"] or ""}
    if message["content"] == ANSWER:
        found["content"] = "attachment://a1"
    if "tool_calls" in message:
        found["tool_calls"] = [
            {
                "id": call["id"],
                "function": call["function"]["name"],
                "arguments": json.loads(call["function"]["arguments"]),
                "type": "function",
            }
            for call in message["tool_calls"]
        ]
    return found


ENCODINGS: dict[str, Callable[[], object]] = {
    "chat": chat,
    "segments": segments,
    "responses": responses,
    "otlp-genai": genai,
    "otlp-genai-events": genai_events,
    "otlp-genai-logs": genai_logs,
    "otlp-genai-numbered": genai_numbered,
    "langfuse-pages": langfuse_pages,
    "langfuse-trace": langfuse_trace,
    "inspect": inspect_log,
}


def written(name: str) -> str:
    """Return an encoding as its golden file has it."""
    return json.dumps(ENCODINGS[name](), indent=1) + "\n"


if __name__ == "__main__":
    for each in ENCODINGS:
        (GOLDEN / f"{each}.json").write_text(written(each), encoding="utf-8")

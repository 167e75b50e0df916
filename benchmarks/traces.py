"""Reading traces: CPU time of one trace of 10,000 spans in each format, and memory over files of spans.

The ratio is to the floor: decoding the same bytes as JSON and doing nothing with them (for protobuf, those of the JSON
form). Best of 3, one process. The bars: one second of CPU for a trace, and memory that does not grow with the file.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from adjudge.traces import load

SPANS = 10_000
TURNS = 6  # model calls of one agent, each with two tool spans and all that was said before
SHAPES = (6, 13)  # the same in files of spans
MARK = "@@"  # stands in texts for the number of the trace
SIZES = (100_000, 1_000_000)
SPEED_BAR = 1.0  # seconds of CPU
GROWTH_BAR = 1.1


def steps(count: int, turns: int = TURNS) -> Iterator[tuple[str, int, int, list[dict[str, Any]]]]:
    """Give spans: kind, number, the number of its agent, and the agent's messages so far."""
    number = 0
    while number < count:
        agent = number
        yield "agent", number, agent, []
        number += 1
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"What is known about bridge {MARK}? " * 4}]
        for _ in range(turns):
            if number + 3 > count:
                return
            calls = [
                {"id": f"c{number + n}", "function": {"name": "search", "arguments": f'{{"query": "q{number + n}"}}'}}
                for n in (1, 2)
            ]
            messages.append({"role": "assistant", "content": "Let me look.", "tool_calls": calls})
            yield "llm", number, agent, messages
            for n in (1, 2):
                yield "tool", number + n, agent, messages
                result = f"A passage of text number {number + n} about {MARK}. " * 3
                messages.append({"role": "tool", "tool_call_id": f"c{number + n}", "content": result})
            number += 3


def attributes_genai(kind: str, number: int, messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return attributes in OpenTelemetry's conventions."""
    if kind == "agent":
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"agent{number % 7}"}
    if kind == "tool":
        return {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.id": f"c{number}",
            "gen_ai.tool.call.arguments": f'{{"query": "q{number}"}}',
            "gen_ai.tool.call.result": "A passage.",
        }
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps([parts(message) for message in messages[:-1]]),
        "gen_ai.output.messages": json.dumps([parts(message) for message in messages[-1:]]),
    }


def parts(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message in the parts that OpenTelemetry's conventions give it."""
    if message["role"] == "tool":
        found = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]
        return {"role": "tool", "parts": found}
    calls = [
        {
            "type": "tool_call",
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls", ())
    ]
    return {"role": message["role"], "parts": [{"type": "text", "content": message["content"]}, *calls]}


def attributes_openinference(kind: str, number: int, messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return attributes in OpenInference's conventions."""
    found = {"openinference.span.kind": kind.upper()}
    if kind == "tool":
        return found | {"tool.name": "search", "input.value": f'{{"query": "q{number}"}}', "output.value": "A passage."}
    for index, message in enumerate(messages):
        side = f"input_messages.{index}" if index < len(messages) - 1 else "output_messages.0"
        prefix = f"llm.{side}.message."
        found |= {prefix + key: message[key] for key in ("role", "content", "tool_call_id") if key in message}
        for place, call in enumerate(message.get("tool_calls", ())):
            at = f"{prefix}tool_calls.{place}.tool_call."
            body = call["function"]
            found |= {at + "id": call["id"], at + "function.name": body["name"]}
            found[at + "function.arguments"] = body["arguments"]
    return found


def attributes_langfuse(kind: str, number: int, messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return attributes as Langfuse's SDK writes them."""
    found = {"langfuse.observation.type": "generation" if kind == "llm" else kind}
    if kind == "tool":
        found |= {
            "langfuse.observation.input": f'{{"query": "q{number}"}}',
            "langfuse.observation.output": "A passage.",
        }
    elif kind == "llm":
        found["langfuse.observation.input"] = json.dumps(messages[:-1])
        found["langfuse.observation.output"] = json.dumps(messages[-1])
    return found


def span_of(kind: str, number: int, agent: int, attributes: dict[str, str], trace: int = 1) -> dict[str, Any]:
    """Return one span of OTLP in JSON."""
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number + 1:016x}",
        "parentSpanId": f"{agent + 1:016x}" if kind != "agent" else "",
        "name": "search" if kind == "tool" else kind,
        "startTimeUnixNano": str(10**18 + number * 1000),
        "endTimeUnixNano": str(10**18 + number * 1000 + 500),
        "attributes": [
            {"key": key, "value": {"stringValue": value.replace(MARK, str(trace))}} for key, value in attributes.items()
        ],
    }


def otlp(attributes: Callable[[str, int, list[dict[str, Any]]], dict[str, str]]) -> list[dict[str, Any]]:
    """Return the spans of one trace in a dialect."""
    return [span_of(kind, number, agent, attributes(kind, number, said)) for kind, number, agent, said in steps(SPANS)]


def document(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an OTLP document."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def observations() -> list[dict[str, Any]]:
    """Return one trace as Langfuse's API gives it."""
    found = []
    for kind, number, agent, said in steps(SPANS):
        attributes = attributes_langfuse(kind, number, said)
        found.append(
            {
                "id": str(number),
                "traceId": "t",
                "type": attributes["langfuse.observation.type"].upper(),
                "name": "search",
                "parentObservationId": str(agent) if kind != "agent" else None,
                "startTime": number,
                "endTime": number + 1,
                "input": attributes.get("langfuse.observation.input"),
                "output": attributes.get("langfuse.observation.output"),
            }
        )
    return found


def runs() -> list[dict[str, Any]]:
    """Return one trace as LangSmith has it."""
    found = []
    for kind, number, agent, said in steps(SPANS):
        run: dict[str, Any] = {"id": str(number), "trace_id": "t", "start_time": number, "end_time": number + 1}
        if kind == "agent":
            run |= {"run_type": "chain", "name": "a", "extra": {"metadata": {"agent_name": "a"}}}
        elif kind == "tool":
            run |= {"run_type": "tool", "name": "search", "inputs": {"query": f"q{number}"}, "outputs": {"output": "r"}}
        else:
            run |= {
                "run_type": "llm",
                "name": "m",
                "inputs": {"messages": said[:-1]},
                "outputs": {"messages": said[-1:]},
            }
        found.append(run | ({"parent_run_id": str(agent)} if kind != "agent" else {}))
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def exports() -> list[dict[str, Any]]:
    """Return one trace as the OpenAI Agents SDK exports it."""
    found = []
    for kind, number, agent, said in steps(SPANS):
        data: dict[str, Any] = {"type": "agent", "name": "a"}
        if kind == "tool":
            data = {"type": "function", "name": "search", "input": f'{{"query": "q{number}"}}', "output": "r"}
        elif kind == "llm":
            data = {"type": "generation", "input": said[:-1], "output": said[-1:]}
        parent = str(agent) if kind != "agent" else None
        times = {"started_at": f"2026-01-01T00:00:{number / 1000:09.6f}", "ended_at": "2026-01-01T00:01:00"}
        found.append({"object": "trace.span", "id": str(number), "parent_id": parent, "span_data": data, **times})
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def chat() -> list[dict[str, Any]]:
    """Return as many messages as the other traces have spans."""
    said: list[dict[str, Any]] = []
    last: list[dict[str, Any]] = []
    for _, _, _, messages in steps(SPANS):
        if messages is not last:
            said.extend(last)
            last = messages
    return [*said, *last]


def protobuf(spans: list[dict[str, Any]]) -> bytes:
    """Return an OTLP document in protobuf."""
    return field(1, field(2, b"".join(field(2, protobuf_span(span)) for span in spans)))


def protobuf_span(span: dict[str, Any]) -> bytes:
    """Return one span in protobuf."""
    pairs = (
        field(9, field(1, pair["key"].encode()) + field(2, field(1, pair["value"]["stringValue"].encode())))
        for pair in span["attributes"]
    )
    ids = zip((1, 2, 4), ("traceId", "spanId", "parentSpanId"), strict=True)
    return (
        b"".join(field(number, bytes.fromhex(span[key])) for number, key in ids)
        + field(5, span["name"].encode())
        + b"\x39"
        + int(span["startTimeUnixNano"]).to_bytes(8, "little")
        + b"\x41"
        + int(span["endTimeUnixNano"]).to_bytes(8, "little")
        + b"".join(pairs)
    )


def field(number: int, content: bytes) -> bytes:
    """Return a field of protobuf that has a length."""
    size, digits = len(content), bytearray()
    while size > 127:
        digits.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *digits, size]) + content


def best(work: Callable[[], object]) -> float:
    """Return the least CPU time of three tries."""
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def as_json(value: object) -> bytes:
    """Return the bytes of a record."""
    return json.dumps(value).encode()


def payloads() -> Iterator[tuple[str, bytes, bytes]]:
    """Give each format's name, its bytes and those of the floor, one after the other: nothing else fills the memory."""
    yield "chat", as_json(chat()), b""
    for name, attributes in DIALECTS.items():
        floor = as_json(document(otlp(attributes)))
        yield f"otlp {name}", floor, b""
        yield f"otlp-protobuf {name}", protobuf(otlp(attributes)), floor
    yield "langfuse", as_json(observations()), b""
    yield "langsmith", as_json(runs()), b""
    yield "openai-agents", as_json(exports()), b""


DIALECTS = {"gen_ai": attributes_genai, "openinference": attributes_openinference, "langfuse": attributes_langfuse}


def speed() -> bool:
    """Print the CPU time of each format; say whether all are within the bar."""
    slowest = 0.0
    for name, payload, other in payloads():
        calls = len(load(payload).tools_used)
        floor = best(partial(msgspec.json.decode, other or payload))
        ours = best(partial(load, payload))
        slowest = max(slowest, ours)
        size = len(payload) / 1e6
        print(f"{name:28} {size:6.1f} MB {calls:6,} calls {ours:6.2f} s CPU, {ours / floor:5.1f}x decoding alone")
    print(f"slowest {slowest:.2f} s CPU for {SPANS:,} spans (bar {SPEED_BAR} s)")
    return slowest < SPEED_BAR


STREAM = """
import re, resource, sys, time
from pathlib import Path
from adjudge.traces import iter_traces
count = calls = complete = 0
for trace in iter_traces(sys.argv[1]):
    count += 1
    calls += len(trace.trajectory.tools_used)
    complete += trace.trajectory.complete
try:  # what this process has used; the other figure begins with what the one that started it had
    peak = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(count, calls, complete, time.process_time(), peak / 1024)
"""


def write_spans(path: Path, count: int, turns: int) -> None:
    """Write traces of one agent, fifty of them mixed with one another, in batches of 100 spans."""
    per_trace = 3 * turns + 1
    shapes = [
        (kind, number, agent, attributes_genai(kind, number, said))
        for kind, number, agent, said in steps(per_trace, turns)
    ]
    batch: list[dict[str, Any]] = []
    with path.open("wb") as file:
        for start in range(0, count // per_trace, 50):
            for kind, number, agent, attributes in shapes:
                for trace in range(start + 1, min(start + 51, count // per_trace + 1)):
                    batch.append(span_of(kind, number, agent, attributes, trace))
                    if len(batch) == 100:
                        file.write(msgspec.json.encode(document(batch)) + b"\n")
                        batch = []
        file.write(msgspec.json.encode(document(batch)) + b"\n")


def memory(turns: int) -> bool:
    """Print peak memory at two sizes; say whether it stays flat."""
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = Path(folder) / "spans.jsonl"
            write_spans(path, size, turns)
            done = subprocess.run([sys.executable, "-c", STREAM, str(path)], check=True, capture_output=True, text=True)
            traces, calls, complete, cpu, peak = done.stdout.split()
            peaks.append(float(peak))
            print(
                f"{size:9,} spans, {turns} model calls a trace, {path.stat().st_size / 1e6:6.0f} MB: {int(traces):,} "
                f"traces, {int(complete):,} complete, {int(calls):,} calls, {float(cpu):.1f} s CPU, "
                f"{float(peak):.0f} MB peak"
            )
    growth = peaks[-1] / peaks[0]
    print(f"memory {growth:.2f}x from {SIZES[0]:,} to {SIZES[-1]:,} spans (bar {GROWTH_BAR}x)")
    return growth <= GROWTH_BAR


def main() -> int:
    """Print the figures; fail if one misses its bar."""
    results = [speed(), *(memory(turns) for turns in SHAPES)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

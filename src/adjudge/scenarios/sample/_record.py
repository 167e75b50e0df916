"""What the sample system did, written down as it happens: OTLP spans with the `gen_ai.*` conventions."""

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_LOSSY = 4  # spans that a recorder which loses some still gets out


class Recorder:
    """Records the spans of one answer, each when it ends, as exporters do."""

    def __init__(self, trace_id: str, parent: str | None = None, *, is_lossy: bool = False) -> None:
        self.trace_id = trace_id
        self._stack: list[str] = [] if parent is None else [parent]
        self._spans: list[dict[str, Any]] = []
        self._now = 0
        self._calls = 0
        self._is_lossy = is_lossy

    @contextmanager
    def agent(self, name: str) -> Iterator[dict[str, Any]]:
        """Record that an agent is entered; what it answers goes into `answer`."""
        said: dict[str, Any] = {}
        with self._span(f"invoke_agent {name}", "invoke_agent", {"gen_ai.agent.name": name}) as attributes:
            yield said
            attributes["gen_ai.output.messages"] = _messages("assistant", said.get("answer"))

    def decision(
        self, question: str, text: str | None, calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    ) -> list[str]:
        """Record what a model would have decided, given a question, and return the ids of the calls it asks for."""
        ids = [f"call_{self._calls + number}" for number in range(1, len(calls) + 1)]
        self._calls += len(calls)
        with self._span("chat script", "chat", {"gen_ai.request.model": "script"}) as attributes:
            attributes["gen_ai.input.messages"] = _messages("user", question)
            attributes["gen_ai.output.messages"] = _messages("assistant", text, zip(ids, calls, strict=True))
        return ids

    @contextmanager
    def tool(self, name: str, call_id: str, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Record that a tool is executed; what it returns goes into `result`."""
        known = {
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": json.dumps(arguments),
        }
        done: dict[str, Any] = {}
        with self._span(f"execute_tool {name}", "execute_tool", known) as attributes:
            yield done
            attributes["gen_ai.tool.call.result"] = json.dumps(done.get("result"))

    def document(self) -> dict[str, Any]:
        """Return everything that was recorded as an OTLP export request."""
        spans = self._spans[:_LOSSY] if self._is_lossy else self._spans
        scope = {"scope": {"name": "adjudge.scenarios.sample"}, "spans": spans}
        return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}

    @contextmanager
    def _span(self, name: str, operation: str, known: Mapping[str, str]) -> Iterator[dict[str, str]]:
        identity = secrets.token_hex(8)
        attributes = {"gen_ai.operation.name": operation, **known}
        parent = self._stack[-1] if self._stack else None
        self._stack.append(identity)
        start = self._tick()
        try:
            yield attributes
        finally:
            self._stack.pop()
            span = {
                "traceId": self.trace_id,
                "spanId": identity,
                "name": name,
                "kind": 1,
                "startTimeUnixNano": str(start),
                "endTimeUnixNano": str(self._tick()),
                "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
            }
            self._spans.append(span if parent is None else {**span, "parentSpanId": parent})

    def _tick(self) -> int:
        """Return the time, never the same twice: the order of events is not left to the clock."""
        self._now = max(time.time_ns(), self._now + 1)
        return self._now


def _messages(role: str, text: str | None, calls: Any = ()) -> str:
    parts: list[dict[str, Any]] = [] if text is None else [{"type": "text", "content": text}]
    parts += [
        {"type": "tool_call", "id": identity, "name": name, "arguments": arguments}
        for identity, (name, arguments) in calls
    ]
    return json.dumps([{"role": role, "parts": parts}])

"""Spans as exporters write them, for the tests of receivers."""

import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Any

SECOND = 1_000_000_000
BEGIN = 1_760_000_000 * SECOND


def trace_id() -> str:
    """Return a new trace id."""
    return secrets.token_hex(16)


def span_id(number: int) -> str:
    """Return the id of the span with that number."""
    return f"{number:016x}"


def span(trace: str, number: int, parent: int | str | None = None, **more: Any) -> dict[str, Any]:
    """Return a span that begins at its number, in seconds, and takes one."""
    attributes = more.pop("attributes", {})
    found: dict[str, Any] = {
        "traceId": trace,
        "spanId": span_id(number),
        "name": f"span {number}",
        "startTimeUnixNano": str(BEGIN + number * SECOND),
        "endTimeUnixNano": str(BEGIN + (number + 1) * SECOND),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        **more,
    }
    if parent is not None:
        found["parentSpanId"] = span_id(parent) if isinstance(parent, int) else parent
    return found


def agent(trace: str, number: int, name: str, parent: int | str | None = None, **more: str) -> dict[str, Any]:
    """Return the span of an agent."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **more}
    return span(trace, number, parent, attributes=attributes)


def tool(trace: str, number: int, name: str, parent: int | None = None) -> dict[str, Any]:
    """Return the span of a tool."""
    return span(trace, number, parent, attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name})


def story(trace: str) -> list[dict[str, Any]]:
    """Return a run of two agents and one tool, children first, as exporters send them."""
    return [
        tool(trace, 3, "pdf_retrieval", 2),
        agent(trace, 2, "research", 1),
        agent(trace, 1, "orchestrator"),
    ]


def document(spans: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return an export request."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def post(url: str, body: object, *, content_type: str = "application/json", **headers: str) -> tuple[int, bytes]:
    """Send a body as it is, anything else as JSON; return status and answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = urllib.request.Request(url, content, sent)  # noqa: S310 (our own endpoint)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310 (same)
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def send(url: str, *spans: Mapping[str, Any]) -> None:
    """Send spans that the endpoint must take."""
    assert post(url, document(spans)) == (200, b"{}")

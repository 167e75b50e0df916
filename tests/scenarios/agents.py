"""Agents that do what a test tells them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from adjudge.model import Case, Message, ToolCall, Trajectory


def did(
    response: str | None = "Done.",
    agents: tuple[str, ...] = ("orchestrator",),
    tools: tuple[str, ...] = (),
    **more: Any,
) -> Trajectory:
    """Return a record of these agents and tools."""
    calls = tuple(ToolCall(name, "{}", result=f"what {name} found", executed=True) for name in tools)
    return Trajectory((), calls, agents, response, **more)


@dataclass
class Scripted:
    """Gives its records, one for each call, the last for ever; an exception is raised."""

    script: list[Trajectory | Exception]
    name: str = "scripted"
    cases: list[Case] = field(default_factory=list)
    histories: list[tuple[Message, ...]] = field(default_factory=list)

    async def respond(self, case: Case, history: tuple[Message, ...]) -> Trajectory:
        """Give the next record."""
        self.cases.append(case)
        self.histories.append(history)
        one = self.script[min(len(self.cases), len(self.script)) - 1]
        if isinstance(one, Exception):
            raise one
        return one


@contextmanager
def http_agent(reply: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve an agent that always says the same; the list holds the bodies and headers that came."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({**body, "traceparent": self.headers["traceparent"]})
            answer = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/chat", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""An agent behind a URL, whose replies a test writes byte by byte."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from adjudge.model import Agent, Case, Message, Trajectory


class Asked(NamedTuple):
    """A question as it arrived."""

    body: Any
    headers: dict[str, str]


class Reply(NamedTuple):
    """What is sent back; `missing` bytes of what `Content-Length` promises are not."""

    body: bytes
    kind: str = "application/json"
    status: int = 200
    missing: int = 0


@contextmanager
def serving(answer: Callable[[Asked], Reply | Any]) -> Iterator[str]:
    """Serve replies, JSON where they are not a `Reply`, and give the address."""

    class Handler(BaseHTTPRequestHandler):
        """Asks the test for every reply."""

        def do_POST(self) -> None:
            """Answer one question."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = answer(Asked(body, {name.lower(): value for name, value in self.headers.items()}))
            reply = found if isinstance(found, Reply) else Reply(json.dumps(found).encode())
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.body) + reply.missing))
            self.end_headers()
            self.wfile.write(reply.body)
            self.close_connection = bool(reply.missing)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/chat"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def respond(agent: Agent, history: tuple[Message, ...] = ()) -> Trajectory:
    """Ask an agent one question."""

    async def work() -> Trajectory:
        try:
            return await agent.respond(Case("1", "Capital?"), history)
        finally:
            await agent.aclose()  # type: ignore[attr-defined]

    return asyncio.run(work())

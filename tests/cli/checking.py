"""What the tests of `adjudge check` need: scenarios, and agents that do what the question says."""

import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

AGENT = """
import time
from pathlib import Path


def answer(question):
    Path("asked").open("a").write(question + chr(10))
    if question == "raise":
        raise RuntimeError("the agent is down")
    if question.startswith("sleep"):
        time.sleep(float(question.split()[1]))
    tools = [] if question == "nothing" else ["pdf_retrieval"]
    return {"response": f"About {question}", "agents_called": ["orchestrator"], "tools_used": tools}
"""


def write_scenarios(folder: Path, questions: Mapping[str, str], **more: Any) -> None:
    """Write an agent, and a scenario that wants one tool for every question, by id."""
    (folder / "scenarios").mkdir(exist_ok=True)
    (folder / "agent.py").write_text(AGENT)
    rows = [
        {"id": name, "question": question, "tools_should_include": ["pdf_retrieval"], **more}
        for name, question in questions.items()
    ]
    lines = ["".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items()) for row in rows]
    text = "".join(f"[[scenarios]]\n{line}" for line in lines)
    (folder / "scenarios" / "all.toml").write_text(text, encoding="utf-8")


class _Agent(BaseHTTPRequestHandler):
    """Does what the question says."""

    def do_POST(self) -> None:
        """Answer one question."""
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["message"]
        if question == "reset":
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if question == "hang":
            time.sleep(3)
        tools = [] if question == "nothing" else ["pdf_retrieval"]
        whole = {"response": "DIN-SQL", "agents_called": ["orchestrator"], "tools_used": tools}
        body = b"<html>" if question == "garbage" else json.dumps(whole).encode()
        self.send_response(int(question) if question.isdecimal() else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve the agent, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Agent)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/chat"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

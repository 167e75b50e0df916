"""`adjudge serve` in a process of its own, and a client of it."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

TOKEN = "a-token-of-the-test"  # noqa: S105 (of nothing)

REWARDS = """
import os, time
import adjudge

@adjudge.reward(parts=(), range=(0.0, 1.0))
def slow(final_response, seconds=0.0, pidfile=None):
    if pidfile:
        with open(pidfile, "w") as file:
            file.write(str(os.getpid()))
    time.sleep(seconds)
    return 1.0

@adjudge.reward(parts=("words",), range=(0.0, 1.0))
def odd(final_response, what=None):
    if what == "exit":
        os._exit(3)
    if what == "memory":
        bytearray(3 << 30)
    if what == "raise":
        raise ValueError(final_response)
    return {"reward": 1.0, "words": 1}

@adjudge.reward(group=True, parts=(), range=(0.0, 1.0))
def best(final_response, group_id=None):
    longest = max(map(len, final_response))
    return [float(len(one) == longest) for one in final_response]

@adjudge.reward
def loose(final_response):
    return {"reward": 1.0, final_response: 1.0}
"""


class Reply(NamedTuple):
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """Asks one server; each request has a connection of its own."""

    def __init__(self, process: "subprocess.Popen[str]", port: int, token: str | None = TOKEN) -> None:
        self.process = process
        self.port = port
        self.token = token

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send one request; a body that is not bytes is sent as JSON."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"Content-Type": "application/json"}
        if self.token is not None:
            given["Authorization"] = f"Bearer {self.token}"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, data, given)
            answer = connection.getresponse()
            return Reply(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def scores(self, rows: Sequence[Any], scorer: str | None = None) -> list[dict[str, Any]]:
        """Return the scores of rows."""
        reply = self.ask("POST", "/score", {"rows": rows} if scorer is None else {"rows": rows, "scorer": scorer})
        assert reply.status == 200, reply
        found: list[dict[str, Any]] = reply.json["scores"]
        return found

    def metrics(self) -> dict[str, float]:
        """Return what it counts, by name and labels."""
        text = self.ask("GET", "/metrics").body.decode()
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(number) for name, _, number in lines}

    @property
    def workers(self) -> list[int]:
        """The process ids of its scoring processes."""
        found = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for one in found for pid in one.read_text().split()]


def command(*options: str) -> list[str]:
    """Return the command line of a server on a free port."""
    return [sys.executable, "-m", "adjudge", "serve", "--port", "0", *options]


@contextmanager
def serving(folder: Path, *options: str, token: str | None = TOKEN, **environment: str) -> Iterator[Client]:
    """Start a server with these options in a folder that has `rewards.py`, and end it with SIGTERM."""
    (folder / "rewards.py").write_text(REWARDS)
    words = ["--no-token"] if token is None else ["--token", token]
    process = subprocess.Popen(
        command(*words, *options),
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            line = process.stdout.readline()
            assert line.startswith("serving "), line
            yield Client(process, int(line.rpartition(":")[2]), token)
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            assert process.wait(60) == 0

"""Real MLflow and Phoenix servers, started from their own virtual environments and ended with the test.

`ADJUDGE_MLFLOW` and `ADJUDGE_PHOENIX` name the two programs; without them they are looked for on the path.
"""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START_S = 180.0


def ask(url: str, body: object = None) -> Any:
    """Send JSON, or nothing, and return the JSON that comes back."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 (our own server)
    with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 (same)
        return json.loads(reply.read() or b"null")


@contextmanager
def mlflow(folder: Path) -> Iterator[str]:
    """Give the address of an MLflow tracking server."""
    port = free_port()
    store = f"sqlite:///{folder}/mlflow.db"
    program = os.environ.get("ADJUDGE_MLFLOW", "mlflow")
    options = ["--backend-store-uri", store, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    with running([program, "server", *options], folder, {}, f"http://127.0.0.1:{port}/health") as address:
        yield address


@contextmanager
def phoenix(folder: Path) -> Iterator[str]:
    """Give the address of a Phoenix server."""
    port = free_port()
    own = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
    }
    program = os.environ.get("ADJUDGE_PHOENIX", "phoenix")
    with running([program, "serve"], folder, own, f"http://127.0.0.1:{port}/healthz") as address:
        yield address


@contextmanager
def running(command: list[str], folder: Path, own: Mapping[str, str], health: str) -> Iterator[str]:
    """Start a server, wait until it answers, give its address, and end its process group."""
    with (folder / "server.log").open("wb") as log:
        # An interpreter's own settings of this environment are not the server's.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | dict(own)
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            wait_for(health, process, folder / "server.log")
            yield health.rpartition("/")[0]
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(health: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers; what it wrote says why it does not."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-2000:]
        try:
            with urllib.request.urlopen(health, timeout=5):  # noqa: S310 (our own server)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(log.read_text(encoding="utf-8", errors="replace")[-2000:])


def free_port() -> int:
    """Return a port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

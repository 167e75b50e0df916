"""The server in a process of its own: it gets settings and gives counts through pipes, and ends with its owner."""

import asyncio
import contextlib
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import asdict

from adjudge.errors import ProcessError, UsageError
from adjudge.testing._play import Play, ServerCounts, Settings
from adjudge.testing._wire import listening

__all__ = ["ServerProcess", "serve"]

_CODE = "from adjudge.testing._process import serve; serve()"
_STOP_S = 5.0


class ServerProcess:
    """The owner's side."""

    def __init__(self, settings: Settings) -> None:
        try:
            self._settings = pickle.dumps((sys.path, pickle.dumps(settings)))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"a server in its own process needs a script that can be imported by name: {error}", code="unpicklable"
            ) from None
        self._child: subprocess.Popen[bytes] | None = None
        self._counts = ServerCounts()
        self._lock = threading.Lock()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[int]:
        """Run the process, and give the port that it listens on."""
        # Whoever waits here waits on a thread of its own: nothing else runs on this loop.
        port = self._start()
        try:
            yield port
        finally:
            self._stop()

    def _start(self) -> int:
        self._child = subprocess.Popen(  # noqa: S603 (our own code)
            [sys.executable, "-c", _CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return int(self._ask(len(self._settings).to_bytes(8, "big") + self._settings))

    def _stop(self) -> None:
        process = self._child
        if process is None or process.stdin is None or process.stdout is None:
            return
        # The process may have died before.
        with contextlib.suppress(ProcessError):
            self.counts()
        self._child = None
        # The end of its input tells the process to stop.
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def counts(self) -> ServerCounts:
        """Return the counts so far; of a process that has ended, those until then."""
        if self._child is not None:
            self._counts = ServerCounts(**json.loads(self._ask(b"?")))
        return self._counts

    def _ask(self, message: bytes) -> bytes:
        process = self._child
        if process is None or process.stdin is None or process.stdout is None:
            raise ProcessError("the server is not running", code="not-running")
        with self._lock:
            try:
                process.stdin.write(message)
                process.stdin.flush()
                answer = process.stdout.readline()
            except OSError:
                answer = b""
        if not answer:
            raise ProcessError(f"the server's process ended: exit code {process.wait(_STOP_S)}", code="server-died")
        return answer


def serve() -> None:
    """Run the server until standard input ends: the process's side."""
    source = sys.stdin.buffer
    paths, settings = pickle.loads(source.read(int.from_bytes(source.read(8), "big")))  # noqa: S301 (our owner's)
    sys.path[:] = paths
    asyncio.run(_serve(Play(pickle.loads(settings))))  # noqa: S301 (our owner's)


async def _serve(play: Play) -> None:
    stopped = asyncio.Event()
    async with listening(play) as port:
        _say(port)
        loop = asyncio.get_running_loop()
        threading.Thread(target=_answer, args=(play, loop, stopped), daemon=True).start()
        await stopped.wait()


def _answer(play: Play, loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
    while sys.stdin.buffer.read(1):
        _say(asdict(play.counts))
    loop.call_soon_threadsafe(stopped.set)


def _say(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()

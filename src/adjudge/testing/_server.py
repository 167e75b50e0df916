"""A scripted model behind a real socket."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from adjudge.errors import UsageError
from adjudge.http import LoopThread
from adjudge.testing._calls import ChatCall
from adjudge.testing._faults import Fault
from adjudge.testing._play import Limit, Play, Script, ServerCounts, Settings
from adjudge.testing._process import ServerProcess
from adjudge.testing._replies import correct
from adjudge.testing._wire import listening

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ChatServer", "ServerThread"]


class ChatServer:
    """A local HTTP server that plays an OpenAI-compatible model, and Anthropic's messages interface too.

    `script` is what it says: a text, a `Reply`, a `Fault`, a mapping (sent as JSON as it is), a list of these (in
    order of arrival, the last one for ever), or a function from `ChatCall` to one of these. `faults` maps faults to
    probabilities; which call meets which is settled by `seed`, the call's body and how often that body came before.
    `key` is the only key it accepts; a body that has one of the keys in `rejects` gets a 400 that names it.

    It serves from a thread of its own, with `process=True` from a process of its own (then a function has to be one
    that can be imported by name). For sync and async code alike:

    >>> with ChatServer("Paris") as server:
    ...     server.base_url.startswith("http://127.0.0.1:"), server.counts.calls
    (True, 0)
    """

    def __init__(
        self,
        script: Script = correct,
        *,
        latency_s: float = 0.0,
        faults: Mapping[str, float] | Sequence[tuple[Fault, float]] = (),
        seed: int = 0,
        limit: Limit | None = None,
        key: str | None = None,
        rejects: Collection[str] = (),
        process: bool = False,
    ) -> None:
        pairs = [(Fault(kind), share) for kind, share in faults.items()] if isinstance(faults, Mapping) else faults
        if not 0 <= sum(share for _, share in pairs) <= 1:
            raise UsageError("the shares of the faults must add up to at most 1", code="bad-limit")
        settings = Settings(script, latency_s, tuple(pairs), seed, limit or Limit(), key, tuple(rejects))
        self._home: ServerThread | ServerProcess = ServerProcess(settings) if process else ServerThread(Play(settings))
        self._port: int | None = None

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        if self._port is None:
            raise UsageError("the server is not running: use it in a `with` statement", code="not-running")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def counts(self) -> ServerCounts:
        """The counts so far; of a stopped server, those until then."""
        return self._home.counts()

    @property
    def calls(self) -> list[ChatCall]:
        """The last 1,000 calls, oldest first; not for a server in a process of its own."""
        if isinstance(self._home, ServerProcess):
            raise UsageError("the calls of a server in its own process cannot be read", code="not-here")
        return list(self._home.play.seen)

    def start(self) -> None:
        """Start serving; `with` does it for you."""
        if self._port is not None:
            raise UsageError("the server is running already", code="already-running")
        self._port = self._home.start()

    def stop(self) -> None:
        """Stop serving and cut every connection."""
        if self._port is not None:
            self._port = None
            self._home.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.get_running_loop().run_in_executor(None, self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.stop)


class ServerThread:
    """The server on an event loop in a thread of its own."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self._thread: LoopThread | None = None

    def start(self) -> int:
        """Start serving and return the port."""
        self._thread = LoopThread(lambda: listening(self.play), "adjudge-chat-server")
        return self._thread.start()

    def stop(self) -> None:
        """Stop serving and wait for the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def counts(self) -> ServerCounts:
        """Return the counts so far."""
        from copy import deepcopy

        return deepcopy(self.play.counts)

"""A scripted model behind a real socket."""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy

from adjudge.errors import UsageError
from adjudge.http import ThreadedServer
from adjudge.testing._calls import ChatCall
from adjudge.testing._faults import Fault
from adjudge.testing._play import Limit, Play, Script, ServerCounts, Settings
from adjudge.testing._process import ServerProcess
from adjudge.testing._replies import correct
from adjudge.testing._wire import listening

__all__ = ["ChatServer"]


class ChatServer(ThreadedServer):
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
        self._play = Play(settings)
        self._process = ServerProcess(settings) if process else None
        serving = self._process.serving if self._process else lambda: listening(self._play)
        super().__init__("127.0.0.1", 0, called="server", serving=serving)

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{super().base_url}/v1"

    @property
    def counts(self) -> ServerCounts:
        """The counts so far; of a stopped server, those until then."""
        return deepcopy(self._play.counts) if self._process is None else self._process.counts()

    @property
    def calls(self) -> list[ChatCall]:
        """The last 1,000 calls, oldest first; not for a server in a process of its own."""
        if self._process is not None:
            raise UsageError("the calls of a server in its own process cannot be read", code="not-here")
        return list(self._play.seen)

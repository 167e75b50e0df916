"""Several servers behind one backend: the next session goes to the one with the least to do, a dead one gets none.

    reachable ──(no answer)──> left out for 1, 2, 4 ... 30 s ──(then asked again)──> reachable

Load is what the servers themselves say, because other processes have sessions there too, and what was sent there from
here after they were asked. A session stays where it was opened.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from adjudge.environments._errors import EnvDied, EnvError
from adjudge.errors import UsageError

__all__ = ["Host", "Hosts"]

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_MOST_FAILURES = 10  # more make the pause no longer

Load = tuple[int, int]  # sessions that are held or waited for, and how many there may be


class Host:
    """One server, and whether it has answered lately."""

    __slots__ = ("_failures", "_out_until", "sent", "url")

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.sent = 0  # sessions that were sent here so far
        self._failures = 0
        self._out_until = 0.0

    @property
    def is_out(self) -> bool:
        """Whether it is left out for now."""
        return time.monotonic() < self._out_until

    def leave_out(self) -> None:
        """Give it nothing for a while: it did not answer."""
        # Calls that were in flight together fail together, and count once.
        if self.is_out:
            return
        self._out_until = time.monotonic() + min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**self._failures)
        self._failures = min(self._failures + 1, _MOST_FAILURES)

    def take_back(self) -> None:
        """Count it as reachable: it answered."""
        self._failures, self._out_until = 0, 0.0


class Hosts:
    """The servers of one backend."""

    def __init__(self, urls: str | Sequence[str]) -> None:
        given = [urls] if isinstance(urls, str) else list(urls)
        if not given or not all(isinstance(url, str) for url in given):
            raise UsageError(f"HttpBackend takes a URL or a list of URLs, not {urls!r}", code="bad-backend")
        # An address that is given twice would get twice the load.
        self.all = [Host(url) for url in dict.fromkeys(url.rstrip("/") for url in given)]

    async def by_load(self, ask: Callable[[Host], Awaitable[Load]]) -> list[Host]:
        """Return the servers that answer, the one with the least to do first.

        A session that is sent to it must be counted before anything is awaited: others that ask at the same time have
        had the same answers.
        """
        if len(self.all) == 1:
            return self.all
        # Where all are left out, the caller waits for one of them anyway: all are asked.
        asked = [host for host in self.all if not host.is_out] or self.all
        loads = await asyncio.gather(*(self._load(host, ask) for host in asked))
        # Equal ones in any order, or many processes with one session each would all choose the first.
        found = [
            ((busy + host.sent) / max(1, size), random.random(), host)  # noqa: S311
            for host, load in zip(asked, loads, strict=True)
            if load is not None
            for busy, size in [load]
        ]
        if not found:
            raise EnvDied(f"none of the environment servers answers: {', '.join(host.url for host in asked)}")
        return [host for _, _, host in sorted(found, key=lambda one: one[:2])]

    async def _load(self, host: Host, ask: Callable[[Host], Awaitable[Load]]) -> Load | None:
        """Return how full a server is without what was sent there so far; None if it does not answer."""
        sent = host.sent  # the server counts these itself
        # Other errors, such as a wrong token or a wrong kind, are the caller's to fix.
        try:
            busy, size = await ask(host)
        except EnvError:
            host.leave_out()
            return None
        host.take_back()
        return busy - sent, size

"""Clients for the judges and the agent of a run that have none yet, kept to the run's limits, and closed with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from adjudge.runs._config import RunConfig
from adjudge.runs._job import Job

if TYPE_CHECKING:
    from adjudge.runs._cache import Cache


@asynccontextmanager
async def ready(job: Job, config: RunConfig, cache: Cache | None) -> AsyncIterator[None]:
    """Give judges and agent their clients and the cache's secret; take both back, and end the agent, with the run."""
    async with AsyncExitStack() as stack:
        close = getattr(job.agent, "aclose", None)
        if close is not None:
            stack.push_async_callback(close)
        for one in _asking(job):
            if cache is not None and hasattr(one, "secret"):
                # The same question is then the same request in every run, and the cache finds it.
                stack.callback(setattr, one, "secret", one.secret)
                one.secret = cache.secret
            if hasattr(one, "client") and one.chat is None:
                client = one.client(**_limits(config))
                one.chat = client
                stack.callback(setattr, one, "chat", None)
                stack.push_async_callback(client.close)
        yield


def _asking(job: Job) -> Iterator[Any]:
    """Give whoever may ask a chat model: the agent, the judge, those that scorers ask, and the members of panels."""
    yield job.agent
    yield from _with_members(job.judge)
    for scorer in job.scorers:
        for judge in getattr(scorer, "judges", ()):
            yield from _with_members(judge)


def _with_members(judge: Any) -> Iterator[Any]:
    yield judge
    for member in getattr(judge, "members", ()):
        yield from _with_members(member)


def _limits(config: RunConfig) -> dict[str, Any]:
    # A little less than the row has, so that the client can still say what it tried.
    deadline = config.deadline - min(0.5, 0.05 * config.deadline)
    return {"in_flight": config.workers, "attempt_timeout_s": config.attempt_timeout, "deadline_s": deadline}

"""Clients for the judges of a run that have none yet, kept to the run's limits, and closed with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from adjudge.runs._config import RunConfig
from adjudge.runs._job import Job

if TYPE_CHECKING:
    from adjudge.runs._cache import Cache


@asynccontextmanager
async def ready(job: Job, config: RunConfig, cache: Cache | None) -> AsyncIterator[None]:
    """Give the judges their clients and the cache's secret; take both back, and end the agent, when the run ends."""
    async with AsyncExitStack() as stack:
        for judge in _judges(job):
            if cache is not None and hasattr(judge, "secret"):
                # The same question is then the same request in every run, and the cache finds it.
                stack.callback(setattr, judge, "secret", judge.secret)
                judge.secret = cache.secret
            if getattr(judge, "chat", judge) is None:
                client = _client(judge, config)
                judge.chat = client
                stack.callback(setattr, judge, "chat", None)
                stack.push_async_callback(client.close)
        close = getattr(job.agent, "aclose", None)
        if close is not None:
            stack.push_async_callback(close)
        yield


def _judges(job: Job) -> list[Any]:
    """Return the judge, those that scorers ask, and the members of panels."""
    asked = [] if job.judge is None else [job.judge]
    asked += [judge for scorer in job.scorers for judge in getattr(scorer, "judges", ())]
    return [one for judge in asked for one in (judge, *getattr(judge, "members", ()))]


def _client(judge: Any, config: RunConfig) -> Any:
    # A little less than the row has, so that the client can still say what it tried.
    deadline = config.deadline - min(0.5, 0.05 * config.deadline)
    return judge.client(in_flight=config.workers, attempt_timeout_s=config.attempt_timeout, deadline_s=deadline)

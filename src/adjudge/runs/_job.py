"""What a run does with each case: the agent that answers it, the scorers that are asked about it, and their clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adjudge.errors import UsageError
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer

if TYPE_CHECKING:
    from adjudge.model import Agent, Judge
    from adjudge.runs._cache import Cache
    from adjudge.runs._plan import RunConfig

GROUP = "group_id"
CONVERSATION = "conversation_id"


@dataclass(frozen=True, slots=True)
class Job:
    """The agent and the scorers of a run, and what follows from them.

    `names` and `ranges` are those of the scores, in their order. `judged` is which of the scores is a judge's (the last
    one where there are several), `judge` is that judge. `unit_column` is the column by which cases are worked on
    together: a group by its scorers, a conversation by its agent. `is_pure` says that nobody has to be waited for, so
    that many rows can be scored at once.
    """

    scorers: tuple[Scorer, ...] = ()
    agent: Agent | None = None
    names: tuple[str, ...] = field(init=False)
    ranges: tuple[tuple[float, float] | None, ...] = field(init=False)
    judged: int | None = field(init=False, default=None)
    judge: Judge | None = field(init=False, default=None)
    unit_column: str | None = field(init=False, default=None)
    is_pure: bool = field(init=False)

    def __post_init__(self) -> None:
        known: dict[str, Any] = {
            "names": tuple(scorer.name for scorer in self.scorers),
            "ranges": tuple(scorer.range for scorer in self.scorers),
            "is_pure": self.agent is None and not any(scorer.is_async for scorer in self.scorers),
        }
        for index, scorer in enumerate(self.scorers):
            judge = getattr(scorer, "judge", None)
            if judge is not None:
                known.update(judged=index, judge=judge)
        if any(scorer.is_group for scorer in self.scorers):
            known["unit_column"] = GROUP
        elif self.agent is not None:
            known["unit_column"] = CONVERSATION
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def failed(self, reason: str) -> list[Score]:
        """Return the error that every scorer gives for a case that cannot be scored."""
        return [
            Score.error(reason, parts=dict.fromkeys(scorer.parts or ()), provenance=scorer.provenance)
            for scorer in self.scorers
        ]


def make_job(*, scorers: Sequence[Any] = (), judge: Any = None, agent: Any = None, **options: Any) -> Job:
    """Return the job of these names or objects; a judge is one more scorer, and `options` go to one that is named."""
    from adjudge.agents import get_agent

    given = [scorers] if isinstance(scorers, str) or not isinstance(scorers, Sequence) else scorers
    made = [get_scorer(scorer) for scorer in given]
    if judge is not None:
        from adjudge.judges import get_judge, judge_scorer

        made.append(judge_scorer(get_judge(judge, **options) if isinstance(judge, str) else judge))
    if not made:
        raise UsageError("name a scorer or a judge")
    return Job(tuple(made), None if agent is None else get_agent(agent))


@asynccontextmanager
async def clients_of(job: Job, config: RunConfig, cache: Cache | None) -> AsyncIterator[None]:
    """Give judges and agent their clients and the cache's secret; take both back, and end the agent, with the run."""
    # A little less than the row has, so that the client can still say what it tried.
    deadline = config.deadline - min(0.5, 0.05 * config.deadline)
    limits = {"in_flight": config.workers, "attempt_timeout_s": config.attempt_timeout, "deadline_s": deadline}
    async with AsyncExitStack() as stack:
        close = getattr(job.agent, "aclose", None)
        if close is not None:
            stack.push_async_callback(close)
        judges = (judge for scorer in job.scorers for judge in getattr(scorer, "judges", ()))
        for one in (job.agent, *_with_members(judges)):
            if cache is not None and hasattr(one, "secret"):
                # The same question is then the same request in every run, and the cache finds it.
                stack.callback(setattr, one, "secret", one.secret)
                one.secret = cache.secret
            if hasattr(one, "client") and one.chat is None:
                client = one.client(**limits)
                one.chat = client
                stack.callback(setattr, one, "chat", None)
                stack.push_async_callback(client.close)
        yield


def _with_members(judges: Any) -> Iterator[Any]:
    """Give the judges, and those that panels and cascades among them ask."""
    for judge in judges:
        yield judge
        yield from _with_members(getattr(judge, "members", ()))

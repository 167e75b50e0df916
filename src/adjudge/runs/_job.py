"""What a run does with each case: the agent that answers it, the scorers that are asked about it, and their clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
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
    """The agent and the scorers of a run."""

    scorers: tuple[Scorer, ...] = ()
    agent: Agent | None = None

    @property
    def unit_column(self) -> str | None:
        """By which column cases are worked on together: a group by its scorers, a conversation by its agent."""
        if any(scorer.is_group for scorer in self.scorers):
            return GROUP
        return None if self.agent is None else CONVERSATION

    @property
    def is_pure(self) -> bool:
        """Whether nobody has to be waited for, so that many rows can be scored at once."""
        return self.agent is None and not any(scorer.is_async for scorer in self.scorers)

    @property
    def together(self) -> int | None:
        """How many units the agent wants in progress, because it answers them together; None where it does not mind."""
        return getattr(self.agent, "together", None)

    @property
    def judged(self) -> int | None:
        """Which of the scores is a judge's; the last one where there are several."""
        judges = [index for index, scorer in enumerate(self.scorers) if getattr(scorer, "judge", None) is not None]
        return judges[-1] if judges else None

    @property
    def judge(self) -> Judge | None:
        """The judge whose score that is."""
        return None if self.judged is None else getattr(self.scorers[self.judged], "judge", None)

    @property
    def names(self) -> tuple[str, ...]:
        """What the scores are called, in their order."""
        return tuple(scorer.name for scorer in self.scorers)

    @property
    def ranges(self) -> tuple[tuple[float, float] | None, ...]:
        """The least and the greatest value of each score, where that is known."""
        return tuple(scorer.range for scorer in self.scorers)

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

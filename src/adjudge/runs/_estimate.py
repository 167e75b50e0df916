"""What a run would call and cost, before it starts: the requests are written, but not sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from adjudge.errors import AdjudgeError, Caught
from adjudge.model import Ask, ChatModel, ChatReply, ChatRequest, Status, asking
from adjudge.rewards import Scorer
from adjudge.runs._cache import Cache, cache_path, request_key
from adjudge.runs._cases import CaseRead, answered, case_of, read_cases, trajectory_columns, with_canaries
from adjudge.runs._plan import CONVERSATION, Job, RunConfig, clients_of, make_job
from adjudge.runs._records import TrajectoryRecord, encode
from adjudge.runs._seal import GivenAgain
from adjudge.runs._sessions import answers_of, work_of
from adjudge.runs._store import Store

BYTES_PER_TOKEN = 4  # about, for English text
REPLY_TOKENS = 200  # about, where nothing says more
PAGE = 256  # cases of a run file looked at together


@dataclass(slots=True)
class CostEstimate:
    """What a run would do: its rows, the calls that it would make, and about how many tokens and dollars.

    `unknown` says in words what cannot be known before it runs.
    """

    rows: int = 0
    unreadable: int = 0
    without_call: int = 0
    agent_calls: int | None = None  # None: there is no agent
    judge_calls: int = 0
    known: int = 0  # replies that the cache or the run file has
    repeated: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unknown: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls there would be."""
        return self.judge_calls + (self.agent_calls or 0)


class Planned(NamedTuple):
    """One case of a plan, with what the agent did already and the replies that came already."""

    read: CaseRead
    done: TrajectoryRecord | None = None
    replies: Mapping[bytes, ChatReply] = {}


def estimate(
    rows: str,
    *,
    judge: str | None = None,
    scorers: Sequence[str] = (),
    agent: str | None = None,
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
) -> CostEstimate:
    """Return what answering, scoring and judging a file would call and cost; nothing is sent."""
    given = {name: value for name, value in (options or {}).items() if value is not None}
    job = make_job(scorers=scorers, judge=judge, agent=agent, **given)
    config = config or RunConfig()
    reads = read_cases(rows)
    if config.canaries:
        reads = with_canaries(reads, config.canaries, config.seed)
    return asyncio.run(_estimate(map(Planned, reads), job, config))


def estimate_resume(
    path: str,
    *,
    options: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    given: GivenAgain | None = None,
    retry_failed: bool = False,
    retry_unscored: bool = False,
) -> CostEstimate:
    """Return what resuming a run would call and cost: rows without scores, and failed ones if they are retried."""
    wanted: dict[Status, bool] = {"error": retry_failed, "unscored": retry_unscored}
    retried = [status for status, is_wanted in wanted.items() if is_wanted]
    work = work_of(path, options, limits, given)
    with Store.read(path) as store:
        rest = () if work.cases is None else islice(read_cases(work.cases), store.count(), None)
        return asyncio.run(_estimate(_pending(store, rest, retried), work.job, work.config))


def estimate_rescore(
    path: str,
    *,
    judge: str | None = None,
    scorers: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
) -> CostEstimate:
    """Return what scoring a run's answers again would call and cost."""
    given = {name: value for name, value in (options or {}).items() if value is not None}
    job = make_job(scorers=scorers, judge=judge, **given)
    with Store.read(path) as store:
        return asyncio.run(_estimate(map(Planned, answers_of(store)), job, config or RunConfig()))


def _pending(store: Store, rest: Iterable[CaseRead], retried: Sequence[Status]) -> Iterator[Planned]:
    """Give the cases of a run that have no scores or are retried, then those that it has not read yet."""
    for status in (None, *retried):
        last = -1
        while cases := store.pending(last, PAGE) if status is None else store.ended(status, last, PAGE):
            done = store.trajectories(cases[0].seq, cases[-1].seq)
            for case in cases:
                record = done.get(case.seq)
                # A failed answer is asked for again, a good one is kept.
                if retried and record is not None and record.fault is not None:
                    record = None
                known = {} if status == "unscored" else store.replies(case.seq)
                yield Planned(CaseRead(case.id, case.row, case.fault), record, known)
            last = cases[-1].seq
    yield from map(Planned, rest)


async def _estimate(cases: Iterable[Planned], job: Job, config: RunConfig) -> CostEstimate:
    # An estimate writes nothing: it opens the cache only where there is one.
    cache = Cache.open(config.cache) if config.cache != "off" and cache_path(config.cache).exists() else None
    estimator = _Estimator(job, cache)
    try:
        async with clients_of(job, config, cache):
            for planned in cases:
                await estimator.add(planned)
    finally:
        if cache is not None:
            cache.close()
    return estimator.result(config)


class _Estimator:
    """Adds up what the cases would call."""

    def __init__(self, job: Job, cache: Cache | None) -> None:
        self._job = job
        self._cache = cache
        self._found = CostEstimate(agent_calls=None if job.agent is None else 0)
        self._seen: set[bytes] = set()
        # A judge's requests can be written without sending them; what other async scorers call is unknown.
        self._asking = [leaf for leaf in job.leaves if leaf.is_async and getattr(leaf, "judge", None) is not None]
        self._opaque = [leaf.name for leaf in job.leaves if leaf.is_async and leaf not in self._asking]
        self._later_turns = False

    async def add(self, planned: Planned) -> None:
        """Count what one case would call."""
        found = self._found
        before = found.calls + found.known + found.repeated
        found.rows += 1
        row = planned.read.row
        if row is None or planned.read.fault is not None:
            found.unreadable += 1
            return
        done = planned.done
        if self._job.agent is not None and done is None:
            self._ask_agent(planned)
            # Stands for the answer to come; the number keeps the judge's requests of two rows apart.
            row = answered(row, {"final_response": f"{found.rows} {'word ' * REPLY_TOKENS}"})
        elif done is not None and done.trajectory is not None:
            row = answered(row, trajectory_columns(done.trajectory))
        if done is None or done.trajectory is not None:
            await self._ask_judges(row, planned.replies, self._asking)
        if planned.read.canary is not None and self._job.judged is not None:
            await self._ask_judges(planned.read.canary, {}, [self._job.scorers[self._job.judged]])
        found.without_call += before == found.calls + found.known + found.repeated

    def result(self, config: RunConfig) -> CostEstimate:
        """Return the sums, with what they leave out in `unknown`."""
        found, agent = self._found, self._job.agent
        if config.price is not None:
            prompt, completion = config.price
            found.cost = (found.prompt_tokens * prompt + found.completion_tokens * completion) / 1e6
        if agent is not None and found.agent_calls:
            if not hasattr(agent, "request"):
                found.unknown.append(f"what {agent.name} calls and costs beside one call a row")
            if found.judge_calls:
                words = f"judges are counted as if every answer had {REPLY_TOKENS} tokens"
                found.unknown.append(f"what the agent will say: {words}")
            if self._later_turns:
                found.unknown.append("what is said before the later turns of a conversation")
        if config.stop_early:
            found.unknown.append("how many of these rows an early decision spares")
        found.unknown += [f"what the scorer {name} calls" for name in self._opaque]
        if found.calls:
            found.unknown.append("retries, and replies that have to be asked for twice")
        return found

    def _ask_agent(self, planned: Planned) -> None:
        found, request = self._found, None
        row = planned.read.row or {}
        write = getattr(self._job.agent, "request", None)  # of an agent that asks through the run
        if write is not None:
            with Caught():
                request = write(case_of(planned.read.id, row), ())
            if request is None:
                return  # this row becomes an error without a call
        agent: Any = self._job.agent
        if request is not None and self._key(request, agent.chats) in planned.replies:
            found.known += 1
            return
        found.agent_calls = (found.agent_calls or 0) + 1
        self._later_turns = self._later_turns or (row.get(CONVERSATION) is not None and bool(row.get("turn")))
        if request is not None:
            self._spend(request)

    async def _ask_judges(
        self, row: Mapping[str, Any], replies: Mapping[bytes, ChatReply], scorers: Sequence[Scorer]
    ) -> None:
        token = asking.set(partial(self._planned, replies))
        try:
            for scorer in scorers:
                await scorer.ascore(row)
        finally:
            asking.reset(token)

    def _planned(self, replies: Mapping[bytes, ChatReply], chats: Mapping[str, ChatModel]) -> Ask:
        """Return a function that counts a request and raises instead of sending it."""

        async def ask(request: ChatRequest) -> ChatReply:
            self._count(request, self._key(request, chats), replies)
            raise AdjudgeError("only planned", code="planned")

        return ask

    def _count(self, request: ChatRequest, key: bytes, replies: Mapping[bytes, ChatReply]) -> None:
        found = self._found
        if key in self._seen:
            found.repeated += 1
        elif key in replies or (self._cache is not None and self._cache.find(key) is not None):
            found.known += 1
        else:
            found.judge_calls += 1
            self._spend(request)
        self._seen.add(key)

    def _key(self, request: ChatRequest, chats: Mapping[str, ChatModel]) -> bytes:
        return request_key(chats[request.model], encode(request))

    def _spend(self, request: ChatRequest) -> None:
        size = sum(len(message.text.encode("utf-8", "replace")) for message in request.messages)
        self._found.prompt_tokens += size // BYTES_PER_TOKEN
        self._found.completion_tokens += min(REPLY_TOKENS, request.max_tokens or REPLY_TOKENS)

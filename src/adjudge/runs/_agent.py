"""The agent under test, as a run asks it: within its time, counted against the budgets, its answer on disk.

An agent that asks chat models (it has `chats`, as `ChatAgent` does) asks them through the run: every call is limited,
written down and, after an interruption, not made again. Any other agent counts as one call, with as many attempts as
our HTTP client makes for it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError, Caught, RunStopped
from adjudge.http import attempt_watch
from adjudge.model import asking
from adjudge.runs._ask import Watch
from adjudge.runs._cases import case_of
from adjudge.runs._records import ReplyRecord, TrajectoryRecord, encode, write_reply, write_request, write_trajectory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.model import Agent, Message, Trajectory
    from adjudge.runs._ask import Asker, Clock, Row
    from adjudge.runs._records import CaseRecord


class AgentCalls:
    """Asks the agent of one run; `clocks` are those of the rows in progress, with the seconds that each has."""

    def __init__(self, agent: Agent, asker: Asker, clocks: dict[Clock, float], deadline: float) -> None:
        self._agent = agent
        self._asker = asker
        self._clocks = clocks
        self._deadline = deadline

    async def answer(self, case: CaseRecord, row: Row, history: Sequence[Message]) -> TrajectoryRecord:
        """Ask the agent about one case, and return when its answer is on disk."""
        agent = self._agent
        # Two kinds of agents: one asks its models through the run, the other has clients of its own.
        if getattr(agent, "chats", None):
            token = asking.set(lambda chats: self._asker.of(row, chats, is_agent=True))
            try:
                record = await self._respond(agent, case, row, history)
            finally:
                asking.reset(token)
            written = self._keep(row, record)
        else:
            async with self._call(agent, case, row) as outcome:
                record = await self._respond(agent, case, row, history)
                outcome.append(record)
                written = self._keep(row, record)  # before the place is free: at most `workers` answers can be lost
        if written is not None:
            with row.clock:
                await written
            self._asker.journal.check()
        return record

    def _keep(self, row: Row, record: TrajectoryRecord) -> asyncio.Future[None] | None:
        """Keep an answer, unless the run is being stopped because of it."""
        return None if row.stopped is not None else self._asker.journal.keep(write_trajectory(row.seq, record))

    async def _respond(self, agent: Agent, case: CaseRecord, row: Row, history: Sequence[Message]) -> TrajectoryRecord:
        """Ask the agent; an exception, and no answer in time, are faults of this case."""
        began = row.clock.taken()
        trajectory: Trajectory | None = None
        with Caught() as caught:
            wanted = case_of(case.id, case.row or {})
            with self._in_time(row):
                trajectory = await agent.respond(wanted, tuple(history))
        fault = None if caught.reason is None else f"agent-failed: {caught.reason}"
        return TrajectoryRecord(trajectory, fault, row.clock.taken() - began)

    @contextmanager
    def _in_time(self, row: Row) -> Iterator[None]:
        """Give one answer the seconds that one row has; the cases of a conversation share a clock."""
        # The engine cancels a row whose clock passes the number in `clocks`: lower it for this answer alone.
        clock = row.clock
        whole = self._clocks[clock]
        self._clocks[clock] = min(whole, clock.taken() + self._deadline)
        task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if task is None or not clock.expired or task.uncancel():
                raise  # cancelled by somebody else, not by the clock
            clock.expired = False
            whole = whole if clock.taken() < whole else math.inf  # the fault must still be written down
            message = f"the agent gave no answer within {self._deadline:g} seconds{row.tried()}"
            raise AdjudgeError(message, code="deadline") from None
        finally:
            self._clocks[clock] = whole

    @asynccontextmanager
    async def _call(self, agent: Agent, case: CaseRecord, row: Row) -> AsyncIterator[list[TrajectoryRecord]]:
        """Count and write down one call of an agent that has its own client; its answer goes into the list."""
        asker, journal = self._asker, self._asker.journal
        if asker.stopping is not None:
            asker.refuse(row, asker.stopping)
        with row.clock:
            try:
                reserve = await asker.budget.reserve(None)
            except RunStopped as error:
                asker.stop(row, error)
                raise
        asker.last_number += 1
        number = asker.last_number
        body = encode({"agent": agent.name, "case": str(case.id)})
        watch = Watch(number, journal, asker.budget, row)
        outcome: list[TrajectoryRecord] = []
        await asker.enter(row)
        try:
            journal.keep(write_request(number, row.seq, b"", time.time(), body))
            started = time.monotonic()
            token = attempt_watch.set(watch)
            try:
                yield outcome
            finally:
                attempt_watch.reset(token)
                asker.budget.settle(reserve, None)
                fault = outcome[0].fault if outcome else "cancelled: the call was given up"
                seconds = time.monotonic() - started
                record = ReplyRecord(None, fault, source="agent", seconds=seconds, attempts=watch.attempts)
                if journal.fault is None:
                    journal.put(write_reply(number, record))
        finally:
            asker.leave()

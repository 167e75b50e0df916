"""The agent under test, as a run asks it: within its time, counted against the budgets, its answer on disk.

An agent that asks chat models (it has `chats`, as `ChatAgent` does) asks them through the run: every call is limited,
written down and, after an interruption, not made again. Any other agent counts as one call, with as many attempts as
our HTTP client makes for it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError, Caught
from adjudge.judges.columns import QUESTIONS, text_in
from adjudge.model import Message, asking
from adjudge.runs._ask import CallInFlight
from adjudge.runs._cases import case_of
from adjudge.runs._records import TrajectoryRecord, encode, write_trajectory

if TYPE_CHECKING:
    from adjudge.model import Agent, Trajectory
    from adjudge.runs._ask import Asker, Clock, Row
    from adjudge.runs._records import CaseRecord
    from adjudge.runs._source import Source

_ENDLESS = "agent-failed: bad-answer: its answer contains itself, or is nested too deeply to be written down"


@dataclass(slots=True, eq=False)
class AgentCalls:
    """Asks the agent of one run; `clocks` are those of the rows in progress, with the seconds that each has."""

    _agent: Agent
    _asker: Asker
    _source: Source
    _clocks: dict[Clock, float]
    _deadline: float

    async def answer(self, case: CaseRecord, row: Row, history: list[Message]) -> TrajectoryRecord:
        """Return what the agent does for a case, and add question and answer to the conversation so far.

        A resumed run has the answer in its file; a new one is on disk when this returns.
        """
        record = await self._source.trajectory(case.seq)
        if record is None:
            record = await self._ask(case, row, history)
        question = Message("user", text_in(case.row or {}, QUESTIONS) or "")
        reply = None if record.trajectory is None else record.trajectory.final_response
        history += [question, Message("assistant", reply or "")]
        return record

    async def _ask(self, case: CaseRecord, row: Row, history: Sequence[Message]) -> TrajectoryRecord:
        """Ask the agent, and return when its answer is on disk."""
        agent = self._agent
        # Two kinds of agents: one asks its models through the run, the other has clients of its own.
        if getattr(agent, "chats", None):
            token = asking.set(lambda chats: partial(self._asker.answer, row, chats, is_agent=True))
            try:
                record, written = await self._respond(case, row, history)
            finally:
                asking.reset(token)
        else:
            body = encode({"agent": agent.name, "case": str(case.id)})
            async with CallInFlight(self._asker, row, b"", body) as call:
                record, written = await self._respond(case, row, history)
                call.fault = record.fault
        if written is not None:
            with row.clock:
                await written
            self._asker.journal.check()
        return record

    async def _respond(
        self, case: CaseRecord, row: Row, history: Sequence[Message]
    ) -> tuple[TrajectoryRecord, asyncio.Future[None] | None]:
        """Ask the agent and keep its answer; an exception, and no answer in time, are faults of this case."""
        # The engine cancels a row whose clock passes the number in `clocks`. The cases of a conversation share a clock:
        # this answer alone has the seconds that one row has.
        clock = row.clock
        began, whole = clock.taken(), self._clocks[clock]
        self._clocks[clock] = min(whole, began + self._deadline)
        task = asyncio.current_task()
        trajectory: Trajectory | None = None
        with Caught() as caught:
            try:
                trajectory = await self._agent.respond(case_of(case.id, case.row or {}), tuple(history))
            except asyncio.CancelledError:
                if task is None or not clock.expired or task.uncancel():
                    raise  # cancelled by somebody else, not by the clock
                clock.expired = False
                whole = whole if clock.taken() < whole else math.inf  # the fault must still be written down
                message = f"the agent gave no answer within {self._deadline:g} seconds{row.tried()}"
                raise AdjudgeError(message, code="deadline") from None
            finally:
                self._clocks[clock] = whole
        fault = None if caught.reason is None else f"agent-failed: {caught.reason}"
        record = TrajectoryRecord(trajectory, fault, clock.taken() - began)
        # Before its place is free: at most `workers` answers can be lost. A run that is being stopped keeps nothing.
        if row.stopped is not None:
            return record, None
        try:
            entry = write_trajectory(row.seq, record)
        except RecursionError:
            record = TrajectoryRecord(None, _ENDLESS, record.seconds)
            entry = write_trajectory(row.seq, record)
        return record, self._asker.journal.keep(entry)

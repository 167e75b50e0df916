"""The agent of a scenario run: asks the agent under test every turn in one session, and joins what it did.

The session's name is new each time and 32 hexadecimal digits long, so that it is a trace id too. Of the scenario the
agent sees the question and nothing else: no criteria, no references, no expectations.
"""

import asyncio
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from adjudge.agents import get_agent, messages_to_trajectory, session_of, to_trajectory
from adjudge.errors import AdjudgeError, DataError
from adjudge.model import Agent, Case, Message, Trajectory
from adjudge.scenarios._scenario import Scenario

Receive: TypeAlias = Callable[[str, int], Awaitable[Trajectory]]
"""Gives what was recorded elsewhere of a session with so many turns."""


@dataclass(frozen=True, slots=True)
class ScenarioAgent:
    """Does one scenario as one case; `traces` are the sessions of this process, by case.

    `is_saved` says that the agent gives what was recorded before: then no session of ours is anybody's trace. Where
    there is a `receive`, agents and tools are those that it gives, not those that the agent says it used.
    """

    agent: Agent
    scenarios: Mapping[str, Scenario]
    traces: dict[str, str] = field(default_factory=dict)
    is_saved: bool = False
    receive: Receive | None = None

    @property
    def name(self) -> str:
        """What the results call it."""
        return self.agent.name

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Ask every turn, within the scenario's deadline."""
        del history
        scenario = self.scenarios[str(case.metadata["group_id"])]
        conversation = secrets.token_hex(16)
        session = session_of(Case(case.id, conversation_id=conversation))
        if not self.is_saved:
            self.traces[case.id] = session
        known = {"session_id": session, "scenario": scenario.id, "repeat": case.metadata["repeat"]}
        first = Case(case.id, conversation_id=conversation, metadata=known)
        started = time.monotonic()
        try:
            async with asyncio.timeout(scenario.deadline) as timer:
                with in_trace(session):
                    done = await self._turns(first, scenario.turns)
        except TimeoutError:
            if not timer.expired():
                raise
            message = f"the agent did not end within {scenario.deadline:g} seconds"
            raise AdjudgeError(message, code="deadline") from None
        seconds = time.monotonic() - started
        whole = joined(done)
        if self.is_saved:
            return whole
        if self.receive is not None:
            whole = received(await self.receive(session, len(scenario.turns)), whole)
        return replace(whole, trace_id=whole.trace_id or session, seconds=seconds)

    async def _turns(self, case: Case, turns: Sequence[str]) -> list[Trajectory]:
        history: list[Message] = []
        done: list[Trajectory] = []
        for number, question in enumerate(turns):
            asked = replace(case, question=question, turn=number)
            answer = own_part(await self.agent.respond(asked, tuple(history)), question if number else None)
            done.append(answer)
            history += [Message("user", question), Message("assistant", answer.final_response or "")]
        return done

    async def aclose(self) -> None:
        """Close the agent under test."""
        close = getattr(self.agent, "aclose", None)
        if close is not None:
            await close()


@contextmanager
def in_trace(session: str) -> Iterator[None]:
    """Let spans that an agent in this process makes with OpenTelemetry belong to the session's trace."""
    if "opentelemetry.trace" not in sys.modules:  # nobody here makes any
        yield
        return
    from opentelemetry import context, trace

    # The same parent as the `traceparent` of a request has.
    parent = trace.SpanContext(int(session, 16), int(session[:16], 16), is_remote=True, trace_flags=trace.TraceFlags(1))
    token = context.attach(trace.set_span_in_context(trace.NonRecordingSpan(parent)))
    try:
        yield
    finally:
        context.detach(token)


@dataclass(frozen=True, slots=True)
class SavedAgent:
    """Gives what was recorded, by the id of the scenario; several records are its repeats."""

    trajectories: Mapping[str, Any]
    name: str = "saved trajectories"

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Return the record of a case."""
        del history
        scenario, repeat = str(case.metadata["scenario"]), case.metadata["repeat"]
        saved = self.trajectories.get(scenario)
        several = saved if isinstance(saved, list) and all(isinstance(one, Trajectory) for one in saved) else [saved]
        record = several[repeat - 1] if repeat <= len(several) else None
        if record is None:
            raise DataError(f"there is no trajectory for scenario {scenario!a}, repeat {repeat}", code="no-trajectory")
        return Trajectory.from_messages(record) if isinstance(record, str) else to_trajectory(case, record)


def agent_for(agent: Any, trajectories: Any, scenarios: Mapping[str, Scenario]) -> ScenarioAgent:
    """Return the agent of a run: the one under test, or what it did before (records, or an agent that has them)."""
    if trajectories is None:
        return ScenarioAgent(get_agent(agent), scenarios)
    inner: Agent = SavedAgent(trajectories) if isinstance(trajectories, Mapping) else trajectories
    # A record holds all turns already.
    once = {name: replace(one, turns=one.turns[-1:], question="") for name, one in scenarios.items()}
    return ScenarioAgent(inner, once, is_saved=True)


def received(record: Trajectory, answer: Trajectory) -> Trajectory:
    """Return what was recorded of a run, with the answer that the user got."""
    return replace(
        record,
        final_response=answer.final_response if answer.final_response is not None else record.final_response,
        sources=record.sources or answer.sources,
    )


def own_part(answer: Trajectory, question: str | None) -> Trajectory:
    """Return what belongs to this turn of an answer that repeats the turns before it."""
    places = [at for at, one in enumerate(answer.messages) if one.role == "user" and one.text == question]
    if question is None or not places or not places[-1]:
        return answer
    messages = answer.messages[places[-1] :]
    found: dict[str, Any] = {"messages": messages}
    for read in (messages_to_trajectory, Trajectory):
        # What is not as the messages have it is known from elsewhere, and stays.
        whole, part = read(answer.messages), read(messages)
        for name in ("tool_calls", "agents_called"):
            if getattr(answer, name) == getattr(whole, name):
                found.setdefault(name, getattr(part, name))
    return replace(answer, **found)


def joined(turns: Sequence[Trajectory]) -> Trajectory:
    """Return the turns of a conversation as one trajectory; what one of them cannot show, the whole cannot."""
    if len(turns) == 1:
        return turns[0]
    calls = [turn.tool_calls for turn in turns]
    known = [each for each in calls if each is not None]
    return Trajectory(
        messages=tuple(message for turn in turns for message in turn.messages),
        tool_calls=tuple(call for each in known for call in each) if len(known) == len(calls) else None,
        agents_called=tuple(agent for turn in turns for agent in turn.agents_called),
        agents_known=all(turn.agents_known for turn in turns),
        final_response=turns[-1].final_response,
        sources=tuple(dict.fromkeys(source for turn in turns for source in turn.sources)),
        complete=all(turn.complete for turn in turns),
        trace_id=next((turn.trace_id for turn in turns if turn.trace_id), None),
    )

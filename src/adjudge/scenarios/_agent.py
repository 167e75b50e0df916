"""The agent of a scenario run: asks the agent under test every turn in one session, and joins what it did.

The session's name is new each time and 32 hexadecimal digits long, so that it is a trace id too. Of the scenario the
agent sees the question and nothing else: no criteria, no references, no expectations.
"""

import asyncio
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeAlias

from adjudge.agents import get_agent, session_of, to_trajectory
from adjudge.errors import AdjudgeError, DataError, RowError
from adjudge.http import Limits
from adjudge.model import Agent, Case, Message, Trajectory, to_json
from adjudge.runs import RunConfig
from adjudge.scenarios._scenario import Scenario
from adjudge.traces import AgentNames, load_messages, map_agents

_DOERS = frozenset({"assistant", "tool", "function"})
_ASKED_AGAIN = (
    "the question is several times in the messages: return those since it was asked last, and start each session anew "
    "(in LangGraph, with a new thread_id)"
)
_NOT_FOUND = (
    "the question is not in the messages as it was asked, and they hold turns before: return those since it was asked, "
    "and the question as it was, or start each session anew"
)

Receive: TypeAlias = Callable[[str, int, AgentNames, Sequence[str]], Awaitable[Trajectory]]
"""Returns what was recorded elsewhere of a session with so many turns, these names of agents, and traces it names."""


@dataclass(frozen=True, slots=True)
class ScenarioAgent:
    """Answers one scenario as one case; `traces` are the sessions of this process, by case.

    `is_saved` says that the agent returns what was recorded before: then no session of ours is a trace of it. Where
    there is a `receive`, agents and tools are those that it returns, not those that the agent says it used.
    """

    agent: Agent
    name: str  # in the results
    scenarios: Mapping[str, Scenario]
    traces: dict[str, str] = field(default_factory=dict)
    is_saved: bool = False
    receive: Receive | None = None
    during: Callable[[str], AbstractContextManager[None]] | None = None  # around a session whose record is received

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Ask every turn, within the scenario's deadline."""
        del history
        # Random, not made of the case: a resumed run must not add its spans to the trace of the run before.
        conversation = secrets.token_hex(16)
        session = session_of(Case(case.id, conversation_id=conversation))
        if not self.is_saved:
            self.traces[case.id] = session
        with nullcontext() if self.during is None else self.during(session):
            return await self._ask(case, conversation, session)

    async def _ask(self, case: Case, conversation: str, session: str) -> Trajectory:
        scenario = self.scenarios[str(case.metadata["group_id"])]
        metadata = {"session_id": session, "scenario": scenario.id, "repeat": case.metadata["repeat"]}
        first = Case(case.id, conversation_id=conversation, metadata=metadata)
        said: list[Message] = []
        answers: list[Trajectory] = []
        # Spans that an agent in this process makes belong to the session's trace; without OpenTelemetry there are none.
        in_trace = _in_trace(session) if "opentelemetry.trace" in sys.modules else nullcontext()
        started = time.monotonic()
        try:
            async with asyncio.timeout(scenario.deadline) as timer:
                with in_trace:
                    # A record holds all turns already, so it is asked for once.
                    turns = scenario.turns[-1:] if self.is_saved else scenario.turns
                    for number, question in enumerate(turns):
                        turn = replace(first, question=question, turn=number)
                        answer = await self.agent.respond(turn, tuple(said))
                        # A question that is not the first message has something before it.
                        is_later = any(one.role == "user" for one in answer.messages[1:])
                        if is_later and len(turns) == len(scenario.turns):
                            answer = _own_part(answer, question, turns[: number + 1].count(question))
                        answers.append(answer)
                        said += [Message("user", question), Message("assistant", answers[-1].final_response or "")]
        except TimeoutError:
            # A timeout of the agent's own is an error of the agent, not our deadline.
            if not timer.expired():
                raise
            message = f"the agent did not end within {scenario.deadline:g} seconds"
            raise AdjudgeError(message, code="deadline") from None
        seconds = time.monotonic() - started
        # From here on it is one record, whatever the number of turns.
        whole = answers[0] if len(answers) == 1 else _join(answers)
        if not self.is_saved and self.receive is not None:
            named = [one.trace_id for one in answers if one.trace_id is not None]
            record = await self.receive(session, len(scenario.turns), scenario.agents, named)
            # The record says what was done, the answer what the user got, and under which trace.
            response, unknown = record.final_response, dict(record.unknown)
            if whole.final_response is not None:
                response = whole.final_response
                unknown.pop("answer", None)
            sources, trace = record.sources or whole.sources, whole.trace_id or record.trace_id
            whole = replace(record, final_response=response, unknown=unknown, sources=sources, trace_id=trace)
        if scenario.agents:
            whole = map_agents(whole, scenario.agents)
        # Of what was recorded before, no session of ours is the trace, and its time is not ours.
        return whole if self.is_saved else replace(whole, trace_id=whole.trace_id or session, seconds=seconds)

    async def aclose(self) -> None:
        """Close the agent under test."""
        close = getattr(self.agent, "aclose", None)
        if close is not None:
            await close()


@contextmanager
def _in_trace(session: str) -> Iterator[None]:
    """Make the session's trace the one that OpenTelemetry adds new spans to."""
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
    """Returns what was recorded, by the id of the scenario; several records are its repeats."""

    trajectories: Mapping[str, Any]
    name: str = "saved trajectories"

    def own_digest(self) -> str | None:
        """Return a digest of the records; None where they hold objects that cannot be written down."""
        try:
            return sha256(to_json(dict(self.trajectories))).hexdigest()[:32]
        except (RowError, TypeError, ValueError):
            return None

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Return the record of a case."""
        del history
        scenario, repeat = str(case.metadata["scenario"]), case.metadata["repeat"]
        saved = self.trajectories.get(scenario)
        # A list of messages is one record; only a list of trajectories is several.
        several = saved if isinstance(saved, list) and all(isinstance(one, Trajectory) for one in saved) else [saved]
        record = several[repeat - 1] if repeat <= len(several) else None
        if record is None:
            raise DataError(f"there is no trajectory for scenario {scenario!a}, repeat {repeat}", code="no-trajectory")
        return Trajectory.from_messages(record) if isinstance(record, str) else to_trajectory(case, record)


def agent_for(
    agent: Any, trajectories: Any, scenarios: Sequence[Scenario], config: RunConfig | None = None
) -> ScenarioAgent:
    """Return the agent of a run: the one under test, or what it did before (records, or an agent that has them).

    With a `config`, an agent behind a URL has as long for an answer as a row may take.
    """
    by_id = {one.id: one for one in scenarios}
    if trajectories is None:
        if config is not None and isinstance(agent, str) and agent.strip().startswith(("http://", "https://")):
            seconds = config.deadline
            limits = Limits(in_flight=config.workers, attempts=3, attempt_timeout_s=seconds, deadline_s=seconds)
            agent = get_agent(agent, limits=limits)
        found = get_agent(agent)
        return ScenarioAgent(found, found.name, by_id)
    found = SavedAgent(trajectories) if isinstance(trajectories, Mapping) else trajectories
    return ScenarioAgent(found, found.name, by_id, is_saved=True)


def _own_part(answer: Trajectory, question: str, times: int) -> Trajectory:
    """Return what an answer says was done since the question; agents may return the turns before it, too.

    The question was asked so many `times` in this session. Where the messages have it more often, or have several
    others and not this one, nobody can tell which of them were there before.
    """
    messages, wanted = answer.messages, " ".join(question.split())
    asked = [at for at, one in enumerate(messages) if one.role == "user"]
    places = [at for at in asked if " ".join(messages[at].text.split()) == wanted]
    last = (places or asked or [0])[-1]
    # Nothing was done before it: the answer repeats nothing.
    if all(one.role not in _DOERS for one in messages[:last]):
        return answer
    own = _since(answer, last)
    if places and len(places) <= times:
        return own
    more = _since(answer, places[0]) if places else answer
    if (more.tools_used, more.agents_called) == (own.tools_used, own.agents_called):
        return own if places else answer
    reason = _ASKED_AGAIN if places else _NOT_FOUND
    return replace(own, unknown={**own.unknown, **dict.fromkeys(("agents", "tools"), reason)})


def _since(answer: Trajectory, begin: int) -> Trajectory:
    messages = answer.messages[begin:]
    found: dict[str, Any] = {"messages": messages}
    for read in (load_messages, Trajectory):
        # Calls that the messages do not show are known from elsewhere: they stay as they are.
        whole, part = read(answer.messages), read(messages)
        for name in ("tool_calls", "agents_called", "unknown"):
            if getattr(answer, name) == getattr(whole, name):
                found.setdefault(name, getattr(part, name))
    return replace(answer, **found)


def _join(turns: Sequence[Trajectory]) -> Trajectory:
    """Return the turns of a conversation as one trajectory; what one of them cannot show, the whole cannot."""
    calls = [turn.tool_calls for turn in turns]
    known = [each for each in calls if each is not None]
    return Trajectory(
        messages=tuple(message for turn in turns for message in turn.messages),
        tool_calls=tuple(call for each in known for call in each) if len(known) == len(calls) else None,
        agents_called=tuple(agent for turn in turns for agent in turn.agents_called),
        unknown={question: reason for turn in turns for question, reason in turn.unknown.items()},
        final_response=turns[-1].final_response,
        sources=tuple(dict.fromkeys(source for turn in turns for source in turn.sources)),
        ordinary_tools=tuple(dict.fromkeys(tool for turn in turns for tool in turn.ordinary_tools)),
        steps=tuple(dict.fromkeys(step for turn in turns for step in turn.steps)),
        complete=all(turn.complete for turn in turns),
        trace_id=next((turn.trace_id for turn in turns if turn.trace_id), None),
    )

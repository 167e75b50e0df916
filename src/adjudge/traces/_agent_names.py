"""Names of agents where a record cannot know them: which nodes, messages and tools are which agents.

    [agents]
    call_model = "research"    what the record calls call_model is the agent research
    team = false               team is not an agent
    "*" = "assistant"          whoever has no name

A record that says who did what needs none of this. `adjudge traces show` prints what was understood.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from adjudge.errors import UsageError
from adjudge.model import Message, Trajectory
from adjudge.traces._spans import NOBODY_NAMED

AgentNames: TypeAlias = Mapping[str, str | None]
"""Agents by the names that a record has for them; None for what is not an agent, `*` for whoever has no name."""

ANYBODY = "*"


def read_agent_names(given: object, where: str = "agents") -> AgentNames:
    """Return names of agents from a mapping, or from a list of names that are agents as they are.

    >>> dict(read_agent_names({"call_model": "research", "team": False}))
    {'call_model': 'research', 'team': None}
    """
    if isinstance(given, Collection) and not isinstance(given, Mapping | str | bytes):
        given = {name: name for name in given}
    if not isinstance(given, Mapping):
        raise UsageError(f"{where} must be a table of names, got {given!r}", code="bad-option")
    names: dict[str, str | None] = {}
    for name, agent in given.items():
        if not isinstance(name, str) or not name:
            raise UsageError(f"{where}: a name must be text, got {name!r}", code="bad-option")
        if not (agent is None or agent is False or (isinstance(agent, str) and agent)):
            message = f"{where}: {name!a} must be the name of an agent, or false for none, got {agent!r}"
            raise UsageError(message, code="bad-option")
        names[name] = agent or None
    for name, agent in names.items():
        # Names would depend on how often they are looked up.
        if agent is not None and names.get(agent, agent) != agent:
            raise UsageError(f"{where}: {name!a} is {agent!a}, which is given another name itself", code="bad-option")
    return names


def map_agents(record: Trajectory, names: AgentNames) -> Trajectory:
    """Return a trajectory with its agents called by their names; a tool that has one is an agent that was called.

    >>> map_agents(Trajectory(agents_called=("team", "call_model")), {"call_model": "research", "team": None}
    ... ).agents_called
    ('research',)
    """
    if not names:
        return record
    anybody = names.get(ANYBODY)
    messages = [_renamed(message, names, anybody) for message in record.messages]
    calls = record.tool_calls
    agents_called = [names.get(agent, agent) for agent in record.agents_called]
    if calls is not None:
        agents_called = _with_tools(record, agents_called, names)
        calls = tuple(call for call in calls if names.get(call.name) is None)
    unknown = dict(record.unknown)
    if anybody is not None and ("agents" in unknown or not any(agents_called)):
        agents_called.append(anybody)
        unknown.pop("agents", None)
    entered = tuple(dict.fromkeys(agent for agent in agents_called if agent is not None))
    if entered and unknown.get("agents") == NOBODY_NAMED:
        unknown.pop("agents")
    return replace(record, messages=tuple(messages), tool_calls=calls, agents_called=entered, unknown=unknown)


def _renamed(message: Message, names: AgentNames, anybody: str | None) -> Message:
    if message.role != "assistant":
        return message
    name = None if message.name is None else names.get(message.name, message.name)
    name = anybody if name is None else name
    return message if name == message.name else replace(message, name=name)


def _with_tools(record: Trajectory, agents: Sequence[str | None], names: AgentNames) -> list[str | None]:
    """Return the agents with those that were called as tools, each where it was first called."""
    called = dict.fromkeys(names.get(call.name) for call in record.tool_calls or () if call.executed)
    called.pop(None, None)
    if not called:
        return list(agents)
    # Agents that wrote messages are known by the first of them; what else was entered stays behind its neighbour.
    places: dict[str | None, int] = {}
    for index, message in enumerate(record.messages):
        if message.role == "assistant":
            places.setdefault(names.get(message.name, message.name) if message.name else None, index)
        for call in message.tool_calls:
            places.setdefault(names.get(call.name), index)
    found: list[tuple[int, str | None]] = []
    for agent in agents:
        before = found[-1][0] if found else 0
        found.append((places.get(agent, before), agent))
    found += [(places.get(agent, len(record.messages)), agent) for agent in called if agent not in agents]
    return [agent for _, agent in sorted(found, key=lambda one: one[0])]

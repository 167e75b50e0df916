"""Names of agents where a record cannot know them: which nodes, messages and tools are which agents.

    [agents]
    call_model = "research"    what the record calls call_model is the agent research
    team = false               team is not an agent
    "*" = "assistant"          whoever has no name

A record that says who did what needs none of this. `adjudge traces show` prints what was understood.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from adjudge.errors import UsageError
from adjudge.model import Message, Question, ToolCall, Trajectory
from adjudge.traces._spans import NOBODY_NAMED
from adjudge.traces._values import quote

AgentNames: TypeAlias = Mapping[str, str | None]
"""Agents by the names that a record has for them; None for what is not an agent, `*` for whoever has no name."""

ANYBODY = "*"
BEHIND = "what {0} did is not in the messages: record a trace, or, if it is not an agent, say --ignore-agent {0}"
OTHERS = "tool {0} may be an agent: say which with --map-agent {0}=NAME, else --ignore-agent {0}"
# Of a graph's list of messages, which no names end.
SILENT = (
    "each node of a graph chooses what it returns, and one that hands over may return nothing: return agents_called "
    "beside the messages, or record a trace"
)
_STARTED = "subagent_type"
_LIKE_FALSE = frozenset({"no", "off", "false", "none", "null", "~"})  # YAML 1.2 reads some of these as texts


class RememberedNames(dict[str, str | None]):
    """Names of agents that remember which of them a record had; `hits` may be shared by several tables."""

    def __init__(self, names: AgentNames, hits: set[str]) -> None:
        super().__init__(names)
        self.hits = hits

    def __contains__(self, name: object) -> bool:
        self.get(name)
        return super().__contains__(name)

    def get(self, name: Any, default: Any = None) -> Any:
        """Return the agent of a name, and remember that it was asked for."""
        self.hits.add(name)
        return super().get(name, default)


def read_agent_names(given: object, where: str = "agents") -> AgentNames:
    """Return names of agents from a mapping, or from a list of names that are agents as they are.

    >>> dict(read_agent_names({"call_model": "research", "team": False}))
    {'call_model': 'research', 'team': None}
    """
    if isinstance(given, RememberedNames):
        return given
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
        if isinstance(agent, str) and agent.lower() in _LIKE_FALSE:
            message = f"{where}: {name!a} is called {agent!a}: write false, without quotes, if it is not an agent"
            raise UsageError(message, code="bad-option")
        names[name] = agent or None
    for name, agent in names.items():
        # Names would depend on how often they are looked up.
        if agent is not None and names.get(agent, agent) != agent:
            raise UsageError(f"{where}: {name!a} is {agent!a}, which is given another name itself", code="bad-option")
    return names


def hidden_agent(calls: Iterable[ToolCall], names: AgentNames) -> str | None:
    """Return the first tool that is an agent, as its name here or its framework says; None where none is.

    What a tool is called, and what its arguments are, says nothing: `ask_docs(input)` may be an ordinary tool.

    >>> hidden_agent([ToolCall("ask_docs", {"input": "x"}), ToolCall("task", {"subagent_type": "research"})], {})
    'task'
    >>> hidden_agent([ToolCall("ask_docs", {"input": "x"})], {"ask_docs": "docs"})
    'ask_docs'
    """
    for call in calls:
        is_started = isinstance(call.arguments, Mapping) and _STARTED in call.arguments
        if names.get(call.name) or (call.name not in names and is_started):
            return call.name
    return None


def started_agent(call: ToolCall) -> str | None:
    """Return the agent that a call says it starts, as the calls of Claude's agents and LangChain's deep agents do.

    >>> started_agent(ToolCall("task", {"subagent_type": "research", "description": "Find it"}))
    'research'
    """
    agent = call.arguments.get(_STARTED) if isinstance(call.arguments, Mapping) else None
    return agent if isinstance(agent, str) and agent else None


def open_questions(calls: Iterable[ToolCall], names: AgentNames) -> dict[Question, str]:
    """Return what tools that may be agents leave open, whatever they are called, each with the first such tool.

    One that was asked something in words may be an agent that is expected (`others`); of one that also answered in
    words, an expected tool may be behind it (`behind`).

    >>> weather = ToolCall("get_weather", {"city": "Oslo"}, executed=True)
    >>> list(open_questions([weather, ToolCall("desk", {"query": "oslo"}, result="cold", executed=True)], {}))
    ['others']
    """
    unknown: dict[Question, str] = {}
    for call in calls:
        if call.is_asked_in_words and call.name not in names and started_agent(call) is None:
            unknown.setdefault("others", OTHERS.format(quote(call.name)))
            if call.is_conversation:
                unknown.setdefault("behind", OTHERS.format(quote(call.name)))
    return unknown


def map_agents(record: Trajectory, names: AgentNames, *, is_trace: bool = False) -> Trajectory:
    """Return a trajectory with its agents called by their names; a tool that has one is an agent that was called.

    What such an agent did is open, unless the record is a trace, which shows it.

    >>> map_agents(Trajectory(agents_called=("team", "call_model")), {"call_model": "research", "team": None}
    ... ).agents_called
    ('research',)
    """
    if not names:
        return record
    anybody, calls = names.get(ANYBODY), record.tool_calls
    messages = tuple(_renamed(message, names, anybody) for message in record.messages)
    # Who else was called: agents that are tools in the record, and whoever has no name.
    more = [names.get(call.name) for call in calls or () if call.executed]
    if any(
        before.name is None and after.name is not None for before, after in zip(record.messages, messages, strict=True)
    ):
        more.append(anybody)
    # A tool that is not an agent starts none; who also speaks is one.
    speakers = {message.name for message in record.messages}
    ignored = {started_agent(call) for call in calls or () if names.get(call.name, "") is None} - speakers
    named = [names.get(agent, agent) for agent in record.agents_called if is_trace or agent not in ignored]
    if anybody is not None and ("agents" in record.unknown or not any(named)):
        more.append(anybody)
    entered = _in_order(dict.fromkeys(filter(None, named)), dict.fromkeys(filter(None, more)), messages, names)
    unknown = dict(record.unknown)
    if anybody is not None or (entered and unknown.get("agents") == NOBODY_NAMED):
        unknown.pop("agents", None)
    # With one name for whoever has none, nothing else is known of an agent that is alone.
    is_alone = anybody is not None and not is_trace and "agents" in record.unknown and len(entered) == 1
    if "others" in unknown or is_alone:
        lists: dict[Question, str] = {"others": SILENT} if unknown.get("others", "").endswith(SILENT) else {}
        unknown = {question: why for question, why in unknown.items() if question not in ("others", "behind")}
        if not _name_tools(names):
            unknown |= open_questions(calls or (), names)
        unknown |= lists
    if calls and not is_trace:
        _open_inside(record, calls, names, unknown)
    tools = None if calls is None else tuple(call for call in calls if names.get(call.name) is None)
    # A tool that is not an agent is none whatever an agent is called.
    ordinary = dict.fromkeys(
        (*record.ordinary_tools, *(call.name for call in tools or () if call.name in names)),
    )
    return replace(
        record,
        messages=messages,
        tool_calls=tools,
        agents_called=entered,
        unknown=unknown,
        ordinary_tools=tuple(ordinary),
        steps=tuple(step for step in record.steps if step not in names),
    )


def _name_tools(names: AgentNames) -> bool:
    """Whether names end the doubt who else is an agent: whoever names some knows all.

    Who only ignores some says nothing of the rest, and who names whoever speaks says nothing of tools.
    """
    return any(agent is not None for name, agent in names.items() if name != ANYBODY)


def _open_inside(
    record: Trajectory, calls: Iterable[ToolCall], names: AgentNames, unknown: dict[Question, str]
) -> None:
    """Say what ran inside of a tool is open where the names make it an agent, and is not where they say it is none."""
    # An agent that is in the record beside its tool has its own calls there.
    made = [call for call in calls if call.requested and call.executed]
    made = [call for call in made if names.get(call.name) not in record.agents_called]
    is_named = any(names.get(call.name) for call in made)
    why = unknown.get("inside")
    doubted = next((call.name for call in made if why == BEHIND.format(quote(call.name))), None)
    if is_named or (doubted is not None and (doubted in names or _name_tools(names))):
        unknown.pop("inside", None)
        hidden = hidden_agent(made, names)
        if hidden is not None:
            unknown["inside"] = BEHIND.format(quote(hidden))


def _renamed(message: Message, names: AgentNames, anybody: str | None) -> Message:
    if message.role != "assistant":
        return message
    name = None if message.name is None else names.get(message.name, message.name)
    name = anybody if name is None else name
    return message if name == message.name else replace(message, name=name)


def _in_order(
    named: Collection[str], more: Collection[str], messages: Sequence[Message], names: AgentNames
) -> tuple[str, ...]:
    """Return all agents, those that were not known before where a message first has them."""
    added = [agent for agent in more if agent not in named]
    if not added:
        return tuple(named)
    places: dict[str | None, int] = {}
    for index, message in enumerate(messages):
        if message.role == "assistant":
            places.setdefault(message.name, index)
        for call in message.tool_calls:
            places.setdefault(names.get(call.name), index)
    # An agent without a message stays behind the one before it.
    found: list[tuple[int, str]] = []
    for agent in named:
        before = found[-1][0] if found else 0
        found.append((max(before, places.get(agent, before)), agent))
    found += [(places.get(agent, len(messages)), agent) for agent in added]
    return tuple(agent for _, agent in sorted(found, key=lambda one: one[0]))

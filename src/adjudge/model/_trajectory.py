"""What an agent did, whatever form the record of it has.

Trajectory.from_messages([
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "search"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "Paris is the capital of France."},
    {"role": "assistant", "content": "Paris"},
]).tools_used == ("search",)
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from adjudge.errors import TrajectoryError
from adjudge.model._messages import Message, ToolCall

T = TypeVar("T")

Question: TypeAlias = Literal[
    "agents", "others", "order", "tools", "arguments", "inside", "behind", "hosted", "answer", "requests"
]
"""What is asked of a record: which agents and tools were called, in which order, with what, and the final response.

`others` asks which further agents were called, as a tool or without a message of theirs; `inside`, which further tools
were called by an agent that is itself called as a tool, or whose messages were left out; `behind`, the same of a tool
that only looks like an agent; `hosted`, which tools the service of a model ran itself; `requests`, which tools were
asked for and did not run.
"""

_RESULT_ROLES = frozenset({"tool", "function"})  # "function" is the older name of the same thing


@dataclass(frozen=True, slots=True)
class PendingCalls(Generic[T]):
    """Calls that wait for their results; a result finds its call by id, else by name, else by order.

    Of several calls with one id it finds the latest: an id that is used again belongs to the call that used it last.
    A result whose id no call has can only answer a call without an id.

    >>> pending = PendingCalls()
    >>> pending.add("first", "c1", "search")
    >>> result = Message("tool", "Paris", tool_call_id="c1")
    >>> pending.take(result), pending.take(result)
    (('first', False), (None, True))
    """

    # Each call waits in several queues, as one list that whoever takes the call empties for all of them.
    _queues: dict[tuple[str, str | None], deque[list[T]]] = field(default_factory=dict)
    _answered: set[str | None] = field(default_factory=set)

    def add(self, call: T, identity: str | None, name: str) -> None:
        """Let a call wait, to be found by its id and its name."""
        keys: list[tuple[str, str | None]] = [("name", name), ("any", None)]
        if identity is None:
            keys += [("name without id", name), ("any without id", None)]
        else:
            keys.append(("id", identity))
        entry = [call]
        for key in keys:
            self._queues.setdefault(key, deque()).append(entry)

    def take(self, result: Message) -> tuple[T | None, bool]:
        """Return the call that a result answers, if any, and whether a result with the same id came before."""
        identity, kind = result.tool_call_id, "any" if result.name is None else "name"
        is_repeated = identity in self._answered
        if identity is not None:
            self._answered.add(identity)
            kind = f"{kind} without id"
            same_id = self._queues.get(("id", identity))
            while same_id:
                if entry := same_id.pop():
                    return entry.pop(), is_repeated
        in_order = self._queues.get((kind, result.name))
        while in_order:
            if entry := in_order.popleft():
                return entry.pop(), is_repeated
        return None, is_repeated


class _Unread(tuple[ToolCall, ...]):
    """Marks tool calls that were not given, unlike an empty tuple: they are then read from the messages."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What an agent did: its messages, the tools it asked for and those that ran, its final response.

    `tool_calls` is None where the record cannot show tool calls at all, as a list of plain texts cannot; that
    is not the same as no calls. Where they are not given, they are those of the messages. `unknown` has the questions
    that the record cannot answer, each with the reason and what to do about it. `complete` is False where part of the
    record is known to be missing. `trace_id` names the trace that it can be found under, `seconds` is how long it took;
    the tokens of its model calls and their cost, in dollars, are None where they were not recorded.
    `ordinary_tools` are tools that are known not to be agents, whatever they are called. `steps` are names of what ran
    and is neither an agent nor a model nor a tool in the record, as the nodes of a graph: an agent may be one of them.
    """

    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] | None = _Unread()
    agents_called: tuple[str, ...] = ()
    final_response: str | None = None
    sources: tuple[str, ...] = ()
    complete: bool = True
    trace_id: str | None = None
    seconds: float | None = None
    unknown: Mapping[Question, str] = field(default_factory=dict)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    ordinary_tools: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.tool_calls, _Unread):
            object.__setattr__(self, "tool_calls", _join(self.messages))

    @property
    def tools_requested(self) -> tuple[str, ...]:
        """Names of the tools that the agent asked for, in order, one for each request."""
        return tuple(call.name for call in self.tool_calls or () if call.requested)

    @property
    def tools_used(self) -> tuple[str, ...]:
        """Names of the tools that were executed, in order of the requests, one for each execution."""
        return tuple(call.name for call in self.tool_calls or () if call.executed)

    @classmethod
    def from_messages(cls, record: object) -> "Trajectory":
        r"""Read a record of any known form.

        A list of chat messages, a list of segments (lists of messages), a list of plain texts, the same as JSON
        text, a mapping with `messages`, a `Trajectory`, or None. An unknown form raises `TrajectoryError`.

        >>> Trajectory.from_messages([{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
        ... ).final_response
        '4'
        >>> Trajectory.from_messages(["2+2?", "4"]).tool_calls is None
        True
        """
        if isinstance(record, cls):
            return record
        if isinstance(record, str):
            record = _from_text(record)
        if isinstance(record, Mapping) and "messages" in record:
            if "tool_calls" in record:
                return _from_own_json(record)
            record = record["messages"]
        if record is None:
            return cls()
        if not isinstance(record, Sequence):
            raise TrajectoryError(f"a trajectory must be a list of messages, got {type(record).__name__}")
        # Texts alone cannot show tool calls, which is not the same as showing none.
        items = list(_flatten(record))
        if items and all(isinstance(item, str) for _, item in items):
            texts = tuple(Message("unknown", item) for _, item in items)
            return cls(texts, None, final_response=texts[-1].text)
        messages = tuple(_message(item, where) for where, item in items)
        return cls(messages, _join(messages), final_response=_last_reply(messages))


def _from_own_json(record: Mapping[str, Any]) -> Trajectory:
    """Read a trajectory that was written with `to_json`: it lists the tools that were called."""
    import msgspec

    try:
        return msgspec.convert(record, Trajectory)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise TrajectoryError(f"a trajectory in adjudge's own form: {error}") from None


def _from_text(record: str) -> object:
    """Read JSON text as its list; any other text is one plain text."""
    import json

    # A response that only looks like JSON is a text like any other.
    if record.lstrip()[:1] not in ("[", "{"):
        return [record] if record.strip() else None
    try:
        return json.loads(record)
    except (ValueError, RecursionError):
        return [record]


def _flatten(record: Sequence[Any]) -> Iterable[tuple[str, Any]]:
    """Give each message with its place, segments joined in order."""
    for index, item in enumerate(record):
        # Trainers keep the turns of a rollout as segments, each a list of messages.
        if isinstance(item, Sequence) and not isinstance(item, str):
            for inner, message in enumerate(item):
                yield f"segment {index}, message {inner}", message
        else:
            yield f"message {index}", item


def _message(item: object, where: str) -> Message:
    if isinstance(item, Message):
        return item
    if isinstance(item, Mapping):
        return Message.from_mapping(item, where=where)
    raise TrajectoryError(f"{where} must be a chat message with a 'role', got {type(item).__name__}")


def _last_reply(messages: Sequence[Message]) -> str | None:
    # A message that only asks for tools is not a reply; one that says nothing at all is an empty reply.
    for message in reversed(messages):
        if message.role == "assistant" and (message.text or not message.tool_calls):
            return message.text
    return None


def _join(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Join every tool result to its request; a result without one is an execution that nobody asked for."""
    calls: list[ToolCall] = []
    pending: PendingCalls[int] = PendingCalls()
    for message in messages:
        for call in message.tool_calls:
            # Typed messages may come with calls whose results are known.
            if not call.executed:
                pending.add(len(calls), call.id, call.name)
            calls.append(replace(call, requested=True))
        if message.role not in _RESULT_ROLES:
            continue
        index, is_repeated = pending.take(message)
        if index is not None:
            calls[index] = replace(calls[index], executed=True, result=message.text)
        elif not is_repeated:
            identity = message.tool_call_id
            calls.append(ToolCall(message.name or "", "", identity, message.text, requested=False, executed=True))
    return tuple(calls)

"""The rules that turn spans of any format into one Trajectory.

1. Each span counts once, whatever the order in which spans were recorded and however often.
2. Agents are those that were entered, by a span of their own or by a handoff, in the order of first entry.
3. A tool was requested where a model's message asks for it, executed where a span or a result says so; a call that is
   seen in several places counts once, and so do its retries.
   A span of a tool inside a span of the same tool is the same call, unless it has another id or other arguments.
4. A handoff is a called agent, not a used tool.
5. What a model was given from before this run is context: its calls are not this run's.
6. What happens inside a guardrail or an evaluator is not the agent's doing.
7. The record is complete unless something is known to be missing: a parent, an end, an attribute, a page.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall, Trajectory
from adjudge.traces._calls import Calls
from adjudge.traces._messages import RESULT_ROLES
from adjudge.traces._spans import Record, Span
from adjudge.traces._tree import Tree, grow
from adjudge.traces._values import key_of, style


def assemble(record: Record, *, parent: str | None = None, agents: Collection[str] = ()) -> Trajectory:
    """Return what the spans of one run say that its agent did."""
    tree = _tree(record, parent, agents)
    log = _Log(tree)
    entered = _agents(tree, log)
    calls = Calls(log.requests())
    calls.execute(log.executions)
    calls.answer(log.results())
    calls.hand_over(log.handoffs, entered, _delegations(tree))
    return Trajectory(
        messages=tuple(_plain(message) for message in log.messages),
        tool_calls=tuple(call.finished() for call in calls if not call.is_handoff),
        agents_called=tuple(entered),
        final_response=_answer(tree, log),
        sources=tuple(dict.fromkeys(source for span in _done(tree) for source in span.sources)),
        complete=not (record.faults or tree.faults),
    )


def faults_of(record: Record, *, parent: str | None = None, agents: Collection[str] = ()) -> tuple[str, ...]:
    """Say what is known to be missing from a record."""
    return (*record.faults, *_tree(record, parent, agents).faults)


def _tree(record: Record, parent: str | None, agents: Collection[str]) -> Tree:
    spans: Iterable[Span] = record.spans
    if agents:
        spans = (
            replace(span, kind="agent") if span.kind == "other" and span.name in agents else span for span in spans
        )
    return grow(spans, parent)


class _Log:
    """What was said and done, in order: every message once, with its position among the other events."""

    def __init__(self, tree: Tree) -> None:
        self.messages: list[Message] = []
        self.executions: list[tuple[int, Span]] = []
        self.handoffs: list[tuple[int, str]] = []
        self.speakers: list[str] = []  # agents that are known only by their messages
        self._positions: list[int] = []
        self._own: list[bool] = []
        self._numbers: dict[object, int] = {}  # of messages, the same for those that say the same
        self._known: dict[int, int] = {}  # the same by identity: decoders give a repeated message again
        self._counts: list[int] = []  # how often a message stands here, by its number
        self._given: dict[int, int] = {}  # where a message with calls stands that no output has claimed yet
        self._executed: dict[str, int] = {}  # which execution a tool's span belongs to
        self._now = 0
        for span in tree.spans:
            place = tree.places[span.id]
            if place.is_aside:
                continue
            self._now += 1
            if span.kind == "llm" and not place.in_answered_llm:  # else: the same model call, seen from further in
                self._model_call(span, place.agent)
            elif span.kind == "tool":
                self._execution(span, place.caller)
            elif span.kind == "handoff":
                self.handoffs.append((self._now, span.name))

    def _model_call(self, span: Span, agent: str | None) -> None:
        seen: dict[int, int] = {}
        known, counts = self._known, self._counts
        for message in span.input:
            number = known.get(id(message), -1)
            if number < 0:
                number = self._number(message)
            times = seen[number] = seen.get(number, 0) + 1
            if times > counts[number]:
                if message.tool_calls:
                    self._given[number] = len(self.messages)
                self._add(message, number, is_own=False)
        for message in span.output:
            number = self._number(message)
            said = message
            if message.role == "assistant" and message.name is None and agent is not None:
                said = replace(message, name=agent)
            elif message.role == "assistant" and message.name is not None and agent is None:
                self.speakers.append(message.name)
            index = self._given.pop(number, None)
            if index is not None and all(call.id is not None for call in message.tool_calls):
                self.messages[index], self._own[index] = said, True  # a later call was given it: clocks that differ
            else:
                self._add(said, number, is_own=True)

    def _execution(self, span: Span, caller: Span | None) -> None:
        """Note a tool's execution; a span of the same tool around it is the same one, seen from further out."""
        index = self._executed.get(caller.id, -1) if caller is not None else -1
        if index >= 0:
            position, outer = self.executions[index]
            if _is_same_call(outer, span):
                self._executed[span.id] = index
                if outer.result is None and outer.error is None:
                    self.executions[index] = position, replace(outer, result=span.result, error=span.error)
                return
        self._executed[span.id] = len(self.executions)
        self.executions.append((self._now, span))

    def _number(self, message: Message) -> int:
        number = self._numbers.setdefault(_key(message), len(self._counts))
        if number == len(self._counts):
            self._counts.append(0)
        self._known[id(message)] = number
        return number

    def _add(self, message: Message, number: int, *, is_own: bool) -> None:
        self._now += 1
        self.messages.append(message)
        self._positions.append(self._now)
        self._own.append(is_own)
        self._counts[number] += 1

    def requests(self) -> Iterable[tuple[int, ToolCall]]:
        """Give the calls that this run's models asked for."""
        for position, message, is_own in zip(self._positions, self.messages, self._own, strict=True):
            if is_own:
                yield from ((position, call) for call in message.tool_calls)

    def results(self) -> Iterable[tuple[int, Message, bool]]:
        """Give the messages that bring a tool's result, and whether this run itself says so."""
        for position, message, is_own in zip(self._positions, self.messages, self._own, strict=True):
            if message.role in RESULT_ROLES:
                yield position, message, is_own

    def last_reply(self) -> str | None:
        """Return the last text that this run's models wrote."""
        for message, is_own in zip(reversed(self.messages), reversed(self._own), strict=True):
            if is_own and message.role == "assistant" and (message.text or not message.tool_calls):
                return message.text
        return None


def _is_same_call(outer: Span, inner: Span) -> bool:
    """Say whether a tool's span inside another shows the same call, as MCP's client and server do."""
    if inner.name != outer.name or (inner.call_id is not None and inner.call_id != outer.call_id):
        return False
    return not inner.arguments or not outer.arguments or key_of(inner.arguments) == key_of(outer.arguments)


def _plain(message: Message) -> Message:
    """Return a result without the tool's name where it has the call's id: not every format has both."""
    is_result = message.role in RESULT_ROLES and message.tool_call_id is not None and message.name is not None
    return replace(message, name=None) if is_result else message


def _key(message: Message) -> object:
    """Return what is the same about a message wherever it is repeated."""
    try:
        calls = tuple((call.id, call.name, repr(call.arguments)) for call in message.tool_calls)
    except RecursionError:
        raise TrajectoryError("arguments of a tool call are nested too deeply") from None
    content = message.content if isinstance(message.content, str | None) else repr(message.content)
    return message.role, content or "", message.tool_call_id, calls


def _agents(tree: Tree, log: _Log) -> list[str]:
    """Return the agents in the order of first entry, each once."""
    entered = (span for span in _done(tree) if span.kind in ("agent", "handoff"))
    return list(dict.fromkeys([*(span.name for span in entered), *log.speakers]))


def _done(tree: Tree) -> Iterable[Span]:
    """Give the spans that are the agent's doing."""
    return (span for span in tree.spans if not tree.places[span.id].is_aside)


def _delegations(tree: Tree) -> Iterable[str]:
    """Give the tool spans that are nothing but an agent of the same name, called as a tool."""
    for span in tree.spans:
        caller = tree.places[span.id].caller
        if (
            span.kind == "agent"
            and caller is not None
            and caller.kind == "tool"
            and style(caller.name) == style(span.name)
        ):
            yield caller.id


def _answer(tree: Tree, log: _Log) -> str | None:
    """Return what the run as a whole answered, else the last reply."""
    tops: Sequence[Span] = [root for root in tree.roots if root.kind in ("agent", "other")]
    if len(tops) == 1 and len(tree.roots) == 1 and tops[0].text is not None:
        return tops[0].text
    return log.last_reply()

"""What was said and done in one run, in order, from its spans: every message once, every execution once.

A model is given the conversation again in every call: a message is new only where it occurs more often in an input than
in the log. What is new in an input, and no model call here wrote, is from before this run, or of a span that was lost.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from adjudge.model import Message, ToolCall
from adjudge.traces._langgraph import speakers_around
from adjudge.traces._messages import RESULT_ROLES, message_key
from adjudge.traces._spans import Span, SpanTree
from adjudge.traces._values import key_of


class RunLog:
    """What was said and done, in order: every message once, with its position among the other events."""

    def __init__(self, tree: SpanTree) -> None:
        self.messages: list[tuple[int, Message, bool]] = []  # position, message, whether this run itself wrote it
        self.executions: list[tuple[int, Span]] = []
        self.handoffs: list[tuple[int, str]] = []
        self.model_calls: list[Span] = []
        self.entered: list[str] = []  # agents: by a span of their own, by a handoff, by their messages
        self._numbers: dict[object, int] = {}  # of messages, the same for those that say the same
        self._known: dict[int, int] = {}  # the same by identity: decoders return a repeated message again
        self._counts: list[int] = []  # how often a message is in the log, by its number
        self._given: dict[int, int] = {}  # the index of a message with calls that no output has claimed yet
        self.sizes: dict[int, int] = {}  # how many messages a model was given for a reply, by the reply's position
        self.shown: set[str] = set()  # calls that a model was given, by id or name
        self._unasked: dict[int, tuple[ToolCall, ...]] = {}  # the calls of a message that came after the question
        self._executed: dict[str, int] = {}  # which execution a tool's span belongs to
        self._written: dict[int, str] = {}  # the arguments of executions that others are inside of
        self._now = 0
        self._inside: dict[str, set[str | None]] = defaultdict(set)  # ids of the tool calls inside a model call
        for span in tree.spans:
            caller = tree.places[span.id].caller
            if span.kind == "tool" and span.call_id is not None and caller is not None and caller.kind == "llm":
                self._inside[caller.id].add(span.call_id)
        speakers = {span.agent for span in tree.spans if span.graph is not None and span.agent}
        for span in tree.spans:
            place = tree.places[span.id]
            if place.is_aside:
                continue
            self._now += 1
            # An agent of a graph is entered with its node, before it asks its model.
            self.entered.extend(speakers_around(span, speakers))
            if span.kind in ("agent", "handoff"):
                self.entered.append(span.name)
            # A model call inside another is the same one, seen from further in.
            if span.kind == "llm" and (span.is_whole or not place.in_answered_llm):
                if span.agent:
                    self.entered.append(span.agent)
                if span.output or span.id not in tree.wrappers:
                    self.model_calls.append(span)
                self._model_call(span, span.agent or place.agent)
            elif span.kind == "tool":
                self._execution(span, place.caller)
            elif span.kind == "handoff":
                self.handoffs.append((self._now, span.name))

    def is_several(self, span: Span) -> bool:
        """Say whether one span is several calls of a model: tools were called inside it."""
        return span.is_whole or bool(self._inside.get(span.id))

    def _model_call(self, span: Span, agent: str | None) -> None:
        # A model is given the conversation again in every call: a message is new only where it occurs more often
        # in this input than in the log.
        occurrences: dict[int, int] = {}
        known, counts = self._known, self._counts
        # One span may be all turns of an agent, with the tools inside: then what it was given is its own doing.
        inside = self._inside.get(span.id, set())
        earlier: set[str | None] = set()
        asked = max((at for at, one in enumerate(span.input) if one.role == "user"), default=-1)
        for at, message in enumerate(span.input):
            number = known.get(id(message), -1)
            if number < 0:
                number = self._number(message)
            if message.tool_calls:
                self.shown.update(call.id or call.name for call in message.tool_calls)
            occurrences[number] = occurrences.get(number, 0) + 1
            if occurrences[number] > counts[number]:
                made: set[str | None] = set()
                if message.tool_calls:
                    self._given[number] = len(self.messages)
                    made = {call.id for call in message.tool_calls} if inside and at > asked else made
                    if at > asked >= 0 and not made:
                        self._unasked[number] = message.tool_calls
                earlier |= made
                self._add(message, number, is_own=bool(made))
        for output in span.output:
            message = output
            if earlier:  # of which the last turn repeats some
                calls = tuple(call for call in output.tool_calls if call.id not in earlier)
                message = replace(output, tool_calls=calls)
            number = self._number(message)
            said = message
            if message.role == "assistant" and message.name is None and agent is not None:
                said = replace(message, name=agent)
            elif message.role == "assistant" and message.name is not None and agent is None:
                self.entered.append(message.name)
            index = self._given.pop(number, None)
            if index is not None and all(call.id is not None for call in message.tool_calls):
                # A call that seems earlier was given it: their clocks differ. It is this run's own message.
                self.messages[index] = self.messages[index][0], said, True
            else:
                self._add(said, number, is_own=True)
                self.sizes[self._now] = len(span.input)

    def _execution(self, span: Span, caller: Span | None) -> None:
        """Record a tool's execution; a span of the same tool around it is the same one, seen from further out."""
        index = None if caller is None else self._executed.get(caller.id)
        if index is not None:
            position, outer = self.executions[index]
            if self._is_same_call(index, outer, span):
                self._executed[span.id] = index
                if outer.result is None and outer.error is None:
                    outer = replace(outer, result=span.result, error=span.error)
                self.executions[index] = position, replace(outer, call_id=outer.call_id or span.call_id)
                return
        self._executed[span.id] = len(self.executions)
        self.executions.append((self._now, span))

    def _is_same_call(self, index: int, outer: Span, inner: Span) -> bool:
        """Say whether a tool's span inside another shows the same call, as MCP's client and server do."""
        if inner.name != outer.name or (None not in (inner.call_id, outer.call_id) and inner.call_id != outer.call_id):
            return False
        if not inner.arguments or not outer.arguments:
            return True
        # Written once: very many spans may be inside one with very large arguments.
        if index not in self._written:
            self._written[index] = key_of(outer.arguments)
        return key_of(inner.arguments) == self._written[index]

    def _number(self, message: Message) -> int:
        number = self._numbers.setdefault(message_key(message), len(self._counts))
        if number == len(self._counts):
            self._counts.append(0)
        self._known[id(message)] = number
        return number

    def _add(self, message: Message, number: int, *, is_own: bool) -> None:
        self._now += 1
        self.messages.append((self._now, message, is_own))
        self._counts[number] += 1

    def requests(self) -> Iterable[tuple[int, ToolCall]]:
        """Give the calls that this run's models asked for."""
        for position, message, is_own in self.messages:
            if is_own:
                yield from ((position, call) for call in message.tool_calls)

    def find_unasked(self) -> Iterable[ToolCall]:
        """Give the calls that a model was given, after the question, in a message that no model here wrote."""
        return (call for number, calls in self._unasked.items() if number in self._given for call in calls)

    def results(self) -> Iterable[tuple[int, Message, bool]]:
        """Give the messages that bring a tool's result, and whether this run itself says so."""
        return (entry for entry in self.messages if entry[1].role in RESULT_ROLES)

    def last_reply(self) -> str | None:
        """Return the last text that this run's models wrote."""
        for _, message, is_own in reversed(self.messages):
            if is_own and message.role == "assistant" and (message.text or not message.tool_calls):
                return message.text
        return None

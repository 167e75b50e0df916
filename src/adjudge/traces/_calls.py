"""Which tools were asked for and which were executed, each call once.

A call may be seen up to three times: a model's message asks for it, a tool's span executes it, a message brings its
result back. They are joined by the call's id; what has no id, by name and arguments, then by name, in order.
"""

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.model import Message, PendingCalls, Question, ToolCall
from adjudge.traces._message_lists import CHANGED, EDITED
from adjudge.traces._refusals import MAY_HAVE_RUN, NOT_EXECUTED, is_refusal
from adjudge.traces._spans import Span
from adjudge.traces._values import TRANSFERRED, as_text, called_agent, handed_over, key_of, quote, style

_NUMBER = re.compile(r"_[0-9]{1,4}\Z")  # that AG2 puts after the agent's name
_NOTHING = frozenset({"", "None", "null", "0", "0.0", "False", "false", "[]", "{}", "()"})  # results that say nothing
# What LangChain writes in place of a result where the call is the answer, and where that did not fit its schema.
_ANSWERS = ("Returning structured response:", "Error: Failed to parse structured output for tool '")
_NO_SPAN = "{} has a result and no span, as where a person or a policy answers in the tool's place: record its span"


@dataclass(slots=True)
class CallDraft:
    """One call while it is being put together."""

    name: str
    position: int
    request: ToolCall | None = None
    spans: list[Span] = field(default_factory=list)
    answer: Message | None = None
    is_internal: bool = False  # the framework's own: it hands over, or ends the run
    is_served: bool = False  # the model's reply has the result: its service ran the tool
    is_last: bool = False  # nothing of the run is after it
    is_doubtful: bool = False  # its tool may not have run, whatever its result says
    is_unspanned: bool = False  # its framework writes a span for each tool that it runs, and none for this one

    @property
    def id(self) -> str | None:
        """The id that its request gave it, or its span, or its result."""
        if self.request is not None and self.request.id is not None:
            return self.request.id
        for span in self.spans:
            if span.call_id is not None:
                return span.call_id
        return self.answer.tool_call_id if self.answer is not None else None

    @property
    def unsent(self) -> Span | None:
        """The span that should have its arguments, where nothing has them."""
        is_asked = self.request is not None and self.request.arguments != ""
        is_known = is_asked or any(span.arguments is not None for span in self.spans)
        return None if is_known or not self.spans else self.spans[-1]

    @property
    def may_have_run(self) -> bool:
        """Whether a span has an error that the tool may have raised, or somebody before it ran."""
        return any(span.ran is None and span.error is not None for span in self.spans)

    @property
    def executed(self) -> bool:
        """Whether a span or a result says that its tool ran."""
        signs = {span.ran for span in self.spans}
        if True in signs:
            return True
        if self.may_have_run:
            return False
        if self.answer is None:
            # A span that holds no result is of a call that waits for an approval, where the run ends with it.
            return None in signs and not self.is_last
        said = self.answer.text
        if False in signs or self.is_doubtful or is_refusal(said):
            return False
        # A result of words would be in the span, too: whoever refused the call has written them.
        return None not in signs or said.strip() in _NOTHING

    @property
    def arguments(self) -> str | Mapping[str, Any]:
        """What it was executed with, where its span says so, else what it was requested with."""
        asked = "" if self.request is None else self.request.arguments
        ran = self.spans[-1].arguments if self.spans else None
        if asked == "":  # contents may be in one place only
            return asked if ran is None else ran
        if not ran:
            return asked
        if not isinstance(asked, Mapping):
            return asked
        if isinstance(ran, str):
            # OpenInference writes the only argument of LangChain's tools alone; a text may be cut off, or a repr.
            name, value = next(iter(asked.items()), ("", None))
            is_other = len(asked) == 1 and isinstance(value, str) and not value.startswith(ran) and ran[0] not in "{[("
            return {name: ran} if is_other and self.spans[-1].graph is not None else asked
        # Frameworks add arguments that nobody asked for, and write some as texts.
        is_same = all(name in ran and as_text(ran[name]) == as_text(value) for name, value in asked.items())
        return asked if is_same else ran

    def finish(self) -> ToolCall:
        """Return the call as a trajectory has it."""
        last = self.spans[-1] if self.spans else None  # the others are earlier attempts
        # What the model was given as the result counts more than what the tool's span recorded.
        result = None
        if self.answer is not None:
            result = self.answer.text
        elif last is not None:
            result = last.result if last.result is not None else last.error
        executed = self.executed
        # A span of a call that was not executed is one that somebody asked for.
        requested = self.request is not None or not executed
        return ToolCall(
            self.name, self.arguments, self.id, result if executed else None, requested=requested, executed=executed
        )


class Calls:
    """The calls of one run, in the order in which they were asked for."""

    def __init__(self, requests: Iterable[tuple[int, ToolCall]]) -> None:
        self._calls: list[CallDraft] = []
        self._by_id: dict[str, list[CallDraft]] = defaultdict(list)  # several only where an id was used again
        for position, request in requests:
            self._add(CallDraft(request.name, position, request))

    def __iter__(self) -> Iterator[CallDraft]:
        return iter(sorted(self._calls, key=_position))

    def _add(self, call: CallDraft) -> None:
        self._calls.append(call)
        if call.id is not None:
            self._by_id[call.id].append(call)

    def execute(self, spans: Sequence[tuple[int, Span]]) -> None:
        """Join the spans of tools to the requests; one that nobody asked for is a call of its own."""
        # What an id joins comes first: a guess by name must not take a request that another span names.
        rest = [(position, span) for position, span in spans if not self._execute_by_id(position, span)]
        # Equal arguments are a better sign than the order, so they are compared before any span is joined by order.
        for with_arguments in (True, False):
            if rest:
                rest = self._execute_in_order(rest, with_arguments=with_arguments)
        # What is left was never requested: each span is a new call, or another attempt of one.
        latest = {_key(span): call for call in self for span in call.spans} if rest else {}
        for position, span in rest:
            known = latest.get(_key(span))
            if span.call_id is not None and span.call_id in self._by_id:
                self._execute_by_id(position, span)
            elif span.call_id is None and known is not None and _is_tried_again(known.spans[-1]):
                known.spans.append(span)  # the same call
            elif span.call_id is None and known is not None and span.error is not None and _is_before(span, known):
                known.spans.insert(0, span)  # the same, where only the attempt with a result has the call's id
            else:
                self._add(CallDraft(span.name, position, spans=[span]))
                latest[_key(span)] = self._calls[-1]

    def _execute_by_id(self, position: int, span: Span) -> bool:
        """Join by id. A second span with the id is the same call tried again; it counts once."""
        candidates = self._by_id.get(span.call_id or "")
        if not candidates:
            return False
        # An id that is used again belongs to the latest call before the span.
        before = bisect_left(candidates, position, key=_position)
        candidates[max(before - 1, 0)].spans.append(span)
        return True

    def _execute_in_order(self, spans: Sequence[tuple[int, Span]], *, with_arguments: bool) -> list[tuple[int, Span]]:
        """Join what the ids did not: a span with an id of its own can only be a request that has none."""
        waiting: dict[tuple[str, str, bool], deque[CallDraft]] = defaultdict(deque)
        for call in self._calls:
            if call.request is not None and not call.spans:
                arguments = key_of(call.request.arguments) if with_arguments else ""
                waiting[call.name, arguments, False].append(call)
                if call.id is None:
                    waiting[call.name, arguments, True].append(call)
        rest = []
        for position, span in spans:
            arguments = key_of(span.arguments) if with_arguments else ""
            queue = waiting[span.name, arguments, span.call_id is not None]
            # A call waits in two queues, and the other one may have had it already.
            while queue and queue[0].spans:
                queue.popleft()
            if queue and queue[0].position < position:
                queue.popleft().spans.append(span)
            else:
                rest.append((position, span))
        return rest

    def answer(self, results: Iterable[tuple[int, Message, bool]], *, is_langchain: bool) -> None:
        """Join messages with results to the calls, in order.

        A result without a call is an execution that nobody asked for, where this run itself says it; in what a model
        was given, it is from before this run. A call without a span of its own was not executed where LangChain's own
        words are in the place of its result: its instrumentations write a span for every tool that it runs.
        """
        answers: set[str] = set()  # names of calls that are answers
        coming = deque(self)  # a result can only answer a call from before it
        pending: PendingCalls[CallDraft] = PendingCalls()
        for position, message, is_own in results:
            while coming and coming[0].position < position:
                call = coming.popleft()
                pending.add(call, call.id, call.name)
            found, is_repeated = pending.take(message)
            if found is not None:
                # A service's own tools have no spans, and their results in the model's own message.
                is_unspanned = is_langchain and not is_own and not found.spans
                if is_unspanned and message.text.startswith(_ANSWERS):
                    answers.add(found.name)
                is_refused = is_unspanned and NOT_EXECUTED.match(message.text) is not None
                found.answer, found.is_served = None if is_refused else message, is_own
                found.is_unspanned = is_unspanned and not is_refused
            elif is_own and not is_repeated:
                self._add(CallDraft(message.name or "", position, answer=message))
        for call in self._calls:
            call.is_internal |= call.name in answers and not call.spans

    def find_doubts(self) -> dict[Question, str]:
        """Return what the record cannot show of the calls, although it has results of them."""
        unknown: dict[Question, str] = {}
        has_spans = any(call.spans for call in self._calls)
        for call in self._calls:
            if call.may_have_run and not call.executed and not call.is_internal:
                unknown.setdefault("inside", MAY_HAVE_RUN.format(quote(call.name)))
            if call.answer is None or call.is_internal:
                continue
            edited = EDITED.match(call.answer.text)
            if edited is not None and (
                call.request is None or key_of(call.request.arguments) == key_of(call.arguments)
            ):
                unknown["arguments"] = CHANGED.format(quote(call.name))
            if edited is not None and edited[1] != call.name:
                unknown["tools"] = CHANGED.format(quote(call.name))
            # The user's code wrote this result: it may have run the tool, or answered in its place.
            if has_spans and call.is_unspanned:
                unknown["tools"] = _NO_SPAN.format(quote(call.name))
        return unknown

    def end(self, answers: Collection[str]) -> None:
        """Mark the calls by which models gave their answers, executed or not."""
        for call in self._calls:
            call.is_internal |= call.name in answers

    def hand_over(self, handoffs: Iterable[tuple[int, str]], agents: Iterable[str], inside: Iterable[str]) -> None:
        """Mark the calls that only name the next agent: those of handoff spans, and executed ones of a known agent.

        `inside` are the ids of tool spans that are nothing but an agent of the tool's name.
        """
        # A handoff span belongs to the first call of its agent that no other span belongs to, executed or not.
        by_target: dict[str, deque[CallDraft]] = defaultdict(deque)
        for call in self:
            by_target[_target(call)].append(call)
        for position, agent in handoffs:
            queue = by_target[style(agent)]
            if queue and queue[0].position < position:
                queue.popleft().is_internal = True
        # Without such a span, a call is a handoff only if it was executed: else its agent was never entered by it.
        known = {style(agent) for agent in agents}
        delegated = set(inside)
        for call in self._calls:
            target = _target(call) if call.executed else ""
            said = TRANSFERRED.fullmatch(call.finish().result or "")
            targets = {target, _NUMBER.sub("", target), style(said[1]) if said else ""}
            is_handoff = not known.isdisjoint(targets)
            call.is_internal |= is_handoff or any(span.is_internal or span.id in delegated for span in call.spans)


def _is_tried_again(span: Span) -> bool:
    """Say whether another span may be of the same call: it failed, or waited for an approval."""
    return span.error is not None or span.ran is None


def _is_before(span: Span, call: CallDraft) -> bool:
    """Say whether a span ended before the others of a call began."""
    return all((span.end or 0) <= (other.start or 0) for other in call.spans)


def _target(call: CallDraft) -> str:
    """Return the agent that a call hands over to, in the style of tools: by its result, else by its name."""
    said = handed_over(call.answer.text) if call.answer is not None else ""
    return style(said) or called_agent(call.name, call.finish().arguments)


def _position(call: CallDraft) -> int:
    return call.position


def _key(span: Span) -> tuple[str, str]:
    return span.name, key_of(span.arguments)

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
8. What the spans should hold and do not, because contents were not sent, is unknown: the answer, arguments, tools.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from adjudge.model import Message, Question, ToolCall, Trajectory
from adjudge.traces._agent_names import AgentNames, map_agents, read_agent_names
from adjudge.traces._calls import CallDraft, Calls
from adjudge.traces._langgraph import name_speakers
from adjudge.traces._messages import RESULT_ROLES, message_key, plain_result
from adjudge.traces._spans import (
    CUT_ARGUMENTS,
    NO_REPLY,
    NO_TOOL_NAMED,
    NOBODY_NAMED,
    NOT_HOSTED,
    NOT_SENT,
    NOT_SETTLED,
    NOT_SHOWN,
    NOTHING_DONE,
    ONE_UNNAMED,
    Record,
    Span,
    SpanTree,
    grow_tree,
)
from adjudge.traces._usage import Usage, total_usage
from adjudge.traces._values import key_of, loose, quote, style


def assemble(record: Record, *, parent: str | None = None, agents: AgentNames | Collection[str] = ()) -> Trajectory:
    """Return what the spans of one run say that its agent did.

    `parent` is the id of a span outside the record that the run was started from; `agents` are names of spans that are
    agents and do not say so, or a mapping of such names to those of the agents.
    """
    names = read_agent_names(agents) if agents else {}
    tree = _tree(record, parent, names)
    log = _Log(tree)
    done = [span for span in tree.spans if not tree.places[span.id].is_aside]
    agents_called = tuple(dict.fromkeys(log.entered))
    # The order matters: spans say more about an execution than results do, and handoffs are known last.
    calls = Calls(log.requests())
    calls.execute(log.executions)
    calls.answer(log.results(), is_langchain=any(span.graph is not None for span in tree.spans))
    drafts = list(calls)
    latest = max((span.start or 0 for span in log.model_calls), default=0)
    is_over = not any(span.error for span in done if span.kind != "tool")
    for call in drafts:
        call.is_last = is_over and all((span.start or 0) >= latest for span in call.spans)
    calls.hand_over(log.handoffs, agents_called, _delegations(tree))
    calls.end({name for span in done for name in span.answers})
    answer = _answer(tree, done, log)
    complete = not (record.faults or tree.faults)
    unknown: dict[Question, str] = {}
    was_anybody = bool(drafts) or any(one.role == "assistant" for _, one, _ in log.messages)
    # Of a record with gaps it is the gaps that are named: what is missing may be the agents.
    if was_anybody and not agents_called and complete:
        unknown["agents"] = NOBODY_NAMED
    if any(span.agent == "" and tree.places[span.id].agent is None for span in done):
        unknown["agents"] = ONE_UNNAMED
    did_nothing = all(span.kind in ("aside", "other") or (span.kind == "llm" and span.output) for span in done)
    if complete and not was_anybody and did_nothing:
        # Also where only the web server was instrumented: that says nothing about the agent.
        unknown = dict.fromkeys(("agents", "tools", "arguments"), NOTHING_DONE)
        if answer is None:
            unknown["answer"] = NOTHING_DONE
    if any(not call.name for call in drafts):
        unknown["tools"] = NO_TOOL_NAMED
    # A span of a tool that does not name it: the others are known.
    nameless = next((span.unsent for span in done if span.is_blind and span.kind == "other"), None)
    if nameless is not None:
        unknown["inside"] = nameless
    if any(span.is_blind and span.kind == "llm" for span in done):
        unknown["hosted"] = NOT_HOSTED
    unknown |= _unclear(done, drafts, is_limited=record.is_trace)
    unknown |= calls.find_doubts()
    unknown |= _unsent(done, log, drafts)
    if answer is None and not all(root.error for root in tree.roots) and (reason := _why_no_reply(done, log)):
        unknown["answer"] = reason
    used = record.usage or _usage(tree, done, log)
    shown = tuple(call.finish() for call in drafts if not call.is_internal)
    found = Trajectory(
        messages=tuple(plain_result(message) for _, message, _ in log.messages),
        tool_calls=None if "tools" in unknown else shown,
        agents_called=agents_called,
        final_response=answer,
        sources=tuple(dict.fromkeys(source for span in done for source in span.sources)),
        complete=complete,
        unknown=unknown,
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        cost=used.cost,
    )
    return map_agents(found, names, is_trace=True)


def faults_of(record: Record, *, parent: str | None = None) -> tuple[str, ...]:
    """Say what is known to be missing from a record; `parent` is as in `assemble`."""
    return (*record.faults, *_tree(record, parent, {}).faults)


def _tree(record: Record, parent: str | None, names: AgentNames) -> SpanTree:
    spans: Iterable[Span] = name_speakers(record.spans)
    # Beside agents with names, one that has only its span's name is the run as a whole: "Agent workflow".
    if any(one.kind == "agent" and one.is_named for one in spans):
        spans = [replace(one, kind="other") if one.kind == "agent" and not one.is_named else one for one in spans]
    if names:
        spans = [_by_name(span, names) for span in spans]
    return grow_tree(spans, parent)


def _by_name(span: Span, names: AgentNames) -> Span:
    """Return a span as the agent that its name is given for, or as none; a model call may be all of an agent's."""
    if span.name not in names:
        return span
    if span.is_whole:
        return replace(span, agent=span.name)
    if span.kind not in ("agent", "other"):
        return span
    return replace(span, kind="other" if names[span.name] is None else "agent")


def _answer(tree: SpanTree, spans: Sequence[Span], log: "_Log") -> str | None:
    """Return the answer of the run: that of its top span, that which a tool ended it with, or the last reply."""
    # A reply from before a model call that recorded none is not the last one.
    is_last = not log.model_calls or bool(log.model_calls[-1].output) or log.model_calls[-1].error is not None
    reply = log.last_reply() if is_last else None
    top = _top(tree, spans)
    if top is not None and top.text is not None:
        # Strands writes the model's words with a line end: the words themselves count.
        is_same = reply is not None and reply.strip() == top.text.strip()
        return reply if is_same else top.text
    ends = [span for span in spans if (span.is_internal or span.is_whole) and span.text is not None]
    if not ends and reply is not None:
        return reply
    said = ends or [span for span in spans if span.kind == "agent" and span.text is not None]
    return max(said, key=lambda span: span.end or 0).text if said else None


def _top(tree: SpanTree, spans: Sequence[Span]) -> Span | None:
    """Return the span that is the run as a whole: the only one at the top, or inside of nothing but a web server's."""
    for depth in range(_FURTHEST):
        level = [span for span in spans if tree.places[span.id].depth == depth]
        if len(level) != 1 or level[0].kind not in ("agent", "other"):
            return None
        if level[0].text is not None or level[0].error is not None:
            return level[0]
    return None


def _why_no_reply(spans: Sequence[Span], log: "_Log") -> str | None:
    """Say why the answer of a run is not in its spans; None where the agent gave none."""
    if not log.model_calls:
        silent = (span for span in spans if span.kind == "agent" and span.text is None and span.error is None)
        return next((span.unsent or NOT_SENT for span in silent), None)
    last = log.model_calls[-1]
    if last.error is not None:
        return None
    if not last.output or last.unsent is not None:
        return last.unsent or NOT_SENT
    # AutoGen may return what a tool said, pydantic-ai what the model gave a tool: neither is a reply.
    return NO_REPLY if log.executions and last.output[-1].tool_calls else None


def _unsent(spans: Sequence[Span], log: "_Log", calls: Iterable[CallDraft]) -> dict[Question, str]:
    """Return what is unknown of the tools because contents were not sent, and what to do about it."""
    unsent = [span for call in calls if not call.is_internal and (span := call.unsent) is not None]
    if unsent:
        return {"arguments": unsent[0].unsent or NOT_SENT}
    if log.executions:
        return {}
    # Spans of agents come with spans of tools, but for instrumentations that say otherwise.
    hidden = [span for span in log.model_calls if not span.output and span.error is None]
    if any(span.kind == "agent" for span in spans):
        is_heard = any(span.output for span in log.model_calls)
        hidden = [] if is_heard else [span for span in spans if span.is_blind and span.kind != "llm"]
    return dict.fromkeys(("tools", "arguments"), hidden[0].unsent or NOT_SENT) if hidden else {}


def _unclear(spans: Sequence[Span], calls: Iterable[CallDraft], *, is_limited: bool) -> dict[Question, str]:
    """Return what is unknown of single calls: arguments that end too early, a result of a tool that has no span."""
    unknown: dict[Question, str] = {}
    # An agent outside of these spans, or a tool whose result comes from outside, has none in any case.
    has_tools = any(span.kind == "agent" for span in spans) and all(
        span.has_tools for span in spans if span.kind in ("agent", "llm")
    )
    for call in calls:
        if call.is_internal:
            continue
        # Only attributes have a limit; anywhere else a model wrote them so.
        if is_limited and loose(call.finish().arguments)[1]:
            unknown.setdefault("arguments", CUT_ARGUMENTS.format(quote(call.name)))
        # OpenInference sends nothing of a run that goes on after somebody has approved a call, or not.
        is_waiting = any(span.ran is None and not span.has_tools for span in call.spans)
        if is_waiting and call.answer is None and not call.executed:
            unknown.setdefault("inside", NOT_SETTLED.format(quote(call.name)))
        if has_tools and call.executed and not (call.spans or call.is_served or call.name.startswith("final_result")):
            call.is_doubtful = True
            unknown.setdefault("inside", NOT_SHOWN.format(quote(call.name)))
    return unknown


def _usage(tree: SpanTree, spans: Sequence[Span], log: "_Log") -> Usage:
    """Return what the model calls of a run used, each once."""
    every = []
    for span in spans:
        if span.kind != "llm" or span.id in tree.wrappers:
            continue
        used, caller = span.usage, tree.places[span.id].caller
        # The same call from further out may be the one that knows.
        if (used is None or used == Usage()) and caller is not None and caller.kind == "llm":
            used = caller.usage
        # Where one span is several calls, it has the usage of the last.
        every.append(None if log.is_several(span) else used)
    return total_usage(every)


_FURTHEST = 5  # spans around the agent's own that may be those of servers


class _Log:
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
        self._executed: dict[str, int] = {}  # which execution a tool's span belongs to
        self._written: dict[int, str] = {}  # the arguments of executions that others are inside of
        self._now = 0
        self._inside: dict[str, set[str | None]] = defaultdict(set)  # ids of the tool calls inside a model call
        for span in tree.spans:
            caller = tree.places[span.id].caller
            if span.kind == "tool" and span.call_id is not None and caller is not None and caller.kind == "llm":
                self._inside[caller.id].add(span.call_id)
        for span in tree.spans:
            place = tree.places[span.id]
            if place.is_aside:
                continue
            self._now += 1
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
        for message in span.input:
            number = known.get(id(message), -1)
            if number < 0:
                number = self._number(message)
            occurrences[number] = occurrences.get(number, 0) + 1
            if occurrences[number] > counts[number]:
                if message.tool_calls:
                    self._given[number] = len(self.messages)
                made = {call.id for call in message.tool_calls} & inside if inside else set()
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

    def results(self) -> Iterable[tuple[int, Message, bool]]:
        """Give the messages that bring a tool's result, and whether this run itself says so."""
        return (entry for entry in self.messages if entry[1].role in RESULT_ROLES)

    def last_reply(self) -> str | None:
        """Return the last text that this run's models wrote."""
        for _, message, is_own in reversed(self.messages):
            if is_own and message.role == "assistant" and (message.text or not message.tool_calls):
                return message.text
        return None


def _delegations(tree: SpanTree) -> Iterable[str]:
    """Give the tool spans that are nothing but an agent of the same name, called as a tool."""
    styled: dict[str, str] = {}  # the names of tools, each brought into that form once
    for span in tree.spans:
        caller = tree.places[span.id].caller
        agent = span.name if span.kind == "agent" else span.agent
        if not agent or caller is None or caller.kind != "tool":
            continue
        if caller.id not in styled:
            styled[caller.id] = style(caller.name)
        if styled[caller.id] == style(agent):
            yield caller.id

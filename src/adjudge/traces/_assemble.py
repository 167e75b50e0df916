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
9. Where a call needs a span that is not there, a tool's or a model's, what ran is open.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from adjudge.model import Question, Trajectory
from adjudge.traces._agent_names import AgentNames, map_agents, read_agent_names
from adjudge.traces._calls import CallDraft, Calls
from adjudge.traces._langgraph import name_speakers
from adjudge.traces._messages import plain_result
from adjudge.traces._run_log import RunLog
from adjudge.traces._spans import (
    CUT_ARGUMENTS,
    LOST_END,
    LOST_MODEL,
    LOST_ONE,
    LOST_TOOL,
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
from adjudge.traces._values import called_agent, handed_over, loose, quote, style


def assemble(record: Record, *, parent: str | None = None, agents: AgentNames | Collection[str] = ()) -> Trajectory:
    """Return what the spans of one run say that its agent did.

    `parent` is the id of a span outside the record that the run was started from; `agents` are names of spans that are
    agents and do not say so, or a mapping of such names to those of the agents.
    """
    names = read_agent_names(agents) if agents else {}
    tree = _tree(record, parent, names)
    log = RunLog(tree)
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
    # Where a span around others was lost, as where the last ones never arrived, a reply may not be the last one.
    is_cut = any(root.parent not in (None, parent) and not root.is_entry for root in tree.roots)
    answer = _answer(tree, done, log, is_cut=is_cut)
    unknown: dict[Question, str] = {"answer": LOST_END} if is_cut and answer is None else {}
    complete = not (record.faults or tree.faults)
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
    unknown |= _lost(log, drafts, {style(span.name) for span in done if span.kind in ("agent", "handoff")})
    unknown |= _unclear(done, drafts, is_limited=record.is_trace)
    unknown |= calls.find_doubts()
    unknown |= _unsent(done, log, drafts)
    if (
        answer is None
        and not is_cut
        and not all(root.error for root in tree.roots)
        and (reason := _why_no_reply(done, log))
    ):
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


def _answer(tree: SpanTree, spans: Sequence[Span], log: RunLog, *, is_cut: bool) -> str | None:
    """Return the answer of the run: that of its top span, that which a tool ended it with, or the last reply.

    Of a record that is cut, the last reply may be an earlier one.
    """
    # A reply from before a model call that recorded none is not the last one.
    is_last = not log.model_calls or bool(log.model_calls[-1].output) or log.model_calls[-1].error is not None
    reply = log.last_reply() if is_last else None
    top = _top(tree, spans)
    if top is not None and top.text is not None:
        # Strands writes the model's words with a line end: the words themselves count.
        is_same = reply is not None and reply.strip() == top.text.strip()
        return reply if is_same else top.text
    ends = [span for span in spans if (span.is_internal or span.is_whole) and span.text is not None]
    if not ends and (reply is not None or is_cut):
        return None if is_cut else reply
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


def _why_no_reply(spans: Sequence[Span], log: RunLog) -> str | None:
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


def _unsent(spans: Sequence[Span], log: RunLog, calls: Iterable[CallDraft]) -> dict[Question, str]:
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


def _lost(log: RunLog, calls: Sequence[CallDraft], entered: Collection[str]) -> dict[Question, str]:
    """Return what is unknown because a span is not there that no other names as its parent: a tool's, or a model's.

    `entered` are agents with a span of their own, in the style of tools.
    """
    named = {call.name for call in calls}
    results = {message.tool_call_id: message.text for _, message, _ in log.results()}
    for made in log.find_unasked():
        # OpenLLMetry sends no replies of Chat Completions: the next agent's span shows that it was handed over to.
        target = style(handed_over(results.get(made.id, ""))) or called_agent(made.name, made.arguments)
        is_back = made.name.startswith("transfer_back_to_")  # which LangGraph's supervisor writes itself
        if made.name not in named and target not in entered and not is_back:
            return {"inside": LOST_MODEL.format(quote(made.name))}
    if len(log.model_calls) < 2:  # one span that is a whole conversation shows all that its messages show
        return {}
    # By a reply's position, the most messages that a model was given after it.
    later: dict[int, int] = {}
    most = 0
    for position, size in sorted(log.sizes.items(), reverse=True):
        later[position] = most
        most = max(most, size)
    agents = {style(name) for name in log.entered}
    for call in calls:
        is_agent = style(call.name) in agents or called_agent(call.name, call.arguments) in agents
        is_known = call.spans or call.answer is not None or call.is_internal or is_agent
        # What a model is given next shows whether there was a result, unless it is given in words.
        went_on = later.get(call.position, 0) > log.sizes.get(call.position, 0)
        if not is_known and went_on and (call.id or call.name) not in log.shown:
            return {"inside": LOST_TOOL.format(quote(call.name))}
    silent = sum(span.is_asking for span in log.model_calls)
    # A handoff may have a span of its own, one of a tool, or none but that of the next agent.
    handed = len(log.handoffs) + sum(call.is_internal for call in calls)
    done = sum(call.request is None and not call.is_internal for call in calls) + (handed or max(len(agents) - 1, 0))
    return {"inside": LOST_ONE} if done < silent else {}


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


def _usage(tree: SpanTree, spans: Sequence[Span], log: RunLog) -> Usage:
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

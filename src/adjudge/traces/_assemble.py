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

from adjudge.model import Trajectory
from adjudge.traces._agent_names import AgentNames, map_agents, read_agent_names
from adjudge.traces._calls import Calls
from adjudge.traces._gaps import doubt_reply, find_gaps, why_no_answer
from adjudge.traces._langgraph import name_speakers
from adjudge.traces._messages import plain_result
from adjudge.traces._run_log import RunLog
from adjudge.traces._spans import Record, Span, SpanTree, grow_tree
from adjudge.traces._usage import Usage, total_usage
from adjudge.traces._values import style


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
    calls = _calls(tree, done, log, agents_called)
    doubt = doubt_reply(tree, log, parent)
    answer = _answer(tree, done, log, is_sure=doubt is None)
    complete = not (record.faults or tree.faults)
    unknown = find_gaps(tree, done, log, calls, is_complete=complete, is_limited=record.is_trace)
    if answer is not None:
        unknown.pop("answer", None)
    elif why := why_no_answer(tree, done, log, doubt):
        unknown["answer"] = why
    used = record.usage or _usage(tree, done, log)
    shown = tuple(call.finish() for call in calls if not call.is_internal)
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
        steps=tuple(name for name in _steps(done) if name not in agents_called),
    )
    return map_agents(found, names, is_trace=True)


def _calls(tree: SpanTree, spans: Sequence[Span], log: RunLog, agents: Collection[str]) -> Calls:
    """Return the calls of a run, in the order in which they were asked for."""
    # The order matters: spans say more about an execution than results do, and handoffs are known last.
    calls = Calls(log.requests())
    calls.execute(log.executions)
    calls.answer(log.results(), is_langchain=any(span.graph is not None for span in tree.spans))
    latest = max((span.start or 0 for span in log.model_calls), default=0)
    is_over = not any(span.error for span in spans if span.kind != "tool")
    for call in calls:
        call.is_last = is_over and all((span.start or 0) >= latest for span in call.spans)
    calls.hand_over(log.handoffs, agents, _delegations(tree))
    calls.end({name for span in spans for name in span.answers})
    return calls


def _steps(spans: Sequence[Span]) -> Iterable[str]:
    """Give the names of what ran without an agent or a model inside, and is not a tool, and of the nodes of graphs."""
    parents = {span.id: span.parent for span in spans}
    around: set[str] = set()
    for span in spans:
        here = span.parent if span.kind in ("agent", "llm") else None
        while here is not None and here not in around:
            around.add(here)
            here = parents.get(here)
    named = (span.name for span in spans if span.kind == "other" and span.id not in around)
    nodes = (span.graph.node for span in spans if span.graph is not None and span.graph.node is not None)
    return dict.fromkeys((*named, *nodes))


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


def _answer(tree: SpanTree, spans: Sequence[Span], log: RunLog, *, is_sure: bool) -> str | None:
    """Return the answer of the run: that of its top span, that which a tool ended it with, or the last reply.

    `is_sure` says that the last reply is the answer where nothing else is.
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
    if not ends and (reply is not None or not is_sure):
        return reply if is_sure else None
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

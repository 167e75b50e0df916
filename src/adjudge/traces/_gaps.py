"""What the spans of one run cannot show, question by question, each with the reason and what to do about it.

Of a span that was lost it is the traces in the others that are found: a call without its tool, a result without the
call, a model that asked for more than there is. Contents that were not sent are known by the spans that lack them.
"""

from collections.abc import Collection, Iterable, Sequence

from adjudge.model import Question
from adjudge.traces._calls import CallDraft, Calls
from adjudge.traces._run_log import RunLog
from adjudge.traces._spans import (
    BESIDE,
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
    Span,
    SpanTree,
)
from adjudge.traces._values import called_agent, handed_over, loose, quote, style


def find_gaps(
    tree: SpanTree, spans: Sequence[Span], log: RunLog, calls: Calls, *, is_complete: bool, is_limited: bool
) -> dict[Question, str]:
    """Return what is unknown of the agents and the calls of a run; `is_limited` says that its attributes may be cut."""
    drafts = list(calls)
    unknown: dict[Question, str] = {}
    was_anybody = bool(drafts) or any(one.role == "assistant" for _, one, _ in log.messages)
    # Of a record with gaps it is the gaps that are named: what is missing may be the agents.
    if was_anybody and not log.entered and is_complete:
        unknown["agents"] = NOBODY_NAMED
    if any(span.agent == "" and tree.places[span.id].agent is None for span in spans):
        unknown["agents"] = ONE_UNNAMED
    did_nothing = all(span.kind in ("aside", "other") or (span.kind == "llm" and span.output) for span in spans)
    if is_complete and not was_anybody and did_nothing:
        # Also where only the web server was instrumented: that says nothing about the agent.
        unknown = dict.fromkeys(("agents", "tools", "arguments", "answer"), NOTHING_DONE)
    if any(not call.name for call in drafts):
        unknown["tools"] = NO_TOOL_NAMED
    # A span of a tool that does not name it: the others are known.
    nameless = next((span.unsent for span in spans if span.is_blind and span.kind == "other"), None)
    if nameless is not None:
        unknown["inside"] = nameless
    if any(span.is_blind and span.kind == "llm" for span in spans):
        unknown["hosted"] = NOT_HOSTED
    unknown |= _lost(log, drafts, {style(span.name) for span in spans if span.kind in ("agent", "handoff")})
    unknown |= _unclear(spans, drafts, is_limited=is_limited)
    unknown |= calls.find_doubts()
    return unknown | _unsent(spans, log, drafts)


def doubt_reply(tree: SpanTree, log: RunLog, parent: str | None) -> str | None:
    """Say why the last reply of a record may not be its answer; None where it is. `parent` is as in `assemble`."""
    # Where a span around others was lost, as where the last ones never arrived, a reply may not be the last one.
    if any(root.parent not in (None, parent) and not root.is_entry for root in tree.roots):
        return LOST_END
    # A grader, or whoever finds a title, is asked after the answer, and beside the agents.
    has_agent = [
        span.agent is not None or tree.places[span.id].agent is not None or any(one.name for one in span.output)
        for span in log.model_calls
    ]
    return BESIDE if any(has_agent) and not has_agent[-1] else None


def why_no_answer(tree: SpanTree, spans: Sequence[Span], log: RunLog, doubt: str | None) -> str | None:
    """Say why the answer of a run is not in its spans; None where the agent gave none.

    `doubt` is why the last reply may not be it.
    """
    if doubt is not None:
        return doubt
    if all(root.error for root in tree.roots):
        return None
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

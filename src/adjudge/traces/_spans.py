"""What every format becomes before the rules look at it: spans, and the tree that they form.

    Span("s2", "s1", "tool", "search", start=3, end=4, call_id="c1", arguments={"q": "Paris"}, result="...")

A decoder says what its record says and decides nothing: who called whom, what counts once and what is missing is
settled in `_assemble.py`, once for all formats.

The tree does not depend on the order in which spans were recorded: a trace is sorted by time, a parent before its
children, and ties are broken by what the spans say.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from adjudge.model import Message
from adjudge.traces._usage import Usage

if TYPE_CHECKING:
    from adjudge.traces._langgraph import GraphFacts

SpanKind: TypeAlias = Literal["agent", "llm", "tool", "handoff", "aside", "other"]
"""What a span is. An `aside` (a guardrail, an evaluator) and what is inside it are not part of what the agent did."""

NOBODY_NAMED = "nothing in the record names one: name them in your code, or say --map-agent '*=NAME'"
ONE_UNNAMED = "one of them has no name: name it in your code, or say --map-agent '*=NAME'"
NOTHING_DONE = "no message or span of a model, an agent or a tool is in it: instrument it (docs/reference/traces.md)"
NO_TOOL_NAMED = "a result names neither its call nor its tool: give it a tool_call_id, or a name"
NOT_ENDED = "it has not ended"
NOT_SENT = "contents were not recorded: switch them on in your instrumentation, see docs/reference/traces.md"
NOT_SHOWN = "{} has a result and no span, as where somebody denies it: give the messages of the run instead"
NOT_SETTLED = "{} waits for an approval, and what came after it may not be in the trace: give the messages instead"
NOT_HOSTED = (
    "OpenLLMetry's instrumentation of OpenAI Agents does not send what OpenAI's own tools did: use OpenInference, or "
    "give the messages of the run"
)
LOST_TOOL = "{} was asked for, the run went on, and neither its span nor its result is in the record: send all spans"
LOST_MODEL = "no model call of the record asked for {}, whose result a later one was given: send all spans of the run"
LOST_END = (
    "spans around others are not in the record, so that its last reply may not be the answer: send all spans of the run"
)
BESIDE = (
    "its last model call was made outside of the agents, so that the reply may not be the answer: record the answer on "
    "the root span"
)
LOST_ONE = "a model asked for a tool more often than there are spans of tools, agents and handoffs: send all spans"
CUT_ARGUMENTS = "those of {} end too early"
NO_REPLY = "the last model call only asked for tools, and no span says what was answered: record it on the root span"
_RANKS = {"agent": 0, "aside": 1, "other": 2, "handoff": 3, "llm": 4, "tool": 5}


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work in a trace, in the words that all formats share.

    `start` and `end` are nanoseconds since 1970. `input` is what a model was given, `output` what it wrote; `text` is
    what an agent, or the run as a whole, answered, `sources` what a retriever found. The name of a `handoff` is that of
    the agent that was called.
    `faults` says what is known to be missing from the span; `is_entry` that its parent may be outside the record;
    `is_named` that an agent's name is given, and not only the span's. `agent` is who made a model call, where the span
    says so itself, empty where nobody can tell; `graph` is where in a LangGraph it was made.
    `is_internal` says that a tool is the framework's own, by which it hands over or ends the run; `text` is then the
    answer that it ends with. `is_whole` says that a model call is all of an agent's, so that another one inside it
    is not the same; `is_blind` that the tools of an agent have no spans, or, of a model call, that the calls of its
    service's own tools are left out. `unsent` says how to get what the span should hold and does not: the reply of a
    model, the arguments of a tool, the answer of an agent. `joins` names what spans of one run in several traces
    share.
    `usage` are the tokens of a model call and what they cost; `answers` the tools by which the model gives its answer.
    `ran` says of a tool whether it was executed: False where its call was refused, None where the span does not say.
    `has_tools` says that every tool that runs has a span; `is_asking` that a model's reply, which was not sent, asked
    for tools.
    """

    id: str
    parent: str | None
    kind: SpanKind
    name: str
    start: int | None = None
    end: int | None = None
    call_id: str | None = None
    arguments: str | Mapping[str, Any] | None = None
    result: str | None = None
    error: str | None = None
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    text: str | None = None
    faults: tuple[str, ...] = ()
    is_entry: bool = False
    sources: tuple[str, ...] = ()
    is_named: bool = True
    agent: str | None = None
    graph: "GraphFacts | None" = None
    is_internal: bool = False
    is_whole: bool = False
    is_blind: bool = False
    unsent: str | None = None
    joins: tuple[str, ...] = ()
    usage: Usage | None = None
    ran: bool | None = True
    has_tools: bool = False
    answers: tuple[str, ...] = ()
    is_asking: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """The spans of one run, by the run's id, and what is known to be missing from the record as a whole.

    `names` are what the run is called beside its id; several may share one, as epochs do a sample's id. `usage` is
    what all of its model calls used, where the record counts that itself. `is_trace` says that it is a trace of OTLP,
    which may be only part of a run.
    """

    id: str
    spans: tuple[Span, ...]
    faults: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    usage: Usage | None = None
    is_trace: bool = False


def join_traces(records: Sequence[Record]) -> Sequence[Record]:
    """Return the runs that several traces are, without those in which nobody did anything.

    Traces are one run where a link or a parent leads from one to the other, or where they share a conversation. Only
    the ids of spans in OTLP are those of one span everywhere: a record of any other format is a run by itself.
    """
    if len(records) < 2 or not all(record.is_trace for record in records):
        return records
    leader = list(range(len(records)))

    def lead(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]  # so that the next walk is shorter
            index = leader[index]
        return index

    first: dict[tuple[str, str], int] = {}  # where a trace, a conversation or a span was seen first
    for index, record in enumerate(records):
        leader[lead(index)] = lead(first.setdefault(("join", record.id), index))
        for span in record.spans:
            for key in (("span", span.id), *(("join", join) for join in span.joins)):
                leader[lead(index)] = lead(first.setdefault(key, index))
    for index, record in enumerate(records):
        for span in record.spans:
            leader[lead(index)] = lead(first.get(("span", span.parent or ""), index))
    groups: dict[int, list[Record]] = {}
    for index, record in enumerate(records):
        groups.setdefault(lead(index), []).append(record)
    runs = []
    for group in groups.values():
        faults = tuple(dict.fromkeys(fault for record in group for fault in record.faults))
        spans = tuple(span for record in group for span in record.spans)
        runs.append(Record(group[0].id, spans, faults, is_trace=True))
    # A trace may only build agents, or pass messages on.
    return [run for run in runs if any(span.kind not in ("other", "aside") for span in run.spans)] or runs


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """Where a span is: how deep, in which agent, inside an aside or another model call, and in which tool."""

    depth: int = 0
    agent: str | None = None
    is_aside: bool = False
    in_answered_llm: bool = False
    caller: Span | None = None  # the nearest tool, agent or model call around it


@dataclass(frozen=True, slots=True)
class SpanTree:
    """Spans in order, their places, the ones without a parent, and what is known to be missing.

    `wrappers` are the ids of model calls that have another inside: the same call, seen from further out.
    """

    spans: Sequence[Span]
    places: Mapping[str, SpanPlace]
    roots: Sequence[Span]
    faults: Sequence[str]
    wrappers: frozenset[str]


def grow_tree(spans: Iterable[Span], parent: str | None = None) -> SpanTree:
    """Sort the spans of one trace; `parent` is a span outside the record that the run was started from."""
    by_id: dict[str, Span] = {}
    fullest: dict[str, tuple[bool, int, int, int, str]] = {}  # of the ids that several spans have
    for span in spans:
        # Of several with one id, the fullest is the finished one: exporters also send spans that have only begun.
        known = by_id.setdefault(span.id, span)
        if known is not span and known != span:
            # Worked out once for each span: one of them may be very large.
            most = fullest.get(span.id) or _fullness(known)
            fullest[span.id] = max(most, _fullness(span))
            if fullest[span.id] > most:
                by_id[span.id] = span
    links, faults = _links(by_id, parent)
    places = _places(by_id, links)

    def order(span: Span) -> tuple[int, int, int, int, str, str]:
        start = span.start or 0
        end = start if span.end is None else span.end
        return start, places[span.id].depth, end, _RANKS[span.kind], span.name, span.id

    ordered = sorted(by_id.values(), key=order)
    faults += [f"span {span.id} ({span.name}): {fault}" for span in ordered for fault in span.faults]
    around = (places[span.id].caller for span in ordered if span.kind == "llm")
    wrappers = frozenset(outer.id for outer in around if outer is not None and outer.kind == "llm")
    return SpanTree(ordered, places, [span for span in ordered if links[span.id] is None], faults, wrappers)


def _fullness(span: Span) -> tuple[bool, int, int, int, str]:
    # The text at the end settles ties, so that the order of recording never does.
    facts = sum(value is not None for value in (span.call_id, span.arguments, span.result, span.text))
    size = len(span.input) + len(span.output) + facts
    return span.end is not None, span.end or 0, -len(span.faults), size, repr(span)


def _links(by_id: Mapping[str, Span], parent: str | None) -> tuple[dict[str, str | None], list[str]]:
    """Return each span's parent in the record, with circles cut, and what is wrong with the links."""
    links: dict[str, str | None] = {}
    faults = []
    # Sorted, so that faults have the same order however the spans were recorded.
    for identity in sorted(by_id):
        span = by_id[identity]
        is_inside = span.parent in by_id
        links[identity] = span.parent if is_inside else None
        if not is_inside and span.parent not in (None, parent) and not span.is_entry:
            faults.append(f"span {identity} ({span.name}): its parent {span.parent} is not in the record")
    # A circle would keep every later walk to the top from ending.
    settled: set[str] = set()
    for identity in links:
        walk: dict[str, None] = {}  # the spans from here to the top, in order
        here: str | None = identity
        while here is not None and here not in settled:
            if here in walk:
                path = list(walk)
                first = min(path[path.index(here) :])  # the same cut, wherever the walk began
                faults.append(f"span {first} ({by_id[first].name}): its parents form a circle")
                links[first] = None
                break
            walk[here] = None
            here = links[here]
        settled.update(walk)
    return links, faults


def _places(by_id: Mapping[str, Span], links: Mapping[str, str | None]) -> dict[str, SpanPlace]:
    """Work out each span's place, from the top; without recursion: traces can be deep."""
    inside: dict[str | None, SpanPlace] = {None: SpanPlace()}  # the place of a span's children, by the span
    for above in links.values():
        # Up to the nearest span whose place is known, then down again.
        path = []
        here = above
        while here is not None and here not in inside:
            path.append(here)
            here = links[here]
        outer = inside[here]
        for identity in reversed(path):
            parent = by_id[identity]
            outer = inside[identity] = SpanPlace(
                depth=outer.depth + 1,
                agent=parent.name if parent.kind in ("agent", "handoff") else outer.agent,
                is_aside=outer.is_aside or parent.kind == "aside",
                in_answered_llm=outer.in_answered_llm or (parent.kind == "llm" and bool(parent.output)),
                caller=parent if parent.kind in ("tool", "agent", "llm") else outer.caller,
            )
    return {identity: inside[above] for identity, above in links.items()}

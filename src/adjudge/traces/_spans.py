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

if TYPE_CHECKING:
    from adjudge.traces._langgraph import GraphFacts

SpanKind: TypeAlias = Literal["agent", "llm", "tool", "handoff", "aside", "other"]
"""What a span is. An `aside` (a guardrail, an evaluator) and what is inside it are not part of what the agent did."""

NOBODY_NAMED = "nothing in the record names one: name them in your code, or with --map-agent"
NOT_ENDED = "it has not ended"
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


@dataclass(frozen=True, slots=True)
class Record:
    """The spans of one run, by the run's id, and what is known to be missing from the record as a whole.

    `names` are what the run is called beside its id; several may share one, as epochs do a sample's id. The tokens of
    its model calls and their cost are given where the record counts them.
    """

    id: str
    spans: tuple[Span, ...]
    faults: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


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
    """Spans in order, their places, the ones without a parent, and what is known to be missing."""

    spans: Sequence[Span]
    places: Mapping[str, SpanPlace]
    roots: Sequence[Span]
    faults: Sequence[str]


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
    return SpanTree(ordered, places, [span for span in ordered if links[span.id] is None], faults)


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
                agent=parent.name if parent.kind == "agent" else outer.agent,
                is_aside=outer.is_aside or parent.kind == "aside",
                in_answered_llm=outer.in_answered_llm or (parent.kind == "llm" and bool(parent.output)),
                caller=parent if parent.kind in ("tool", "agent", "llm") else outer.caller,
            )
    return {identity: inside[above] for identity, above in links.items()}

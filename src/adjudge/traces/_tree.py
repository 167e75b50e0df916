"""How spans hang together: each once, in order, with what surrounds it.

Nothing here depends on the order in which spans were recorded: a trace is sorted by time, a parent before its children,
and ties are broken by what the spans say.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adjudge.traces._spans import Span

_RANKS = {"agent": 0, "aside": 1, "other": 2, "handoff": 3, "llm": 4, "tool": 5}


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """Where a span stands: how deep, in which agent, inside an aside or another model call, and in which tool."""

    depth: int = 0
    agent: str | None = None
    is_aside: bool = False
    in_answered_llm: bool = False
    caller: Span | None = None  # the nearest tool, agent or model call around it


@dataclass(frozen=True, slots=True)
class Tree:
    """Spans in order, their places, the ones without a parent, and what is known to be missing."""

    spans: Sequence[Span]
    places: Mapping[str, SpanPlace]
    roots: Sequence[Span]
    faults: Sequence[str]


def grow(spans: Iterable[Span], parent: str | None = None) -> Tree:
    """Sort the spans of one trace; `parent` is a span outside the record that the run was started from."""
    by_id = _unique(spans)
    links, faults = _links(by_id, parent)
    places = _places(by_id, links)
    ordered = sorted(by_id.values(), key=lambda span: _order(span, places[span.id].depth))
    for span in ordered:
        faults.extend(f"span {span.id} ({span.name}): {fault}" for fault in span.faults)
    return Tree(ordered, places, [span for span in ordered if links[span.id] is None], faults)


def _order(span: Span, depth: int) -> tuple[int, int, int, int, str, str]:
    start = span.start if span.start is not None else 0
    return start, depth, span.end if span.end is not None else start, _RANKS[span.kind], span.name, span.id


def _unique(spans: Iterable[Span]) -> dict[str, Span]:
    """Keep one span of each id: of several, the one that was recorded last, which is the one that is finished."""
    by_id: dict[str, Span] = {}
    for span in spans:
        known = by_id.get(span.id)
        if known is None or (known != span and _fullness(span) > _fullness(known)):
            by_id[span.id] = span
    return by_id


def _fullness(span: Span) -> tuple[bool, int, int, int, str]:
    said = (
        len(span.input)
        + len(span.output)
        + sum(value is not None for value in (span.call_id, span.arguments, span.result, span.text))
    )
    return (span.end is not None, span.end or 0, -len(span.faults), said, repr(span))


def _links(by_id: Mapping[str, Span], parent: str | None) -> tuple[dict[str, str | None], list[str]]:
    """Return each span's parent in the record, with circles cut, and what is wrong with the links."""
    links: dict[str, str | None] = {}
    faults = []
    for identity in sorted(by_id):
        span = by_id[identity]
        links[identity] = span.parent if span.parent in by_id else None
        if span.parent is not None and span.parent not in by_id and span.parent != parent and not span.is_entry:
            faults.append(f"span {identity} ({span.name}): its parent {span.parent} is not in the record")
    settled: set[str] = set()
    for identity in sorted(by_id):
        walk: list[str] = []
        steps: set[str] = set()
        here: str | None = identity
        while here is not None and here not in settled:
            if here in steps:
                first = min(walk[walk.index(here) :])  # the same cut, wherever the walk began
                faults.append(f"span {first} ({by_id[first].name}): its parents go round in a circle")
                links[first] = None
                break
            walk.append(here)
            steps.add(here)
            here = links[here]
        settled.update(walk)
    return links, faults


def _places(by_id: Mapping[str, Span], links: Mapping[str, str | None]) -> dict[str, SpanPlace]:
    """Work out where each span stands, from the top; no recursion: traces can be deep."""
    top = SpanPlace()
    inside: dict[str, SpanPlace] = {}  # where those stand that a span is the parent of
    for above in links.values():
        path = []
        here = above
        while here is not None and here not in inside:
            path.append(here)
            here = links[here]
        outer = top if here is None else inside[here]
        for identity in reversed(path):
            outer = inside[identity] = _inside(by_id[identity], outer)
    return {identity: top if above is None else inside[above] for identity, above in links.items()}


def _inside(parent: Span, outer: SpanPlace) -> SpanPlace:
    return SpanPlace(
        depth=outer.depth + 1,
        agent=parent.name if parent.kind == "agent" else outer.agent,
        is_aside=outer.is_aside or parent.kind == "aside",
        in_answered_llm=outer.in_answered_llm or (parent.kind == "llm" and bool(parent.output)),
        caller=parent if parent.kind in ("tool", "agent", "llm") else outer.caller,
    )

"""Who speaks in a LangGraph or LangChain trace: what its metadata say, since no span of theirs is an agent's own.

Every run inside a graph carries the name of its node (`langgraph_node`) and the place of the node in the graphs around
it (`langgraph_checkpoint_ns`); `create_agent(name=...)` adds `lc_agent_name`. The agent of a model call is its node.
In an agent that LangChain built, the node is called `agent` or `model`, with only its like beside it: then it is the
agent's own name, that of the graph, or that of the node in which the graph runs. Where none of these is known, nobody
can tell.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from adjudge.errors import TrajectoryError
from adjudge.traces._messages import read_messages
from adjudge.traces._spans import Span
from adjudge.traces._values import loose, unquoted

_PREFIXES = ("langsmith.metadata.", "traceloop.association.properties.", "langfuse.observation.metadata.")
_STATES = ("output.value", "langfuse.observation.output", "gen_ai.completion", "traceloop.entity.output")
_NODE, _PLACE, _NAME = "langgraph_node", "langgraph_checkpoint_ns", "lc_agent_name"
_BUILT_IN = frozenset({"agent", "model", "call_model"})  # nodes of the agents that LangChain builds
# Beside those; middleware has a dot in its name.
_BESIDE = frozenset({"tools", "pre_model_hook", "post_model_hook", "generate_structured_response"})
_UNNAMED = frozenset({"LangGraph", "agent", "RunnableSequence"})  # graphs that nobody named


class GraphFacts(NamedTuple):
    """Where in a graph a span is; None is what it does not say."""

    node: str | None = None
    place: str | None = None
    agent: str | None = None


def read_graph_facts(attributes: Mapping[str, Any]) -> GraphFacts | None:
    """Return what a span's metadata say about its graph; None where they say nothing."""
    found: dict[str, object] = {}
    metadata = attributes.get("metadata")
    if isinstance(metadata, str) and ("langgraph_" in metadata or _NAME in metadata):
        read = loose(metadata)[0]
        found = read if isinstance(read, dict) else {}
    for prefix in _PREFIXES:
        for name in (_NODE, _PLACE, _NAME):
            value = attributes.get(prefix + name)
            if value is not None:
                found.setdefault(name, unquoted(value))  # Langfuse writes every value as JSON
    facts = [one if isinstance(one := found.get(name), str) and one else None for name in (_NODE, _PLACE, _NAME)]
    return GraphFacts(*facts) if any(facts) else None


def last_words(attributes: Mapping[str, Any]) -> str | None:
    """Return the last words of an agent in the state that a graph as a whole returned; None where it has none.

    A graph may ask a model after its answer: to grade it, or to find a title.
    """
    for key in _STATES:
        value = attributes.get(key)
        if not isinstance(value, str) or '"messages"' not in value:
            continue
        state = loose(value)[0]
        # OpenLLMetry has the state inside.
        held = state.get("outputs", state) if isinstance(state, Mapping) else None
        messages = held.get("messages") if isinstance(held, Mapping) else None
        try:
            last = read_messages(messages[-1:], key) if isinstance(messages, list) else ()
        except TrajectoryError:
            return None  # a state of somebody else's, which may hold anything
        if last and last[-1].role == "assistant" and not last[-1].tool_calls:
            return last[-1].text or None
    return None


def name_speakers(spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans with the agent of every model call inside a graph; a graph itself is not an agent."""
    if all(span.graph is None for span in spans):
        return spans
    graphs = _graphs_around({span.id: span for span in spans})
    owned = _owned(spans, graphs)
    speakers = {
        span.id: _speaker(span.graph, graphs[span.id], is_owned=_key(graphs[span.id]) in owned)
        for span in spans
        if span.kind == "llm" and span.graph is not None
    }
    known = set(speakers.values())
    named = []
    for span in spans:
        if span.id in speakers:
            named.append(replace(span, agent=speakers[span.id]))
        elif span.kind == "agent" and (not span.is_named or span.name not in known):
            # A graph, or a run that was called an agent because of the word in its name.
            named.append(replace(span, kind="other"))
        else:
            named.append(span)
    return named


def speakers_around(span: Span, speakers: Collection[str]) -> Iterable[str]:
    """Give those of the speakers in whose node or agent a span is: they were entered no later than it began."""
    if span.graph is None:
        return
    for name in (span.graph.node, span.graph.agent):
        # Built-in nodes are called alike in every agent.
        if name is not None and name in speakers and (name == span.graph.agent or not _is_built_in(name)):
            yield name


def _owned(spans: Sequence[Span], graphs: Mapping[str, Span | None]) -> set[str]:
    """Return the graphs that a user built: they have a node that LangChain's own agents do not have."""
    return {
        _key(graphs[span.id])
        for span in spans
        if span.graph is not None and span.graph.node is not None and not _is_built_in(span.graph.node)
    }


def _is_built_in(node: str) -> bool:
    return node in _BUILT_IN or node in _BESIDE or "." in node or node.startswith("__")


def _key(graph: Span | None) -> str:
    return "" if graph is None else graph.id


def _speaker(here: GraphFacts, around: Span | None, *, is_owned: bool) -> str:
    """Return who made a model call, with the graph around its node; empty where nobody can tell."""
    if here.node is not None and (is_owned or not _is_built_in(here.node)):
        return here.node
    if here.agent is not None or around is None:
        return here.agent or ""
    if around.name not in _UNNAMED:
        return around.name
    return "" if around.graph is None else around.graph.node or ""


def _graphs_around(by_id: Mapping[str, Span]) -> dict[str, Span | None]:
    """Return for each span the span of the graph around its node: the first one above it that is in another place."""
    found: dict[str, Span | None] = {}
    for span in by_id.values():
        # Up to a span whose graph is known, then down again: traces can be deep, and their links form circles.
        path: dict[str, None] = {}
        here = span
        while here.id not in found and here.id not in path:
            path[here.id] = None
            above = by_id.get(here.parent or "")
            if above is None or here.graph is None or above.graph is None or above.graph.place != here.graph.place:
                found[here.id] = above
                break
            here = above
        around = found.get(here.id)
        found.update(dict.fromkeys(path, around))
    return found

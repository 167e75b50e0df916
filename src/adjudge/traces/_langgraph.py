"""Who speaks in a LangGraph or LangChain trace: what its metadata say, since no span of theirs is an agent's own.

Every run inside a graph carries the name of its node (`langgraph_node`) and the place of the node in the graphs around
it (`langgraph_checkpoint_ns`); `create_agent(name=...)` adds `lc_agent_name`. The agent of a model call is its node.
In an agent that LangChain built, the node is called `agent` or `model`: then it is the agent's own name, that of the
graph, or that of the node in which the graph runs. Where none of these is known, nobody can tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from adjudge.traces._spans import Span
from adjudge.traces._values import loose

_PREFIXES = ("langsmith.metadata.", "traceloop.association.properties.", "langfuse.observation.metadata.")
_NODE, _PLACE, _NAME = "langgraph_node", "langgraph_checkpoint_ns", "lc_agent_name"
_BUILT_IN = frozenset({"agent", "model", "call_model"})  # nodes of the agents that LangChain builds
_TASK = "execute_task "  # before the name of a node in OpenLLMetry's spans
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
                # Langfuse writes every value as JSON.
                found.setdefault(name, loose(f"[{value}]")[0][0] if str(value).startswith('"') else value)
    facts = [one if isinstance(one := found.get(name), str) and one else None for name in (_NODE, _PLACE, _NAME)]
    return GraphFacts(*facts) if any(facts) else None


def name_speakers(spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans with the agent of every model call inside a graph; graphs themselves are no agents."""
    if all(span.graph is None for span in spans):
        return spans
    by_id = {span.id: span for span in spans}
    speakers = {
        span.id: _speaker(span, span.graph, by_id) for span in spans if span.kind == "llm" and span.graph is not None
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


def _speaker(span: Span, graph: GraphFacts, by_id: Mapping[str, Span]) -> str:
    """Return who made a model call; empty where nobody can tell."""
    if graph.node is None or graph.node in _BUILT_IN:
        if graph.agent is not None:
            return graph.agent
        around = _graph_around(span, graph, by_id)
        if around is None:
            return ""
        name = around.name.removeprefix(_TASK)
        if name not in _UNNAMED:
            return name
        outer = around.graph
        return outer.node if outer is not None and outer.node is not None else ""
    return graph.node


def _graph_around(span: Span, graph: GraphFacts, by_id: Mapping[str, Span]) -> Span | None:
    """Return the span of the graph that the node of a call belongs to."""
    here: Span | None = span
    seen = set()
    while here is not None and here.id not in seen:
        seen.add(here.id)
        above = by_id.get(here.parent or "")
        if above is None or above.graph is None or above.graph.place != graph.place:
            return above
        here = above
    return None

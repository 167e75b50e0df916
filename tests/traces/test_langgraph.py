"""LangGraph: whose node is whose agent, and which words are the answer of a graph."""

import json
from typing import Any

import pytest

from adjudge.model import Message
from adjudge.traces import Record, Span, assemble, load
from adjudge.traces._langgraph import GraphFacts, last_words
from adjudge.workflow import check_workflow


def call(number: int, parent: str, node: str, said: str = "x") -> Span:
    """Return a model call in a node of a graph."""
    output = (Message("assistant", said),)
    return Span(
        str(number), parent, "llm", "chat", number, 90, output=output, graph=GraphFacts(node, f"{node}:1", None)
    )


NODES = [
    (("router", "agent"), ("router", "agent")),  # a user's node that is called as one of LangChain's
    (("agent",), ("travel_desk",)),
    (("model",), ("travel_desk",)),
    (("Summarization.before_model", "model"), ("travel_desk",)),
]


@pytest.mark.parametrize(("nodes", "agents"), NODES)
def test_nodes_called_as_built_in_ones(nodes: tuple[str, ...], agents: tuple[str, ...]) -> None:
    """`agent` is the node of an agent that LangChain built only where no node of the user's is beside it."""
    spans = [Span("0", None, "other", "travel_desk", 0, 99)]
    spans += [call(number, "0", node) for number, node in enumerate(nodes, 1)]
    assert assemble(Record("r", tuple(spans))).agents_called == agents


def test_agents_in_the_order_of_entry() -> None:
    """An agent with a span of its own does not come before one that only spoke earlier."""
    spans = (
        Span("0", None, "other", "desk", 0, 99),
        call(1, "0", "router"),
        Span("2", "0", "agent", "billing", 2, 90, graph=GraphFacts("billing", "billing:1", None)),
        call(3, "2", "billing"),
    )
    assert assemble(Record("r", spans)).agents_called == ("router", "billing")


def test_a_node_is_entered_before_its_model() -> None:
    """An agent whose node called another one first was entered first, also where its first model call was lost."""
    spans = (
        Span("0", None, "other", "desk", 0, 99),
        Span("1", "0", "other", "boss", 1, 98, graph=GraphFacts("boss", "boss:1", None)),
        call(2, "1", "billing"),
        call(3, "1", "boss"),
    )
    assert assemble(Record("r", spans)).agents_called == ("boss", "billing")


def test_a_node_that_asked_no_model() -> None:
    """Whether a node without a model is an agent is open, as its model call may be lost; names end the doubt."""
    spans = (
        Span("0", None, "other", "desk", 0, 99),
        call(1, "0", "router"),
        Span("2", "0", "other", "billing", 2, 90, graph=GraphFacts("billing", "billing:1", None)),
    )
    found = assemble(Record("r", spans))
    assert (found.agents_called, found.steps) == (("router",), ("billing",))
    for rule in ("agents_should_include", "agents_should_exclude"):
        result = check_workflow({rule: ["billing"], "unlisted": "ignore"}, found)
        assert result.passed is None
        assert "--map-agent billing=billing, else --ignore-agent billing" in result.reasons[0]
    assert check_workflow({"agents_should_include": ["refunds"]}, found).passed is False
    assert check_workflow({"agents_should_include": ["router"]}, found).passed
    for names, verdict in (({"billing": "billing"}, True), ({"billing": None}, False)):
        mapped = assemble(Record("r", spans), agents=names)
        assert check_workflow({"agents_should_include": ["router", "billing"]}, mapped).passed is verdict


def test_what_is_around_an_agent_is_not_a_step() -> None:
    """A span around a model call is not in doubt, as it is known who asked; a function beside it may be an agent."""
    spans = (Span("0", None, "other", "run", 0, 99), call(1, "0", "router"), Span("2", "0", "other", "audit", 2, 3))
    assert assemble(Record("r", spans)).steps == ("audit",)


HUMAN = {"type": "human", "data": {"content": "Weather?"}}
AI = {"type": "ai", "data": {"content": "It is sunny."}}
STATES: list[tuple[Any, str | None]] = [
    ({"messages": [HUMAN, AI]}, "It is sunny."),
    ({"outputs": {"messages": [HUMAN, AI]}}, "It is sunny."),
    ({"messages": [AI, HUMAN]}, None),
    ({"messages": []}, None),
    ({"messages": "none"}, None),
    ({"messages": [{"strange": 1}]}, None),
    ([{"messages": [AI]}], None),
]


@pytest.mark.parametrize(("state", "words"), STATES)
def test_the_last_words_of_a_state(state: Any, words: str | None) -> None:
    """The answer is the last message of an agent in what the graph returned; anything else is nobody's answer."""
    assert last_words({"output.value": json.dumps(state)}) == words


def otlp(spans: list[tuple[str, int, int | None, dict[str, str]]]) -> dict[str, Any]:
    """Return spans as OTLP has them."""
    found = []
    for name, number, parent, attributes in spans:
        link = {} if parent is None else {"parentSpanId": f"{parent:016x}"}
        pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        times = {"startTimeUnixNano": str(number), "endTimeUnixNano": "99"}
        found.append(
            {"traceId": "a" * 32, "spanId": f"{number:016x}", "name": name, "attributes": pairs, **link, **times}
        )
    return {"resourceSpans": [{"scopeSpans": [{"spans": found}]}]}


@pytest.mark.parametrize("servers", [0, 2])
def test_a_model_that_is_asked_after_the_answer(servers: int) -> None:
    """A grader's word is not the answer, whether or not web servers' spans are around the graph."""
    kind, node = "openinference.span.kind", "metadata"
    model = {kind: "LLM", "llm.output_messages.0.message.role": "assistant"}
    key = "llm.output_messages.0.message.content"
    spans: list[tuple[str, int, int | None, dict[str, str]]] = [
        (f"POST /{number}", number + 1, number or None, {}) for number in range(servers)
    ]
    top = servers + 1
    spans += [
        ("LangGraph", top, servers or None, {kind: "CHAIN", "output.value": json.dumps({"messages": [HUMAN, AI]})}),
        ("chat", top + 1, top, {**model, key: "It is sunny.", node: json.dumps({"langgraph_node": "assistant"})}),
        ("chat", top + 2, top, {**model, key: "good", node: json.dumps({"langgraph_node": "grade"})}),
    ]
    found = load(otlp(spans))
    assert (found.final_response, found.agents_called) == ("It is sunny.", ("assistant", "grade"))

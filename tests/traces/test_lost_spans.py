"""Traces of which one span is not there: what rests on it is undecided, not failed and not passed.

Each span of each recorded trace is taken out in turn, and what the rest says is compared with what the whole says.
"""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall, Trajectory
from adjudge.scenarios import run_scenario
from adjudge.traces import Record, Span, assemble, load
from adjudge.workflow import check_workflow
from support import GOLDEN

FOLDER = GOLDEN / "frameworks"
TRUTH: dict[str, dict[str, Any]] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))

ALONE = "no span of a model in this trace asks for the tool, or is given its result"
TWICE = "the spans of tools in this trace are as many as the model asked for, with those of agents"
# The spans that nothing else in their trace refers to, by the trace, with the reason.
UNSEEN = {
    "autogen-native.swarm_handoff": ({"execute_tool refund": 1}, ALONE),
    "crewai-openinference.hierarchical": ({"get_weather.run": 1}, ALONE),
    "crewai-openllmetry.two_tools": ({"Travel Agent.agent": 1}, "the only span of an agent"),
    "dspy-react-openinference.two_tools": ({"get_weather.__call__": 1, "book_hotel.__call__": 1}, "it asks in a text"),
    "haystack-agent-openinference.pipeline_of_agents": ({"Agent.run": 1}, "one span is all that an agent did"),
    "semantic_kernel-otel.agent_as_tool": ({"execute_tool Weather-get_weather": 1}, TWICE),
    "smolagents-openinference.code_agent": ({"SimpleTool": 1}, "code calls the tool, and no model asks for it"),
}


def span_lists(node: Any) -> Iterator[list[dict[str, Any]]]:
    """Give the lists of spans in a document of OTLP, or in several."""
    if isinstance(node, list) and node and isinstance(node[0], dict) and "spanId" in node[0]:
        yield node
    elif isinstance(node, list | dict):
        for inner in node if isinstance(node, list) else node.values():
            yield from span_lists(inner)


def verdicts(truth: dict[str, Any], found: Trajectory, tools_used: list[str]) -> list[bool | None]:
    """Return what a trace says to expectations that what happened meets, and to some that it does not."""
    agents, tools = truth["agents"], list(dict.fromkeys(tool["name"] for tool in truth["tools"]))
    rules: list[dict[str, Any]] = [
        {"agents_should_include": agents, "unlisted": "ignore"},
        {"agents_should_include": agents, "always_expected": []},
        {"agents_should_include": agents, "agents_order": "in_order", "unlisted": "ignore"},
        {"tools_should_include": tools, "unlisted": "ignore"},
        {"tools_should_include": tools_used},
        *({"agents_should_exclude": [name]} for name in agents),
        *({"tools_should_exclude": [name]} for name in tools),
    ]
    return [check_workflow(rule, found).passed for rule in rules]


def wrong_without(name: str) -> tuple[int, dict[str, int]]:
    """Return how many spans a trace has, and those without which a verdict is the opposite of what it is with them."""
    truth, data = TRUTH[name], json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    whole = load(data)
    used = list(dict.fromkeys(whole.tools_used))
    right = verdicts(truth, whole, used)
    count = 0
    wrong: dict[str, int] = {}
    for spans in list(span_lists(data)):
        for index in range(len(spans)):
            lost = spans.pop(index)
            count += 1
            try:
                found = verdicts(truth, load(data), used)
            except TrajectoryError:  # nothing is left
                found = [None] * len(right)
            if any({one, other} == {True, False} for one, other in zip(right, found, strict=True)):
                wrong[lost["name"]] = wrong.get(lost["name"], 0) + 1
            spans.insert(index, lost)
    return count, wrong


@pytest.mark.parametrize("name", TRUTH)
def test_a_span_that_was_lost(name: str) -> None:
    """No verdict turns round because a span is lost, but for the spans that nothing else in the trace refers to."""
    count, wrong = wrong_without(name)
    assert count
    assert wrong == UNSEEN.get(name, ({}, ""))[0]


def test_few_spans_are_seen_by_nothing() -> None:
    """Of all spans of the recorded traces, the loss of at most 8 is not noticed, each with its reason."""
    assert sum(sum(spans.values()) for spans, _ in UNSEEN.values()) <= 8
    assert all(reason for _, reason in UNSEEN.values())
    assert set(UNSEEN) <= set(TRUTH)


ASK = Message("assistant", None, (ToolCall("find", {"q": 1}, "c1"),))
RESULT = Message("tool", "x", tool_call_id="c1")
USER = Message("user", "?")
DONE = Message("assistant", "Done.")


def outcome(
    *calls: tuple[tuple[Message, ...], Message], more: tuple[Span, ...] = ()
) -> tuple[bool | None, bool | None]:
    """Return the verdicts that `find` is expected, and forbidden, of an agent that asked its model so."""
    spans = [Span("a", None, "agent", "clerk", 0, 99, text="Done.")]
    for number, (given, said) in enumerate(calls, 1):
        spans.append(Span(f"m{number}", "a", "llm", "m", number * 10, number * 10 + 5, input=given, output=(said,)))
    found = assemble(Record("t", (*spans, *more), is_trace=True))
    expected = check_workflow({"tools_should_include": ["find"], "unlisted": "ignore"}, found).passed
    return expected, check_workflow({"tools_should_exclude": ["find"]}, found).passed


def test_a_tool_that_was_asked_for_and_lost() -> None:
    """A call is open where the run went on and no model was given the call again; else it was not executed."""
    words = Message("user", "Observation: x")
    assert outcome(((USER,), ASK), ((USER, words), DONE)) == (None, None)
    assert outcome(((USER,), ASK), ((USER, words), DONE), more=(Span("t", "a", "tool", "find", 16, 17),)) == (
        True,
        False,
    )
    assert outcome(((USER,), ASK), ((USER, ASK, RESULT), DONE)) == (True, False)
    assert outcome(((USER,), ASK), ((USER, ASK), DONE)) == (False, True)
    assert outcome(((USER,), ASK)) == (False, True)


def test_a_model_call_that_was_lost() -> None:
    """A call after the question that no model of the trace asked for is one of this run; before it, of another."""
    more = Message("user", "And now?")
    assert outcome(((USER, ASK, RESULT), DONE)) == (None, None)
    assert outcome(((USER, ASK, RESULT, DONE, more), DONE)) == (False, True)
    back = Message("assistant", None, (ToolCall("transfer_back_to_boss", {}, "c1"),))
    assert outcome(((USER, back, RESULT), DONE)) == (False, True)


def test_a_tool_of_a_model_whose_reply_was_not_sent() -> None:
    """Without contents, a model that asked for tools more often than there are tools leaves open which ran."""
    asked = {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": "tool_calls"}
    ended = {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": "stop"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}
    named = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}
    spans: list[dict[str, Any]] = []
    for number, about in enumerate((named, asked, tool, asked, {**tool, "gen_ai.tool.name": "book"}, ended)):
        span = {"traceId": "a" * 32, "spanId": f"{number + 1:016x}", "name": "s", "startTimeUnixNano": str(number + 1)}
        held = [{"key": key, "value": {"stringValue": value}} for key, value in about.items()]
        end = {"endTimeUnixNano": "99" if number == 0 else str(number + 2)}
        spans.append({**span, **end, "attributes": held, **({"parentSpanId": f"{1:016x}"} if number else {})})
    barred = {"tools_should_exclude": ["book"]}
    whole = load({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert (check_workflow(barred, whole).passed, "inside" in whole.unknown) == (False, False)
    less = load({"resourceSpans": [{"scopeSpans": [{"spans": [*spans[:4], spans[5]]}]}]})
    assert check_workflow(barred, less).passed is None
    assert "send all spans" in check_workflow(barred, less).reasons[0]


def test_all_turns_of_an_agent_on_one_span() -> None:
    """What one span shows of several turns are calls of this run, whether or not the span of a tool is there."""
    book = Message("assistant", None, (ToolCall("book", {}, "c2"),))
    given = (USER, ASK, RESULT, book, Message("tool", "y", tool_call_id="c2"))
    tool = Span("t", "m1", "tool", "book", 16, 17, call_id="c2")
    assert outcome((given, DONE), more=(tool,)) == (True, False)


def test_an_answer_of_a_trace_that_is_cut() -> None:
    """Where a span around others is lost, the last reply may not be the answer; what the top span says is."""
    said = Span("m", "a", "llm", "m", 1, 2, input=(USER,), output=(Message("assistant", "Let me see."),))
    cut = assemble(Record("t", (said,), is_trace=True))
    assert (cut.complete, cut.final_response) == (False, None)
    assert cut.unknown["answer"].endswith("send all spans of the run")
    assert assemble(Record("t", (said,), is_trace=True), parent="a").final_response == "Let me see."
    for text, answer in ((None, "Let me see."), ("Done.", "Done.")):
        whole = assemble(Record("t", (said, Span("a", None, "agent", "clerk", 0, 9, text=text)), is_trace=True))
        assert (whole.final_response, "answer" in whole.unknown) == (answer, False)
    # Only the web server's span around the agent is lost.
    inner = assemble(Record("t", (said, Span("a", "x", "agent", "clerk", 0, 9, text="Done.")), is_trace=True))
    assert inner.final_response == "Done."


def test_a_scorer_of_an_answer_that_was_cut_off() -> None:
    """A scorer of the answer is unscored where the trace ends before it, and not 0."""
    said = Span("m", "a", "llm", "m", 1, 2, input=(USER,), output=(Message("assistant", "Let me see."),))
    cut = assemble(Record("t", (said,), is_trace=True))
    scenario = {"id": "a", "question": "?", "scorers": [{"name": "contains_all", "arguments": {"texts": ["Done"]}}]}
    assert run_scenario(scenario, trajectory=cut)["pass"] is None

"""Tokens and costs of a run: those of its model calls, each once; unknown where one of them has none."""

import json
import math
from typing import Any

import pytest

from adjudge.model import Message
from adjudge.traces import Record, Span, assemble, load
from adjudge.traces._usage import Usage, read_usage, total_usage
from traces.encodings import value_of

SAID = Message("assistant", "Paris")
REPLY = {"role": "assistant", "content": "Paris"}


def call(start: int, usage: Usage | None, parent: str | None = "a", **more: Any) -> Span:
    """Return a model call."""
    return Span(f"llm {start}", parent, "llm", "chat", start, start + 1, output=(SAID,), usage=usage, **more)


def used(*spans: Span) -> tuple[int | None, int | None, float | None]:
    """Return what a run of these spans used."""
    found = assemble(Record("t", (Span("a", None, "agent", "a", 0, 99, usage=Usage(999, 999, 9.0)), *spans)))
    return found.prompt_tokens, found.completion_tokens, found.cost


def test_model_calls_are_added_up() -> None:
    """What an agent's span says of itself is the same again, and does not count."""
    assert used(call(1, Usage(20, 7, 0.1)), call(3, Usage(30, 5, 0.2))) == (50, 12, math.fsum((0.1, 0.2)))


def test_one_call_without_a_number_makes_the_sum_unknown() -> None:
    """A sum of some of the calls would be too small; each of the three numbers is known for itself."""
    assert used(call(1, Usage(20, 7, 0.1)), call(3, Usage(30, None))) == (50, None, None)
    assert used(call(1, Usage(20, 7)), call(3, None)) == (None, None, None)
    assert used() == (None, None, None)


def test_a_call_seen_twice_counts_once() -> None:
    """A model call inside another is the same one; if it has no numbers, those of the outer one count."""
    outer = call(1, Usage(20, 7, 0.1))
    assert used(outer, call(2, Usage(20, 7), parent="llm 1")) == (20, 7, None)
    assert used(outer, call(2, None, parent="llm 1")) == (20, 7, 0.1)
    assert used(outer, call(2, Usage(), parent="llm 1")) == (20, 7, 0.1)


def test_a_span_that_is_several_calls() -> None:
    """A span with tools inside has the numbers of its last call only: what the run used is unknown."""
    tool = Span("t", "llm 1", "tool", "f", 2, 3, call_id="c")
    assert used(call(1, Usage(20, 7)), tool) == (None, None, None)


def test_guardrails_do_not_count() -> None:
    """What a guardrail's model call used is not the agent's doing."""
    aside = Span("g", "a", "aside", "guard", 3, 9)
    assert used(call(1, Usage(20, 7)), aside, call(4, Usage(5, 5), parent="g"))[:2] == (20, 7)


@pytest.mark.parametrize("value", [-1, True, "20", 1.5, math.nan, math.inf, 10**20, None, [], {}])
def test_what_is_not_a_count(value: object) -> None:
    """A number of tokens is a whole number that can be one; anything else was not recorded."""
    assert read_usage({"input_tokens": value, "output_tokens": 7}) == Usage(None, 7)
    price = read_usage({"cost": value}).cost
    assert price is None or value == price == 1.5


def test_nothing_is_not_zero() -> None:
    """No calls used an unknown number of tokens, one that says zero used none."""
    assert total_usage([]) == Usage()
    assert total_usage([Usage(0, 0, 0.0)]) == Usage(0, 0, 0.0)


# --- where each format has them


def otlp(**attributes: Any) -> object:
    """Return a span of a model call."""
    said = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps([REPLY])} | attributes
    held = [{"key": key, "value": value_of(value)} for key, value in said.items() if not isinstance(value, float)]
    held += [{"key": key, "value": {"doubleValue": value}} for key, value in said.items() if isinstance(value, float)]
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**span, "attributes": held}]}]}]}


def langsmith(**more: Any) -> object:
    """Return a run of a model."""
    times = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01"}
    return [{"id": "1", "run_type": "llm", "name": "m", "outputs": {"messages": [REPLY]}, **times, **more}]


def langfuse(**more: Any) -> object:
    """Return a generation."""
    times = {"startTime": "2026-01-01T00:00:00", "endTime": "2026-01-01T00:00:01"}
    return [{"id": "1", "traceId": "t", "type": "GENERATION", "input": "q", "output": REPLY, **times, **more}]


INSPECT = {
    "epoch": 1,
    "events": [
        {
            "event": "model",
            "timestamp": "2026-01-01T00:00:00",
            "output": {"choices": [{"message": REPLY}], "usage": {"input_tokens": 20, "output_tokens": 7}},
        }
    ],
}
AGENTS = {
    "object": "trace.span",
    "id": "1",
    "trace_id": "t",
    "started_at": "2026-01-01T00:00:00",
    "ended_at": "2026-01-01T00:00:01",
    "span_data": {"type": "generation", "output": [REPLY], "usage": {"input_tokens": 20, "output_tokens": 7}},
}


@pytest.mark.parametrize(
    ("record", "cost"),
    [
        (otlp(**{"gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 7, "operation.cost": 0.5}), 0.5),
        (otlp(**{"gen_ai.usage.prompt_tokens": 20, "gen_ai.usage.completion_tokens": 7}), None),
        (otlp(**{"llm.token_count.prompt": 20, "llm.token_count.completion": 7, "llm.cost.total": 0.5}), 0.5),
        (
            otlp(
                **{
                    "langfuse.observation.type": "generation",
                    "langfuse.observation.usage_details": '{"input": 20, "output": 7, "total": 27}',
                    "langfuse.observation.cost_details": '{"input": 0.2, "total": 0.5}',
                }
            ),
            0.5,
        ),
        (langsmith(prompt_tokens=20, completion_tokens=7, total_cost=0.5), 0.5),
        (langsmith(extra={"metadata": {"usage_metadata": {"input_tokens": 20, "output_tokens": 7}}}), None),
        (langfuse(usageDetails={"input": 20, "output": 7}, costDetails={"total": 0.5}), 0.5),
        (langfuse(promptTokens=20, completionTokens=7, calculatedTotalCost=0.5), 0.5),
        (INSPECT, None),
        ([AGENTS], None),
    ],
    ids=["gen_ai", "older", "openinference", "langfuse.*", "langsmith", "metadata", "langfuse", "v2", "inspect", "sdk"],
)
def test_where_each_format_has_them(record: object, cost: float | None) -> None:
    """Every format's own place for tokens and costs is read."""
    found = load(record)
    assert (found.prompt_tokens, found.completion_tokens, found.cost) == (20, 7, cost)

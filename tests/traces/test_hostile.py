"""Records that are wrong on purpose end in a TrajectoryError that says where, or are read; they never hang or crash."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.traces import load
from support import assert_linear
from traces.encodings import TRACE, genai, observations

DEEP = 200_000


def nested(kind: str, depth: int = DEEP) -> Any:
    """Return a value that is nested deeply."""
    value: Any = "x"
    for _ in range(depth):
        value = [value] if kind == "list" else {kind: value}
    return value


def otlp(**change: Any) -> dict[str, Any]:
    """Return one OTLP span, changed."""
    span = {"traceId": TRACE, "spanId": "00000000000000aa", "startTimeUnixNano": 1, "endTimeUnixNano": 2, **change}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def attribute(key: str, value: Any) -> dict[str, Any]:
    """Return one OTLP span with one attribute."""
    return otlp(attributes=[{"key": key, "value": value}])


def any_value(depth: int) -> dict[str, Any]:
    """Return a value of OTLP that is nested deeply."""
    value: dict[str, Any] = {"stringValue": "x"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return value


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("[" * DEEP, "nested too deeply"),
        ('{"a":' * DEEP, "nested too deeply"),
        ({"messages": nested("messages")}, "nested too deeply|has no 'role'|must be"),
        ([{"role": "user", "content": nested("list")}], "cannot be written as JSON"),
        ([{"role": "assistant", "tool_calls": [{"name": "f", "arguments": nested("x")}]}], "arguments of a tool call"),
        (attribute("a", any_value(10_000)), r"attributes\[0\] is nested too deeply"),
        ({"id": "1", "run_type": "llm", "inputs": nested("output", 5_000)}, "nested too deeply"),
    ],
    ids=["lists", "objects", "messages", "content", "arguments", "attribute", "inputs"],
)
def test_deep_nesting_is_refused(data: object, place: str) -> None:
    """What is nested too deeply is an error, not a crash."""
    with pytest.raises(TrajectoryError, match=place):
        load(data)


def test_deep_text_in_an_attribute_is_text() -> None:
    """JSON text that is nested too deeply to be read stays text."""
    found = load(
        otlp(
            attributes=[
                {"key": "gen_ai.tool.name", "value": {"stringValue": "f"}},
                {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": "[" * DEEP + "]" * DEEP}},
            ]
        )
    )
    assert found.tools_used == ("f",)


def test_deep_traces_are_read() -> None:
    """A chain of a hundred thousand spans, and a tree of runs as deep, are only long."""
    parents = (str(n - 1) if n else None for n in range(100_000))
    one = observations()[2]
    chain = [
        {**one, "id": str(n), "parentObservationId": parent, "input": f'{{"n": {n}}}'}
        for n, parent in enumerate(parents)
    ]
    assert len(load(chain).tools_used) == 100_000
    run: dict[str, Any] = {"id": "0", "run_type": "tool", "name": "f", "start_time": 1, "end_time": 2}
    for number in range(1, 5_000):
        run = {"id": str(number), "run_type": "chain", "start_time": 1, "end_time": 2, "child_runs": [run]}
    assert load(run).tools_used == ("f",)


def test_a_tree_that_holds_itself() -> None:
    """A run that is its own descendant is an error."""
    run: dict[str, Any] = {"id": "0", "run_type": "chain"}
    run["child_runs"] = [run]
    with pytest.raises(TrajectoryError, match="its own descendant"):
        load(run)


def test_huge_attributes_are_read() -> None:
    """An attribute of ten megabytes is read like a small one."""
    document = otlp(
        attributes=[
            {"key": "gen_ai.tool.name", "value": {"stringValue": "f"}},
            {"key": "gen_ai.tool.call.result", "value": {"stringValue": "x" * 10_000_000}},
        ]
    )
    assert len((load(document).tool_calls or ())[0].result or "") == 10_000_000


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"resourceSpans": 3}, "the document: resourceSpans must be a list, got int"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]}, r"spans\[0\] must be an object, got text"),
        (otlp(traceId=None), r"scopeSpans\[0\].spans\[0\] has no traceId"),
        (otlp(spanId=7), r"spanId must be text, got int"),
        (otlp(startTimeUnixNano="soon"), "startTimeUnixNano must be a number, got text"),
        (otlp(attributes=[{"value": {}}]), r"attributes\[0\] has no 'key'"),
        (otlp(attributes="a"), "attributes must be a list, got text"),
        (attribute("gen_ai.tool.name", {"boolValue": True}), "gen_ai.tool.name must be text, got true or false"),
        (
            attribute("gen_ai.output.messages", {"stringValue": '[{"parts": [{"type": "tool_call"}]}]'}),
            "span 00000000000000aa: gen_ai.output.messages, message 0, part 0 has no 'name'",
        ),
        ([{"role": "user", "content": 3}, {"role": ""}], "message 1 has no 'role'"),
        ([{"role": "assistant", "tool_calls": [{"id": "c"}]}], "message 0, tool call 0 has no 'name'"),
        ([{"role": "assistant", "tool_calls": {"id": "c"}}], "message 0: tool_calls must be a list, got an object"),
        ([{"type": "function_call", "arguments": "{}"}], "message 0 has no 'name'"),
        ([{"object": "trace.span", "id": "s"}], "item 0.span_data must be an object, got nothing"),
        ([{"object": "trace.span", "span_data": {}}], "item 0.id is missing"),
        ([{"traceId": "t", "startTime": "tomorrow", "id": "o"}], "observation 0.startTime is not a time: 'tomorrow'"),
        ([{"traceId": "t", "startTime": 1}], "observation 0.id is missing"),
        ({"id": "1", "run_type": "llm", "child_runs": {}}, "run 0.child_runs must be a list"),
        ({"samples": [{"events": [{"event": "span_begin"}]}]}, r"sample 0.events\[0\].id is missing"),
        (b"\x0a\xff", "protobuf, byte 2"),
        (b"\x0a\x02\x0b\x0c", "unknown type 3"),
        (b"{]", "not JSON"),
        (b'{"resourceSpans": []}\n{"resourceSpans"', "line 2: not JSON"),
    ],
)
def test_wrong_types_are_named_with_their_place(data: object, place: str) -> None:
    """A value of the wrong type is an error that says where it stands and what it is."""
    with pytest.raises(TrajectoryError, match=place):
        load(data)


def test_text_that_a_terminal_would_obey_is_shown_escaped() -> None:
    """What a record wrote into an error has no control characters."""
    with pytest.raises(TrajectoryError) as caught:
        load([{"traceId": "t", "id": "o", "startTime": "\x1b[31mred\x07"}])
    assert caught.value.message.isprintable()


def many(size: int) -> list[dict[str, Any]]:
    """Return a run of `size` tool calls, all with one id, as some models write them."""
    chat: list[dict[str, Any]] = []
    for _ in range(size):
        chat.append(
            {"role": "assistant", "tool_calls": [{"id": "call_0", "function": {"name": "f", "arguments": "{}"}}]}
        )
        chat.append({"role": "tool", "tool_call_id": "call_0", "content": "r"})
    return chat


def unasked(size: int) -> list[dict[str, Any]]:
    """Return observations of `size` tools without ids that nobody asked for."""
    pdf = next(item for item in observations() if item["type"] == "TOOL")
    return [{**pdf, "id": str(number), "parentObservationId": None} for number in range(size)]


@pytest.mark.parametrize("make", [many, unasked])
def test_work_grows_with_the_record(make: Any) -> None:
    """Twice the calls cost twice the time, also where ids repeat or are missing."""

    def work(size: int) -> Any:
        data = make(size)
        return lambda: load(data)

    assert_linear(work, 2_000)


def test_files_that_lie(tmp_path: Path) -> None:
    """A file's name decides nothing: what is in it does."""
    (tmp_path / "trace.pb").write_text(json.dumps(genai()), encoding="utf-8")
    assert load(tmp_path / "trace.pb").tools_used == ("pdf_retrieval", "web_search")

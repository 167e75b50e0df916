"""Calls that were asked for and never ran, and calls that the model's service ran itself, in real records.

Each row of `refused.jsonl` is what a framework, or an instrumentation of it, wrote of one run with a scripted model:
people deny calls, arguments do not fit, tools are not there, a handoff has a name of its own.
"""

import json
from typing import Any

import pytest

from adjudge.traces import Record, Span, assemble, load
from adjudge.workflow import check_workflow
from support import GOLDEN

LINES = (GOLDEN / "frameworks" / "refused.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in map(json.loads, LINES)}


@pytest.mark.parametrize("name", ROWS)
def test_what_ran(name: str) -> None:
    """What was executed counts, what was only asked for does not; what the record cannot show is open."""
    row, found = ROWS[name], load(ROWS[name]["record"])
    assert found.complete
    assert sorted(found.unknown) == row["unknown"]
    assert list(found.agents_called) == row["agents"]
    assert [call.name for call in found.tool_calls or () if call.executed] == row["used"]
    assert [call.name for call in found.tool_calls or () if call.requested] == row["requested"]


@pytest.mark.parametrize("name", ROWS)
def test_no_false_verdict(name: str) -> None:
    """A tool that never ran is not there: expected it fails, forbidden it passes; or both are undecided."""
    row, found = ROWS[name], load(ROWS[name]["record"])
    is_open = "inside" in row["unknown"]
    for tool in {*row["requested"], *row["used"]}:
        ran = tool in row["used"]
        expected = {"tools_should_include": [tool], "unlisted": "ignore"}
        assert check_workflow(expected, found).passed is (True if ran else None if is_open else False)
        forbidden = {"tools_should_exclude": [tool]}
        assert check_workflow(forbidden, found).passed is (False if ran else None if is_open else True)


def test_a_tool_that_returns_nothing() -> None:
    """The span of a tool that returns None has no result, as that of one that waits; but the run goes on."""
    given = {"name": "log", "arguments": "{}"}
    asks = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": given}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "None"}
    about = {"object": "trace.span", "trace_id": "t"}

    def exported(number: int, **data: object) -> dict[str, Any]:
        times = {"started_at": f"2026-01-01T00:00:0{number}Z", "ended_at": f"2026-01-01T00:00:0{number + 1}Z"}
        return {**about, "id": str(number), "parent_id": "9", **times, "span_data": data}

    spans = [
        exported(1, type="generation", input=[{"role": "user", "content": "?"}], output=[asks]),
        exported(2, type="function", name="log", input="{}", output=None),
        exported(3, type="generation", input=[asks, result], output=[{"role": "assistant", "content": "Done."}]),
        {**exported(0, type="agent", name="ops"), "id": "9", "parent_id": None, "ended_at": "2026-01-01T00:00:09Z"},
    ]
    assert load(spans).tools_used == ("log",)
    # Words in place of the result are of whoever rejected the call: a result of a tool would be in the span.
    said = {**result, "content": "Not today."}
    spans[2] = exported(3, type="generation", input=[asks, said], output=[{"role": "assistant", "content": "No."}])
    assert (load(spans).tools_requested, load(spans).tools_used) == (("log",), ())
    # Without a model call after it, it waits; where the run failed, it may have been stopped in the middle.
    assert load([spans[0], spans[1], spans[3]]).tools_used == ()
    failed = {**spans[3], "error": {"message": "another tool failed"}}
    assert load([spans[0], spans[1], failed]).tools_used == ("log",)


def test_a_call_that_was_interrupted() -> None:
    """Whether a tool had begun when its run was interrupted is not in pydantic-ai's messages."""
    call = {"part_kind": "tool-call", "tool_name": "refund", "args": {}, "tool_call_id": "c"}
    back = {"part_kind": "tool-return", "tool_name": "refund", "tool_call_id": "c", "content": "It was interrupted."}
    asks = {"kind": "response", "parts": [call]}
    found = load([asks, {"kind": "request", "parts": [{**back, "outcome": "interrupted"}]}])
    assert (found.tools_used, "inside" in found.unknown) == ((), True)
    # A version without outcomes asks again in a part of its own: with errors of arguments, or with words of the tool.
    retry = {**back, "part_kind": "retry-prompt"}
    for content, used in (([{"type": "missing", "loc": ["order"]}], ()), ("Another order?", ("refund",))):
        assert load([asks, {"kind": "request", "parts": [{**retry, "content": content}]}]).tools_used == used


def test_an_ordinary_result_that_looks_like_a_refusal() -> None:
    """Where a tool's span shows that it ran, its words are its words; so are words that only begin alike."""
    words = "Tool execution was not approved."
    assert assemble(Record("t", (Span("1", None, "tool", "search", 1, 2, result=words),))).tools_used == ("search",)
    item = {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"}
    for output, used in ((words, ()), (f"{words} Yet.", ("search",)), ('{"assistant": "vip", "n": 1}', ("search",))):
        back = {"type": "function_call_output", "call_id": "c", "output": output}
        assert load([item, back]).tools_used == used

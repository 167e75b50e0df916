"""Handoffs by tools whose names say nothing: what a framework writes as their result, or a span, says what they are."""

from typing import Any

import pytest

from adjudge.model import Message, ToolCall, Trajectory
from adjudge.traces import Record, Span, assemble, load
from adjudge.workflow import check_workflow

OF_LANGGRAPH = "Successfully transferred to Billing Agent"
OF_OPENAI = '{"assistant": "Billing Agent"}'
TEAM = {"agents_should_include": ["desk", "Billing Agent"], "tools_should_include": ["refund"]}
TOOLS = ["assign_to_expert", "transfer_to_billing", "transfer_to_the_billing_agent", "escalate"]


def call(tool: str, identity: str, result: str) -> tuple[Message, Message]:
    """Return a call that a model asks for, and its result."""
    asked = Message("assistant", None, (ToolCall(tool, {}, identity),))
    return asked, Message("tool", result, tool_call_id=identity, name=tool)


def trace(tool: str, result: str, *, is_sent: bool = True, has_span: bool = True, second: str = "Billing Agent") -> Any:
    """Return a run in which one agent hands over to another, which calls a tool."""
    question = Message("user", "Refund A1.")
    asked, said = call(tool, "h", result)
    refund, refunded = call("refund", "r", "ok")
    calls: list[tuple[tuple[Message, ...], Message]] = [
        ((question,), asked),
        ((question, asked, said), refund),
        ((question, asked, said, refund, refunded), Message("assistant", "Refunded.")),
    ]
    spans = [Span("a", None, "agent", "desk", 0, 15, text="Refunded."), Span("b", None, "agent", second, 16, 99)]
    for number, (given, reply) in enumerate(calls, 1):
        output = (reply,) if is_sent else ()
        parent = "a" if number == 1 else "b"
        spans.append(Span(f"m{number}", parent, "llm", "m", number * 10, number * 10 + 2, input=given, output=output))
    if has_span:
        spans.append(Span("h", "a", "tool", tool, 13, 14, call_id="h", arguments={}, result=result))
    spans.append(Span("r", "b", "tool", "refund", 23, 24, call_id="r", arguments={}, result="ok"))
    return assemble(Record("t", tuple(spans), is_trace=True))


def messages(tool: str, result: str, second: str = "Billing Agent") -> Trajectory:
    """Return the same as a list of messages."""
    asked = {"id": "h", "function": {"name": tool, "arguments": "{}"}}
    refund = {"id": "r", "function": {"name": "refund", "arguments": "{}"}}
    return load(
        [
            {"role": "user", "content": "Refund A1."},
            {"role": "assistant", "name": "desk", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": "h", "content": result},
            {"role": "assistant", "name": second, "content": None, "tool_calls": [refund]},
            {"role": "tool", "tool_call_id": "r", "content": "ok"},
            {"role": "assistant", "name": second, "content": "Refunded."},
        ]
    )


@pytest.mark.parametrize("result", [OF_LANGGRAPH, OF_OPENAI])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_result_says_that_a_tool_hands_over(tool: str, result: str) -> None:
    """A tool of any name is a handoff where the framework's own result names an agent of the record."""
    for found in (trace(tool, result), messages(tool, result)):
        assert (found.agents_called, found.tools_used) == (("desk", "Billing Agent"), ("refund",))
        assert check_workflow(TEAM, found).passed is True


@pytest.mark.parametrize(
    ("result", "second"),
    [
        (OF_LANGGRAPH, "Shipping"),
        ("Transferred 5 dollars.", "Billing Agent"),
        (f"{OF_LANGGRAPH}: 5 dollars", "Billing Agent"),
    ],
)
def test_a_name_alone_says_nothing(result: str, second: str) -> None:
    """A tool that names no agent of the record, or says more than the framework does, is a tool that was used."""
    for found in (trace("escalate", result, second=second), messages("escalate", result, second)):
        assert found.tools_used == ("escalate", "refund")


@pytest.mark.parametrize(
    ("tool", "result"), [("transfer_to_billing_agent", "ok"), ("escalate", OF_OPENAI), ("transfer_to_x", OF_OPENAI)]
)
def test_a_handoff_whose_request_was_not_sent(tool: str, result: str) -> None:
    """A handoff is not a lost call of a model where the next agent has a span; another call is."""
    found = trace(tool, result, is_sent=False, has_span=False)
    assert "inside" not in found.unknown
    assert check_workflow({"tools_should_exclude": ["delete"]}, found).passed is True
    other = trace("lookup", "ok", is_sent=False, has_span=False)
    assert check_workflow({"tools_should_exclude": ["delete"]}, other).passed is None


def test_a_handoff_that_nothing_shows() -> None:
    """Where a tool that was given nothing is not expected, the reason says how to name it a handoff."""
    for found in (trace("escalate", "ok"), messages("escalate", "ok")):
        result = check_workflow(TEAM, found)
        assert result.passed is False
        hint = "if it hands over to an agent, say --map-agent escalate=NAME"
        assert result.reasons == (f"unlisted-called: tool 'escalate' was called and is not expected; {hint}",)
    named = {"escalate": "Billing Agent"}
    asked = {"role": "assistant", "name": "desk", "tool_calls": [{"id": "h", "function": {"name": "escalate"}}]}
    said = {"role": "tool", "tool_call_id": "h", "content": "ok"}
    last = {"role": "assistant", "name": "Billing Agent", "content": "Refunded."}
    found = load([{"role": "user", "content": "Refund A1."}, asked, said, last], agents=named)
    assert check_workflow({**TEAM, "tools_should_include": []}, found).passed is True

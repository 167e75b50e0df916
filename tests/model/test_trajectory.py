"""Every known form of a record gives a Trajectory; an unknown one is named."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import TrajectoryError
from adjudge.model import Message, ToolCall, Trajectory
from support import assert_linear

ASK = {"role": "user", "content": "Capital of France?"}
REQUEST = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "France"}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "Paris is the capital."}
REPLY = {"role": "assistant", "content": [{"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]}
CHAT: list[Any] = [ASK, REQUEST, RESULT, REPLY]


@pytest.mark.parametrize(
    "record",
    [
        CHAT,
        tuple(CHAT),
        [CHAT[:2], CHAT[2:]],
        json.dumps(CHAT),
        {"messages": CHAT},
        [Message.from_mapping(message) for message in CHAT],
        Trajectory.from_messages(CHAT),
    ],
    ids=["messages", "tuple", "segments", "json", "mapping", "typed", "trajectory"],
)
def test_one_record_in_every_form(record: object) -> None:
    """The same messages in any form are the same trajectory."""
    trajectory = Trajectory.from_messages(record)
    assert trajectory == Trajectory.from_messages(CHAT)
    assert trajectory.tools_requested == trajectory.tools_used == ("search",)
    assert trajectory.final_response == "Paris"
    assert trajectory.complete


@pytest.mark.parametrize("record", [None, [], (), "", "  "])
def test_an_empty_record_is_legal(record: object) -> None:
    """Nothing was done: no tools, no response, no error."""
    trajectory = Trajectory.from_messages(record)
    assert trajectory.tool_calls == ()
    assert trajectory.final_response is None


@pytest.mark.parametrize("record", [["Capital?", "Paris"], [["Capital?"], ["Paris"]], "Paris", '["Capital?", "Paris"]'])
def test_plain_texts_cannot_show_tools(record: object) -> None:
    """With texts alone, tool use is unknown, which is not the same as none."""
    trajectory = Trajectory.from_messages(record)
    assert trajectory.tool_calls is None
    assert trajectory.tools_used == ()
    assert trajectory.final_response == "Paris"


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (7, "int"),
        ({"role": "user"}, "dict"),
        ([ASK, {"content": "no role"}], "message 1 has no 'role'"),
        ([[ASK], [{"role": ""}]], "segment 1, message 0 has no 'role'"),
        ([ASK, "text"], "message 1"),
        ([ASK, None], "message 1"),
        ([{"role": "user", "content": 3}], "'content' must be text"),
        ([{"role": "user", "content": [3]}], "a part of 'content'"),
        ([{"role": "assistant", "tool_calls": "search"}], "'tool_calls' must be a list"),
        ([{"role": "assistant", "tool_calls": [{"id": "c1"}]}], "tool call 0 has no 'name'"),
        ([{"role": "assistant", "tool_calls": [{"name": "f", "arguments": 3}]}], "'arguments' must be"),
        ([{"role": "tool", "tool_call_id": {}}], "tool_call_id must be text"),
    ],
)
def test_an_unknown_form_is_named(record: object, named: str) -> None:
    """The error says which message is wrong, and how."""
    with pytest.raises(TrajectoryError, match=named):
        Trajectory.from_messages(record)


def call(name: str, identity: str | None = None) -> dict[str, Any]:
    """Return a message that asks for a tool."""
    return {"role": "assistant", "tool_calls": [{"id": identity, "function": {"name": name}}]}


def result(identity: str | None = None, name: str | None = None) -> dict[str, Any]:
    """Return a message with a tool's result."""
    return {"role": "tool", "tool_call_id": identity, "name": name, "content": "ok"}


@pytest.mark.parametrize(
    ("messages", "requested", "used"),
    [
        ([call("a", "1")], ("a",), ()),
        ([call("a", "1"), call("b", "2"), result("2")], ("a", "b"), ("b",)),
        ([call("a"), call("b"), result(None, "b"), result()], ("a", "b"), ("a", "b")),
        ([call("a", "1"), result("1"), call("b", "1"), result("1")], ("a", "b"), ("a", "b")),
        ([call("a", "1"), result("1"), result("1")], ("a",), ("a",)),
        ([result("9", "lost")], (), ("lost",)),
        ([result()], (), ("",)),
        ([call("a", "1"), {"role": "function", "name": "a", "content": "ok"}], ("a",), ("a",)),
        ([{"role": "assistant", "content": '{"role": "tool", "content": "fake"}'}], (), ()),
        ([{"role": "user", "content": "<tool_response>fake</tool_response>"}], (), ()),
    ],
)
def test_results_are_joined_to_requests(
    messages: list[dict[str, Any]], requested: tuple[str, ...], used: tuple[str, ...]
) -> None:
    """A call counts as executed when its result is there, found by id, else by name, else by order."""
    trajectory = Trajectory.from_messages(messages)
    assert trajectory.tools_requested == requested
    assert trajectory.tools_used == used


def test_what_adjudge_does_not_know_is_kept() -> None:
    """Unknown keys of a message stay with it, arguments stay as the model wrote them."""
    message = Message.from_mapping({**REQUEST, "reasoning": "hmm"})
    assert message.extra == {"reasoning": "hmm"}
    assert message.tool_calls == (ToolCall("search", '{"q": "France"}', "c1"),)


def test_joining_is_linear() -> None:
    """Twice the messages cost about twice the time, also where no id joins them."""

    def work(size: int) -> Any:
        messages = [call(f"t{index}") for index in range(size)] + [result(None, f"t{index}") for index in range(size)]
        return lambda: Trajectory.from_messages(messages)

    assert_linear(work, 1500)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_a_trajectory_or_a_trajectory_error(record: object) -> None:
    """Nothing else ever comes out of a record, whatever it holds."""
    try:
        trajectory = Trajectory.from_messages(record)
    except TrajectoryError:
        return
    assert isinstance(trajectory, Trajectory)

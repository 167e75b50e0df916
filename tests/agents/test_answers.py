"""What agents return: messages of frameworks as objects, alone, in a list or in a graph's state."""

from typing import Any

import pytest

from adjudge.agents import to_trajectory
from adjudge.agents._answer import decode_answer
from adjudge.errors import DataError, RowError, TrajectoryError
from adjudge.model import Case


class Message:
    """A message as LangChain has it: a pydantic model."""

    def __init__(self, kind: str, content: object, **fields: Any) -> None:
        self._fields = {"type": kind, "content": content, **fields}

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""
        return self._fields


class State:
    """A graph's state as a pydantic model."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""
        return self._fields


CALL = {"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
MESSAGES = [
    Message("human", "q"),
    Message("ai", "", name="research", tool_calls=[CALL]),
    Message("tool", "found", tool_call_id="c1"),
    Message("ai", [{"type": "text", "text": "done"}], name="research"),
]


@pytest.mark.parametrize(
    "answer",
    [MESSAGES, tuple(MESSAGES), {"messages": MESSAGES}, State(messages=MESSAGES)],
    ids=lambda one: type(one).__name__,
)
def test_messages_as_objects(answer: object) -> None:
    """A list of message objects, and a state that holds it, show agents, tools and the answer."""
    found = to_trajectory(Case("1", "q"), answer)
    assert (found.agents_called, found.tools_used, found.final_response) == (("research",), ("search",), "done")
    assert list(found.unknown) == ["others"]  # a graph's list does not show who left no message


def test_one_message_as_an_object() -> None:
    """One message object is the answer; who is not named is unknown."""
    found = to_trajectory(Case("1", "q"), Message("ai", [{"type": "text", "text": "4"}]))
    assert found.final_response == "4"
    assert "agents" in found.unknown


@pytest.mark.parametrize("answer", [None, 5, object(), ("done", []), ("done", [{"role": "user", "content": "q"}])])
def test_what_is_not_an_answer(answer: Any) -> None:
    """An object that is not an answer, as a framework's result or its graph, is an error that says what to return."""
    with pytest.raises(DataError, match="return a text, messages, or a mapping with response and messages"):
        to_trajectory(Case("1", "q"), answer)


def test_a_model_with_an_answer() -> None:
    """A model with a text under one of the usual names is read like a mapping; one without is an error."""
    assert to_trajectory(Case("1", "q"), State(answer="4", sources=["a"])).sources == ("a",)
    with pytest.raises(DataError, match=r"has none of response, .* as a text; it has"):
        to_trajectory(Case("1", "q"), State(verdict="4"))
    with pytest.raises(DataError, match=r" as a text; it has 'answer', 'steps'"):
        to_trajectory(Case("1", "q"), {"answer": {"text": "4"}, "steps": []})


def test_bytes_are_json() -> None:
    """What pydantic-ai writes as JSON is read as messages; other bytes are an error."""
    said = b'[{"kind": "response", "parts": [{"part_kind": "text", "content": "4"}]}]'
    assert to_trajectory(Case("1", "q"), said).final_response == "4"
    with pytest.raises(TrajectoryError, match="JSON"):
        to_trajectory(Case("1", "q"), b"four")


class Text(str):
    """A text as LangChain's `message.text` and smolagents' answers are."""

    __slots__ = ()


@pytest.mark.parametrize(
    "answer", [Text("Paris"), {"response": Text("Paris")}, {"output": Text("Paris"), "messages": []}]
)
def test_texts_of_a_class_of_their_own(answer: Any) -> None:
    """A text of any class is a text: it is kept in a run like every other."""
    found = to_trajectory(Case("1", "q"), answer)
    assert type(found.final_response) is str
    assert found.final_response == "Paris"
    assert all(type(message.content) is str for message in found.messages if message.role == "assistant")


def test_an_answer_beside_messages_that_have_none() -> None:
    """An answer counts where its messages have none; a trajectory is not one of the messages."""
    steps = {"thought_0": "t", "tool_name_0": "search", "tool_args_0": {"q": "x"}, "observation_0": "found"}
    found = to_trajectory(Case("1", "q"), {"response": "done", "messages": steps})
    assert (found.tools_used, found.final_response) == (("search",), "done")
    assert "answer" not in found.unknown
    with pytest.raises(TrajectoryError, match="neither content nor calls, but 'tool_args_0'"):
        to_trajectory(Case("1", "q"), {"response": "done", "messages": [steps]})


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "error", "message": "LLM quota exceeded", "tools_used": []},
        {"status": "Error", "response": "LLM quota exceeded"},
        {"status": "failed", "message": "LLM quota exceeded"},
        {"status": 503, "message": "LLM quota exceeded"},
        {"error": "LLM quota exceeded", "message": "try again"},
        {"error": {"message": "LLM quota exceeded"}, "response": " "},
        {"error": {"message": "LLM quota exceeded"}, "response": "Sorry", "tools_used": [], "agents_called": []},
        {"error": {"message": "LLM quota exceeded"}, "messages": [{"role": "assistant", "content": "Sorry"}]},
    ],
)
def test_an_answer_that_is_an_error(answer: dict[str, Any]) -> None:
    """An answer that says it is an error is one: nothing passes or fails by what it lacks."""
    with pytest.raises(DataError, match=r"the agent's answer is an error: .*LLM quota exceeded"):
        to_trajectory(Case("1", "?"), answer)


@pytest.mark.parametrize(
    "more",
    [
        {"message": "done", "status": "ok"},
        {"message": "done", "status": 200},
        {"message": "done", "error": None},
        {"response": "Your payment failed.", "status": "failed"},
        {"response": "Two of three sources answered.", "error": "one timed out"},
        {"response": "done", "error": {}},
        {"response": "done", "error": {"code": 0, "message": ""}},
    ],
)
def test_an_answer_beside_a_status(more: dict[str, Any]) -> None:
    """A status of something else, and an error beside an answer, leave the answer one."""
    assert to_trajectory(Case("1", "?"), more).final_response == more.get("response", "done")


def test_an_answer_that_is_not_json() -> None:
    """What is not JSON is quoted, made safe for a terminal and the log of a CI system; a byte order mark is fine."""
    assert decode_answer(b'\xef\xbb\xbf{"response": "4"}') == {"response": "4"}
    page = b"<html>\n<title>Sign in</title> ::error::x" + b" padding" * 100
    with pytest.raises(RowError, match=r"not JSON: .*; it begins with <html> <title>Sign in</title> : :error: :x p"):
        decode_answer(page)
    with pytest.raises(RowError, match="the agent's answer is empty"):
        decode_answer(b"")

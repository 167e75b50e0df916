"""What a stranger found: a fault of the call or of the agent must not look like something that the agent did."""

import asyncio
import concurrent.futures
from collections.abc import Awaitable

import pytest

from adjudge.agents import get_agent
from adjudge.agents._shape import AnswerFields
from adjudge.calling import in_thread
from adjudge.errors import DataError, describe_error
from adjudge.model import Case
from adjudge.runs._cases import case_of


def test_a_place_that_no_item_has() -> None:
    """Where there are items and none has the place, the list is not there; where there are no items, it is empty."""
    fields = AnswerFields({"tools_used": "$.steps[*].nam"})
    assert "tools_used" not in fields.apply({"response": "x", "steps": [{"name": "search"}]})
    assert fields.apply({"response": "x", "steps": []})["tools_used"] == []
    assert fields.apply({"response": "x", "steps": [{"nam": "search"}, {}]})["tools_used"] == ["search"]


@pytest.mark.parametrize("row", [{"answer": "Paris"}, {"question": None, "answer": "Paris"}])
def test_a_case_without_a_question_is_not_asked(row: dict[str, object]) -> None:
    """An agent that is asked nothing would be scored for what it makes of that."""
    with pytest.raises(DataError, match="no question to ask"):
        case_of("a", row)
    assert case_of("a", {**row, "prompt": "Capital?"}).question == "Capital?"


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        SystemExit(0),
        BaseException("own"),
        GeneratorExit(),
        StopIteration(),
        BaseExceptionGroup("several", [KeyboardInterrupt()]),
        asyncio.CancelledError(),
        concurrent.futures.CancelledError(),
    ],
    ids=repr,
)
def test_an_agent_that_raises_what_is_not_an_exception(error: BaseException) -> None:
    """It fails at once, and is not waited for until the deadline, whatever its function raises."""

    def agent() -> None:
        raise error

    async def ask() -> None:
        async with asyncio.timeout(60):
            await in_thread(agent)

    with pytest.raises(RuntimeError, match=type(error).__name__):
        asyncio.run(ask())


def test_notes_are_not_what_was_raised() -> None:
    """The reason is the exception's own message, whatever notes a framework adds to it."""
    error = RuntimeError("db down")
    error.add_note("During task with name 'tools' and id '1'")
    assert describe_error(error) == "RuntimeError: db down"


@pytest.mark.parametrize(
    "error",
    [BaseException("own"), GeneratorExit(), BaseExceptionGroup("several", [BaseException()]), asyncio.CancelledError()],
    ids=repr,
)
@pytest.mark.parametrize("is_hidden", [False, True], ids=["async", "behind a function"])
def test_an_async_agent_that_raises_what_is_not_an_exception(error: BaseException, is_hidden: bool) -> None:
    """It fails its own row, and does not end the run."""

    async def agent(question: str) -> str:
        raise error

    def hidden(question: str) -> Awaitable[str]:
        return agent(question)

    asked = get_agent(hidden if is_hidden else agent)
    with pytest.raises(RuntimeError, match=type(error).__name__):
        asyncio.run(asyncio.wait_for(asked.respond(Case("1", question="?"), ()), 60))


def test_an_async_agent_that_is_cancelled() -> None:
    """A cancellation from outside is one: the deadline stays the deadline."""

    async def agent(question: str) -> None:
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(get_agent(agent).respond(Case("1", question="?"), ()), 0.05))

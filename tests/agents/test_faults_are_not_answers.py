"""What a stranger found: a fault of the call or of the agent must not look like something that the agent did."""

import asyncio

import pytest

from adjudge.agents._shape import AnswerFields
from adjudge.calling import in_thread
from adjudge.errors import DataError
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


def test_an_agent_that_raises_what_only_a_user_can() -> None:
    """It fails at once, and is not waited for until the deadline."""

    def agent() -> None:
        raise KeyboardInterrupt

    with pytest.raises(RuntimeError, match="KeyboardInterrupt"):
        asyncio.run(in_thread(agent))

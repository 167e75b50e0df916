"""Rows of conversations: every layout gives the same conversation, every fault names its place."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.datasets import LABELS, read_conversations
from adjudge.errors import RowError
from adjudge.model import Conversation
from support import golden

ROWS = golden("crag_rows")


def told(conversation: Conversation) -> dict[str, Any]:
    """Return what a golden row says of a conversation."""
    return {
        "id": conversation.id,
        "is_ego": conversation.metadata["is_ego"],
        "turns": [[turn.id, turn.question, list(turn.references)] for turn in conversation.turns],
        "labels": [[turn.metadata[name] for name in LABELS] for turn in conversation.turns],
    }


@pytest.mark.parametrize("case", [row for row in ROWS if "expected" in row], ids=lambda case: case["why"])
def test_layouts(case: dict[str, Any]) -> None:
    """A row of any known layout is a conversation."""
    data = read_conversations([case["row"]], require_answers=case.get("require_answers", True))
    assert [told(read.conversation) for read in data] == [case["expected"]]


@pytest.mark.parametrize("case", [row for row in ROWS if "error" in row], ids=lambda case: case["why"])
def test_faults_name_row_and_field(case: dict[str, Any]) -> None:
    """A row that cannot be used is one line that names the row, the field and the closest match."""
    with pytest.raises(RowError) as caught:
        list(read_conversations([case["row"]]))
    assert caught.value.message == case["error"]
    assert "\n" not in caught.value.message


def test_cases_have_the_columns_of_turn_data() -> None:
    """The cases of a conversation carry session, interaction, turn number, count, ego and labels."""
    row = {
        "session_id": "s",
        "turns": [{"interaction_id": one, "query": "Q", "domain": 2} for one in "ab"],
        "answers": [{"interaction_id": one, "ans_full": "A"} for one in "ab"],
    }
    (read,) = read_conversations([row])
    case = read.conversation.cases()[1]
    assert (case.id, case.conversation_id, case.turn) == ("b", "s", 1)
    assert dict(case.metadata) == {
        "session_id": "s",
        "is_ego": True,
        "image_url": None,
        "total_turn_count": 2,
        "interaction_id": "b",
        "turn_idx": 1,
        "domain": 2,
        "query_category": None,
        "dynamism": None,
        "image_quality": None,
    }


def test_rows_of_a_table() -> None:
    """Values of numpy, as tables have them, are taken for what they are; NaN is nothing."""
    turns = {"interaction_id": np.array([1, 2]), "query": np.array(["Q", "R"]), "domain": np.array([3.0, np.nan])}
    answers = {"interaction_id": np.array([1, 2]), "ans_full": np.array(["A", "B"])}
    row = {"session_id": np.int64(5), "image_url": np.nan, "turns": turns, "answers": answers}
    (read,) = read_conversations([row])
    assert told(read.conversation) == {
        "id": "5",
        "is_ego": True,
        "turns": [["1", "Q", ["A"]], ["2", "R", ["B"]]],
        "labels": [[3, None, None, None], [None] * 4],
    }
    question = {"id": np.int32(1), "question": "Q", "answers": np.array(["A"]), "domain": np.array([2])}
    (read,) = read_conversations([question])
    assert told(read.conversation)["labels"] == [[2, None, None, None]]
    assert read.conversation.turns[0].references == ("A",)


text = st.text(min_size=1).filter(str.strip)
label = st.none() | st.integers(-1, 20) | st.text()
turn = st.fixed_dictionaries({"query": text, "ans_full": text, **dict.fromkeys(LABELS, label)})


@given(st.lists(turn, min_size=1, max_size=6), text, st.none() | st.just("https://example.org/x.png"), st.randoms())
def test_both_layouts_are_the_same_conversation(
    turns: list[dict[str, Any]], session: str, url: str | None, chance: Any
) -> None:
    """Whatever the values, a list a column and a mapping a turn give equal conversations, and nothing is lost."""
    asked = [
        {"interaction_id": f"i{index}", **{name: one[name] for name in ("query", *LABELS)}}
        for index, one in enumerate(turns)
    ]
    gold = [{"interaction_id": f"i{index}", "ans_full": one["ans_full"]} for index, one in enumerate(turns)]
    chance.shuffle(gold)
    row = {"session_id": session, "image_url": url, "turns": asked, "answers": gold}
    columns = {name: [one[name] for one in asked] for name in asked[0]}
    answers = {name: [one[name] for one in gold] for name in gold[0]}
    (by_turn,) = read_conversations([row])
    (by_column,) = read_conversations([{**row, "turns": columns, "answers": answers}])
    assert by_turn.conversation == by_column.conversation
    found = by_turn.conversation
    assert found.id == session
    assert found.metadata["is_ego"] is (url is None)
    for one, read in zip(turns, found.turns, strict=True):
        assert (read.question, read.references) == (one["query"], (one["ans_full"],))
        assert {name: read.metadata[name] for name in LABELS} == {name: one[name] for name in LABELS}


json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("session_id", "turns", "answers", "image", "image_url", "question", "answer", "turn_idx", "id")
names = st.sampled_from(FIELDS)


@given(st.dictionaries(names, json_value, max_size=6) | json_value)
def test_nothing_but_row_errors(row: Any) -> None:
    """Whatever stands in a row, it is a conversation or a `RowError`."""
    faults: list[RowError] = []
    found = list(read_conversations([row], on_fault=faults.append))
    assert len(found) + len(faults) == 1

"""What counts as rows, and a scorer called like a function."""

import pickle
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adjudge.errors import UsageError
from adjudge.model import Score
from adjudge.rewards import get_scorer, named, reward, weighted

ROWS: list[dict[str, Any]] = [
    {"final_response": "Paris", "answer": "Paris"},
    {"final_response": "Lyon", "answer": "Paris"},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
MESSAGES = [
    {"role": "user", "content": "Capital of France?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "search"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "Paris"},
    {"role": "assistant", "content": [{"type": "text", "text": "Paris"}]},
]


class TestTables:
    """Whoever has a table need not take it apart."""

    @pytest.mark.parametrize(
        "table", [COLUMNS, pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS), iter(ROWS)]
    )
    def test_a_table_gives_the_scores_of_its_rows(self, table: Any) -> None:
        """A dict of columns, a frame and an iterator are scored as the list of their rows."""
        scorer = get_scorer("qa_f1_reward")
        assert scorer.score_many(table) == scorer.score_many(ROWS)

    def test_columns_of_different_lengths_are_refused(self) -> None:
        """A dict whose columns differ in length is a wrong call: no row is dropped or made up."""
        with pytest.raises(UsageError, match="one length"):
            get_scorer("qa_f1_reward").score_many({"final_response": ["Paris"], "answer": ["Paris", "Lyon"]})

    def test_no_columns_are_no_rows(self) -> None:
        """An empty table has no scores."""
        assert get_scorer("qa_f1_reward").score_many({}) == []


class TestCalls:
    """A scorer is a function, too."""

    def test_rows_give_a_list_and_columns_one_score(self) -> None:
        """Called with rows a scorer gives a score each, called with columns by name that of one row."""
        scorer = get_scorer("qa_f1_reward")
        assert scorer(ROWS) == scorer.score_many(ROWS)
        assert scorer(**ROWS[1]) == scorer.score(ROWS[1])

    def test_a_trainer_is_shown_the_adapter(self) -> None:
        """A scorer handed to TRL as it is names the function that makes a reward function of it."""
        with pytest.raises(UsageError, match=r"integrations\.trl\.reward_function"):
            get_scorer("qa_f1_reward")(prompts=["?"], completions=["Paris"])

    def test_the_name_of_the_function_is_that_of_the_scorer(self) -> None:
        """`__name__` is what trainers log a reward under."""
        assert get_scorer("qa_f1_reward").__name__ == "qa_f1_reward"


class TestMessages:
    """Trainers have the messages of a rollout where a row has its response."""

    @pytest.mark.parametrize("name", ["qa_f1_reward", "qa_f1_reward_tool", "math_equal_reward", "contains_reward"])
    def test_messages_are_their_final_response(self, name: str) -> None:
        """A response that is a list of messages is scored as its last reply, tools and all."""
        assert get_scorer(name)(final_response=MESSAGES, answer="Paris").value == 1.0

    def test_a_judge_reads_them_as_well(self) -> None:
        """The same for a judge."""
        score = get_scorer("local:0")(question="Capital of France?", reference="Paris", response=MESSAGES)
        assert score.value == 1.0

    def test_a_reward_of_ones_own_gets_text_and_trajectory(self) -> None:
        """A function gets the text; messages fill the trajectory only where the row has none."""
        seen: list[Any] = []

        @reward
        def own(final_response: str, trajectory: Any) -> float:
            seen.append((final_response, trajectory))
            return 1.0

        get_scorer(own)([{"final_response": MESSAGES}, {"final_response": MESSAGES, "trajectory": []}])
        assert seen == [("Paris", MESSAGES), ("Paris", [])]

    def test_messages_without_a_reply_are_an_empty_response(self) -> None:
        """An agent that said nothing is wrong, not an error."""
        score = get_scorer("qa_f1_reward")(final_response=MESSAGES[:1], answer="Paris")
        assert (score.status, score.value) == ("scored", 0.0)

    def test_what_is_no_list_of_messages_is_an_error(self) -> None:
        """A list of other things is a fault of the row."""
        score = get_scorer("qa_f1_reward")(final_response=[{"text": "Paris"}], answer="Paris")
        assert (score.status, str(score.reason).partition(":")[0]) == ("error", "bad-value")


class TestNamed:
    """A composite's name says what it is made of; a log wants a word."""

    def test_only_the_name_changes(self) -> None:
        """Values, parts, reasons and versions are those of the scorer; the name is in every score."""
        inner = weighted({"qa_f1_reward": 0.8, "contains_reward": 0.2})
        good = named("good", inner)
        for one, other in zip(good(ROWS), inner(ROWS), strict=True):
            assert (one.value, one.parts, one.reason) == (other.value, other.parts, other.reason)
            assert one.provenance is not None
            assert one.provenance.scorer == good.name == good.__name__ == "good"

    def test_it_travels_to_another_process(self) -> None:
        """A named composite pickles."""
        good = pickle.loads(pickle.dumps(named("good", weighted({"qa_f1_reward": 1.0}))))  # noqa: S301 (our own)
        assert good(ROWS)[0].value == 1.0

    @pytest.mark.parametrize("name", ["", "a\nb"])
    def test_a_name_is_a_line_of_text(self, name: str) -> None:
        """A name that would break a table is refused."""
        with pytest.raises(UsageError):
            named(name, "qa_f1_reward")


class TestWarmUp:
    """The first heavy row need not wait for a process."""

    def test_it_starts_what_the_members_need(self) -> None:
        """A composite warms up its members; a scorer without anything to start has nothing to do."""
        warmed: list[str] = []

        @reward(warm_up=lambda: warmed.append("own"))
        def own(final_response: str) -> Score:
            return Score.scored(1.0)

        named("good", weighted({own: 0.5, "qa_f1_reward": 0.5})).warm_up()
        assert warmed == ["own"]

    def test_math_has_its_worker_afterwards(self) -> None:
        """After it, sympy is imported in a worker."""
        from adjudge.rewards.math._worker import _pool

        get_scorer("math_equal_reward").warm_up()
        assert _pool().pids

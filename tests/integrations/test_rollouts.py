"""A rollout as a row."""

from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.integrations import openrlhf, verl
from adjudge.integrations._rollouts import prompt_text, rollout_row, with_groups
from adjudge.rewards import get_scorer, reward

USED = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "search"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "Paris"},
    {"role": "assistant", "content": "Paris"},
]


class TestRow:
    """What the agent did comes from the rollout alone."""

    def test_columns_do_not_stand_in_for_the_rollout(self) -> None:
        """A data set's own `final_response`, `trajectory` and `prompt` are replaced."""
        columns = {"final_response": "Paris", "trajectory": USED, "prompt": "old", "answer": "Paris"}
        row = rollout_row("Capital of France?", "Lyon", columns)
        assert row == {
            "final_response": "Lyon",
            "trajectory": ["Lyon"],
            "prompt": "Capital of France?",
            "answer": "Paris",
        }

    @pytest.mark.parametrize("name", ["response", "prediction", "candidate"])
    def test_a_judge_reads_the_rollout_and_no_column(self, name: str) -> None:
        """Names that judges take for a response are the rollout's, too: data sets have a column `response`."""
        row = rollout_row("Capital of France?", "Lyon", {name: "Paris", "answer": "Paris"})
        assert get_scorer("local:0").score(row).value == 0.0
        assert get_scorer("qa_em_reward").score(row).value == 0.0

    def test_text_cannot_show_tools(self) -> None:
        """A completion that is plain text leaves open whether a tool was used."""
        score = get_scorer("qa_f1_reward_tool").score(rollout_row("?", "Paris", {"answer": "Paris"}))
        assert (score.status, score.reason) == ("unscored", "tool-use-unknown")

    def test_tools_of_the_prompt_are_not_the_agents(self) -> None:
        """Tool results in the prompt were there before the rollout."""
        last = [{"role": "assistant", "content": "Paris"}]
        asked = [{"role": "user", "content": "?"}, *USED]
        tool = get_scorer("qa_f1_reward_tool")
        assert tool.score(rollout_row(asked, last, {"answer": "Paris"})).value == 0.0
        assert tool.score(rollout_row(asked[:1], USED, {"answer": "Paris"})).value == 1.0

    def test_a_judge_finds_the_question(self) -> None:
        """The text of the prompt is the question of a judge, unless the data set has one."""
        row = rollout_row([{"role": "user", "content": "Capital of France?"}], USED, {"answer": "Paris"})
        assert get_scorer("local:0").score(row).value == 1.0

    @pytest.mark.parametrize("broken", [{"role": 3, "content": "x"}, {"role": "assistant", "tool_calls": "search"}])
    def test_messages_that_cannot_be_read_are_an_error_of_their_row(self, broken: dict[str, Any]) -> None:
        """One odd message ends no training: an exception on one rank would leave the others waiting."""
        good = {"role": "assistant", "content": "Paris"}
        scorer = get_scorer("qa_f1_reward")
        score = scorer.score(rollout_row("?", [broken, good], {"answer": "Paris"}))
        assert (score.status, str(score.reason).partition(":")[0]) == ("error", "bad-trajectory")
        # The prompt is looked at by judges alone.
        row = rollout_row([broken], [good], {"answer": "Paris"})
        assert scorer.score(row).value == 1.0
        assert get_scorer("local:0").score(row).status == "error"

    def test_no_user_at_all(self) -> None:
        """A prompt without a question is an empty text."""
        assert prompt_text([{"role": "system", "content": "Be brief."}]) == ""


class TestGroups:
    """A group that is torn gives wrong numbers, so it is refused."""

    @staticmethod
    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        """Rank by length."""
        return [len(text) / 10 for text in final_response]

    def rows(self, count: int) -> list[dict[str, Any]]:
        """Return some rows."""
        return [{"final_response": "x" * index} for index in range(count)]

    def test_rollouts_in_order_are_grouped(self) -> None:
        """Groups are so many rollouts in a row."""
        rows = self.rows(6)
        with_groups(get_scorer(self.rank), rows, 3)
        assert [row["group_id"] for row in rows] == [0, 0, 0, 1, 1, 1]

    def test_a_column_wins(self) -> None:
        """A data set that says the group is believed."""
        rows = [{**row, "group_id": "a"} for row in self.rows(2)]
        with_groups(get_scorer(self.rank), rows, None)
        assert {row["group_id"] for row in rows} == {"a"}

    @pytest.mark.parametrize("empty", ["", None, float("nan")])
    def test_an_empty_cell_is_not_a_group(self, empty: object) -> None:
        """Rollouts whose group is not given do not belong together: they are refused."""
        rows = [{**row, "group_id": group} for row, group in zip(self.rows(2), ("a", empty), strict=True)]
        with pytest.raises(UsageError, match="empty group_id"):
            with_groups(get_scorer(self.rank), rows, None)

    @pytest.mark.parametrize(("count", "size"), [(6, None), (6, 4)])
    def test_unknown_and_torn_groups_are_refused(self, count: int, size: int | None) -> None:
        """Without a size, or with a batch that is not a multiple of it, nobody knows who belongs together."""
        with pytest.raises(UsageError, match=r"all .*rollouts of one prompt"):
            with_groups(get_scorer(self.rank), self.rows(count), size)


def test_columns_of_different_lengths_are_named() -> None:
    """A trainer that hands over too few values learns of which column, from verl's function and OpenRLHF's."""
    with pytest.raises(UsageError, match="'labels': 1"):
        openrlhf._scores(get_scorer("qa_em_reward"), ["q a", "q b"], ["q", "q"], ["a"])
    with pytest.raises(UsageError, match="'ground_truths': 1"):
        verl._batch_rows(["d", "d"], ["a", "b"], ["a"], None)

"""How a reward is asked: arguments by name, three outcomes, checked results, sync and async."""

import asyncio
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from adjudge.errors import ArgumentError, UsageError
from adjudge.model import Environment, Provenance, Score
from adjudge.rewards import Reward, get_reward, reward
from adjudge.rewards._tag import Row

ROW = {"final_response": "Paris", "answer": "Paris", "trajectory": []}


class FakeContext:
    """A rollout without environments."""

    def __init__(self, group_id: str | None = None) -> None:
        self.rollout_id = "r1"
        self.group_id = group_id

    async def acquire_resource(self, spec: object, *, timeout: float = 60.0) -> Environment:  # noqa: ASYNC109 (the protocol's)
        """Never called here."""
        raise AssertionError(spec)


class TestArguments:
    """Every parameter is filled by name, and nothing is dropped silently."""

    def test_columns_become_arguments(self) -> None:
        """A parameter is the column of its name; columns that nobody asked for are ignored."""

        @reward
        def rule(final_response: str, difficulty: int, bonus: float = 0.5) -> float:
            return difficulty + bonus

        score = get_reward(rule).score({"final_response": "x", "difficulty": 2, "topic": "art"})
        assert (score.value, score.status) == (2.5, "scored")

    def test_kwargs_get_the_remaining_columns(self) -> None:
        """`**kwargs` holds what no named parameter took."""
        seen: dict[str, Any] = {}

        @reward
        def rule(answer: str, **kwargs: Any) -> float:
            seen.update(kwargs)
            return 1.0

        get_reward(rule).score({**ROW, "topic": "art"})
        assert seen == {"final_response": "Paris", "trajectory": [], "topic": "art"}

    def test_prediction_is_the_response(self) -> None:
        """The seed's tables call the response `prediction`; rows may too."""
        score = get_reward("qa_f1_reward").score({"prediction": "Paris", "answer": "Paris"})
        assert score.value == 1.0

        @reward
        def rule(final_response: str) -> float:
            return float(len(final_response))

        assert get_reward(rule).score({"prediction": "four"}).value == 4.0

    def test_a_column_never_shadows_the_context(self) -> None:
        """A data set's column `context` is not the Context, injected or not, and harms nothing."""
        seen: list[object] = []

        @reward
        def rule(final_response: str, context: object = None) -> float:
            seen.append(context)
            return 1.0

        scorer = get_reward(rule)
        context = FakeContext()
        row = {**ROW, "context": "some passage"}
        assert scorer.score(row, context=context).status == "scored"
        assert scorer.score(row).status == "scored"
        assert seen == [context, None]
        assert get_reward("qa_f1_reward").score({**row, "trajectory": 7}).value == 1.0

    def test_a_needed_context_that_is_not_there_is_an_error(self) -> None:
        """A reward that needs the Context says so when it gets none."""

        @reward
        def rule(context: object) -> float:
            return 1.0

        score = get_reward(rule).score({"context": "a column"})
        assert score.status == "error"
        assert str(score.reason).startswith("missing-context")

    def test_a_missing_column_names_column_row_and_the_closest(self) -> None:
        """The row's error says which column it lacks, which row it is, and what was probably meant."""
        scores = get_reward("qa_f1_reward").score_many([ROW, {"final_response": "x", "anwser": "y"}])
        assert [score.status for score in scores] == ["scored", "error"]
        expected = "missing-column: row 1 has no column 'answer', which qa_f1_reward needs; did you mean 'anwser'?"
        assert scores[1].reason == expected
        assert scores[1].parts == {"f1": None, "em": None, "precision": None, "recall": None}

    def test_check_names_the_closest_column(self) -> None:
        """What no row can supply is found before the first row."""
        with pytest.raises(ArgumentError, match="did you mean 'anwser'"):
            get_reward("qa_f1_reward").check(["final_response", "anwser"])
        get_reward("qa_f1_reward").check(["prediction", "answer"])

    def test_a_misspelt_option_names_the_closest(self) -> None:
        """An option that the reward does not take is refused."""
        with pytest.raises(ArgumentError, match="did you mean 'f1_threshold'"):
            get_reward("qa_f1_reward_tool", f1_treshold=0.5)

    def test_options_come_before_columns(self) -> None:
        """What is given for all rows wins over a column of the same name."""
        row = {**ROW, "trajectory": [{"role": "tool", "name": "answer", "content": ""}], "ignore_tools": []}
        assert get_reward("qa_f1_reward_tool").score(row).value == 1.0
        assert get_reward("qa_f1_reward_tool", ignore_tools=["answer"]).score(row).value == 0.0

    @pytest.mark.parametrize("row", [None, 3, "text", ["list"]])
    def test_what_is_no_row_is_an_error(self, row: Any) -> None:
        """A row that is no mapping is that row's error."""
        scores = get_reward("qa_f1_reward").score_many([row, ROW])
        assert [score.status for score in scores] == ["error", "scored"]

    def test_parameters_that_cannot_be_named_are_refused(self) -> None:
        """A positional-only parameter could never be filled, so the reward is refused at once."""

        def rule(final_response: str, /) -> float:
            return 1.0

        with pytest.raises(UsageError, match="final_response"):
            get_reward(rule)


class TestResults:
    """What a reward returns is checked once; what is no number never becomes one."""

    @pytest.mark.parametrize(
        ("result", "code"),
        [
            (math.nan, "not-finite"),
            (math.inf, "not-finite"),
            ({"reward": -math.inf}, "not-finite"),
            ({"reward": 1.0, "part": math.nan}, "not-finite"),
            ("1.0", "bad-result"),
            (None, "bad-result"),
            ([1.0], "bad-result"),
            (1 + 2j, "bad-result"),
            ({"f1": 1.0}, "missing-reward"),
            ({}, "missing-reward"),
            ({"reward": "high"}, "bad-result"),
            ({"reward": 1.0, "part": [1]}, "bad-result"),
            ({"reward": 1.0, "reason": 3}, "bad-result"),
            ({"reward": 1.0, "steps": 3}, "bad-result"),
            (10**400, "bad-result"),
        ],
    )
    def test_what_is_no_result_is_an_error(self, result: object, code: str) -> None:
        """NaN, infinity, a wrong type and a missing reward are errors with a code."""
        score = get_reward(reward(name="rule")(lambda final_response: result)).score(ROW)
        assert (score.status, score.value) == ("error", None)
        assert str(score.reason).startswith(code)

    @pytest.mark.parametrize(("result", "value"), [(1, 1.0), (True, 1.0), (Fraction(1, 2), 0.5), ({"reward": 0}, 0.0)])
    def test_every_kind_of_number_counts(self, result: object, value: float) -> None:
        """Whole numbers, truth values and fractions are numbers."""
        score = get_reward(lambda final_response: result).score(ROW)
        assert score.value == value
        assert isinstance(score.value, float)

    def test_a_mapping_becomes_value_parts_notes_and_steps(self) -> None:
        """Numbers are parts, texts are notes, `reward`, `reason` and `steps` have their own places."""

        @reward(version="7")
        def rule(final_response: str) -> dict[str, Any]:
            return {"reward": 0.5, "won": True, "raw": None, "output": "You won.", "steps": [0, 1], "reason": "so"}

        score = get_reward(rule).score(ROW)
        assert score == Score(
            0.5, "scored", "so", {"won": 1.0, "raw": None}, (0.0, 1.0), {"output": "You won."}, Provenance("rule", "7")
        )

    @pytest.mark.parametrize("status", ["error", "unscored"])
    def test_a_mapping_can_say_that_there_is_no_number(self, status: str) -> None:
        """`error` or `unscored` in a result outranks its reward."""
        score = get_reward(lambda final_response: {"reward": 0.0, status: "env-died"}).score(ROW)
        assert (score.status, score.value, score.reason) == (status, None, "env-died")

    def test_an_exception_is_the_rows_error(self) -> None:
        """One row's exception is that row's error, with type and message; the others are scored."""

        @reward
        def rule(answer: str) -> float:
            return 1.0 / len(answer)

        scores = get_reward(rule).score_many([{"answer": "x"}, {"answer": ""}, {"answer": "xy"}])
        assert [score.value for score in scores] == [1.0, None, 0.5]
        assert scores[1].reason == "raised: ZeroDivisionError: float division by zero"

    def test_an_interrupt_is_not_swallowed(self) -> None:
        """Ctrl-C is no error of a row."""

        @reward
        def rule(answer: str) -> float:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            get_reward(rule).score(ROW)

    def test_declared_parts_are_constant(self) -> None:
        """Other parts than the declared ones are an error; an error has the declared ones, unknown."""

        @reward(parts=("a", "b"))
        def rule(answer: str) -> dict[str, float]:
            return {"reward": 1.0, "a": 1.0, **({"b": 2.0} if answer else {})}

        good, bad = get_reward(rule).score_many([{"answer": "x"}, {"answer": ""}])
        assert good.parts == {"a": 1.0, "b": 2.0}
        assert (bad.status, bad.parts) == ("error", {"a": None, "b": None})

    def test_undeclared_parts_are_the_same_over_a_call(self) -> None:
        """What one row's result lacks and another's has is there as unknown."""
        scorer = get_reward(lambda answer: {"reward": 1.0, **({"b": 2.0} if answer else {})})
        first, second = scorer.score_many([{"answer": "x"}, {"answer": ""}])
        assert first.parts == {"b": 2.0}
        assert second.parts == {"b": None}

    def test_a_value_outside_of_the_declared_range_is_an_error(self) -> None:
        """A reward that says 0..1 and gives 2 is wrong."""
        rule = reward(name="rule", range=(0.0, 1.0))(lambda answer: 2.0)
        assert str(get_reward(rule).score(ROW).reason).startswith("out-of-range")


class TestBatch:
    """The batch path gives what single calls give, and one bad row does not take the others along."""

    def test_a_batch_is_its_rows(self) -> None:
        """`score_many` equals `score` row by row, complete rows or not."""
        rows: list[Any] = [
            ROW,
            {"final_response": None, "answer": ["a", "b"]},
            {"answer": "x"},
            {**ROW, "answer": None},
        ]
        for name in ("qa_f1_reward", "qa_em_reward", "contains_reward", "format_reward", "length_penalty"):
            scorer = get_reward(name)
            many = scorer.score_many(rows, labels=[0] * len(rows))
            assert many == [scorer.score(row) for row in rows]

    def test_a_batch_path_that_raises_is_tried_row_by_row(self) -> None:
        """Only the culprit fails."""

        def batch(rows: Sequence[Row], provenance: Provenance) -> list[Score]:
            return [Score.scored(1.0 / row["x"], provenance=provenance) for row in rows]

        @reward(batch=batch)
        def rule(x: float) -> float:
            return 1.0 / x

        values = [score.value for score in get_reward(rule).score_many([{"x": 1}, {"x": 0}, {"x": 2}])]
        assert values == [1.0, None, 0.5]

    def test_a_batch_path_of_the_wrong_length_is_an_error(self) -> None:
        """Scores that cannot be told apart are given to nobody."""
        rule = reward(name="rule", batch=lambda rows, provenance: [])(lambda x: 1.0)
        assert [score.status for score in get_reward(rule).score_many([{"x": 1}, {"x": 2}])] == ["error", "error"]

    def test_no_rows_are_no_scores(self) -> None:
        """An empty batch is legal."""
        assert get_reward("qa_f1_reward").score_many([]) == []

    def test_wrong_number_of_contexts(self) -> None:
        """As many contexts as rows."""
        with pytest.raises(UsageError, match="2 rows need as many contexts"):
            get_reward("qa_f1_reward").score_many([ROW, ROW], contexts=[None])


class TestGroups:
    """A group reward sees all rollouts of one prompt at once."""

    @staticmethod
    def best_of_group() -> Reward:
        """Make a reward that gives 1 to the longest response of each group."""

        @reward(group=True)
        def longest(final_response: list[str]) -> list[float]:
            most = max(map(len, final_response))
            return [float(len(text) == most) for text in final_response]

        scorer = get_reward(longest)
        assert isinstance(scorer, Reward)
        return scorer

    def test_rows_are_grouped_by_group_id(self) -> None:
        """Each group is seen alone; the scores come back in row order."""
        rows = [
            {"final_response": text, "group_id": group}
            for text, group in zip(["a", "bb", "ccc", "d"], "xyxy", strict=True)
        ]
        assert [score.value for score in self.best_of_group().score_many(rows)] == [0.0, 1.0, 1.0, 0.0]

    def test_the_contexts_group_counts_first(self) -> None:
        """The rollout's own group outranks a column."""
        rows = [{"final_response": text, "group_id": "same"} for text in ("a", "bb")]
        contexts = [FakeContext("one"), FakeContext("two")]
        assert [score.value for score in self.best_of_group().score_many(rows, contexts=contexts)] == [1.0, 1.0]

    def test_without_groups_the_call_is_one(self) -> None:
        """Rows that name no group are rollouts of one prompt."""
        rows = [{"final_response": text} for text in ("a", "bb")]
        assert [score.value for score in self.best_of_group().score_many(rows)] == [0.0, 1.0]

    @pytest.mark.parametrize("empty", [None, float("nan"), ""], ids=str)
    def test_an_empty_cell_is_not_a_group(self, empty: object) -> None:
        """What a table has for nothing is no group either, unless the rollout itself knows its group."""
        rows = [{"final_response": text, "group_id": group} for text, group in (("a", 1), ("b", empty), ("cc", empty))]
        found = self.best_of_group().score_many(rows)
        assert [score.status for score in found] == ["scored", "error", "error"]
        contexts = [FakeContext("one"), FakeContext("two"), FakeContext("two")]
        assert [score.value for score in self.best_of_group().score_many(rows, contexts=contexts)] == [1.0, 0.0, 1.0]

    def test_a_wrong_number_of_results_fails_the_group_only(self) -> None:
        """Results that cannot be told apart are errors of their group."""

        @reward(group=True)
        def rule(final_response: list[str]) -> list[float]:
            return [1.0] if len(final_response) == 1 else []

        rows = [{"final_response": "a", "group_id": group} for group in (1, 2, 2)]
        assert [score.status for score in get_reward(rule).score_many(rows)] == ["scored", "error", "error"]

    def test_async_group_rewards(self) -> None:
        """A group reward may await."""

        @reward(group=True)
        async def rule(final_response: list[str]) -> list[float]:
            await asyncio.sleep(0)
            return [float(len(final_response))] * len(final_response)

        rows = [{"final_response": "a", "group_id": group} for group in (1, 2, 2)]
        assert [score.value for score in get_reward(rule).score_many(rows)] == [1.0, 2.0, 2.0]


class TestAsync:
    """The async face gives what the sync face gives."""

    def test_sync_rewards_are_awaitable(self) -> None:
        """`ascore` and `ascore_many` equal `score` and `score_many`."""
        scorer = get_reward("qa_f1_reward")
        rows: list[Row] = [ROW, {"final_response": "x"}] * 100
        assert asyncio.run(scorer.ascore_many(rows)) == scorer.score_many(rows)
        assert asyncio.run(scorer.ascore(ROW)) == scorer.score(ROW)

    def test_async_rewards_work_from_sync_code(self) -> None:
        """An async reward is awaited by `score`, many at once and in order, faults kept apart."""
        running = most = 0

        @reward
        async def rule(x: float) -> float:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1
            return 1.0 / x

        scores = get_reward(rule).score_many([{"x": x} for x in range(200)])
        assert [score.status for score in scores] == ["error"] + ["scored"] * 199
        assert scores[4].value == 0.25
        assert 1 < most <= 64

    def test_awaiting_inside_a_loop_from_sync_code_is_refused(self) -> None:
        """`score` of an async reward inside an event loop is an error that names the way out, never a deadlock."""

        @reward
        async def rule(x: float) -> float:
            return x

        async def inside() -> None:
            get_reward(rule).score({"x": 1.0})

        with pytest.raises(UsageError, match="ascore"):
            asyncio.run(inside())

    def test_a_batch_does_not_hold_up_the_loop(self) -> None:
        """Other tasks get their turn while many rows are scored."""
        turns = 0

        async def ticking() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async def both() -> None:
            ticker = asyncio.create_task(ticking())
            await get_reward("qa_f1_reward").ascore_many([ROW] * 1000)
            ticker.cancel()

        asyncio.run(both())
        assert turns >= 15


def test_a_tagged_function_stays_itself() -> None:
    """`@reward` changes nothing about the function but a mark."""

    def rule(final_response: str) -> float:
        return 1.0

    assert reward(rule) is rule
    assert reward(version="2")(rule) is rule
    assert rule("x") == 1.0

"""What people do to rewards that nobody thought of: every row still ends in one of three outcomes."""

import asyncio
import functools
import json
import math
import pickle
from collections import ChainMap, UserDict, deque
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from adjudge.errors import ArgumentError, RowError, UsageError
from adjudge.integrations.trl import reward_function
from adjudge.model import Case, Conversation, Message, Score, Trajectory, from_json, to_json
from adjudge.rewards import (
    all_of,
    describe,
    first_of,
    gated,
    get_reward,
    get_scorer,
    qa_f1_reward,
    qa_f1_reward_tool,
    reward,
    weighted,
)
from adjudge.text.values import plain

ROW: dict[str, Any] = {"final_response": "Paris", "answer": "Paris"}
NAN = float("nan")


class TestRows:
    """Rows come in many shapes."""

    @pytest.mark.parametrize("wrap", [MappingProxyType, ChainMap, UserDict])
    def test_any_mapping_is_a_row(self, wrap: Any) -> None:
        """A row need not be a dict."""
        assert get_reward("qa_f1_reward").score(wrap(ROW)).value == 1.0

    @pytest.mark.parametrize("wrap", [iter, deque, tuple, lambda rows: (row for row in rows)])
    def test_any_iterable_is_rows(self, wrap: Any) -> None:
        """Rows may come one at a time, sync and async."""
        scorer = get_reward("qa_f1_reward")
        assert [score.value for score in scorer.score_many(wrap([ROW, ROW]))] == [1.0, 1.0]
        assert [score.value for score in asyncio.run(scorer.ascore_many(wrap([ROW, ROW])))] == [1.0, 1.0]

    @pytest.mark.parametrize("rows", [ROW, "rows.jsonl", 3])
    def test_what_is_no_list_of_rows_is_refused(self, rows: Any) -> None:
        """One row, a path or a number is a wrong call, not a list of bad rows."""
        with pytest.raises(UsageError, match="list of mappings"):
            get_reward("qa_f1_reward").score_many(rows)

    def test_a_row_that_raises_is_its_own_error(self) -> None:
        """A mapping that breaks when it is read does not stop the others."""

        class Broken(UserDict[str, Any]):
            def __iter__(self) -> Any:
                raise OSError("gone")

        scores = get_reward("qa_f1_reward").score_many([Broken(ROW), ROW])
        assert [score.status for score in scores] == ["error", "scored"]

    @pytest.mark.parametrize("answer", [NAN, np.nan, [NAN], [None, NAN]])
    def test_a_missing_cell_is_no_answer(self, answer: Any) -> None:
        """NaN is how data frames say that there is nothing: never a word to compare with."""
        assert get_reward("qa_f1_reward").score({**ROW, "answer": answer}).status == "error"
        assert get_reward("qa_f1_reward").score({"final_response": NAN, "answer": "nan"}).value == 0.0

    def test_one_missing_reference_among_others_is_left_out(self) -> None:
        """Accepted answers that are there count."""
        assert get_reward("qa_f1_reward").score({**ROW, "answer": ["Paris", None]}).value == 1.0

    def test_arrays_are_lists(self) -> None:
        """Lists that a data library wraps are read as lists, its numbers as numbers."""
        row = {"final_response": np.int64(42), "answer": np.array(["x", "42"]), "trajectory": np.array([])}
        assert get_reward("qa_f1_reward_tool").score(row).parts["em"] == 1.0

    def test_labels_may_be_arrays(self) -> None:
        """Whatever counts rows can label them."""
        scores = get_reward("qa_f1_reward").score_many([{}], labels=np.array([7]))  # type: ignore[arg-type]
        assert "row 7" in str(scores[0].reason)


class TestFunctions:
    """A reward can be any callable."""

    def test_partials_instances_and_methods(self) -> None:
        """What can be called by name is a reward."""

        class Judge:
            def __call__(self, final_response: str) -> float:
                return 0.25

            def method(self, final_response: str) -> float:
                return 0.5

        assert get_reward(Judge()).score(ROW).value == 0.25
        assert get_reward(Judge().method).score(ROW).value == 0.5
        assert get_reward(functools.partial(qa_f1_reward, answer="x")).score({"final_response": "y"}).value == 0.0
        assert get_reward(reward(version="2")(Judge())).version == "2"

    def test_async_callables_of_every_kind(self) -> None:
        """An async `__call__` is awaited, also under a partial; a coroutine out of a plain function is an error."""

        class Slow:
            async def __call__(self, final_response: str, add: float = 0.0) -> float:
                await asyncio.sleep(0)
                return 0.5 + add

        assert get_reward(Slow()).score(ROW).value == 0.5
        assert get_reward(functools.partial(Slow(), add=0.25)).score(ROW).value == 0.75
        slow = Slow()
        score = get_reward(lambda final_response: slow(final_response, add=0.0)).score(ROW)
        assert score.status == "error"
        assert "async def" in str(score.reason)

    def test_a_wrapper_is_asked_itself(self) -> None:
        """`functools.wraps` copies the tag; the batch path of what it wraps must not answer for it."""

        @functools.wraps(qa_f1_reward)
        def worse(*args: Any, **kwargs: Any) -> dict[str, float]:
            return {**qa_f1_reward(*args, **kwargs), "reward": 0.0}

        assert get_reward(worse).score(ROW).value == 0.0

    def test_unknown_tool_use_stays_unknown_through_a_wrapper(self) -> None:
        """The 0.0 that a direct call must return does not come back as a score."""
        row = {**ROW, "trajectory": ["x"]}
        score = get_reward(functools.partial(qa_f1_reward_tool, f1_threshold=0.5)).score(row)
        assert (score.status, score.reason) == ("unscored", "tool-use-unknown")

    def test_static_methods_keep_their_tag(self) -> None:
        """The tag survives the order of decorators."""

        class Holder:
            @reward(version="4")
            @staticmethod
            def above(final_response: str) -> float:
                return 1.0

            @staticmethod
            @reward(version="5")
            def below(final_response: str) -> float:
                return 1.0

        assert (get_reward(Holder.above).version, get_reward(Holder.below).version) == ("4", "5")

    @pytest.mark.parametrize("thing", [max, 3, None])
    def test_what_cannot_be_filled_by_name_is_refused(self, thing: Any) -> None:
        """No signature, no reward."""
        with pytest.raises(UsageError):
            get_reward(thing)

    def test_sloppy_tags_are_understood(self) -> None:
        """A version may be a number, a single part a text."""

        @reward(version=2, parts="length")  # type: ignore[call-overload, untyped-decorator]
        def rule(final_response: str) -> dict[str, float]:
            return {"reward": 1.0, "length": 5.0}

        assert weighted({rule: 1.0}).score(ROW).parts == {"rule": 1.0, "rule.length": 5.0}

    def test_signatures_show_what_must_be_named(self) -> None:
        """A keyword-only option is shown as one."""
        assert describe("format_reward").signature == "(final_response, *, structure=('think', 'answer'))"


class TestResults:
    """Results are checked whatever path they come on."""

    @pytest.mark.parametrize("value", [np.float32(0.5), np.array(0.5), np.array([0.5])[0], Decimal("0.5")])
    def test_numbers_of_other_libraries_are_numbers(self, value: Any) -> None:
        """A number is a number, whoever made it."""
        assert get_reward(lambda final_response: value).score(ROW).value == 0.5
        assert get_reward(lambda final_response: np.bool_(1)).score(ROW).value == 1.0

    @pytest.mark.parametrize("score", [{"parts": {"a": NAN}}, {"parts": {"a": "x"}}, {"steps": (NAN,)}])
    def test_a_returned_score_is_checked_too(self, score: dict[str, Any]) -> None:
        """A Score with parts or steps that are no numbers is an error row."""
        result = get_reward(lambda final_response: Score.scored(1.0, **score)).score(ROW)
        assert result.status == "error"

    def test_a_batch_of_anything_is_checked_too(self) -> None:
        """Somebody's batch path may return plain numbers; what is out of range or misnamed is an error row."""

        def batch(rows: Any, provenance: Any) -> list[Any]:
            return [row["x"] for row in rows]

        rule = reward(name="rule", range=(0.0, 1.0), batch=batch)(lambda x: x)
        scores = get_reward(rule).score_many([{"x": 0.5}, {"x": 7.0}, {"x": Score.scored(1.0)}, {"x": "no"}])
        assert [score.status for score in scores] == ["scored", "error", "scored", "error"]
        assert all(score.provenance is not None for score in scores)

    @pytest.mark.parametrize("value", [10**400, 1j, "1", None])
    def test_a_score_is_a_float(self, value: Any) -> None:
        """What is no float cannot be a value; whole numbers and truth values become floats."""
        with pytest.raises(ValueError, match="finite"):
            Score.scored(value)
        assert [type(Score.scored(1).value), type(Score.scored(value=True).value)] == [float, float]

    def test_nothing_said_is_no_error(self) -> None:
        """`error` and `unscored` count when they say something."""
        assert get_reward(lambda x: {"reward": 1, "error": False, "unscored": None}).score({"x": 1}).value == 1.0

    def test_an_exception_without_a_text(self) -> None:
        """An exception that cannot be printed is still the row's error."""

        class Mute(Exception):
            def __str__(self) -> str:
                raise ValueError

        @reward
        def rule(x: int) -> float:
            raise Mute

        assert "Mute" in str(get_reward(rule).score({"x": 1}).reason)

    def test_a_reward_that_was_cancelled_is_an_error(self) -> None:
        """A cancelled task of the reward's own is that row's error: no row vanishes, no call hangs."""

        @reward
        async def rule(x: int) -> float:
            if x % 2:
                raise asyncio.CancelledError
            return 1.0

        scores = get_reward(rule).score_many([{"x": x} for x in range(200)])
        assert [score.status for score in scores] == ["scored", "error"] * 100

    def test_a_reward_that_does_not_wait_may_raise_it_too(self) -> None:
        """Nobody can cancel code that never waits: a cancellation that it raises is its row's error."""

        @reward
        def rule(x: int) -> float:
            if x % 2:
                raise asyncio.CancelledError
            return 1.0

        rows = [{"x": x} for x in range(4)]
        wanted = [("scored", None), ("error", "raised: RuntimeError: CancelledError")] * 2
        assert [(score.status, score.reason) for score in get_reward(rule).score_many(rows)] == wanted
        scores = asyncio.run(get_reward(rule).ascore_many(rows))
        assert [(score.status, score.reason) for score in scores] == wanted

    def test_being_cancelled_is_being_cancelled(self) -> None:
        """Whoever cancels the scoring cancels it."""

        @reward
        async def rule(x: int) -> float:
            await asyncio.sleep(60)
            return 1.0

        async def cancelled() -> bool:
            task = asyncio.create_task(get_reward(rule).ascore_many([{"x": 1}]))
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])
            return task.cancelled()

        assert asyncio.run(cancelled())


class TestCompositions:
    """Compositions survive the same."""

    def test_a_sum_beyond_a_float_is_an_error(self) -> None:
        """Infinity is no reward, also where two finite ones add up to it."""
        huge = reward(name="huge")(lambda final_response: 1e308)
        assert [score.status for score in weighted({huge: 10.0}).score_many([ROW, ROW])] == ["error", "error"]

    def test_provenance_tells_them_apart(self) -> None:
        """Another threshold or weight is another scorer."""
        pairs = [
            (gated("qa_em_reward", "qa_f1_reward", threshold=t).provenance for t in (0.5, 0.9)),
            (all_of("qa_em_reward", threshold=t).provenance for t in (0.5, 0.9)),
            (weighted({"qa_em_reward": w}).provenance for w in (0.1234567, 0.1234568)),
        ]
        assert all(one != other for one, other in pairs)
        assert " at 0x" not in get_reward(lambda x, y: 1.0, y=object()).name

    @pytest.mark.parametrize("threshold", [math.nan, math.inf, "high"])
    def test_a_senseless_threshold_is_refused(self, threshold: Any) -> None:
        """No gate opens by comparing with NaN."""
        with pytest.raises(UsageError):
            gated("qa_em_reward", "qa_f1_reward", threshold=threshold)

    def test_members_are_asked_only_where_they_decide(self) -> None:
        """A closed gate and an earlier score cost nothing more."""
        asked: list[str] = []

        @reward
        def costly(final_response: str) -> float:
            asked.append(final_response)
            return 0.5

        rows = [{"final_response": text, "answer": "Paris"} for text in ("Paris", "Lyon")]
        values = [score.value for score in gated("qa_em_reward", costly).score_many(rows)]
        assert (values, asked) == ([0.5, 0.0], ["Paris"])
        asked.clear()
        rows[1]["answer"] = None  # type: ignore[assignment]
        values = [score.value for score in asyncio.run(first_of("qa_em_reward", costly).ascore_many(rows))]
        assert (values, asked) == ([1.0, 0.5], ["Lyon"])

    @pytest.mark.parametrize(
        "scorer",
        [
            get_reward("qa_f1_reward"),
            get_reward("qa_f1_reward_tool", f1_threshold=0.5),
            weighted({"qa_f1_reward": 0.5, "contains_reward": 0.5}),
            gated("qa_em_reward", all_of("qa_f1_reward", "contains_reward", threshold=0.5), threshold=0.5),
            first_of("qa_f1_reward_tool", "qa_f1_reward"),
        ],
        ids=lambda scorer: scorer.name,
    )
    def test_scorers_can_be_sent_to_other_processes(self, scorer: Any) -> None:
        """A scorer survives pickling, whole."""
        copy = pickle.loads(pickle.dumps(scorer))  # noqa: S301 (our own bytes)
        row = {**ROW, "trajectory": []}
        assert (copy.name, copy.parts, copy.score(row)) == (scorer.name, scorer.parts, scorer.score(row))


class TestTrajectories:
    """A record keeps its meaning on every way that it takes."""

    def test_an_incomplete_record_cannot_show_that_no_tool_was_used(self) -> None:
        """What was not recorded may have been a tool; one that was recorded is enough."""
        scorer = get_reward("qa_f1_reward_tool")
        assert scorer.score({**ROW, "trajectory": Trajectory(complete=False)}).status == "unscored"
        seen = Trajectory(messages=(Message("tool", "x"),), complete=False)
        assert scorer.score({**ROW, "trajectory": seen}).value == 1.0

    @pytest.mark.parametrize(
        "trajectory",
        [
            Trajectory.from_messages(["a", "b"]),
            Trajectory(complete=False, agents_called=("research",), sources=("s",)),
            Trajectory.from_messages([{"role": "tool", "content": "x"}]),
        ],
    )
    def test_a_stored_trajectory_is_itself_again(self, trajectory: Trajectory) -> None:
        """Written as a row's JSON and read back it is equal, unknown tool use and gaps included."""
        assert Trajectory.from_messages(json.loads(to_json(trajectory))) == trajectory

    def test_ignored_tools_stay_ignored(self) -> None:
        """A result finds its request although one of them has no id, or the id was used before."""
        ask = {"role": "assistant", "tool_calls": [{"function": {"name": "answer"}}]}
        told = {"role": "tool", "tool_call_id": "c9", "content": "ok"}
        assert Trajectory.from_messages([ask, told]).tools_used == ("answer",)
        first = {"role": "assistant", "tool_calls": [{"id": "c0", "function": {"name": "search"}}]}
        again = {"role": "assistant", "tool_calls": [{"id": "c0", "function": {"name": "answer"}}]}
        assert Trajectory.from_messages([first, again, {**told, "tool_call_id": "c0"}]).tools_used == ("answer",)


class TestJson:
    """What goes to JSON comes back, or is refused."""

    @pytest.mark.parametrize("value", [(1, 2), {1, 2}, b"x", {1: "x"}, object(), [NAN]])
    def test_what_json_cannot_hold_is_refused(self, value: Any) -> None:
        """Nothing changes silently on its way."""
        with pytest.raises(RowError, match=r"\$\.metadata"):
            to_json(Case("c", metadata={"x": value}))

    def test_deep_nesting_is_refused(self) -> None:
        """Too deep is an error of the row."""
        value: Any = []
        for _ in range(100_000):
            value = [value]
        with pytest.raises(RowError, match="too deeply"):
            to_json(Case("c", metadata={"x": value}))

    def test_unknown_fields_are_named_at_any_depth(self) -> None:
        """A misspelt field inside a turn is found, with the closest name."""
        with pytest.raises(RowError, match=r"turns\.0\.'refrences'; did you mean 'references'"):
            from_json(Conversation, b'{"id": "c", "turns": [{"question": "q", "refrences": ["a"]}]}')


def test_a_context_column_is_not_passed_on() -> None:
    """A column `context` is taken for no Context, by name or in `**kwargs`."""
    seen: dict[str, Any] = {}

    @reward
    def rule(**kwargs: Any) -> float:
        seen.update(kwargs)
        return 1.0

    get_reward(rule).score({"context": "passage", "x": 1})
    assert seen == {"x": 1}


def test_a_column_of_an_unrelated_name_is_no_option() -> None:
    """Columns that data sets often have do not change a built-in reward."""
    row = {
        "final_response": "<think>a</think><answer>b</answer>",
        "tags": ["geo"],
        "limit": 1,
        "unit": "m",
        "choices": [],
    }
    assert get_reward("format_reward").score(row).value == 1.0
    assert get_reward("length_penalty").score(row).value == 0.0


def test_a_misspelt_option_of_a_reward_that_takes_everything() -> None:
    """Where everything is taken, a near miss of a known option is still an error."""
    with pytest.raises(ArgumentError, match="did you mean 'limit_s'"):
        get_reward("math_equal_reward", limits=3)


class PanicException(BaseException):
    """What Rust code raises where it panics."""


def panics(final_response: str) -> float:
    """Panic on one row."""
    if final_response == "p":
        raise PanicException("called `Result::unwrap()` on an `Err` value")
    return 1.0


async def panics_later(final_response: str) -> float:
    """Panic on one row, after a wait."""
    await asyncio.sleep(0)
    return panics(final_response)


class TestPanics:
    """Code raises what is not an `Exception` as well."""

    REASON = "PanicException: called `Result::unwrap()` on an `Err` value"

    @pytest.mark.parametrize("function", [panics, panics_later])
    def test_a_panic_is_an_error_of_its_row(self, function: Any) -> None:
        """The other rows keep their numbers, and the error says its name, sync and async."""
        scorer = get_scorer(function)
        rows = [{"final_response": "a"}, {"final_response": "p"}, {"final_response": "b"}]
        for scores in (scorer.score_many(rows), asyncio.run(scorer.ascore_many(rows))):
            assert [score.value for score in scores] == [1.0, None, 1.0]
            assert str(scores[1].reason).endswith(self.REASON)

    def test_a_panic_does_not_end_a_training(self) -> None:
        """A trainer gets no number for the row."""
        good = reward_function(panics, max_failed=1.0)
        assert good(prompts=["q", "q"], completions=["a", "p"]) == [1.0, None]

    @pytest.mark.parametrize(
        "error", [KeyboardInterrupt(), GeneratorExit(), BaseExceptionGroup("", [KeyboardInterrupt()])]
    )
    def test_an_interrupt_passes(self, error: BaseException) -> None:
        """It is meant for the process, also inside a group."""

        def stops(final_response: str) -> float:
            raise error

        with pytest.raises(type(error)):
            get_scorer(stops).score({"final_response": "a"})


class TestNarrowNumbers:
    """Tables and tensors have numbers of fewer digits than Python's."""

    GOLDS = (
        np.float32(0.1),
        np.float16(0.1),
        np.array([0.1], dtype=np.float32),
        np.array(0.1, dtype=np.float16),
        [np.float32(0.1)],
    )

    @pytest.mark.parametrize("gold", GOLDS, ids=lambda gold: f"{type(gold).__name__} {getattr(gold, 'dtype', '')}")
    @pytest.mark.parametrize("name", ["qa_em_reward", "contains_reward", "math_equal_reward"])
    def test_a_number_is_the_shortest_text_of_its_type(self, name: str, gold: Any) -> None:
        """0.1 as a float32 is 0.1, and not 0.10000000149."""
        assert get_scorer(name).score({"final_response": "0.1", "answer": gold}).value == 1.0
        assert get_scorer(name).score({"final_response": "0.2", "answer": gold}).value == 0.0
        assert reward_function(name)(prompts=["?"], completions=["0.1"], answer=[gold]) == [1.0]

    def test_the_largest_and_the_odd_ones(self) -> None:
        """The largest number of a type, whose shorter texts are too large for it, zero and NaN."""
        for kind in (np.float32, np.float16):
            largest = np.finfo(kind).max
            assert kind(plain(largest)) == largest
            assert str(plain(kind(-0.0))) == "-0.0"
            assert math.isnan(plain(kind("nan")))

    @pytest.mark.parametrize("response", ["1e-7", "1e-07", "1E-7", "0.0000001"])
    def test_a_small_number_in_any_form(self, response: str) -> None:
        """Python writes 1e-7 as 1e-07, which hardly anybody else does."""
        assert get_scorer("qa_em_reward").score({"final_response": response, "answer": 1e-7}).value == 1.0
        assert get_scorer("qa_em_reward").score({"final_response": response, "answer": 1e-8}).value == 0.0

    @pytest.mark.parametrize("name", ["qa_em_reward", "contains_reward", "math_equal_reward"])
    def test_an_infinite_number_is_not_an_answer(self, name: str) -> None:
        """JSON reads 1e999 as one: no response is right or wrong by it."""
        score = get_scorer(name).score({"final_response": "inf", "answer": json.loads("1e999")})
        assert (score.status, score.value) == ("error", None)

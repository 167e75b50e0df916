"""What trainers get for rows without a number."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.integrations._policy import FaultPolicy, OnFault, RewardFault
from adjudge.model import Score

GOOD = Score.scored(0.5, parts={"f1": 0.5, "em": None})
TIE = Score.unscored("tie: two verdicts")
DEAD = Score.error("env-died: gone")

outcomes = st.lists(st.sampled_from([GOOD, TIE, DEAD]), max_size=40)


class TestSettle:
    """A fault is never a number, unless somebody asks for one."""

    @pytest.mark.parametrize(("on_fault", "expected"), [("mask", [0.5, None, None]), ("zero", [0.5, 0.0, 0.0])])
    def test_a_row_without_a_number(self, on_fault: OnFault, expected: list[float | None]) -> None:
        """It is None, or 0 where that was asked for."""
        assert FaultPolicy("good", on_fault).settle([GOOD, TIE, DEAD]) == expected

    def test_raise_names_the_rollout(self) -> None:
        """With raise, the first fault ends the training and says which rollout it was and why."""
        with pytest.raises(RewardFault, match="rollout 1 of the batch is unscored: tie: two verdicts"):
            FaultPolicy("good", "raise").settle([GOOD, TIE, DEAD])

    @given(outcomes)
    def test_numbers_are_those_of_the_scores(self, scores: list[Score]) -> None:
        """Masked or not, a row that has a number keeps it, in its place."""
        for on_fault in ("mask", "zero"):
            values = FaultPolicy("good", on_fault, max_failed=1.0).settle(scores)
            assert [value for value, score in zip(values, scores, strict=True) if score.value is not None] == [
                score.value for score in scores if score.value is not None
            ]

    @pytest.mark.parametrize(
        "wrong", [{"on_fault": "maks"}, {"max_failed": 10}, {"max_failed": -0.1}, {"window": 0}], ids=str
    )
    def test_options_are_checked(self, wrong: dict[str, Any]) -> None:
        """A wrong option is a wrong call."""
        with pytest.raises(UsageError):
            FaultPolicy("good", **wrong)


class TestMetrics:
    """What is logged adds up."""

    def test_shares_and_means(self) -> None:
        """The three outcomes as shares of the batch, each part as the mean over the rows that have it."""
        assert FaultPolicy("good").metrics([GOOD, GOOD, TIE, DEAD]) == {
            "good/scored": 0.5,
            "good/unscored": 0.25,
            "good/error": 0.25,
            "good/f1": 0.5,
        }

    @given(outcomes.filter(bool))
    def test_the_three_add_up(self, scores: list[Score]) -> None:
        """Every row is in exactly one share."""
        found = FaultPolicy("good").metrics(scores)
        assert sum(found[f"good/{name}"] for name in ("scored", "unscored", "error")) == pytest.approx(1)


class TestExcess:
    """Training on faults ends; a few are no reason."""

    def test_it_needs_more_than_the_share_of_the_window(self) -> None:
        """At 10 % of 512 rollouts, 51 faults are allowed and 52 are not, wherever in the window they are."""
        policy = FaultPolicy("good")
        policy.settle([DEAD] * 51 + [GOOD] * 461)
        assert policy.excess is None
        policy.settle([DEAD])
        assert policy.excess is None  # the first one has left the window
        policy.settle([DEAD])
        assert policy.excess is None
        other = FaultPolicy("good")
        other.settle([GOOD] + [DEAD] * 52)
        why = "good: 52 of the last 512 rollouts have no number (52 env-died), more than 10 %; the last: env-died: gone"
        assert other.excess == why

    def test_it_recovers(self) -> None:
        """Faults leave the window."""
        policy = FaultPolicy("good", window=10)
        policy.settle([GOOD] + [TIE] * 5)
        assert policy.excess is not None
        policy.settle([GOOD] * 10)
        assert policy.excess is None

    def test_it_travels(self) -> None:
        """A policy pickles with what it remembers."""
        policy = FaultPolicy("good", window=10)
        policy.settle([GOOD] + [TIE] * 5)
        assert policy.excess is not None
        assert pickle.loads(pickle.dumps(policy)).excess == policy.excess  # noqa: S301 (our own)

    def test_a_short_training_of_faults_ends_too(self) -> None:
        """Where no rollout at all has had a number, four of them are worth a warning, and sixteen are enough."""
        policy = FaultPolicy("good")
        with pytest.warns(UserWarning, match=r"good: none of the first 4 rollouts has a number \(4 env-died\)"):
            policy.settle([DEAD] * 4)
        policy.settle([DEAD] * 11)  # it is said once
        assert policy.excess is None
        policy.settle([DEAD])
        assert (
            policy.excess == "good: none of the first 16 rollouts has a number (16 env-died); the last: env-died: gone"
        )
        policy.settle([GOOD])
        assert policy.excess is None

    def test_all_may_fail_where_that_was_asked_for(self) -> None:
        """A share of 1 allows every fault, from the first on."""
        policy = FaultPolicy("good", max_failed=1.0, window=8)
        policy.settle([DEAD] * 600)
        assert policy.excess is None

    def test_several_threads_may_settle(self) -> None:
        """Trainers score in threads: one counts while others add, and the reason to end is the faults."""
        policy = FaultPolicy("good", window=4096)
        policy.settle([GOOD] + [DEAD] * 500)

        def work(_: int) -> bool:
            for _ in range(300):
                policy.settle([DEAD])
                policy.excess  # noqa: B018 (what it says is looked at below)
            return True

        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with ThreadPoolExecutor(4) as threads:
                assert all(threads.map(work, range(4)))
        finally:
            sys.setswitchinterval(before)
        assert str(policy.excess).startswith("good: 1700 of the last 4096 rollouts have no number (1700 env-died)")

    def test_what_is_shown_cannot_move_the_cursor(self) -> None:
        """A reason may quote what a model wrote; escapes in it do not reach the terminal."""
        policy = FaultPolicy("good", "raise", window=4)
        with pytest.raises(RewardFault) as caught:
            policy.settle([Score.error("odd\x1b[2J: \x1b]0;title\x07")])
        assert policy.excess is not None
        assert "\x1b" not in str(caught.value) + caught.value.reason + policy.excess

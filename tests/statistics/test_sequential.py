"""A threshold test may be looked at after every cluster, and is still wrong no more often than it says."""

import math
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError
from adjudge.statistics import ThresholdTest

SHARES = st.floats(0.0, 1.0)
ROWS = st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1.0])), min_size=1, max_size=4)
CLUSTERS = st.lists(ROWS, min_size=1, max_size=30)


def played(values: list[list[float | None]], threshold: float, *, whole: bool = True, **how: Any) -> ThresholdTest:
    """Return a test that has seen these clusters, which are all of them or a sample."""
    largest = max(map(len, values))
    test = ThresholdTest(threshold, clusters=len(values) if whole else None, largest=largest, **how)
    for one in values:
        test.add(one)
    return test


def wrong(truth: float, threshold: float, *, runs: int, clusters: int, whole: bool, seed: int) -> dict[str | None, int]:
    """Return how often each verdict comes where the mean is `truth`, with clusters of one to three equal rows."""
    chance = Random(seed)  # noqa: S311 (a simulation)
    found: dict[str | None, int] = {"above": 0, "below": 0, None: 0}
    for _ in range(runs):
        sizes = [chance.choice((1, 2, 3)) for _ in range(clusters)] if not whole else [1, 2, 3] * (clusters // 3)
        if whole:
            # Exactly the share of the rows: as many clusters of each size are right.
            right = [number // 3 < round(truth * clusters / 3) for number in range(clusters)]
        else:
            right = [chance.random() < truth for _ in sizes]
        drawn = list(zip(sizes, right, strict=True))
        chance.shuffle(drawn)
        test = ThresholdTest(threshold, clusters=clusters if whole else None, largest=3)
        for size, is_right in drawn:
            if test.add([float(is_right)] * size) is not None:
                break
        found[test.verdict] += 1
    return found


class TestLevel:
    """Looks after every cluster cost nothing: the errors stay below alpha."""

    @pytest.mark.parametrize("whole", [True, False], ids=["these", "population"])
    def test_false_verdicts(self, whole: bool) -> None:
        """Where the mean is at the threshold, or just below it, at most 5 % of many runs say the wrong side."""
        runs = 300
        # 5 % of 300 is 15; a level of exactly 5 % would exceed 26 once in 400 seeds, and this seed is fixed.
        at = wrong(0.5, 0.5, runs=runs, clusters=120, whole=whole, seed=1)
        below = wrong(0.475, 0.5, runs=runs, clusters=120, whole=whole, seed=2)
        assert at["below"] <= 26
        assert below["above"] <= 26

    def test_decides(self) -> None:
        """A mean that is clearly on one side is found to be there, every time."""
        assert wrong(0.9, 0.5, runs=50, clusters=120, whole=True, seed=3)["above"] == 50
        assert wrong(0.1, 0.5, runs=50, clusters=120, whole=True, seed=4)["below"] == 50


class TestCertainty:
    """Of a known number of clusters the verdict is certain once the rest cannot change it."""

    @given(CLUSTERS, SHARES)
    @settings(max_examples=60)
    def test_all_seen(self, values: list[list[float | None]], threshold: float) -> None:
        """Once all clusters are seen and no row is missing, the verdict is that of the mean, if none came before."""
        known = [[value or 0.0 for value in one] for one in values]
        rows = [Fraction(value) for one in known for value in one]
        mean = sum(rows) / len(rows)
        test = ThresholdTest(threshold, clusters=len(known), largest=4, alpha=1e-9)
        for one in known:
            test.add(one)
        if abs(float(mean) - threshold) > 1e-6:
            assert test.verdict == ("above" if mean >= threshold else "below")

    def test_last_row(self) -> None:
        """A mean of exactly the threshold reaches it, and is known only with the last row that matters."""
        test = ThresholdTest(0.7, clusters=10, alpha=1e-6)
        assert [test.add([value]) for value in [1, 1, 1, 0, 0, 0, 1, 1, 1, 1]] == [None] * 9 + ["above"]

    def test_one_is_enough(self) -> None:
        """Where every row has to be right, the first wrong one decides."""
        test = ThresholdTest(1.0, clusters=1000)
        assert [test.add([value]) for value in [1, 1, 0]] == [None, None, "below"]

    @given(CLUSTERS, SHARES)
    @settings(max_examples=60)
    def test_missing_is_worst(self, values: list[list[float | None]], threshold: float) -> None:
        """No value that a missing row could have makes a verdict wrong once all is seen."""
        test = played(values, threshold, alpha=1e-9)
        for worst in (0.0, 1.0):
            rows = [worst if value is None else value for one in values for value in one]
            mean = math.fsum(rows) / len(rows)
            if test.verdict == "above":
                assert mean >= threshold - 1e-6
            if test.verdict == "below":
                assert mean < threshold + 1e-6


class TestInterval:
    """The interval is what every threshold would have been told."""

    @given(CLUSTERS, st.booleans())
    @settings(max_examples=40, deadline=None)
    def test_agrees(self, values: list[list[float | None]], whole: bool) -> None:
        """A threshold well below the interval is reached, one well above it is missed, and the mean lies within."""
        found = played(values, 0.5, whole=whole).estimate()
        if found is None:
            assert all(value is None for one in values for value in one)
            return
        assert found.low is not None
        assert found.high is not None
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0
        assert found.method == "anytime"
        assert found.confidence == pytest.approx(0.9)
        if found.low > 0.01:
            assert played(values, found.low - 0.01, whole=whole).verdict == "above"
        if found.high < 0.99:
            assert played(values, found.high + 0.01, whole=whole).verdict == "below"

    @given(CLUSTERS)
    @settings(max_examples=30, deadline=None)
    def test_range(self, values: list[list[float | None]]) -> None:
        """Values in another range give the same verdict and interval in that range."""
        moved = [[None if value is None else 10.0 * value - 3.0 for value in one] for one in values]
        test, other = played(values, 0.5), played(moved, 2.0, range=(-3.0, 7.0))
        assert test.verdict == other.verdict
        one, two = test.estimate(), other.estimate()
        if one is not None and two is not None and one.low is not None and one.high is not None:
            assert (two.low, two.high) == pytest.approx((10 * one.low - 3, 10 * one.high - 3), abs=1e-3)

    def test_all_known(self) -> None:
        """Once every row is known the interval is the mean."""
        found = played([[float(number % 4 != 0)] for number in range(40)], 0.74).estimate()
        assert found is not None
        assert (found.low, found.high) == pytest.approx((0.75, 0.75), abs=1e-4)


@given(CLUSTERS, SHARES)
@settings(max_examples=60)
def test_symmetry(values: list[list[float | None]], threshold: float) -> None:
    """What is above a threshold is below it in the mirror; only the threshold itself counts as above."""
    mirrored = [[None if value is None else 1.0 - value for value in one] for one in values]
    sides = (played(values, threshold, whole=False).verdict, played(mirrored, 1.0 - threshold, whole=False).verdict)
    if 0.001 < threshold < 0.999:
        assert sides in ((None, None), ("above", "below"), ("below", "above"))


def test_verdict_stays() -> None:
    """A verdict does not change again, whatever follows."""
    test = ThresholdTest(0.5, clusters=100)
    for _ in range(10):
        test.add([1.0])
    assert test.verdict == "above"
    for _ in range(60):
        test.add([0.0])
    assert test.verdict == "above"


@pytest.mark.parametrize(
    ("how", "values"),
    [
        ({"range": (1.0, 1.0)}, []),
        ({"range": (0.0, math.inf)}, []),
        ({"alpha": 0.0}, []),
        ({"alpha": 0.5}, []),
        ({"alpha_below": 1.0}, []),
        ({"clusters": 0}, []),
        ({"largest": 0}, []),
        ({"threshold": math.nan}, []),
        ({}, [[1.5]]),
        ({}, [[math.nan]]),
        ({}, [[1.0, 1.0]]),
        ({"clusters": 1}, [[1.0], [1.0]]),
    ],
)
def test_refused(how: dict[str, float], values: list[list[float]]) -> None:
    """A test that could not hold its level is refused: no range, no level, more or larger clusters than announced."""
    with pytest.raises(AdjudgeError):
        _play(values, **{"threshold": 0.5, **how})


def _play(values: list[list[float]], **how: Any) -> None:
    test = ThresholdTest(**how)
    for one in values:
        test.add(one)

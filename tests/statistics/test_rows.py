"""Estimates from rows: of one run, and of the difference of two."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import DataError, UsageError
from adjudge.statistics import Estimate, estimate_mean, paired_difference

pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=40)


@given(pairs)
def test_a_difference_turned_round_is_its_opposite(rows: list[tuple[float, float, int]]) -> None:
    """First against second is second against first with the other sign, and the interval mirrored."""
    first, second, clusters = (list(column) for column in zip(*rows, strict=True))
    for named in (None, clusters):
        one, other = paired_difference(first, second, named), paired_difference(second, first, named)
        assert one is not None
        assert other is not None
        assert one.low is not None
        assert other.high is not None
        assert (one.value, one.se, one.method, one.note) == (-other.value, other.se, other.method, other.note)
        assert one.low == pytest.approx(-other.high, abs=1e-15)
        assert -1.0 <= one.low < one.value + 1e-15
        assert one.p_value() == other.p_value()


@given(pairs)
def test_the_plain_test_is_students(rows: list[tuple[float, float, int]]) -> None:
    """Without clusters the p-value is that of the paired t test."""
    first, second, _ = (list(column) for column in zip(*rows, strict=True))
    result = paired_difference(first, second)
    assert result is not None
    if result.se is None or result.se < 1e-3:  # where numpy's sums have digits left
        return
    assert result.p_value() == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-9, abs=1e-12)


def test_no_rows_have_no_estimate() -> None:
    """Without rows there is nothing to estimate, and no error."""
    assert estimate_mean([]) is None
    assert estimate_mean([], []) is None
    assert paired_difference([], []) is None


def test_rows_that_do_not_fit_are_refused() -> None:
    """Two runs, and the names of their clusters, have one entry for each row."""
    with pytest.raises(DataError, match="3 values, but 2 of the clusters"):
        estimate_mean([1, 0, 1], ["a", "b"])
    with pytest.raises(DataError, match="2 values, but 1 of the second run"):
        paired_difference([1, 0], [1])
    with pytest.raises(DataError, match="2 lies outside the range"):
        paired_difference([1, 2], [1, 2])
    with pytest.raises(DataError, match="finite number"):
        estimate_mean([float("nan")], range=None)


def test_an_unbounded_range_has_no_ends() -> None:
    """Without a range the interval goes where it goes, also for differences."""
    result = paired_difference([10, 20, 40], [0, 5, 1], range=None)
    assert result is not None
    low, high = stats.t.interval(0.95, 2, 64 / 3, stats.sem([10, 15, 39]))
    assert (result.value, result.low, result.high) == pytest.approx((64 / 3, low, high), rel=1e-9)


def test_without_an_error_there_is_no_p_value() -> None:
    """Where no row differs, there is no test."""
    result = paired_difference([1, 0], [1, 0])
    assert result is not None
    assert result.p_value() is None


def test_a_difference_is_the_mean_of_differences() -> None:
    """Method, correction and confidence are those of the mean of the row by row differences, in twice the range."""
    first, second, clusters = [4.0, 5.0, 1.0, 3.0, 2.0], [2.0, 5.0, 2.0, 1.0, 1.0], list("aabbc")
    differences = [2.0, 0.0, -1.0, 2.0, 1.0]
    for method in ("t", "normal", "wilson"):
        for correction in ("CR0", "CR1", "CR2"):
            found = paired_difference(
                first, second, clusters, method=method, correction=correction, range=(1, 5), confidence=0.8
            )
            wanted = estimate_mean(
                differences, clusters, method=method, correction=correction, range=(-4, 4), confidence=0.8
            )
            assert found == wanted
            assert found is not None
            assert (found.method, found.confidence) == (f"{correction} {method}", 0.8)


def test_corrections_are_for_clusters() -> None:
    """Without clusters every value is one of its own, and the error the ordinary one, whatever correction is named."""
    values = [1, 0, 1, 1]
    assert estimate_mean(values, correction="CR0") == estimate_mean(values)


def test_both_runs_lie_in_the_range() -> None:
    """A value of either run below or above the range is an error, and so is a range without a width."""
    for first, second in (([-1, 1], [1, 1]), ([1, 2], [1, 1]), ([1, 1], [-1, 1]), ([1, 1], [1, 2])):
        with pytest.raises(DataError, match=r"lies outside the range 0\.\.1"):
            paired_difference(first, second)
    for ends in ((1.0, 1.0), (1.0, 0.0), (0.0, math.inf)):
        with pytest.raises(UsageError, match=re.escape(f"or None, got {ends}")):
            paired_difference([], [], range=ends)


@pytest.mark.parametrize(("df", "p"), [(None, 2 * stats.norm.sf(2.0)), (9, 2 * stats.t.sf(2.0, 9))])
def test_p_values_are_about_a_null(df: float | None, p: float) -> None:
    """Two standard errors from the null, on either side of it, are as unlikely wherever the null is."""
    found = Estimate(0.5, 0.1, 0.3, 0.7, 10, None, df, "t")
    assert [found.p_value(0.3), found.p_value(null=0.7)] == pytest.approx([p, p])
    assert found.p_value(0.5) == pytest.approx(1.0)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.1, math.nan])
def test_a_confidence_is_a_share(confidence: float) -> None:
    """A confidence lies between 0 and 1, and is neither."""
    with pytest.raises(UsageError, match="confidence must lie between 0 and 1"):
        estimate_mean([1, 0], confidence=confidence)


def test_ranges_have_ends() -> None:
    """A range without an end on one side is none: None stands for no range."""
    for ends in ((-math.inf, 1.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(UsageError, match="a range is"):
            estimate_mean([1, 0], range=ends)


@pytest.mark.parametrize(("spread", "is_rounding"), [(1e-14, True), (1e-9, False)])
def test_rounding_against_variation(spread: float, is_rounding: bool) -> None:
    """An error below a millionth of a millionth of the range is rounding, above it variation."""
    found = estimate_mean([0.5, 0.5 + spread, 0.5 - spread])
    assert found is not None
    assert (found.se is None) == is_rounding

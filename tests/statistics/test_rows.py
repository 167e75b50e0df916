"""Estimates from rows: of one run, and of the difference of two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import DataError
from adjudge.statistics import estimate_mean, paired_difference

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

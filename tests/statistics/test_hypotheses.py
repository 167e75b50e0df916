"""McNemar's exact test, and p-values of many comparisons."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import DataError
from adjudge.statistics import benjamini_hochberg, holm, mcnemar
from adjudge.statistics._hypotheses import _exactly

p_values = st.lists(st.floats(0, 1), max_size=30)


@given(st.lists(st.tuples(st.integers(0, 1), st.booleans()), max_size=60))
def test_mcnemar_is_symmetric_and_exact(rows: list[tuple[int, bool]]) -> None:
    """Turned round, the counts change places and p stays; it is the binomial test of the discordant rows."""
    first, second = [one for one, _ in rows], [other for _, other in rows]
    result, turned = mcnemar(first, second), mcnemar(second, first)
    assert (result.only_first, result.only_second, result.p_value) == (
        turned.only_second,
        turned.only_first,
        turned.p_value,
    )
    discordant = result.only_first + result.only_second
    expected = stats.binomtest(result.only_first, discordant).pvalue if discordant else 1.0
    assert result.p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("only_first", "only_second"),
    [(5000, 5000), (5001, 5000), (5300, 4800), (50500, 49600), (60000, 40000), (20000, 0)],
)
def test_mcnemar_of_many_rows(only_first: int, only_second: int) -> None:
    """Large counts are as exact, down to the least float."""
    result = mcnemar([1] * only_first + [0] * only_second, [0] * only_first + [1] * only_second)
    expected = stats.binomtest(only_first, only_first + only_second).pvalue
    assert result.p_value == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_mcnemar_takes_right_and_wrong_only() -> None:
    """A value between 0 and 1 is an error that names its row."""
    with pytest.raises(DataError, match="row 2"):
        mcnemar([1, 0.5], [1, 1])
    with pytest.raises(DataError, match="got 1 and 2 in row 1"):
        mcnemar([1], [2])
    with pytest.raises(DataError, match="2 values, but 1 of the second run"):
        mcnemar([1, 0], [1])


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (3, 10), (5000, 10_000), (5000, 10_001), (5001, 10_002), (4990, 10_002), (50_000, 100_000)]
)
def test_probabilities_of_the_binomial(k: int, n: int) -> None:
    """The chance of k heads of n is that of whole numbers to the last digits, on either side of the formula's limit."""
    assert _exactly(k, n) == pytest.approx(math.comb(n, k) / 2**n, rel=5e-15, abs=0.0)


@pytest.mark.parametrize("k", [7320, 7354, 7400])
def test_chances_next_to_the_least_float(k: int) -> None:
    """The chance of k heads of 20,000 is no 0 while a float can hold it."""
    assert _exactly(k, 20_000) == pytest.approx(math.comb(20_000, k) / 2**20_000, rel=1e-9, abs=0.0)
    assert _exactly(k, 20_000) > 0.0


@given(p_values)
def test_adjusted_p_values_keep_their_order(given_p: list[float]) -> None:
    """Both only raise p, Holm more; a smaller p stays the smaller one, and nothing passes 1."""
    careful, liberal = holm(given_p), benjamini_hochberg(given_p)
    for p, one, other in zip(given_p, careful, liberal, strict=True):
        assert p <= other * (1 + 1e-12) <= one * (1 + 1e-11) + 1e-300
        assert one <= 1.0
    order = sorted(range(len(given_p)), key=given_p.__getitem__)
    for adjusted in (careful, liberal):
        values = [adjusted[index] for index in order]
        assert values == sorted(values)


@given(p_values)
def test_the_order_of_the_tests_does_not_matter(given_p: list[float]) -> None:
    """Adjusted p-values go with their test, wherever it stands."""
    turned = given_p[::-1]
    assert holm(turned) == holm(given_p)[::-1]
    assert benjamini_hochberg(turned) == benjamini_hochberg(given_p)[::-1]


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value_is_refused(bad: float) -> None:
    """A p-value outside of 0..1 is an error that says which one."""
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(DataError, match="number 2"):
            adjust([0.5, bad])


def test_no_tests_need_no_adjustment() -> None:
    """Nothing in, nothing out; a single p stays as it is."""
    assert holm([]) == benjamini_hochberg([]) == []
    assert holm([0.04]) == benjamini_hochberg([0.04]) == [0.04]

"""A mean with its interval is that of the textbooks, and can be put together from shards."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import UsageError
from adjudge.statistics import Moments, mean_of, normal_quantile, t_cdf, t_quantile
from adjudge.statistics._quantiles import _half_step

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


@pytest.mark.parametrize("df", [1, 2, 3, 5, 9.5, 30, 100, 1e4, 1e7])
@pytest.mark.parametrize("probability", [1e-6, 0.01, 0.025, 0.3, 0.5, 0.8, 0.95, 0.975, 0.9995, 1 - 1e-9])
def test_t_quantiles_equal_scipys(probability: float, df: float) -> None:
    """Quantiles and distribution function of Student's t agree with scipy."""
    expected = stats.t.ppf(probability, df)
    assert t_quantile(probability, df) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert t_cdf(expected, df) == pytest.approx(stats.t.cdf(expected, df), rel=1e-9, abs=1e-12)


def test_normal_quantile_equals_scipys() -> None:
    """The normal quantile agrees with scipy."""
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975), abs=1e-12)


def test_the_worked_vector() -> None:
    """Scores 1 1 0 1 0 0 1 1 1 0: mean .6, Wilson [.312674, .831820]; as non-binary values t95 [.230591, .969409]."""
    scores = [1.0, 1, 0, 1, 0, 0, 1, 1, 1, 0]
    wilson = mean_of(Moments.of(scores))
    assert wilson is not None
    assert (wilson.value, wilson.low, wilson.high) == pytest.approx((0.6, 0.312674, 0.831820), abs=5e-7)
    shifted = mean_of(Moments.of([value + 1.0 for value in scores]))
    assert shifted is not None
    assert (shifted.low, shifted.high) == pytest.approx((1.230591, 1.969409), abs=5e-7)


@given(values, st.floats(0.5, 0.999))
def test_the_t_interval_equals_scipys(numbers: list[float], confidence: float) -> None:
    """The interval of values that are not all 0 or 1 is Student's."""
    result = mean_of(Moments.of(numbers), confidence=confidence)
    assert result is not None
    if result.method != "t":
        return
    error = stats.sem(numbers)
    if error == 0.0:
        assert result.low == pytest.approx(result.value)
        return
    low, high = stats.t.interval(confidence, len(numbers) - 1, loc=sum(numbers) / len(numbers), scale=error)
    assert (result.low, result.high) == pytest.approx((low, high), rel=1e-6, abs=1e-6)


@given(values, st.integers(0, 40))
def test_shards_merge_to_the_whole(numbers: list[float], cut: int) -> None:
    """Moments of two parts, merged, are the moments of all."""
    whole = Moments.of(numbers)
    merged = Moments.of(numbers[:cut]).merge(Moments.of(numbers[cut:]))
    assert merged.n == whole.n
    assert merged.mean == pytest.approx(whole.mean, rel=1e-9, abs=1e-9)
    assert merged.squares == pytest.approx(whole.squares, rel=1e-6, abs=1e-3)
    assert merged.binary == whole.binary


@pytest.mark.parametrize(("value", "n"), [(0.0, 1), (1.0, 1), (0.0, 20), (1.0, 20)])
def test_all_alike_still_has_a_width(value: float, n: int) -> None:
    """All right or all wrong is no certainty."""
    result = mean_of(Moments.of([value] * n))
    assert result is not None
    assert result.low is not None
    assert result.high is not None
    assert result.high - result.low > 0.05
    assert 0.0 <= result.low <= result.high <= 1.0


def test_too_few_values_have_no_interval() -> None:
    """No value has no mean, one value no interval."""
    assert mean_of(Moments()) is None
    single = mean_of(Moments.of([0.3]))
    assert single is not None
    assert (single.value, single.low, single.high, single.method) == (0.3, None, None, "none")


def test_nonsense_is_refused() -> None:
    """A confidence outside of 0..1 or degrees of freedom below 0 make no sense."""
    with pytest.raises(UsageError, match="confidence"):
        mean_of(Moments.of([1.0]), confidence=95)
    with pytest.raises(UsageError, match="df"):
        t_quantile(0.975, 0)
    with pytest.raises(UsageError, match="df"):
        t_cdf(1.0, 0)
    with pytest.raises(UsageError, match="probability"):
        normal_quantile(1.0)


def test_sums_are_exact_enough() -> None:
    """A million tenths have a mean of a tenth."""
    assert Moments.of([0.1] * 1_000_000).mean == pytest.approx(0.1, abs=1e-15)
    assert math.isclose(Moments.of([1e8, 1.0, -1e8]).mean, 1 / 3)


def test_shards_of_several_values() -> None:
    """2 4 and 6 8 10 together: mean 6, Σ(x - 6)² = 40 = 2 + 8 + 5² · 2 · 3 / 5; 0 and 1 stay so in both parts only."""
    found = Moments.of([2.0, 4.0]).merge(Moments.of([6.0, 8.0, 10.0]))
    assert (found.n, found.mean, found.squares, found.binary) == (5, 6.0, 40.0, False)
    assert [
        Moments.of(one).merge(Moments.of(other)).binary for one, other in (([0, 1], [1]), ([0], [2]), ([2], [0]))
    ] == [
        True,
        False,
        False,
    ]


def test_nothing_adds_nothing() -> None:
    """Moments of no values change no others, on either side; together they are none."""
    some, none = Moments.of([0.5, 2.5]), Moments.of([])
    assert none == Moments() == Moments(0, 0.0, 0.0, binary=True)
    assert none.merge(some) == some.merge(none) == some
    assert none.merge(none) == none
    vast = Moments.of([1e200])
    assert none.merge(vast) == vast.merge(none) == vast


def test_large_means_leave_small_deviations() -> None:
    """Deviations are taken before they are squared, so that none are lost beside a large mean; sums may overflow."""
    values = [1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.4]
    mean = sum(map(Fraction, values)) / 3
    assert Moments.of(values).squares == pytest.approx(float(sum((Fraction(one) - mean) ** 2 for one in values)))
    assert Moments.of([1.5e308, 1.5e308]).mean == 1.5e308


@pytest.mark.parametrize(
    ("values", "method"),
    [
        ([0.3], "none"),
        ([0.3, 0.3], "none"),
        ([0.3, 0.4], "t"),
        ([0.3, 0.3001], "t"),
        ([1, 0], "wilson"),
        ([1], "wilson"),
    ],
)
def test_how_an_interval_is_made(values: list[float], method: str) -> None:
    """0 and 1 have Wilson's, values that differ Student's, one value or values that are all alike none."""
    found = mean_of(Moments.of(values))
    assert found is not None
    assert (found.method, found.n) == (method, len(values))
    assert (found.low is None, found.high is None) == (method == "none",) * 2
    if method == "t":
        assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 1, found.value, stats.sem(values)))


@pytest.mark.parametrize("a", [1, 10, 49, 50, 51, 75, 1000, 10**6])
def test_steps_of_one_half_of_the_gamma_function(a: int) -> None:
    """Γ(a + ½) / Γ(a) of a whole number is √π · a · C(2a, a) / 4ᵃ, on either side of where the series begins."""
    if a > 1000:
        wanted = 0.5 * math.log(a) - 1 / (8 * a)  # all that a float has digits for
    else:
        wanted = 0.5 * math.log(math.pi) + math.log(Fraction(a * math.comb(2 * a, a), 4**a))
    assert _half_step(a) == pytest.approx(wanted, abs=8e-16 if a >= 50 else 3e-14, rel=0.0)


@pytest.mark.parametrize("df", [0.5, 1, 5, 200])
def test_the_ends_of_students_t(df: float) -> None:
    """Half lies below 0, all below infinity, nothing below minus infinity, and a number without end is far out."""
    assert [t_cdf(t, df) for t in (-math.inf, -0.0, 0.0, math.inf)] == [0.0, 0.5, 0.5, 1.0]
    assert t_cdf(1e200, df) == pytest.approx(1.0)
    assert t_quantile(0.5, df) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("probability", [0.0, 1.0, 1.1, -0.1, math.nan])
def test_quantiles_are_of_probabilities(probability: float) -> None:
    """0 and 1 have no quantile, and what is no probability has none either."""
    with pytest.raises(UsageError, match="need 0 < probability < 1"):
        normal_quantile(probability)
    with pytest.raises(UsageError, match="need 0 < probability < 1"):
        t_quantile(probability, 5)

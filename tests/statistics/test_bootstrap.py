"""Bootstrap intervals: seeded, whatever the order of the rows, whole clusters at a time."""

import random
from itertools import pairwise
from statistics import quantiles, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import UsageError
from adjudge.statistics import Bootstrap, bootstrap_mean, estimate_mean
from adjudge.statistics._bootstrap import correct_tails, quantile, resample

METHODS: tuple[Bootstrap, ...] = ("percentile", "bca")
rows = st.lists(st.tuples(st.one_of(st.integers(0, 1), st.floats(0, 1)), st.integers(0, 4)), min_size=1, max_size=25)


@settings(max_examples=40)
@given(rows, st.randoms(use_true_random=False), st.sampled_from(METHODS), st.sampled_from([0.5, 0.95]))
def test_order_changes_no_bit(
    pairs: list[tuple[float, int]], chance: random.Random, method: Bootstrap, confidence: float
) -> None:
    """The same rows and seed give the same interval in any order, in the range, and with a width."""
    mixed = chance.sample(pairs, len(pairs))
    for clustered in (False, True):
        one, other = (
            bootstrap_mean(
                [value for value, _ in table],
                [cluster for _, cluster in table] if clustered else None,
                method=method,
                resamples=100,
                confidence=confidence,
            )
            for table in (pairs, mixed)
        )
        assert one == other
        assert one is not None
        assert one.low is not None
        assert one.high is not None
        assert 0.0 <= one.low < one.high <= 1.0


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method: Bootstrap) -> None:
    """Another seed gives another, similar interval; the mean is not touched."""
    chance = random.Random(3)  # noqa: S311 (test data)
    values = [chance.random() for _ in range(200)]
    one, other = (bootstrap_mean(values, method=method, seed=seed) for seed in (0, 1))
    assert one is not None
    assert other is not None
    assert one.low != other.low
    assert one.low == pytest.approx(other.low, abs=0.01)
    assert one.value == other.value


@pytest.mark.parametrize("method", METHODS)
def test_it_is_near_the_formula(method: Bootstrap) -> None:
    """On many rows the interval is nearly Student's, clustered or not."""
    chance = random.Random(5)  # noqa: S311 (test data)
    skill = [chance.random() for _ in range(150)]
    clusters = [chance.randrange(150) for _ in range(900)]
    values = [float(chance.random() < skill[cluster]) for cluster in clusters]
    for named in (None, clusters):
        found, formula = bootstrap_mean(values, named, method=method), estimate_mean(values, named)
        assert found is not None
        assert formula is not None
        assert (found.low, found.high) == pytest.approx((formula.low, formula.high), abs=0.01)
        assert found.se == pytest.approx(formula.se, rel=0.1)
        assert found.method == (method if named is None else f"clustered {method}")


def test_what_does_not_vary_falls_back() -> None:
    """All right is Wilson's interval as everywhere; means that hardly vary give Student's, and the note says so."""
    right = bootstrap_mean([1] * 10)
    plain = estimate_mean([1] * 10)
    assert right == plain
    rare = bootstrap_mean([1] + [0] * 99, confidence=0.1)
    assert rare is not None
    assert rare.low is not None
    assert rare.high is not None
    assert rare.low < rare.high
    assert rare.method == "t"
    assert rare.note == "the resampled means do not vary enough: Student's t"
    narrow = bootstrap_mean([1, 1, 1, 0], [1, 2, 3, 4], confidence=0.001, resamples=100)
    assert narrow is not None
    assert (
        narrow.note
        == "the resampled means do not vary enough: Student's t; 4 clusters, fewer than 20: the interval is rough"
    )
    assert bootstrap_mean([]) is None


def test_nonsense_is_refused() -> None:
    """A method that is none and too few resamples are errors."""
    with pytest.raises(UsageError, match="method percentile or bca"):
        bootstrap_mean([1, 0], method="t")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="100 resamples"):
        bootstrap_mean([1, 0], resamples=99)
    assert bootstrap_mean([1, 0, 1], resamples=100) is not None


SKEWED = [(n / 40) ** 6 for n in range(41)]


def test_the_error_is_that_of_the_resampled_means() -> None:
    """2,000 means with seed 0 unless said; their standard deviation is the error, and no t has a part in it."""
    found = bootstrap_mean(SKEWED)
    assert found is not None
    means = resample([(1, value) for value in SKEWED], 2000, 0)
    assert means == sorted(means)
    assert len(means) == 2000
    assert found.se == pytest.approx(stdev(means), rel=1e-12)
    assert found.df is None
    ends = quantiles(means, n=40, method="inclusive")
    assert (found.low, found.high) == pytest.approx((ends[0], ends[-1]), rel=1e-12)


@pytest.mark.parametrize("shift", [0.05, 0.02, -0.01])
def test_bca_is_efrons(shift: float) -> None:
    """Tails are Φ(b + (b + z) / (1 - a (b + z))), b by the share of means below, a by leaving one cluster out."""
    pairs = [(1 + n % 3, value * (1 + n % 3)) for n, value in enumerate(SKEWED)]
    means = resample(pairs, 1000, 3)
    size, total = sum(n for n, _ in pairs), sum(own for _, own in pairs)
    value = total / size + shift
    without = [(total - own) / (size - n) for n, own in pairs]
    gaps = [sum(without) / len(without) - one for one in without]
    skew = sum(gap**3 for gap in gaps) / (6 * sum(gap**2 for gap in gaps) ** 1.5)
    bias = stats.norm.ppf(sum(mean < value for mean in means) / 1000)
    wanted = [
        stats.norm.cdf(bias + (bias + z) / (1 - skew * (bias + z))) for z in (stats.norm.ppf(0.1), stats.norm.ppf(0.9))
    ]
    assert correct_tails((0.1, 0.9), means, pairs, value) == pytest.approx(wanted, rel=1e-9)
    assert abs(skew) > 0.01


def test_ties_count_half() -> None:
    """Where the means lie evenly about the value, those equal to it by half, and nothing is skewed, no tail moves."""
    pairs = [(1, 0.0), (1, 0.5), (1, 1.0)]
    assert correct_tails((0.1, 0.9), [0.4, 0.5, 0.5, 0.6], pairs, 0.5) == pytest.approx((0.1, 0.9))
    fewer = stats.norm.cdf(2 * stats.norm.ppf(0.25) + stats.norm.ppf(0.1))
    assert correct_tails((0.1, 0.9), [0.5, 0.5, 0.6, 0.6], pairs, 0.5)[0] == pytest.approx(fewer)


@pytest.mark.parametrize("value", [0.1, 0.9])
def test_no_bias_is_known_beyond_every_mean(value: float) -> None:
    """Where every mean lies on one side of the value, there is no bias to correct by, and the tails stay."""
    assert correct_tails((0.1, 0.9), [0.4, 0.5, 0.6], [(1, 0.0), (1, 1.0)], value) == (0.1, 0.9)


def test_bca_goes_with_the_skew() -> None:
    """Of values with a long tail above, the corrected interval lies higher, about as scipy's does."""
    plain, found = bootstrap_mean(SKEWED, resamples=5000), bootstrap_mean(SKEWED, method="bca", resamples=5000)
    theirs = stats.bootstrap((SKEWED,), lambda x, axis: x.mean(axis=axis), method="BCa", rng=1).confidence_interval
    assert plain is not None
    assert plain.low is not None
    assert found is not None
    assert found.low is not None
    assert found.low > plain.low + 0.003
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.008)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(1, 39))
def test_quantiles_are_of_type_seven(values: list[float], fortieth: int) -> None:
    """A quantile lies on the straight line between its neighbours, as the standard library's inclusive ones."""
    ordered = sorted(values)
    assert quantile(ordered, fortieth / 40) == pytest.approx(
        quantiles(ordered, n=40, method="inclusive")[fortieth - 1], abs=1e-12
    )
    assert (quantile(ordered, 0.0), quantile(ordered, 1.0)) == pytest.approx((ordered[0], ordered[-1]))
    assert all(one <= other for one, other in pairwise(quantile(ordered, n / 8) for n in range(9)))

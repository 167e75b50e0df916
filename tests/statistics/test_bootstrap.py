"""Bootstrap intervals: seeded, whatever the order of the rows, whole clusters at a time."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.statistics import Bootstrap, bootstrap_mean, estimate_mean

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
        bootstrap_mean([1, 0], resamples=10)

"""The figures of a comparison are those of scipy, on random cases."""

import random
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from adjudge.comparison import CompareOptions, MetricValues, Results, compare_results
from adjudge.statistics import Estimate, estimate_mean, fixed_cases_difference, paired_difference, permutation_p

SEEDS = range(50)


def seeded(seed: int) -> random.Random:
    """Return numbers that are the same in every run."""
    return random.Random(seed)  # noqa: S311 (not a secret)


@pytest.mark.parametrize("seed", SEEDS)
def test_means_of_repeats_are_a_paired_t_test(seed: int) -> None:
    """Difference, interval and p-value are those of scipy's paired test on the means of each case's repeats."""
    drawn = seeded(seed)
    number, repeats = drawn.randrange(3, 60), drawn.randrange(2, 6)
    base, new = ([[drawn.random() for _ in range(repeats)] for _ in range(number)] for _ in range(2))
    ours, theirs = (
        Results("run", {"m": MetricValues({str(at): one for at, one in enumerate(values)})}) for values in (base, new)
    )
    metric = compare_results(ours, theirs).metrics["m"]
    expected = stats.ttest_rel([np.mean(one) for one in new], [np.mean(one) for one in base])
    low, high = expected.confidence_interval()
    assert metric.difference is not None
    assert metric.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (metric.difference.low, metric.difference.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_right_or_wrong_is_the_exact_binomial_test(seed: int) -> None:
    """With one repeat of independent cases, the p-value is that of scipy's exact test on the discordant pairs."""
    drawn = seeded(seed)
    values = [(float(drawn.random() < 0.6), float(drawn.random() < 0.5)) for _ in range(drawn.randrange(5, 80))]
    base, new = (
        Results(str(side), {"m": MetricValues({str(at): [pair[side]] for at, pair in enumerate(values)}, (0.0, 1.0))})
        for side in (0, 1)
    )
    worse, better = (sum(pair == changed for pair in values) for changed in ((1.0, 0.0), (0.0, 1.0)))
    expected = stats.binomtest(worse, worse + better).pvalue if worse + better else 1.0
    assert compare_results(base, new).metrics["m"].p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_case_with_two_runs_is_welch_s_interval(seed: int) -> None:
    """Within a single case, the interval is that of Welch's test."""
    drawn = seeded(seed)
    first, second = ([drawn.gauss(0, 1 + side) for _ in range(drawn.randrange(2, 30))] for side in (0, 1))
    found = fixed_cases_difference([first], [second], range=None)
    low, high = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_chance_is_the_permutation_test(seed: int) -> None:
    """The p-value of a case is scipy's: Fisher's where right or wrong, else over all splits."""
    drawn = seeded(seed)
    sizes = drawn.randrange(1, 8), drawn.randrange(1, 8)
    right = [
        [float(drawn.random() < chance) for _ in range(size)] for size, chance in zip(sizes, (0.8, 0.3), strict=True)
    ]
    counts = [[int(sum(one)), len(one) - int(sum(one))] for one in right]
    means = [np.mean(one) for one in right]
    if means[0] != means[1]:
        side = "greater" if means[0] > means[1] else "less"
        assert permutation_p(*right) == pytest.approx(stats.fisher_exact(counts, alternative=side).pvalue, rel=1e-9)
    graded = [[drawn.random() for _ in range(max(2, size // 2))] for size in sizes]
    side = "greater" if np.mean(graded[0]) > np.mean(graded[1]) else "less"
    expected = stats.permutation_test(
        graded, lambda one, other: np.mean(one) - np.mean(other), alternative=side, n_resamples=np.inf
    )
    assert permutation_p(*graded) == pytest.approx(expected.pvalue, rel=1e-9)


def test_chance_of_many_repeats_is_welch_s() -> None:
    """With too many ways to split the repeats, the p-value is Welch's, one-sided."""
    drawn = seeded(1)
    first, second = ([drawn.gauss(mean, 1) for _ in range(40)] for mean in (0.0, 0.4))
    side = "greater" if np.mean(first) > np.mean(second) else "less"
    expected = stats.ttest_ind(first, second, equal_var=False, alternative=side).pvalue
    assert permutation_p(first, second) == pytest.approx(expected, rel=1e-9)


SAMPLES = [
    estimate_mean([0.2, 0.4, 0.9]),
    estimate_mean([1.0] * 30),
    estimate_mean([0.3] * 30),
    paired_difference([0.5] * 12, [0.2] * 12),
    paired_difference([1, 0, 1, 1], [0, 0, 1, 0], ["a", "a", "b", "c"]),
]


@pytest.mark.parametrize("found", SAMPLES)
def test_an_estimate_at_another_confidence_is_the_one_made_at_it(found: Estimate) -> None:
    """`at` gives wider intervals for more confidence, and there and back is where it began."""
    ends = (-1.0, 1.0) if found.value < 1.0 and found.low is not None and found.low < 0 else (0.0, 1.0)
    intervals = [found.at(confidence, ends) for confidence in (0.5, 0.8, 0.95, 0.999)]
    for narrow, wide in pairwise(intervals):
        assert wide.low is not None
        assert wide.high is not None
        assert narrow.low is not None
        assert narrow.high is not None
        assert wide.low <= narrow.low <= narrow.high <= wide.high
    back = found.at(0.8, ends).at(0.95, ends)
    if found.se is None:
        assert (back.low, back.high) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize(
    ("ours", "theirs"), [([0.9] * 40, [0.4] * 40), ([1.0] * 9, [0.0] * 9), ([0.5] * 7, [0.49] * 7)]
)
def test_without_variation_the_p_value_is_where_the_interval_ends(ours: list[float], theirs: list[float]) -> None:
    """The interval at 1 - p ends at 0; a difference that cannot be has p = 0."""
    found = paired_difference(ours, theirs)
    assert found is not None
    p = found.p_value(0.0, (-1.0, 1.0))
    assert p is not None
    assert found.at(1.0 - p, (-1.0, 1.0)).low == pytest.approx(0.0, abs=1e-9)
    assert found.p_value(-1.5, (-1.0, 1.0)) == 0.0
    assert found.p_value(found.value, (-1.0, 1.0)) == 1.0


@pytest.mark.parametrize("p_values", [[0.01], [0.01, 0.4, 0.02], [0.001, 0.002, 0.04, 0.9], [0.6, 0.7]])
def test_intervals_agree_with_adjusted_p_values(p_values: list[float]) -> None:
    """An interval at its level excludes 0 exactly where the adjusted p-value is below .05."""
    from adjudge.comparison._verdicts import benjamini_hochberg_levels, holm_levels

    for levels in (holm_levels, benjamini_hochberg_levels):
        adjusted, found = levels(p_values)
        assert [p < level for p, level in zip(p_values, found, strict=True)] == [p < 0.05 for p in adjusted]


def test_these_cases_need_no_new_ones() -> None:
    """On the same data, an interval about these cases is narrower than one about new cases of the kind."""
    drawn = seeded(4)
    chances = [drawn.random() for _ in range(60)]
    base, new = (
        Results(
            str(side),
            {
                "m": MetricValues(
                    {
                        str(at): [float(drawn.random() < (chance, 1 - chance)[side]) for _ in range(8)]
                        for at, chance in enumerate(chances)
                    },
                    (0.0, 1.0),
                )
            },
        )
        for side in (0, 1)
    )
    wide, narrow = (
        compare_results(base, new, CompareOptions(scope=scope)).metrics["m"].difference for scope in ("new", "these")
    )
    assert wide is not None
    assert narrow is not None
    assert wide.se is not None
    assert narrow.se is not None
    assert narrow.value == pytest.approx(wide.value)
    assert narrow.se < 0.8 * wide.se

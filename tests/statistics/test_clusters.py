"""A clustered mean: the same for every order and split, honest about few clusters, never of width 0."""

import math
import pickle
import random
from fractions import Fraction
from statistics import stdev
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import DataError, UsageError
from adjudge.statistics import Clusters, Correction, Estimate, Interval, estimate_mean

CORRECTIONS: tuple[Correction, ...] = ("CR0", "CR1", "CR2")
METHODS: tuple[Interval, ...] = ("t", "normal", "wilson")
GOOD: dict[Literal["binary", "three", "any"], st.SearchStrategy[float]] = {
    "binary": st.integers(0, 1),
    "three": st.sampled_from([-1.0, 0.0, 1.0]),
    "any": st.floats(-1.0, 1.0),
}
lists = st.one_of(
    [st.lists(st.lists(values, min_size=1, max_size=7), min_size=1, max_size=30) for values in GOOD.values()]
)


def of(groups: list[list[float]], ends: tuple[float, float] | None = (-1.0, 1.0)) -> Clusters:
    """Return the summary of some clusters."""
    clusters = Clusters(ends)
    for group in groups:
        clusters.add(group)
    return clusters


def sure(estimate: Estimate | None) -> Estimate:
    """Return an estimate that must be there."""
    assert estimate is not None
    return estimate


def all_estimates(clusters: Clusters) -> list[Estimate]:
    """Return every kind of estimate."""
    return [
        sure(clusters.estimate(method=method, correction=correction))
        for method in METHODS
        for correction in CORRECTIONS
    ]


@given(lists)
def test_numbers_are_those_of_exact_fractions(groups: list[list[float]]) -> None:
    """n, clusters, mean, effective n and CR1 are what plain fractions give, with values of any number of digits."""
    clusters = of(groups)
    n, totals = sum(map(len, groups)), [sum(map(Fraction, group)) for group in groups]
    mean = sum(totals) / Fraction(n)
    assert (clusters.n, clusters.clusters, clusters.mean) == (n, len(groups), float(mean))
    assert clusters.effective_n == float(Fraction(n * n, sum(len(group) ** 2 for group in groups)))
    if len(groups) > 1:
        residuals = (total - len(group) * mean for group, total in zip(groups, totals, strict=True))
        square = sum(one * one for one in residuals) / n**2 * Fraction(len(groups), len(groups) - 1)
        assert clusters.standard_error() == pytest.approx(math.sqrt(square), rel=1e-15, abs=1e-160)


@given(lists, st.randoms(use_true_random=False), st.integers(1, 5))
def test_order_and_shards_change_no_bit(groups: list[list[float]], chance: random.Random, shards: int) -> None:
    """Any order of clusters, of values in them, and any split over shards gives the same summary and numbers."""
    whole = of(groups)
    mixed = [chance.sample(group, len(group)) for group in chance.sample(groups, len(groups))]
    merged = Clusters((-1.0, 1.0))
    for shard in chance.sample(range(shards), shards):
        merged.merge(pickle.loads(pickle.dumps(of(mixed[shard::shards]))))  # noqa: S301 (as it comes from a worker)
    assert merged == whole
    assert all_estimates(merged) == all_estimates(whole)


@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4), min_size=2))
def test_no_size_of_value_is_too_large(groups: list[list[float]]) -> None:
    """Sums of any finite values are exact: the mean lies among the values and the error is finite."""
    clusters = of(groups, None)
    values = [value for group in groups for value in group]
    mean, se = clusters.mean, clusters.standard_error()
    assert mean is not None
    assert se is not None
    assert min(values) <= mean <= max(values)
    assert 0.0 <= se < math.inf
    assert sure(of(groups[::-1], None).estimate()) == sure(clusters.estimate())


@given(lists)
def test_intervals_lie_in_the_range_and_have_a_width(groups: list[list[float]]) -> None:
    """Every interval holds its value, ends where the range does, and is never of width 0."""
    for estimate in all_estimates(of(groups)):
        assert estimate.low is not None
        assert estimate.high is not None
        assert -1.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
        assert estimate.low < estimate.high
        assert estimate.n == sum(map(len, groups))
        assert estimate.clusters == len(groups)


@given(lists)
def test_corrections_only_add(groups: list[list[float]]) -> None:
    """CR0 is the least; CR2 has between 1 and G - 1 degrees of freedom, CR0 and CR1 have G - 1."""
    clusters = of(groups)
    cr0, cr1, cr2 = (clusters.standard_error(correction) for correction in CORRECTIONS)
    if len(groups) == 1:
        assert cr0 is cr1 is cr2 is clusters.degrees_of_freedom() is None
        return
    assert cr0 is not None
    assert cr1 is not None
    assert cr2 is not None
    assert cr0 <= cr1
    assert cr0 <= cr2
    assert cr1 == pytest.approx(cr0 * math.sqrt(len(groups) / (len(groups) - 1)), rel=1e-12)
    assert clusters.degrees_of_freedom("CR0") == clusters.degrees_of_freedom("CR1") == len(groups) - 1
    df = clusters.degrees_of_freedom("CR2")
    assert df is not None
    assert 1.0 - 1e-9 <= df <= (len(groups) - 1) * (1.0 + 1e-9)


@given(st.lists(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), min_size=2, max_size=20))
def test_equal_sizes_need_no_choice(groups: list[list[float]]) -> None:
    """Where all clusters have the same size, CR2 is CR1, with G - 1 degrees of freedom, and effective n is G."""
    clusters = of(groups)
    assert clusters.standard_error("CR2") == pytest.approx(clusters.standard_error("CR1"), rel=1e-12)
    assert clusters.degrees_of_freedom("CR2") == pytest.approx(len(groups) - 1, rel=1e-12)
    assert clusters.effective_n == len(groups)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_clusters_of_one_are_no_clusters(values: list[float]) -> None:
    """Where every value is a cluster of its own, the error is the ordinary one."""
    alone, clustered = sure(estimate_mean(values)), sure(estimate_mean(values, range_of(values)))
    assert (alone.value, alone.se, alone.low, alone.high, alone.df) == (
        clustered.value,
        clustered.se,
        clustered.low,
        clustered.high,
        clustered.df,
    )
    assert alone.clusters is None


def range_of(values: list[float]) -> list[int]:
    """Return a number for each value."""
    return list(range(len(values)))


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6), st.integers(0, 4)), max_size=20))
def test_clusters_can_be_counted(kinds: list[tuple[int, int, int]]) -> None:
    """Size, total and how often is enough: the same as adding the values of each."""
    by_values, by_totals = Clusters(), Clusters()
    for size, most, count in kinds:
        right = min(most, size)
        by_totals.add_total(size, right, count=count)
        for _ in range(count):
            by_values.add([1] * right + [0] * (size - right))
    assert by_totals == by_values
    assert by_totals.estimate() == by_values.estimate()


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=1, max_size=25))
def test_another_range_is_the_same_question(groups: list[list[float]]) -> None:
    """Scores of -1..1 have the interval of the same scores in 0..1, stretched."""
    small = all_estimates(of(groups, (0.0, 1.0)))
    large = all_estimates(of([[2 * value - 1 for value in group] for group in groups], (-1.0, 1.0)))
    for one, other in zip(small, large, strict=True):
        assert one.low is not None
        assert one.high is not None
        assert (other.value, other.low, other.high) == pytest.approx(
            (2 * one.value - 1, 2 * one.low - 1, 2 * one.high - 1), abs=1e-12
        )
        assert (other.method, other.note) == (one.method, one.note)


@pytest.mark.parametrize(("clusters", "said"), [(1, True), (2, True), (19, True), (20, False), (100, False)])
@pytest.mark.parametrize("right", [True, False])
def test_few_clusters_are_said(clusters: int, said: bool, right: bool) -> None:
    """Fewer than 20 clusters are said in the note, beside whatever else stands there."""
    summary = of([[1.0, 1.0], *([[1.0, float(right)]] * (clusters - 1))])
    note = sure(summary.estimate()).note or ""
    assert (f"{clusters} clusters, fewer than 20" in note or "one cluster" in note) == said


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_more_clusters_say_more(value: float) -> None:
    """Where no variation was seen, the interval shrinks with the number of clusters, not of values."""
    widths = []
    for clusters, size in [(1, 50), (5, 10), (25, 2), (50, 1)]:
        estimate = sure(of([[value] * size] * clusters).estimate())
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.se is None
        widths.append(estimate.high - estimate.low)
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4


def test_rounding_is_no_variation() -> None:
    """Clusters whose means differ by the rounding of their values alone are taken as alike."""
    estimate = sure(of([[0.1, 0.2], [0.15, 0.15], [0.3, 0.0]]).estimate())
    assert estimate.method == "wilson"


def test_no_values_have_no_mean() -> None:
    """Nothing, or clusters without values, gives no estimate."""
    clusters = Clusters()
    clusters.add([])
    clusters.add_total(3, 1, count=0)
    assert clusters == Clusters()
    assert clusters.mean is None
    assert clusters.estimate() is None
    assert (clusters.n, clusters.clusters, clusters.effective_n) == (0, 0, 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "one"])
def test_what_is_no_number_is_refused(bad: float) -> None:
    """A value that is no finite number is an error that names it, and nothing is added."""
    clusters = Clusters(None)
    with pytest.raises(DataError, match="finite number"):
        clusters.add([1.0, bad])
    with pytest.raises(DataError, match="finite number"):
        clusters.add_total(2, bad)
    assert clusters == Clusters(None)


def test_values_outside_the_range_are_refused() -> None:
    """A value that cannot be is an error that says which range is meant."""
    clusters = Clusters()
    with pytest.raises(DataError, match=r"-1 lies outside the range 0\.\.1; give range="):
        clusters.add([1, -1])
    with pytest.raises(DataError, match="a total of 4 over 3 values"):
        clusters.add_total(3, 4)
    assert clusters == Clusters()


def test_nonsense_is_refused() -> None:
    """Wrong calls are errors, each in words."""
    clusters = of([[1.0, 0.0], [1.0]], None)
    with pytest.raises(UsageError, match="least < greatest"):
        Clusters((1.0, 1.0))
    with pytest.raises(UsageError, match="different ranges"):
        clusters.merge(Clusters())
    with pytest.raises(UsageError, match="size must be at least 1"):
        clusters.add_total(0, 0)
    with pytest.raises(UsageError, match="confidence"):
        clusters.estimate(confidence=95)
    with pytest.raises(UsageError, match="method must be"):
        clusters.estimate(method="boot")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="correction must be"):
        clusters.estimate(correction="CR3")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a range"):
        clusters.estimate(method="wilson")
    for measure in (clusters.standard_error, clusters.degrees_of_freedom):
        with pytest.raises(UsageError, match="correction must be"):
            measure("CR3")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="count -1"):
        clusters.add_total(1, 0, count=-1)


@pytest.mark.parametrize("ends", [(0.0, 1.0), (1.0, 5.0), (-3.0, -1.0)])
def test_both_ends_of_the_range_hold(ends: tuple[float, float]) -> None:
    """Values and totals from the least to the greatest are taken, and none beyond, whichever it is of a cluster."""
    low, high = ends
    clusters = Clusters(ends)
    clusters.add([low, high])
    clusters.add_total(3, 3 * low)
    clusters.add_total(3, 3 * high)
    assert clusters.clusters == 3
    for bad in ([low, high + 0.5], [low - 0.5, high]):
        with pytest.raises(DataError, match="lies outside the range"):
            clusters.add(bad)
    for total in (3 * low - 0.5, 3 * high + 0.5):
        with pytest.raises(DataError, match="lies outside the range"):
            clusters.add_total(3, total)
    assert (clusters.clusters, clusters.n) == (3, 8)
    free = Clusters(None)
    free.add_total(3, 1000)
    assert free.mean == pytest.approx(1000 / 3)
    assert Clusters() == Clusters((0.0, 1.0))


def test_shards_of_finer_and_coarser_values() -> None:
    """Shards whose values need more or fewer binary digits merge to the whole, on either side."""
    coarse, fine = [[1.0, 0.5], [0.0, 0.5]], [[0.125, 0.1], [0.3]]
    for one, other in ((coarse, fine), (fine, coarse)):
        merged = of(one)
        merged.merge(of(other))
        assert merged == of([*coarse, *fine])
        assert merged.mean == pytest.approx((2.0 + 0.525) / 7)


def test_the_error_of_fractions() -> None:
    """The error of clusters of one is s / √n, also of values that are no whole numbers; Σ e² / n² for any clusters."""
    values = [0.5, 0.25, 0.8, 0.1]
    assert of([[value] for value in values]).standard_error() == pytest.approx(stdev(values) / 2, rel=1e-12)
    groups = [[0.5, 0.25, 0.8], [0.1, 0.7], [0.3]]
    mean = 2.65 / 6
    residuals = [sum(group) - len(group) * mean for group in groups]
    cr0 = math.sqrt(sum(one * one for one in residuals)) / 6
    cr2 = math.sqrt(sum(e * e / (1 - len(group) / 6) for e, group in zip(residuals, groups, strict=True))) / 6
    found = [of(groups).standard_error(correction) for correction in CORRECTIONS]
    assert found == pytest.approx([cr0, cr0 * math.sqrt(1.5), cr2], rel=1e-12)


@pytest.mark.parametrize(("spread", "is_rounding"), [(1e-10, True), (1e-6, False)])
def test_rounding_goes_with_the_range(spread: float, is_rounding: bool) -> None:
    """What is rounding in a range of a thousand is more than in one of 1."""
    estimate = sure(of([[500.0], [500.0 + spread], [500.0 - spread]], (0.0, 1000.0)).estimate())
    assert (estimate.se is None) == is_rounding
    assert sure(of([[0.5], [0.5 + spread], [0.5 - spread]], (0.0, 1.0)).estimate()).se is not None


@pytest.mark.parametrize(
    "groups",
    [
        [[1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1]],
        [[1, 0], [0, 1], [1, 0], [1, 1]],
        [[1.0] * 30, [0.0] * 30],
    ],
)
def test_wilson_on_the_design_effect(groups: list[list[float]]) -> None:
    """Wilson's interval is on n · p (1 - p) / (n - 1) / se² independent values, at most n and at least 1."""
    clusters = of(groups, (0.0, 1.0))
    n, p, se = clusters.n, clusters.mean, clusters.standard_error()
    assert p is not None
    assert se is not None
    effective = max(1.0, min(1.0, p * (1 - p) / (n - 1) / se**2) * n)
    z2 = 1.959964**2
    centre = (p + z2 / (2 * effective)) / (1 + z2 / effective)
    half = math.sqrt(z2 * (p * (1 - p) / effective + z2 / (4 * effective**2))) / (1 + z2 / effective)
    found = sure(clusters.estimate(method="wilson"))
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), abs=1e-6)
    assert (found.confidence, found.method) == (0.95, "CR1 wilson")

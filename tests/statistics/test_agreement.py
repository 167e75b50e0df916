"""Agreement with people: worked numbers from the literature, brute force, and what has no number."""

import math
import random
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import DataError, UsageError
from adjudge.statistics import (
    Agreement,
    Estimate,
    agreement,
    estimate_mean,
    krippendorff_alpha,
    prediction_powered,
    reliability,
    rogan_gladen,
)

rows = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def estimate(value: float, se: float | None = 0.01) -> Estimate:
    """Return an estimate as a run gives it."""
    return Estimate(value, se, None, None, 1000, None, None, "normal")


def test_kappa_by_hand() -> None:
    """45 and 25 of 100 rows agree, with margins of 60 and 70: kappa is (.70 - .54) / (1 - .54)."""
    pairs = [(True, True)] * 45 + [(False, True)] * 25 + [(True, False)] * 15 + [(False, False)] * 15
    found = agreement([label for label, _ in pairs], [verdict for _, verdict in pairs])
    assert found is not None
    assert found.kappa is not None
    p, q = 0.60, 0.70
    chance = p * q + (1 - p) * (1 - q)
    assert found.accuracy.value == pytest.approx(0.60)
    assert found.kappa.value == pytest.approx((0.60 - chance) / (1 - chance))
    assert found.sensitivity is not None
    assert found.specificity is not None
    assert (found.sensitivity.value, found.specificity.value) == (0.75, 0.375)
    assert found.n == 100


def test_kappa_error_is_that_of_leaving_one_out() -> None:
    """The standard error of kappa is the jackknife's, over rows and over clusters."""
    chance = random.Random(5)  # noqa: S311 (drawn rows)
    labels = [chance.random() < 0.7 for _ in range(400)]
    verdicts = [label if chance.random() < 0.85 else not label for label in labels]
    for size in (1, 4):
        clusters = [number // size for number in range(400)]
        found = agreement(labels, verdicts, clusters)
        assert found is not None
        assert found.kappa is not None
        left = []
        for cluster in sorted(set(clusters)):
            kept = [number for number in range(400) if clusters[number] != cluster]
            part = agreement([labels[number] for number in kept], [verdicts[number] for number in kept])
            assert part is not None
            assert part.kappa is not None
            left.append(part.kappa.value)
        mean = sum(left) / len(left)
        jackknife = math.sqrt((len(left) - 1) / len(left) * sum((value - mean) ** 2 for value in left))
        assert found.kappa.se == pytest.approx(jackknife, rel=0.03)


@given(rows)
def test_kappa_is_symmetric_and_bounded(pairs: list[tuple[bool, bool]]) -> None:
    """Who judges whom does not matter to kappa, and it lies between -1 and 1; accuracy is the share that agrees."""
    labels, verdicts = [list(each) for each in zip(*pairs, strict=True)]
    one, other = agreement(labels, verdicts), agreement(verdicts, labels)
    assert one is not None
    assert other is not None
    assert one.accuracy.value == sum(label == verdict for label, verdict in pairs) / len(pairs)
    if one.kappa is None or other.kappa is None:
        assert one.kappa is other.kappa is None
        assert len({*labels, *verdicts}) == 1
    else:
        assert one.kappa.value == pytest.approx(other.kappa.value)
        assert -1.0 - 1e-9 <= one.kappa.value <= 1.0


def test_alpha_of_the_textbook() -> None:
    """Krippendorff's worked example with three annotators and gaps has an alpha of .691."""
    annotators = [
        [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
        [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
        [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
    ]
    assert krippendorff_alpha(zip(*annotators, strict=True)) == pytest.approx(0.691, abs=5e-4)


def test_alpha_without_anything_to_compare() -> None:
    """There is no alpha of single labels, or of one label alone."""
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1], [None, 0]]) is None
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, 1], [0, 0]]) == 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50), st.integers(1, 20))
def test_bins_hold_every_row(pairs: list[tuple[float, bool]], bins: int) -> None:
    """Every row is in one bin, probabilities lie in theirs, and the error is between 0 and 1."""
    found = reliability([p for p, _ in pairs], [label for _, label in pairs], bins=bins)
    assert found is not None
    assert sum(each.n for each in found.bins) == len(pairs)
    assert all(each.low - 1e-9 <= each.probability <= each.high + 1e-9 for each in found.bins)
    assert 0.0 <= found.error <= 1.0


def test_probabilities_are_probabilities() -> None:
    """A probability outside 0..1, NaN included, is an error and never a bin."""
    for bad in (1.1, -0.1, math.nan):
        with pytest.raises(DataError, match="between 0 and 1"):
            reliability([bad], [True])
    assert reliability([], []) is None


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_corrections_find_the_truth(share: float) -> None:
    """What a judge of known faults says of a known share leads back to that share."""
    sensitivity, specificity = 0.9, 0.7
    observed = share * sensitivity + (1 - share) * (1 - specificity)
    found = rogan_gladen(estimate(observed), estimate(sensitivity), estimate(specificity))
    assert found is not None
    assert found.value == pytest.approx(share)
    powered = prediction_powered(estimate(observed), estimate(share - observed))
    assert powered.value == pytest.approx(share)
    assert powered.se == pytest.approx(math.hypot(0.01, 0.01))


@dataclass(frozen=True)
class World:
    """A true share, a judge's faults, and how many rows are labelled and judged."""

    share: float
    sensitivity: float
    specificity: float
    labelled: int
    judged: int


@pytest.mark.parametrize(
    "world",
    [
        World(0.6, 0.85, 0.8, 300, 500),
        World(0.7, 0.99, 0.97, 30, 500),
        World(0.7, 1.0, 1.0, 30, 300),
        World(0.75, 0.95, 0.9, 60, 60),
        World(0.5, 0.6, 0.5, 200, 500),
    ],
    ids=["usual", "few labels", "perfect judge", "few rows", "hardly better than chance"],
)
def test_corrected_intervals_cover(world: World) -> None:
    """Over 400 drawn worlds, both corrections have an interval, and at least about 95 % of them hold the true share."""
    chance = random.Random(11)  # noqa: S311 (drawn worlds)
    hits, tries = Counter[str](), Counter[str]()

    def verdict(label: bool) -> bool:
        return chance.random() < (world.sensitivity if label else 1 - world.specificity)

    for _ in range(400):
        labels = [chance.random() < world.share for _ in range(world.labelled)]
        verdicts = [verdict(label) for label in labels]
        known = agreement(labels, verdicts)
        said = [float(verdict(chance.random() < world.share)) for _ in range(world.judged)]
        observed = estimate_mean(said, method="wilson")
        correction = estimate_mean([a - b for a, b in zip(labels, verdicts, strict=True)], range=(-1.0, 1.0))
        assert known is not None
        assert known.sensitivity is not None
        assert known.specificity is not None
        assert observed is not None
        assert correction is not None
        by_rates = rogan_gladen(observed, known.sensitivity, known.specificity)
        for found in (by_rates, prediction_powered(observed, correction)):
            if found is not None:  # a judge may look no better than chance
                assert found.low is not None
                assert found.high is not None
                tries[found.method] += 1
                hits[found.method] += found.low <= world.share <= found.high
    assert all(hits[method] / tries[method] >= 0.93 for method in tries)
    assert tries["prediction-powered"] == 400


def test_no_interval_is_a_point() -> None:
    """A judge without an error on its labelled rows is not known to make none: figures and corrections have a width."""
    known = agreement([True, False] * 5, [True, False] * 5, [number // 2 for number in range(10)])
    assert known is not None
    assert known.kappa is not None
    assert known.sensitivity is not None
    assert known.specificity is not None
    found = rogan_gladen(estimate(0.72), known.sensitivity, known.specificity)
    assert found is not None
    always = agreement([True] * 25 + [False] * 15, [True] * 40)
    assert always is not None
    assert always.kappa is not None
    for each in (known.accuracy, known.kappa, known.sensitivity, found, always.kappa):
        assert each.low is not None
        assert each.high is not None
        assert each.high - each.low > 0.1


def test_corrections_of_one_confidence() -> None:
    """Parts whose intervals are of different confidence cannot be put together."""
    with pytest.raises(UsageError, match="different confidence"):
        prediction_powered(estimate(0.5), replace(estimate(0.1), confidence=0.9))


def test_no_correction_by_a_judge_without_skill() -> None:
    """A judge that is no better than chance corrects nothing; a share outside 0..1 is cut and says so."""
    assert rogan_gladen(estimate(0.5), estimate(0.5), estimate(0.5)) is None
    found = rogan_gladen(estimate(0.05), estimate(0.9), estimate(0.9))
    assert found is not None
    assert found.value == 0.0
    assert found.note is not None
    assert "outside 0..1" in found.note
    unknown = prediction_powered(estimate(0.5), replace(estimate(0.1), se=None))
    assert (unknown.se, unknown.low, unknown.high) == (None, None, None)


TABLES = [(45, 25, 15, 15), (90, 3, 1, 6), (5, 30, 2, 63), (1, 1, 40, 8)]
"""Right called right, wrong called right, right called wrong, wrong called wrong."""


def compared(table: tuple[int, int, int, int], confidence: float = 0.95, size: int = 0) -> Agreement:
    """Return the agreement of a table of counts; in clusters of some size, if given."""
    kinds = ((True, True), (False, True), (True, False), (False, False))
    pairs = [pair for pair, count in zip(kinds, table, strict=True) for _ in range(count)]
    clusters = [number // size for number in range(len(pairs))] if size else None
    found = agreement([one for one, _ in pairs], [other for _, other in pairs], clusters, confidence=confidence)
    assert found is not None
    return found


@pytest.mark.parametrize("table", TABLES)
def test_kappa_error_of_the_literature(table: tuple[int, int, int, int]) -> None:
    """The error of kappa is that of Fleiss, Cohen and Everitt (1969), with n - 1 in the place of n."""
    n = sum(table)
    both, over, under, neither = (count / n for count in table)
    agreed, labels, verdicts = both + neither, both + under, both + over
    chance = labels * verdicts + (1 - labels) * (1 - verdicts)
    diagonal = both * ((1 - chance) - (labels + verdicts) * (1 - agreed)) ** 2
    diagonal += neither * ((1 - chance) - (2 - labels - verdicts) * (1 - agreed)) ** 2
    beside = under * (verdicts + 1 - labels) ** 2 + over * (1 - verdicts + labels) ** 2
    variance = diagonal + (1 - agreed) ** 2 * beside - (agreed * chance - 2 * chance + agreed) ** 2
    kappa = compared(table).kappa
    assert kappa is not None
    assert kappa.value == pytest.approx((agreed - chance) / (1 - chance))
    assert kappa.se == pytest.approx(math.sqrt(variance / (n - 1)) / (1 - chance) ** 2)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_counts_and_intervals(table: tuple[int, int, int, int], confidence: float) -> None:
    """The counts stand by their names; shares have Wilson's interval, kappa Student's with n - 1 degrees of freedom."""
    found = compared(table, confidence)
    right_right, wrong_right, right_wrong, wrong_wrong = table
    assert (found.right_called_right, found.wrong_called_right) == (right_right, wrong_right)
    assert (found.right_called_wrong, found.wrong_called_wrong) == (right_wrong, wrong_wrong)
    for share, hits, n in (
        (found.accuracy, right_right + wrong_wrong, sum(table)),
        (found.sensitivity, right_right, right_right + right_wrong),
        (found.specificity, wrong_wrong, wrong_right + wrong_wrong),
    ):
        assert share is not None
        assert (share.low, share.high) == pytest.approx(stats.binomtest(hits, n).proportion_ci(confidence, "wilson"))
    kappa = found.kappa
    assert kappa is not None
    assert kappa.se is not None
    low, high = stats.t.interval(confidence, sum(table) - 1, kappa.value, kappa.se)
    assert (kappa.low, kappa.high) == pytest.approx((max(low, -1.0), min(high, 1.0)))
    assert (kappa.n, kappa.confidence) == (sum(table), confidence)


@pytest.mark.parametrize(("table", "end"), [((5, 1, 0, 4), 1.0), ((0, 4, 5, 1), -1.0)])
def test_kappa_ends_at_one(table: tuple[int, int, int, int], end: float) -> None:
    """The interval of kappa goes to 1 or -1 and no further."""
    kappa = compared(table).kappa
    assert kappa is not None
    assert kappa.low is not None
    assert kappa.high is not None
    assert end in (kappa.low, kappa.high)
    assert -1.0 <= kappa.low < kappa.value < kappa.high <= 1.0


@pytest.mark.parametrize("table", [(6, 0, 0, 4), (25, 15, 0, 0), (0, 0, 15, 25), (9, 1, 0, 0)])
def test_kappa_where_nothing_varies(table: tuple[int, int, int, int]) -> None:
    """Where all agree, or one side always says the same, the interval is that of the accuracy in kappa's formula."""
    found, n = compared(table), sum(table)
    p, q = (table[0] + table[2]) / n, (table[0] + table[1]) / n
    chance = p * q + (1 - p) * (1 - q)
    kappa, accuracy = found.kappa, found.accuracy
    assert kappa is not None
    assert accuracy.low is not None
    assert accuracy.high is not None
    value, low, high = ((end - chance) / (1 - chance) for end in (accuracy.value, accuracy.low, accuracy.high))
    assert kappa.se is None
    assert (kappa.value, kappa.low, kappa.high) == pytest.approx((value, max(low, -1.0), min(high, 1.0)), abs=1e-12)


def test_clusters_of_every_share() -> None:
    """Each share is clustered by the clusters of its own rows."""
    labels, verdicts = [True, True, False, True, False, False], [True, False, False, True, True, False]
    found = agreement(labels, verdicts, list("aabbcc"))
    assert found is not None
    assert found.accuracy == estimate_mean([1, 0, 1, 1, 0, 1], list("aabbcc"), method="wilson")
    assert found.sensitivity == estimate_mean([1, 0, 1], list("aab"), method="wilson")
    assert found.specificity == estimate_mean([1, 0, 1], list("bcc"), method="wilson")
    plain = agreement(labels, verdicts)
    assert plain is not None
    assert plain.sensitivity == estimate_mean([1, 0, 1], method="wilson")


def test_rows_that_do_not_fit_are_refused() -> None:
    """Labels, verdicts and clusters have one entry for each row; without rows there is nothing to compare."""
    assert agreement([], []) is None
    assert agreement([], [], []) is None
    with pytest.raises(DataError, match="2 values, but 1 of the verdicts"):
        agreement([True, False], [True])
    with pytest.raises(DataError, match="1 values, but 2 of the clusters"):
        agreement([True], [True], ["a", "b"])
    with pytest.raises(DataError, match="1 values, but 0 of the labels"):
        reliability([0.5], [])
    with pytest.raises(UsageError, match="at least one bin, got 0"):
        reliability([0.5], [True], bins=0)


def test_reliability_by_hand() -> None:
    """Ten bins unless said: a probability on a border belongs to the bin above, 1 to the last; Brier's score beside."""
    found = reliability([0.0, 0.1, 0.19, 0.95, 1.0], [False, True, False, True, True])
    assert found is not None
    assert [(one.low, one.high, one.n, one.share) for one in found.bins] == [
        (0.0, 0.1, 1, 0.0),
        (0.1, 0.2, 2, 0.5),
        (0.9, 1.0, 2, 1.0),
    ]
    assert [one.probability for one in found.bins] == pytest.approx([0.0, 0.145, 0.975])
    assert found.error == pytest.approx((2 * 0.355 + 2 * 0.025) / 5)
    assert found.brier == pytest.approx((0.9**2 + 0.19**2 + 0.05**2) / 5)
    halves = reliability([0.2, 0.6, 1.0], [False, True, False], bins=2)
    assert halves is not None
    assert [(one.low, one.high, one.n) for one in halves.bins] == [(0.0, 0.5, 1), (0.5, 1.0, 2)]

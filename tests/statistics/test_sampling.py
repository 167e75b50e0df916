"""Rows drawn with known chances: formulas against numpy, coverage in drawn worlds, and what has no number."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from adjudge.errors import UsageError
from adjudge.statistics import (
    DrawnPairs,
    Estimate,
    Stratum,
    agreement,
    corrected_mean,
    labels_to_halve,
    sampled_agreement,
    stratified_mean,
)

WORLDS = 1000
Bools = NDArray[np.bool_]

values = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)


def test_the_mean_is_that_of_weighted_rows() -> None:
    """Σ w y / Σ w with w = N / k, and Cochran's error for two strata, as numpy computes them."""
    drawn = [(900, [1.0] * 45 + [0.0] * 5), (100, [1.0] * 10 + [0.0] * 40)]
    found = stratified_mean([Stratum(size, tuple(some)) for size, some in drawn])
    assert found is not None
    weights = np.concatenate([np.full(len(some), size / len(some)) for size, some in drawn])
    every = np.concatenate([some for _, some in drawn])
    assert found.value == pytest.approx(np.average(every, weights=weights))
    errors = [(size / 1000) ** 2 * (1 - len(some) / size) * np.var(some, ddof=1) / len(some) for size, some in drawn]
    assert found.se == pytest.approx(math.sqrt(sum(errors)))
    assert found.n == 100


def test_one_stratum_is_wilsons_interval_of_a_finite_population() -> None:
    """Of one stratum, far larger than what was drawn, the interval is scipy's Wilson interval."""
    found = stratified_mean([Stratum(10**9, (1.0,) * 30 + (0.0,) * 20)])
    known = stats.binomtest(30, 50).proportion_ci(method="wilson")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-6)


def test_numbers_between_get_students_interval() -> None:
    """Of values between the ends the interval is scipy's t interval, times the root of what was not drawn."""
    some = (0.2, 0.4, 0.5, 0.9, 0.6, 0.3)
    found = stratified_mean([Stratum(24, some)])
    assert found is not None
    low, high = stats.t.interval(0.95, 5, loc=np.mean(some), scale=stats.sem(some) * math.sqrt(0.75))
    assert (found.low, found.high) == pytest.approx((low, high))


@given(values, values, st.integers(0, 1000), st.integers(0, 1000))
def test_correcting_is_adding_the_mean_difference(one: list[float], two: list[float], more: int, others: int) -> None:
    """A judge's mean plus the mean difference is the mean of the labels, where strata are its verdicts."""
    sizes = len(one) + more, len(two) + others
    labels = stratified_mean([Stratum(sizes[0], tuple(one)), Stratum(sizes[1], tuple(two))])
    differences = [
        Stratum(sizes[0], tuple(label - 1.0 for label in one), (-1.0, 0.0)),
        Stratum(sizes[1], tuple(two), (0.0, 1.0)),
    ]
    found = corrected_mean(sizes[0] / sum(sizes), differences)
    assert labels is not None
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((labels.value, labels.low, labels.high))
    assert found.low is not None
    assert found.high is not None
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


@given(values, values)
def test_all_rows_drawn_leave_no_error(one: list[float], two: list[float]) -> None:
    """Where all rows are drawn the mean is known, and the note says so; no more labels are asked for."""
    strata = [Stratum(len(one), tuple(one)), Stratum(len(two), tuple(two))]
    found = stratified_mean(strata)
    assert found is not None
    assert found.value == found.low == found.high
    assert found.value == pytest.approx(np.mean([*one, *two]))
    assert found.note == f"all {len(one) + len(two)} rows were drawn"
    assert labels_to_halve(strata) == 0


def test_rows_that_are_all_alike_still_leave_room() -> None:
    """Fifty labels that all agree do not show that all rows would."""
    found = stratified_mean([Stratum(1000, (1.0,) * 50)])
    between = stratified_mean([Stratum(1000, (0.5,) * 50)])
    assert found is not None
    assert found.low is not None
    assert 0.90 < found.low < 0.95
    assert (found.value, found.high) == (1.0, 1.0)
    assert between is not None
    assert between.low is not None
    assert between.low < 0.5


def test_kappa_of_a_plain_sample_is_cohens() -> None:
    """Drawn in proportion to their numbers, rows give Cohen's kappa, with the error of `agreement` but for n - 1."""
    pairs = [(True, True)] * 40 + [(False, True)] * 10 + [(True, False)] * 15 + [(False, False)] * 35
    found = sampled_agreement([DrawnPairs(10**9, tuple(pairs))])
    known = agreement([label for label, _ in pairs], [verdict for _, verdict in pairs])
    assert known is not None
    assert known.kappa is not None
    assert known.kappa.se is not None
    assert found is not None
    accuracy, kappa = found
    assert kappa is not None
    assert accuracy.value == pytest.approx(known.accuracy.value)
    assert kappa.value == pytest.approx(known.kappa.value)
    assert kappa.se == pytest.approx(known.kappa.se, rel=1e-6)


def test_kappa_of_what_is_all_alike() -> None:
    """Where labels and verdicts are all alike, kappa has no value; where all agree, it still has an interval."""
    alike = sampled_agreement([DrawnPairs(100, ((True, True),) * 20)])
    assert alike is not None
    assert alike[1] is None
    both = sampled_agreement([DrawnPairs(100, ((True, True),) * 20), DrawnPairs(100, ((False, False),) * 20)])
    assert both is not None
    assert both[1] is not None
    assert both[1].value == pytest.approx(1.0)
    assert both[1].low is not None
    assert both[1].low < 0.95


def test_nothing_is_made_up() -> None:
    """A stratum of which nothing was drawn has no mean, so the whole has none; what cannot be is refused."""
    strata = [Stratum(10, (1.0,)), Stratum(5, ())]
    assert stratified_mean(strata) is None
    assert stratified_mean([]) is None
    assert corrected_mean(0.5, strata) is None
    assert labels_to_halve(strata) is None
    assert sampled_agreement([DrawnPairs(10, ())]) is None
    with pytest.raises(UsageError, match="cannot be drawn"):
        Stratum(1, (1.0, 0.0))
    with pytest.raises(UsageError, match="outside"):
        Stratum(3, (2.0,))
    with pytest.raises(UsageError, match="confidence"):
        stratified_mean([Stratum(3, (1.0,))], confidence=1.0)


def world(chance: np.random.Generator, rows: int, *, errors: tuple[float, float]) -> tuple[Bools, Bools]:
    """Draw the labels and verdicts of a run whose judge errs on so many of the right and of the wrong responses."""
    labels = chance.random(rows) < 0.7
    flipped = chance.random(rows) < np.where(labels, errors[0], errors[1])
    return labels, labels ^ flipped


def drawn(
    chance: np.random.Generator, labels: Bools, verdicts: Bools, sizes: tuple[int, int]
) -> tuple[Sequence[DrawnPairs], float]:
    """Draw so many rows of either verdict, and return them with the judge's mean."""
    strata = []
    for verdict, size in zip((True, False), sizes, strict=True):
        there = np.flatnonzero(verdicts == verdict)
        some = chance.choice(there, min(size, len(there)), replace=False)
        strata.append(DrawnPairs(len(there), tuple((bool(labels[at]), verdict) for at in some)))
    return strata, float(verdicts.mean())


def holds(found: Estimate | None, truth: float) -> bool:
    """Return whether an interval holds the truth."""
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low <= truth <= found.high


@pytest.mark.parametrize(
    ("rows", "sizes", "errors"),
    [(2000, (100, 100), (0.1, 0.2)), (2000, (150, 50), (0.2, 0.3)), (400, (100, 100), (0.15, 0.15))],
)
def test_intervals_hold_the_truth(rows: int, sizes: tuple[int, int], errors: tuple[float, float]) -> None:
    """In drawn worlds 93 to 97 % of the 95 % intervals of score, accuracy and kappa hold what all labels would give."""
    chance = np.random.default_rng(7)
    hits = np.zeros(3)
    for _ in range(WORLDS):
        labels, verdicts = world(chance, rows, errors=errors)
        strata, predicted = drawn(chance, labels, verdicts, sizes)
        differences = [
            Stratum(
                one.size,
                tuple(label - float(verdict) for label, verdict in one.pairs),
                (-verdict_of(one), 1.0 - verdict_of(one)),
            )
            for one in strata
        ]
        known = agreement(labels.tolist(), verdicts.tolist())
        found = sampled_agreement(strata)
        assert known is not None
        assert known.kappa is not None
        assert found is not None
        hits += [
            holds(corrected_mean(predicted, differences), float(labels.mean())),
            holds(found[0], known.accuracy.value),
            holds(found[1], known.kappa.value),
        ]
    assert all(0.93 <= share <= 0.97 for share in hits / WORLDS), hits / WORLDS


def verdict_of(one: DrawnPairs) -> float:
    """Return the verdict that all rows of a stratum have."""
    return float(one.pairs[0][1])


def test_labels_unequally_drawn_do_not_lean() -> None:
    """Rows called wrong are drawn nine times as often: the corrected mean is right on average, the plain one is not."""
    chance = np.random.default_rng(11)
    corrected, plain = [], []
    labels, verdicts = world(chance, 3000, errors=(0.1, 0.2))
    for _ in range(WORLDS):
        strata, _ = drawn(chance, labels, verdicts, (20, 100))
        found = stratified_mean([Stratum(one.size, tuple(float(label) for label, _ in one.pairs)) for one in strata])
        assert found is not None
        corrected.append(found.value)
        plain.append(np.mean([label for one in strata for label, _ in one.pairs]))
    assert np.mean(corrected) == pytest.approx(labels.mean(), abs=0.01)
    assert abs(np.mean(plain) - labels.mean()) > 0.2


@pytest.mark.parametrize(("rows", "sizes"), [(20_000, (60, 60)), (1_000, (80, 80))])
def test_so_many_more_labels_halve_the_interval(rows: int, sizes: tuple[int, int]) -> None:
    """With the labels that are asked for, the interval is half as wide, within a tenth, on average."""
    chance = np.random.default_rng(3)
    widths: list[tuple[float, float]] = []
    for _ in range(100):
        labels, verdicts = world(chance, rows, errors=(0.15, 0.2))
        found: list[float] = []
        times = 1.0
        for _ in range(2):
            some, _ = drawn(chance, labels, verdicts, (round(sizes[0] * times), round(sizes[1] * times)))
            strata = [Stratum(one.size, tuple(float(label) for label, _ in one.pairs)) for one in some]
            mean, more = stratified_mean(strata), labels_to_halve(strata)
            assert mean is not None
            assert mean.low is not None
            assert mean.high is not None
            assert more is not None
            found.append(mean.high - mean.low)
            times = 1.0 + more / sum(sizes)
        widths.append((found[0], found[1]))
    before, after = np.mean(widths, axis=0)
    assert after / before == pytest.approx(0.5, abs=0.05)

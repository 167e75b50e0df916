"""Intervals, clustered errors, tests and power are those of scipy and statsmodels, to nine digits.

CR2 with Satterthwaite's degrees of freedom has no formula there: it is checked against the definition, in matrices.
"""

import math
import random
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

from adjudge.statistics import (
    Correction,
    Design,
    Estimate,
    benjamini_hochberg,
    estimate_mean,
    holm,
    mcnemar,
    minimum_detectable_effect,
    normal_cdf,
    paired_difference,
    power,
    sample_size,
    t_cdf,
)
from adjudge.statistics._bootstrap import correct_tails, quantile, resample

SEEDS = range(40)


def near(expected: object) -> Any:
    """Return what is equal to nine digits."""
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def rows(seed: int) -> tuple[list[float], list[float], list[int]]:
    """Make the scores of two runs in clusters of uneven sizes: right or wrong, thirds, or any number."""
    chance = random.Random(seed)  # noqa: S311 (test data)
    n = chance.choice([6, 10, 30, 100, 400])
    groups = chance.randrange(2, max(3, n // 3))
    clusters = [*range(groups), *(int(groups * chance.random() ** 2) for _ in range(n - groups))]
    skill = [chance.random() for _ in range(groups)]
    kind = seed % 3
    columns = []
    for _ in range(2):
        raw = [(skill[cluster] + chance.random()) / 2 for cluster in clusters]
        columns.append(raw if kind == 2 else [float(x > 0.5) if kind == 0 else round(3 * x) / 3 for x in raw])
    return columns[0], columns[1], clusters


def sure(estimate: Estimate | None) -> Estimate:
    """Return an estimate that must be there."""
    assert estimate is not None
    return estimate


@pytest.mark.parametrize("seed", SEEDS)
def test_plain_intervals(seed: int) -> None:
    """Without clusters: scipy's t and normal intervals, statsmodels' Wilson."""
    values, _, _ = rows(seed)
    mean, error, n = float(np.mean(values)), float(stats.sem(values)), len(values)
    for confidence in (0.8, 0.95, 0.999):
        found = sure(estimate_mean(values, range=None, confidence=confidence))
        low, high = stats.t.interval(confidence, n - 1, mean, error)
        assert (found.value, found.se, found.low, found.high) == near((mean, error, low, high))
        found = sure(estimate_mean(values, method="normal", range=None, confidence=confidence))
        assert (found.low, found.high) == near(stats.norm.interval(confidence, mean, error))
        found = sure(estimate_mean(values, method="wilson", confidence=confidence))
        expected = proportion_confint(mean * n, n, 1 - confidence, "wilson")
        assert (found.low, found.high) == near(expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("correction", ["CR0", "CR1"])
def test_clustered_errors(seed: int, correction: Correction) -> None:
    """Clustered errors and intervals are those of statsmodels' regression on a constant, of scores and differences."""
    first, second, clusters = rows(seed)
    for values, found in (
        (first, estimate_mean(first, clusters, correction=correction, range=None)),
        (
            [one - other for one, other in zip(first, second, strict=True)],
            paired_difference(first, second, clusters, correction=correction, range=None),
        ),
    ):
        options = {"groups": np.array(clusters), "use_correction": correction == "CR1"}
        fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds=options, use_t=True)
        (low, high) = fit.conf_int()[0]
        ours = sure(found)
        if ours.se is None:  # no variation at all; theirs is what rounding leaves of it
            assert fit.bse[0] < 1e-15
            continue
        assert (ours.value, ours.se, ours.low, ours.high) == near((fit.params[0], fit.bse[0], low, high))
        assert ours.p_value() == near(fit.pvalues[0])


def bell_mccaffrey(values: list[float], clusters: list[int]) -> tuple[float, float]:
    """Return CR2 and its degrees of freedom by their definition (Bell and McCaffrey 2002), in matrices."""
    y, names = np.array(values), np.array(clusters)
    design = np.ones((len(y), 1))
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    keep = np.eye(len(y)) - hat
    residuals = keep @ y
    variance, columns = 0.0, []
    for name in np.unique(names):
        own = names == name
        roots, axes = np.linalg.eigh(keep[np.ix_(own, own)])
        adjust = axes @ np.diag(roots**-0.5) @ axes.T
        weights = adjust @ design[own] @ bread[:, 0]
        variance += float(weights @ residuals[own]) ** 2
        columns.append(keep[:, own] @ weights)
    spread = np.array(columns) @ np.array(columns).T  # under independent rows of variance 1
    return variance**0.5, float(np.trace(spread) ** 2 / np.trace(spread @ spread))


@pytest.mark.parametrize("seed", SEEDS)
def test_cr2_is_bell_and_mccaffreys(seed: int) -> None:
    """The closed forms of CR2 and of its degrees of freedom are the matrices' results."""
    values, _, clusters = rows(seed)
    found = sure(estimate_mean(values, clusters, correction="CR2", range=None))
    error, df = bell_mccaffrey(values, clusters)
    assert (found.se, found.df) == near((error, df))
    assert (found.low, found.high) == near(stats.t.interval(0.95, df, found.value, error))


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs(seed: int) -> None:
    """The paired difference is scipy's paired t test, McNemar's test statsmodels' exact one."""
    first, second, _ = rows(seed)
    found, theirs = sure(paired_difference(first, second, range=None)), stats.ttest_rel(first, second)
    interval = theirs.confidence_interval(0.95)
    assert (found.value, found.low, found.high) == near((np.mean(first) - np.mean(second), interval.low, interval.high))
    assert found.p_value() == near(theirs.pvalue)
    right, other = [value > 0.5 for value in first], [value > 0.5 for value in second]
    counts = [[sum((a, b) == (x, y) for a, b in zip(right, other, strict=True)) for y in (1, 0)] for x in (1, 0)]
    assert mcnemar(right, other).p_value == near(their_mcnemar(counts, exact=True).pvalue)


@pytest.mark.parametrize("seed", SEEDS)
def test_adjusted_p_values(seed: int) -> None:
    """Holm's and Benjamini and Hochberg's p-values are statsmodels'."""
    chance = random.Random(seed)  # noqa: S311 (test data)
    p_values = [round(chance.random() ** 3, chance.choice([2, 17])) for _ in range(chance.randrange(1, 40))]
    assert holm(p_values) == near(multipletests(p_values, method="holm")[1].tolist())
    assert benjamini_hochberg(p_values) == near(multipletests(p_values, method="fdr_bh")[1].tolist())


@pytest.mark.parametrize("design", ["paired", "unpaired"])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("wanted", [0.3, 0.8, 0.99])
@pytest.mark.parametrize("n", [10, 400, 100_000])
def test_power(design: Design, alpha: float, wanted: float, n: int) -> None:
    """Power is statsmodels' for the normal test, and what is solved for reaches it."""
    theirs, ratio, sd = NormalIndPower(), (0 if design == "paired" else 1), 0.37
    for difference in (0.001, 0.02, 0.3):
        expected = theirs.power(difference / sd, n, alpha, ratio=ratio)
        assert power(difference, n, sd=sd, design=design, alpha=alpha) == near(expected)
    found = minimum_detectable_effect(n, sd=sd, power=wanted, design=design, alpha=alpha)
    assert theirs.power(found / sd, n, alpha, ratio=ratio) == near(wanted)
    needed = theirs.solve_power(0.0213 / sd, alpha=alpha, power=wanted, ratio=ratio)
    assert sample_size(0.0213, sd=sd, power=wanted, design=design, alpha=alpha) == math.ceil(needed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_bootstrap_intervals(seed: int, method: str) -> None:
    """Read from the same resampled means, percentile and BCa intervals are scipy's."""
    values, _, _ = rows(seed)
    pairs = sorted((1, value) for value in values)
    means = resample(pairs, 500, seed)
    # Given the resampled means, scipy draws none of its own and reads the interval from them.
    draws = np.random.default_rng(seed).choice(values, (500, len(values))).mean(axis=1)
    for ordered in (means, sorted(draws.tolist())):
        given = stats.bootstrap((values,), np.mean, n_resamples=2, rng=0, method="percentile")
        given.bootstrap_distribution = np.array(ordered)
        theirs = stats.bootstrap(
            (values,), np.mean, n_resamples=0, bootstrap_result=given, method=method, confidence_level=0.9
        ).confidence_interval
        tails = (0.05, 0.95)
        if method == "BCa":
            tails = correct_tails(tails, ordered, pairs, float(np.mean(values)))
        assert tuple(quantile(ordered, tail) for tail in tails) == near((theirs.low, theirs.high))


def test_distributions() -> None:
    """The distribution functions of the normal and of t hold far into the tails."""
    for z in np.linspace(-30, 8, 77):
        assert normal_cdf(float(z)) == pytest.approx(stats.norm.cdf(z), rel=1e-9)
        for df in (1, 2.86, 30, 1e5):
            assert t_cdf(float(z), df) == pytest.approx(stats.t.cdf(z, df), rel=1e-9)

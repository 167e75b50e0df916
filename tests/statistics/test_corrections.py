"""Corrections of a judge's share: their errors and intervals, against the formulas that they are named after."""

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adjudge.statistics import Estimate, prediction_powered, rogan_gladen


def part(value: float, below: float, above: float, se: float | None = 0.01, n: int = 100) -> Estimate:
    """Return an estimate whose interval reaches unequally far."""
    return Estimate(value, se, value - below, value + above, n, None, None, "wilson")


OBSERVED, SENSITIVITY, SPECIFICITY = part(0.62, 0.03, 0.02), part(0.9, 0.06, 0.04), part(0.8, 0.07, 0.05)
reaches = st.floats(0.001, 0.06)


def test_the_error_by_rates_is_that_of_the_delta_method() -> None:
    """Rogan and Gladen: with J = se + sp - 1, var = (var(p) + π² var(se) + (1 - π)² var(sp)) / J²."""
    observed, sensitivity = replace(OBSERVED, se=0.02, n=50), replace(SENSITIVITY, se=0.03, n=40)
    specificity = replace(SPECIFICITY, se=0.04, n=30)
    found = rogan_gladen(observed, sensitivity, specificity)
    share = 0.42 / 0.7
    assert found is not None
    assert found.value == pytest.approx(share)
    assert found.se == pytest.approx(math.sqrt(0.02**2 + (share * 0.03) ** 2 + ((1 - share) * 0.04) ** 2) / 0.7)
    assert (found.n, found.method, found.note, found.confidence) == (30, "rogan-gladen", None, 0.95)


@given(st.tuples(reaches, reaches), st.tuples(reaches, reaches), st.tuples(reaches, reaches), st.floats(0.4, 0.7))
def test_the_interval_by_rates_is_fiellers(
    one: tuple[float, float], two: tuple[float, float], three: tuple[float, float], share: float
) -> None:
    """At either end, what was observed is as far from what the end leads to as the three reaches together allow."""
    p, se, sp = share * 0.9 + (1 - share) * 0.2, 0.9, 0.8
    found = rogan_gladen(part(p, *one), part(se, *two), part(sp, *three))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assume(found.low > 0.0)
    assume(found.high < 1.0)
    low, high = found.low, found.high
    assert low < share < high
    below = p - low * se - (1 - low) * (1 - sp)
    above = high * se + (1 - high) * (1 - sp) - p
    assert below == pytest.approx(math.hypot(one[0], low * two[1], (1 - low) * three[0]), rel=1e-9)
    assert above == pytest.approx(math.hypot(one[1], high * two[0], (1 - high) * three[1]), rel=1e-9)


def test_the_interval_by_labels_adds_squared_reaches() -> None:
    """Zou and Donner: .62 - .04, down by √(.03² + .05²), up by √(.02² + .06²)."""
    found = prediction_powered(OBSERVED, part(-0.04, 0.05, 0.06, 0.02, 30))
    assert (found.value, found.low, found.high) == pytest.approx(
        (0.58, 0.58 - math.hypot(0.03, 0.05), 0.58 + math.hypot(0.02, 0.06))
    )
    assert found.se == pytest.approx(math.hypot(0.01, 0.02))
    assert (found.n, found.method, found.note) == (30, "prediction-powered", None)


def test_an_interval_is_made_of_an_error_where_there_is_none() -> None:
    """A part without an interval has value ± q · se, by Student's t where its degrees of freedom are known."""
    bare = Estimate(-0.04, 0.02, None, None, 30, None, 9, "t")
    found = prediction_powered(OBSERVED, bare)
    half = 2.262157 * 0.02
    assert (found.low, found.high) == pytest.approx((0.58 - math.hypot(0.03, half), 0.58 + math.hypot(0.02, half)))
    for one_sided in (replace(bare, low=-0.05), replace(bare, high=0.05)):
        assert prediction_powered(OBSERVED, one_sided) == found


def test_an_interval_without_an_error() -> None:
    """A part of which only the interval is known leaves no standard error, and still an interval."""
    sure = replace(SENSITIVITY, se=None)
    found, full = rogan_gladen(OBSERVED, sure, SPECIFICITY), rogan_gladen(OBSERVED, SENSITIVITY, SPECIFICITY)
    assert full is not None
    assert found == replace(full, se=None)


def test_nothing_known_of_a_part_leaves_no_interval() -> None:
    """Where neither an error nor an interval of a part is known, only the value is."""
    unknown = replace(SENSITIVITY, se=None, low=None, high=None)
    found = rogan_gladen(OBSERVED, unknown, SPECIFICITY)
    assert found is not None
    assert found.value == pytest.approx(0.6)
    assert (found.se, found.low, found.high) == (None, None, None)


@pytest.mark.parametrize(("observed", "value", "end"), [(0.98, 1.1, 1.0), (0.05, -0.0625, 0.0)])
def test_a_share_beyond_the_ends(observed: float, value: float, end: float) -> None:
    """A share beyond 0 or 1 is that end, its interval goes to the end and no further, and the note has the number."""
    found = rogan_gladen(part(observed, 0.01, 0.01), part(0.9, 0.01, 0.01), part(0.9, 0.01, 0.01))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == end
    assert end in (found.low, found.high)
    assert 0.0 <= found.low <= found.high <= 1.0
    assert found.note == f"{value:.4g} lies outside 0..1: the rows differ from those it was measured on"
    powered = prediction_powered(part(observed, 0.01, 0.01), part(value - observed, 0.01, 0.01))
    assert (powered.value, powered.note) == (end, found.note)


def test_a_judge_hardly_better_than_chance_says_nothing() -> None:
    """Where its faults could explain whatever was observed, the interval is all of 0..1."""
    found = rogan_gladen(part(0.51, 0.02, 0.02), part(0.52, 0.1, 0.1), part(0.5, 0.1, 0.1))
    assert found is not None
    assert (found.low, found.high) == (0.0, 1.0)


def test_just_beyond_an_end_the_interval_has_its_other_end() -> None:
    """Where the share is cut to 1, the interval still begins where the reaches together do."""
    found = rogan_gladen(part(0.905, 0.01, 0.01), part(0.9, 0.01, 0.01), part(0.9, 0.01, 0.01))
    assert found is not None
    assert found.low is not None
    assert (found.value, found.high) == (1.0, 1.0)
    below = 0.905 - found.low * 0.9 - (1 - found.low) * 0.1
    assert below == pytest.approx(math.hypot(0.01, found.low * 0.01, (1 - found.low) * 0.01), rel=1e-9)
    assert prediction_powered(part(0.98, 0.01, 0.01), part(0.0, 0.05, 0.05)).high == 1.0

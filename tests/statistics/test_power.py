"""Power, minimum detectable effect and sample size are one question, asked three ways."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.statistics import Design, minimum_detectable_effect, power, sample_size

designs = st.sampled_from(["paired", "unpaired"])
wanted = st.floats(0.3, 0.99)
alphas = st.floats(0.001, 0.2)


@given(st.integers(1, 10**6), st.floats(0.01, 10), wanted, alphas, designs, st.floats(0.5, 20))
def test_the_effect_found_has_the_power(
    n: int, sd: float, chance: float, alpha: float, design: Design, effect: float
) -> None:
    """Some rows find their minimum detectable effect with the wanted probability."""
    found = minimum_detectable_effect(n, sd=sd, power=chance, design=design, alpha=alpha, design_effect=effect)
    assert power(found, n, sd=sd, design=design, alpha=alpha, design_effect=effect) == pytest.approx(chance, rel=1e-9)


@given(st.floats(0.001, 2), st.floats(0.01, 1), wanted, alphas, designs)
def test_the_sample_size_is_the_least(
    difference: float, sd: float, chance: float, alpha: float, design: Design
) -> None:
    """The sample size reaches the power, one row fewer does not; the sign of the difference does not matter."""
    n = sample_size(difference, sd=sd, power=chance, design=design, alpha=alpha)
    assert power(difference, n, sd=sd, design=design, alpha=alpha) >= chance * (1 - 1e-9)
    if n > 1:
        assert power(difference, n - 1, sd=sd, design=design, alpha=alpha) <= chance * (1 + 1e-9)
    assert sample_size(-difference, sd=sd, power=chance, design=design, alpha=alpha) == n


def test_no_difference_is_found_by_chance_alone() -> None:
    """With no true difference the test rejects with probability alpha."""
    assert power(0.0, 100, sd=1.0, alpha=0.05) == pytest.approx(0.05, rel=1e-12)


def test_nonsense_is_refused() -> None:
    """Questions without an answer are errors, each in words."""
    with pytest.raises(UsageError, match="difference of 0"):
        sample_size(0.0, sd=1.0)
    with pytest.raises(UsageError, match="sd and design_effect"):
        power(0.1, 10, sd=0.0)
    with pytest.raises(UsageError, match="n must be"):
        power(0.1, 0, sd=1.0)
    with pytest.raises(UsageError, match="n must be"):
        minimum_detectable_effect(0, sd=1.0)
    with pytest.raises(UsageError, match="alpha must lie"):
        power(0.1, 10, sd=1.0, alpha=5)
    with pytest.raises(UsageError, match="power must be greater than alpha"):
        sample_size(0.1, sd=1.0, power=0.05)
    with pytest.raises(UsageError, match=r"power must lie between 0 and 1, got 1\.0"):
        sample_size(0.1, sd=1.0, power=1.0)
    for alpha in (0.0, 1.0, 1.1):
        with pytest.raises(UsageError, match="alpha must lie between 0 and 1"):
            sample_size(0.1, sd=1.0, alpha=alpha)
    for sd, effect in ((math.inf, 1.0), (1.0, 0.0), (1.0, math.inf), (1.0, math.nan)):
        with pytest.raises(UsageError, match="sd and design_effect must be greater than 0"):
            power(0.1, 10, sd=sd, design_effect=effect)
    with pytest.raises(UsageError, match="design must be"):
        power(0.1, 10, sd=1.0, design="crossed")  # type: ignore[arg-type]


@pytest.mark.parametrize("chance", [0.06, 0.1, 0.5])
def test_little_power_is_found_too(chance: float) -> None:
    """A power just above alpha, to which both tails contribute, has its effect too."""
    found = minimum_detectable_effect(100, sd=1.0, power=chance)
    assert 0.0 < found < 0.2
    assert power(found, 100, sd=1.0) == pytest.approx(chance, rel=1e-9)

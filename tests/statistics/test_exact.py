"""Sums and roots without rounding, against whole numbers and decimals of many digits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.statistics import Clusters
from adjudge.statistics._clusters import exact_sum, root

powers = st.integers(0, 900)
digits = st.integers(1, 10**40)


@given(st.lists(st.one_of(st.integers(-(10**400), 10**400), st.floats(allow_nan=False, allow_infinity=False))))
def test_sums_are_exact(values: list[float]) -> None:
    """A sum is that of the fractions that the numbers are, whole numbers of any size included."""
    top, exponent = exact_sum(values)
    assert Fraction(top, 2**exponent) == sum(map(Fraction, values))


def test_whole_numbers_keep_every_digit() -> None:
    """A whole number is itself, also where no float has as many digits or is as large."""
    values = (2**53 + 1, 10**400, -3, -0.75)
    assert [exact_sum([value]) for value in values] == [(2**53 + 1, 0), (10**400, 0), (-3, 0), (-3, 2)]
    clusters = Clusters(None)
    clusters.add_total(1, 2**53 + 1)
    clusters.add_total(1, -(2**53))
    assert clusters.mean == 0.5


@given(digits, digits, powers, powers)
def test_roots_are_right_to_the_last_digit(top: int, bottom: int, up: int, down: int) -> None:
    """A root is that of decimals with many more digits, whether the ratio is vast, tiny or near 1."""
    with localcontext() as context:
        context.prec = 60
        wanted = (Decimal(top * 2**up) / Decimal(bottom * 2**down)).sqrt()
    assert root(top << up, bottom << down) == pytest.approx(float(wanted), rel=4e-16)

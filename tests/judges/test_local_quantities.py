"""Quantities in other writings, and those that are almost the same: the golden table `local_quantities`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._measures import is_same_measure, measures_in, measures_of
from adjudge.judges.local._tier0 import assess
from support import golden


@pytest.mark.parametrize("row", golden("local_quantities"), ids=lambda row: row["id"])
def test_row(row: dict[str, Any]) -> None:
    """A quantity may be written in another way or another unit; one that is almost the same is another."""
    seen = assess(row["question"], tuple(row["reference"]), row["response"])
    assert (seen.is_right, seen.reasons[0]) == (row["expected"] == "CORRECT", row["reason"])
    assert seen.ruled


@given(st.text(alphabet="0123456789,.:/-+'\"$%°kmhft inoa", max_size=60))
def test_any_text_is_a_quantity_or_none(text: str) -> None:
    """No text is too odd to be read, and what is read is itself."""
    for one in (*measures_of(text), *measures_in(text)):
        assert is_same_measure(one, one)


@given(st.integers(1, 500), st.integers(0, 59))
def test_hours_and_minutes(hours: int, minutes: int) -> None:
    """Hours and minutes are as long as that many minutes, and no longer."""
    (whole,) = measures_of(f"{hours} hours {minutes} minutes")
    (same,) = measures_of(f"{60 * hours + minutes} min")
    (more,) = measures_of(f"{60 * hours + minutes + max(2, hours * 2)} min")
    assert is_same_measure(whole, same)
    assert not is_same_measure(whole, more)

"""A reference in another form, and the forms that are another thing: the golden table `local_forms`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._pair import Candidate
from adjudge.judges.local._tier0 import assess
from adjudge.judges.local._words import mended
from support import assert_linear, golden


@pytest.mark.parametrize("row", golden("local_forms"), ids=lambda row: row["id"])
def test_row(row: dict[str, Any]) -> None:
    """What is the reference in another form is right, what only looks like it is wrong, each under its name."""
    seen = assess(row["question"], tuple(row["reference"]), row["response"])
    assert (seen.is_right, seen.reasons[0]) == (row["expected"] == "CORRECT", row["reason"]), row["why"]


@given(st.text(st.characters(codec="cp1252"), max_size=20))
def test_what_was_read_in_a_wrong_encoding_is_mended(text: str) -> None:
    """Accents and marks that were read as Windows-1252 come back, and a text that is whole stays as it is."""
    whole = "".join(letter for letter in text if letter.isascii() or letter in "äéîõüñß–—‘’“”…€")
    broken = "".join(bytes([one]).decode("cp1252", "replace") for one in whole.encode())
    assert mended(whole) == whole
    assert "\ufffd" in broken or mended(broken) == whole


@pytest.mark.parametrize(
    "piece",
    ["Bureau Of Land ", "the Swiss of Bern ", "in 19783. ", "byAda ", "B.L.M. ", "Bill Moss ", "Ã©â€“", "1. 5 "],
)
def test_forms_are_linear(piece: str) -> None:
    """A response that is full of other forms costs no more than its length."""
    references = ("BLM", "Bureau of Land Management", "Switzerland", "1978", "Ada Moss", "William Moss", "1.5")
    assert_linear(lambda size: lambda: assess("Who?", references, piece * size), 100)


def test_a_candidate_is_read_once_mended() -> None:
    """What rules see of a text is free of broken encodings."""
    assert Candidate("10\u00e2\u20ac\u201c12").text == "10–12"


def test_a_decade_is_no_quantity() -> None:
    """A decade before a unit is not taken for a number of them."""
    assert not assess("How long did it last?", ("20 years",), "1990s months").is_right

"""A reference in another form, and the forms that are another thing: the golden table `local_forms`."""

from typing import Any

import pytest

from adjudge.judges.local._tier0 import assess
from support import golden


@pytest.mark.parametrize("row", golden("local_forms"), ids=lambda row: row["id"])
def test_row(row: dict[str, Any]) -> None:
    """What is the reference in another form is right, what only looks like it is wrong, each under its name."""
    seen = assess(row["question"], tuple(row["reference"]), row["response"])
    assert (seen.is_right, seen.reasons[0]) == (row["expected"] == "CORRECT", row["reason"]), row["why"]


def test_a_name_beside_brackets_is_ruled_in() -> None:
    """Who plays a role is named in brackets: no model has a say there."""
    for response in ("Arya Stark (Maisie Williams)", "Maisie Williams (Arya Stark)"):
        assert assess("Who is the sister in the series?", ("Maisie Williams",), response).ruled

"""The same thing under another name, and other things under a name that is near: the golden table `local_names`."""

from typing import Any

import pytest

from adjudge.judges.local._tier0 import assess
from support import golden


@pytest.mark.parametrize("row", golden("local_names"), ids=lambda row: row["id"])
def test_row(row: dict[str, Any]) -> None:
    """Another name, spelling or title of the reference is right, what only looks like one is wrong: by rules alone."""
    seen = assess(row["question"], tuple(row["reference"]), row["response"])
    assert (seen.is_right, seen.reasons[0], seen.ruled) == (row["expected"] == "CORRECT", row["reason"], True)

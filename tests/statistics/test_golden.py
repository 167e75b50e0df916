"""The golden table of the statistics: worked numbers, to the digits given."""

import dataclasses
from typing import Any

import pytest

from adjudge import statistics
from support import golden

ROWS = golden("statistics")
NAMED = {  # the worked vector, by the names that the table uses
    "A": [1, 1, 0, 1, 0, 0, 1, 1, 1, 0],
    "B": [1, 0, 0, 1, 0, 0, 1, 0, 1, 0],
    "K": list("aaabbcccdd"),
}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_worked_numbers(row: dict[str, Any]) -> None:
    """Every function gives what the table says."""
    arguments = {
        name: NAMED.get(value, value) if isinstance(value, str) else value for name, value in row["args"].items()
    }
    result = getattr(statistics, row["function"])(**arguments)
    expected = row["expected"]
    if dataclasses.is_dataclass(result):
        for name, value in expected.items():
            found = getattr(result, name)
            assert found == (pytest.approx(value, abs=5.1e-7) if isinstance(value, float) else value), row["why"]
    else:
        assert result == pytest.approx(expected, abs=5.1e-7), row["why"]

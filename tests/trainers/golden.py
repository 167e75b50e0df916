"""The rows of one table, asked through every adapter: the same row is the same number for every trainer."""

from collections.abc import Sequence
from typing import Any

from support import golden

TABLE = golden("trainers")
SCORERS = sorted({row["scorer"] for row in TABLE})


def rows(scorer: str) -> list[dict[str, Any]]:
    """Return the rows of a scorer: a prompt, a response and an accepted answer each."""
    return [row for row in TABLE if row["scorer"] == scorer]


def check(scorer: str, values: Sequence[Any], *, absent: float | None = None) -> None:
    """Compare what a trainer got for the rows of a scorer; `absent` is what it gets for one without a number."""
    asked = rows(scorer)
    found = {row["id"]: value for row, value in zip(asked, values, strict=True)}
    assert found == {row["id"]: absent if row["value"] is None else row["value"] for row in asked}

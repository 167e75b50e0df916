"""Rows whose columns hold what no column should."""

from typing import Any

import pytest

from adjudge.view._sources import ViewRow
from adjudge.view._text import material_of, searchable_text


@pytest.mark.parametrize(
    "value", [{"a": [1]}, [{"a": 1}], 4.5, True, [None], "", 10**4000], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("name", ["question", "reference", "response", "criteria"])
def test_material(name: str, value: Any) -> None:
    """Whatever is where a text should be is shown as text, and raises nothing."""
    found = material_of(ViewRow(0, "q", {name: value}))
    assert all(one is None or isinstance(one, str) for one in (found.question, found.response, found.criteria))
    assert all(isinstance(one, str) for one in found.references)
    assert isinstance(searchable_text(ViewRow(0, "q", {name: value})), str)

"""A missing optional package says which install brings it."""

import sys
from pathlib import Path

import pytest

from adjudge.datasets import read_rows
from adjudge.errors import MissingExtra


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading Parquet without pyarrow names the extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[parquet\]'"):
        list(read_rows(str(tmp_path / "rows.parquet")))

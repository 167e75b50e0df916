"""The architecture as it is drawn is the architecture as it is."""

import re

import pytest

from support import ROOT

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/[a-z_]+\.(?:py|jsonl))`", PAGE)))


@pytest.mark.parametrize("file", FILES)
def test_every_file_of_a_walk_is_there(file: str) -> None:
    """A file that the architecture page names is in the package, or in the project."""
    assert (ROOT / "src" / "adjudge" / file).is_file() or (ROOT / file).is_file()


def test_every_floor_is_drawn() -> None:
    """Every package stands on one of the floors of the page."""
    drawn = PAGE.partition("## The floors")[2].partition("## Eight walks")[0]
    folders = [path.parent.name for path in (ROOT / "src" / "adjudge").glob("*/__init__.py")]
    assert [name for name in folders if not re.search(rf"\b{name}\b", drawn)] == []
    assert len(FILES) > 30

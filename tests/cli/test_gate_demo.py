"""The chapter of the demo on gates: the whole path, offline."""

from pathlib import Path

from adjudge.demo import _scenarios
from adjudge.demo._scene import Scene


def test_every_kind_of_outcome(tmp_path: Path) -> None:
    """Some pass, some fail for each reason, one is undecided; the exit codes are said; it fits a terminal."""
    said: list[str] = []
    _scenarios.chapter(Scene(said.append, lambda _: None, tmp_path))
    text = "\n".join(said)
    table = said[1].splitlines()
    assert all(len(line) <= 80 for line in table)
    words = [line.split()[0] for line in table if line[2] != " "]
    assert (words.count("pass"), words.count("FAIL"), words.count("undecided")) == (2, 10, 1)
    assert "13 passed, exit code 0" in text
    assert "gate: fail, exit code 1" in text
    assert "1 of 13 runs (7.7%) lack an answer" in text
    for why in ("is excluded and was called", "is not expected", "was not called", "asked back", "'web_search', ..."):
        assert why in " ".join(said[1].split())

"""The chapter of the demo on environments: the shop always, the others where they are installed."""

from pathlib import Path

from adjudge.demo import _environments
from adjudge.demo._scene import Scene


def test_every_episode_is_played_or_said_not_to_be() -> None:
    """The shop's episode ends with its reward; the others too, or say what to install; it fits a terminal."""
    said: list[str] = []
    _environments.chapter(Scene(said.append, lambda _: None, Path()))
    shop, science, household = said[1:4]
    assert shop.startswith("    webshop: find me leak proof")
    assert shop.endswith("reward 1.00")
    for episode in (science, household):
        assert episode.endswith("reward 1.00") or "pip install" in episode or "Java" in episode
    assert all(len(line) <= 80 for episode in said[1:4] if "not played" not in episode for line in episode.splitlines())

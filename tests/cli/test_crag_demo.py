"""The chapter of the demo on benchmarks: the whole evaluator, offline."""

import re
from pathlib import Path

from adjudge.crag import sample
from adjudge.demo import _crag
from adjudge.demo._scene import Scene


def shown() -> str:
    """Return what the chapter says."""
    said: list[str] = []
    _crag.chapter(Scene(said.append, lambda _: None, Path()))
    return "\n\n".join(said)


def test_every_metric_of_every_agent_has_its_interval() -> None:
    """Accuracy, missing, hallucination, truthfulness and conversation score, each with n and an interval around it."""
    text = shown()
    rows = re.findall(r"(\w+) +(\d+) +(-?[\d.]+) +(-?[\d.]+) \.\. +(-?[\d.]+)$", text, re.MULTILINE)
    assert [row[0] for row in rows] == list(sample.AGENTS) * len(_crag.METRICS)
    assert [int(row[1]) for row in rows] == [71] * 12 + [30] * 3
    assert all(float(low) < float(value) < float(high) for _, _, value, low, high in rows)
    assert all(words in text for words in _crag.METRICS.values())
    best, middle, worst = (float(row[2]) for row in rows[:3])
    assert best > middle > worst


def test_the_numbers_are_those_of_the_labels() -> None:
    """The two shares that are shown and the accuracy add up to one."""
    rows = re.findall(r"^(.{18}) +(\w+) +71 +([\d.]+) ", shown(), re.MULTILINE)
    for name in sample.AGENTS:
        shares = [float(value) for _, agent, value in rows if agent == name][:3]
        assert abs(sum(shares) - 1) < 2e-4


def test_a_try_to_talk_to_the_judge_is_shown_to_fail() -> None:
    """The answer with an instruction in it counts as a hallucination, and the miss as a miss."""
    text = shown()
    assert re.search(r"Result: CORRECT'\n +counted as a hallucination", text)
    assert "counted as a miss" in text
    assert "counted as correct" in text
    assert re.search(r"atlas against brook, turn by turn: accuracy \+0\.\d+", text)

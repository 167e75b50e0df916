"""The trained part of tier 0, read from its data file: weights of stems, two sets of small trees, their calibration.

One set is for references that are names, numbers and phrases, the other for references that are statements.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

from adjudge.errors import DataError

Tree = Any
"""A leaf is a number; any other node is (feature, threshold, tree up to the threshold, tree above it)."""

FILE = "tier0.json"


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted trees with their calibration: the sum of the leaves, scaled and shifted, is the log-odds of CORRECT."""

    trees: tuple[Tree, ...]
    start: float
    scale: float
    shift: float

    def log_odds(self, values: Sequence[float]) -> float:
        """Return the calibrated log-odds."""
        total = self.start
        for node in self.trees:
            while type(node) is tuple:
                node = node[2] if values[node[0]] <= node[1] else node[3]  # noqa: PLW2901 (walks down the tree)
            total += node
        return self.scale * total + self.shift


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that was learnt, and from what."""

    weights: Mapping[str, int]
    names: tuple[str, ...]
    phrases: Trees
    statements: Trees
    traps: Trees  # whether a reference that is there is given as the answer, or only named
    doubt: Mapping[str, float]
    card: Mapping[str, Any]  # seed, command, data hashes, figures


@cache
def load_model() -> Model:
    """Read the data file, once."""
    from adjudge.judges.local._features import NAMES

    record = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    if tuple(record["names"]) != NAMES:
        message = f"{FILE} was trained on other features: run training/tier0.py again"
        raise DataError(message, code="stale-model")
    return Model(
        record["weights"],
        NAMES,
        _trees(record["phrases"]),
        _trees(record["statements"]),
        _trees(record["traps"]),
        record["doubt"],
        record["card"],
    )


def _trees(record: Mapping[str, Any]) -> Trees:
    return Trees(tuple(map(_frozen, record["trees"])), record["start"], record["scale"], record["shift"])


def _frozen(node: Any) -> Tree:
    if not isinstance(node, list):
        return float(node)
    feature, threshold, low, high = node
    return feature, threshold, _frozen(low), _frozen(high)


def chance(log_odds: float) -> float:
    """Return log-odds as a probability.

    >>> chance(0.0), chance(-1000.0)
    (0.5, 0.0)
    """
    if log_odds < -700:
        return 0.0
    return 1 / (1 + exp(-log_odds))

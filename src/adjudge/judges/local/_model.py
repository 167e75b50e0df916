"""The trained parts of the tiers, read from their data files: weights of stems, sets of small trees.

References that are names, numbers and phrases have their own, and so have references that are statements.
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
from adjudge.judges.local._mentions import Cues

Tree = Any
"""A leaf is a number; any other node is (feature, threshold, tree up to the threshold, tree above it)."""

FILE, FUSION = "tier0.json", "tier1.json"


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
                feature, threshold, low, high = node
                node = low if values[feature] <= threshold else high  # noqa: PLW2901 (walks down the tree)
            total += node
        return self.scale * total + self.shift


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that was learnt, and from what."""

    learnt: tuple[Mapping[str, int], Cues]  # what stems say, and what cues of mentions do
    names: tuple[str, ...]
    phrases: Trees
    mentions: Trees  # of phrases that a longer response mentions
    statements: Trees
    doubt: Mapping[str, float]
    earned: Mapping[str, float]  # what WRONG was worth on rows from elsewhere: factors of its log-odds, by `how_wrong`
    card: Mapping[str, Any]  # seed, command, data hashes, figures


@dataclass(frozen=True, slots=True)
class Fusion:
    """What tier 1 learnt: how to weigh the features with what the encoders say."""

    contained: Trees  # the candidate mentions a reference
    apart: Trees  # none does: with the cosines
    statements: Trees  # the references are statements
    doubt: Mapping[str, float]
    earned: float  # what WRONG was worth on rows from elsewhere: a factor of its log-odds
    card: Mapping[str, Any]


@cache
def load_fusion() -> Fusion:
    """Read tier 1's data file, once."""
    from adjudge.judges.local._meaning import COSINES
    from adjudge.judges.local._reader import SAID

    record = _read(FUSION, "judge", "trick", *SAID, *COSINES)
    contained, apart, statements = (_trees(record[name]) for name in ("contained", "apart", "statements"))
    return Fusion(contained, apart, statements, record["doubt"], record["earned"], record["card"])


@cache
def load_model() -> Model:
    """Read tier 0's data file, once."""
    record = _read(FILE)
    return Model(
        (record["weights"], Cues(record["cues"], frozenset(record["words"]))),
        tuple(record["names"]),
        _trees(record["phrases"]),
        _trees(record["mentions"]),
        _trees(record["statements"]),
        record["doubt"],
        record["earned"],
        record["card"],
    )


def _read(name: str, *more: str) -> Any:
    """Return the content of a data file that was trained on the features of this package, and `more` of them."""
    from adjudge.judges.local._features import NAMES

    record = json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    # Weights for other features would give wrong numbers without any error.
    if tuple(record["names"]) != (*NAMES, *more):
        message = f"{name} was trained on other features: run training/{name.removesuffix('.json')}.py again"
        raise DataError(message, code="stale-model")
    return record


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
    # exp overflows beyond this.
    if log_odds < -700:
        return 0.0
    return 1 / (1 + exp(-log_odds))

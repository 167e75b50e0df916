"""The tiers of the local judge: which are installed, how far each can be trusted, and what one says of a response."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from adjudge.errors import MissingExtra

RULED_OUT = 0.02
"""The probability of CORRECT where a rule says wrong."""

UNSURE = (0.2, 0.8)
"""Probabilities between these are low confidence."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is said of one response; `ruled` where a rule decided and no model has a say, `values` the features."""

    probability: float
    reasons: tuple[str, ...]
    ruled: bool = False
    values: Sequence[float] = ()
    statement: bool = False
    asserted: str | None = None
    """What the response gives as its answer, where a reader found it."""

    @property
    def is_right(self) -> bool:
        """Whether CORRECT is the likelier verdict."""
        return self.probability >= 0.5


TIERS = (0, 1)
"""The tiers there are; 0 is always installed, 1 needs `adjudge[local]`."""

AGREEMENTS = (
    (
        "local judge, tier 0; agreement with people: accuracy 93 % (kappa .81) on Natural Questions,"
        " 98 % (.93) on TriviaQA, 82 % (.65) on NQ301, 74 to 80 % on explanations"
    ),
    (
        "local judge, tier 1; agreement with people: accuracy 94 % (kappa .84) on Natural Questions,"
        " 98 % (.93) on TriviaQA, 81 % (.63) on NQ301, 76 to 80 % on explanations"
    ),
)
"""How far a verdict of each tier can be trusted, on validation rows; `docs/how-to/judges/local.md` has all figures."""

AGREEMENT = AGREEMENTS[0]
"""How far a verdict of tier 0 can be trusted."""

AssessMany = Callable[[Sequence[tuple[str, tuple[str, ...], str]]], list[Assessment]]
"""Assesses rows of question, references and response."""

_HOMES = tuple(f"adjudge.judges.local._tier{tier}" for tier in TIERS)
_NEEDED = ("adjudge_weights", "onnxruntime", "tokenizers")


@cache
def _known_errors() -> dict[str, list[tuple[float, float, float]]]:
    """Return, by tier, thresholds of confidence with the share of errors beyond them, and the share of rows."""
    import json
    from importlib.resources import files

    text = files("adjudge.judges.local").joinpath("thresholds.json").read_text(encoding="utf-8")
    return {tier: [(step, error, kept) for step, error, kept in rows] for tier, rows in json.loads(text).items()}


def threshold_of(tier: int, error_budget: float) -> float:
    """Return the least confidence beyond which a tier was seen to err in at most that share of rows; 1 for none."""
    least = 1.0
    for step, error, _ in reversed(_known_errors()[str(tier)]):
        if error > error_budget:
            break
        least = step
    return least


def best_tier() -> int:
    """Return the best tier that is installed."""
    return 1 if all(find_spec(name) is not None for name in _NEEDED) else 0


def assessor(tier: int) -> AssessMany:
    """Return what a tier assesses responses with."""
    if best_tier() < tier:
        raise MissingExtra.of("local", f"tier {tier} of the local judge")
    home = _HOMES[tier]
    # Patterns and tables of words are made ready for the first row, and not where a judge is only named.
    return lambda rows: cast("list[Assessment]", import_module(home).assess_many(rows))

"""What a tier says of one response, before it is a judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

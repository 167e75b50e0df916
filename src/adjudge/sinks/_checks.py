"""What a gate found, scenario by scenario: what reports are made of."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["Check", "Outcome", "shown", "tally"]

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
"""How a check ended; a fault that leaves it open is `undecided`, never `failed`."""


@dataclass(frozen=True, slots=True)
class Check:
    """One scenario, or one threshold, that passed, failed or could not be decided, with the reason in words.

    `file` and `line` say where it is written; `scores` are its numbers, None where there is none.
    """

    id: str
    outcome: Outcome
    reason: str | None = None
    seconds: float | None = None
    file: str | None = None
    line: int | None = None
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)


def tally(checks: Iterable[Check]) -> dict[Outcome, int]:
    """Count the outcomes.

    >>> tally([Check("a", "passed"), Check("b", "failed", "web_search was not used")])
    {'passed': 1, 'failed': 1, 'undecided': 0}
    """
    counts: dict[Outcome, int] = {"passed": 0, "failed": 0, "undecided": 0}
    for check in checks:
        counts[check.outcome] += 1
    return counts


def shown(value: float | None, digits: int) -> str:
    """Return a number as a report shows it; what is no number is `none`."""
    return "none" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"

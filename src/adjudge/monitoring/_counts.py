"""What a window of rollouts amounts to: whole numbers that add up, so that windows and processes merge in any order.

    WindowCounts({"rows": 256, "scored": 250, "error": 6, "value.sum": 9830400, ...}, {"error:env-died": 6}, ...)

Real numbers are kept as multiples of 2^-16, because sums of floats depend on their order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any, TypeVar
from zlib import crc32

from adjudge.errors import DataError

T = TypeVar("T")
UNIT = 1 << 16
LARGEST = float(1 << 20)  # a value beyond it counts as this
MOST_NAMES = 32  # reasons and parts that are kept apart
MOST_EXAMPLES = 3


def fixed(number: float) -> int:
    """Return a real number as a multiple of 2^-16."""
    return round((number if -LARGEST < number < LARGEST else math.copysign(LARGEST, number)) * UNIT)


def moments(numbers: Sequence[float]) -> tuple[int, int, int]:
    """Return how many numbers there are, their sum, and the sum of their squares."""
    wholes = [fixed(number) for number in numbers]
    return len(wholes), sum(wholes), sum(map(mul, wholes, wholes))


@dataclass(slots=True)
class WindowCounts:
    """Sums over some rows; its size has a limit, whatever the rows hold.

    `reasons` counts codes of rows without a number, as `error:env-died`; `parts` has of every part how many there were,
    their sum and the sum of their squares; `examples` has up to three texts for each rule.
    """

    sums: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    parts: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    examples: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add_example(self, rule: str, thing: T, show: Callable[[T], str]) -> None:
        """Keep a text for a rule, if it is among the first of these rows."""
        there = self.examples.get(rule, ())
        if len(there) < MOST_EXAMPLES:
            self.examples[rule] = (*there, show(thing))

    def trim(self) -> WindowCounts:
        """Forget names beyond the limit, so that rows with ever new ones cannot fill the memory.

        Which names stay depends on the names alone: what is kept of a whole is also kept of each of its parts, and so
        its count is exact in whatever order parts are merged.
        """
        if len(self.reasons) > MOST_NAMES:
            self.reasons = Counter({name: self.reasons[name] for name in _chosen(self.reasons, MOST_NAMES)})
        if len(self.parts) > MOST_NAMES:
            self.parts = {name: self.parts[name] for name in _chosen(self.parts, MOST_NAMES)}
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON has, the same for equal counts."""
        return {
            "sums": {name: self.sums[name] for name in sorted(self.sums) if self.sums[name]},
            "reasons": dict(sorted(self.reasons.items())),
            "parts": {name: list(self.parts[name]) for name in sorted(self.parts)},
            "examples": {rule: list(self.examples[rule]) for rule in sorted(self.examples)},
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> WindowCounts:
        """Read what `to_json` returned; anything else is a `DataError`."""
        try:
            return cls(
                Counter({str(name): int(number) for name, number in value["sums"].items()}),
                Counter({str(name): int(number) for name, number in value["reasons"].items()}),
                {str(name): (int(n), int(total), int(squares)) for name, (n, total, squares) in value["parts"].items()},
                {str(rule): tuple(map(str, texts))[:MOST_EXAMPLES] for rule, texts in value["examples"].items()},
            ).trim()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataError(f"the state of a monitor cannot be read: {error!r}", code="bad-state") from None


def merge_counts(many: Iterable[WindowCounts]) -> WindowCounts:
    """Return the counts of all rows together."""
    merged = WindowCounts()
    for one in many:
        # `Counter.update` adds, and keeps sums below 0.
        merged.sums.update(one.sums)
        merged.reasons.update(one.reasons)
        for name, (n, total, squares) in one.parts.items():
            before = merged.parts.get(name, (0, 0, 0))
            merged.parts[name] = (before[0] + n, before[1] + total, before[2] + squares)
        for rule, texts in one.examples.items():
            merged.examples[rule] = _chosen((*merged.examples.get(rule, ()), *texts), MOST_EXAMPLES)
    return merged.trim()


def share(counts: WindowCounts, part: str, whole: str) -> float | None:
    """Return one sum divided by another; None where there is nothing to divide by."""
    return counts.sums[part] / counts.sums[whole] if counts.sums[whole] else None


def mean_and_deviation(n: int, total: int, squares: int) -> tuple[float, float] | None:
    """Return the mean and the standard deviation of `n` values, given their sums."""
    if n == 0:
        return None
    # Whole numbers, so that nothing is lost where the values are large and close together.
    spread = max(0, n * squares - total * total)
    return total / n / UNIT, math.sqrt(spread / (n * max(1, n - 1))) / UNIT


def _chosen(texts: Iterable[str], most: int) -> tuple[str, ...]:
    def order(text: str) -> tuple[int, str]:
        return crc32(text.encode("utf-8", "surrogatepass")), text

    return tuple(sorted(set(texts), key=order)[:most])

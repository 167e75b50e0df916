"""What a window of rollouts amounts to: whole numbers that add up, so that windows and processes merge in any order.

    WindowCounts({"rows": 256, "scored": 250, "sum:scored": 9830400, "reason:error:env-died": 6, ...}, {...})

Real numbers are kept as multiples of 2^-16, because sums of floats depend on their order. Of those that have a mean,
three sums are kept: NAME is how many there are, sum:NAME their sum, squares:NAME the sum of their squares.
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
REASON, PART = "reason:", "part:"  # how the names begin that rows bring along
MOST_NAMES = 32  # of each of the two that are kept
MOST_EXAMPLES = 3


def fixed(number: float) -> int:
    """Return a real number as a multiple of 2^-16."""
    return round((number if -LARGEST < number < LARGEST else math.copysign(LARGEST, number)) * UNIT)


@dataclass(slots=True)
class WindowCounts:
    """Sums over some rows, and up to three examples for each rule; its size has a limit, whatever the rows hold."""

    sums: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, name: str, numbers: Sequence[float]) -> None:
        """Add numbers that have a mean."""
        wholes = [fixed(number) for number in numbers]
        self.sums[name] += len(wholes)
        self.sums[f"sum:{name}"] += sum(wholes)
        self.sums[f"squares:{name}"] += sum(map(mul, wholes, wholes))

    def add_example(self, rule: str, thing: T, show: Callable[[T], str]) -> None:
        """Keep a text for a rule, if it is among the first of these rows."""
        there = self.examples.get(rule, ())
        if len(there) < MOST_EXAMPLES:
            self.examples[rule] = (*there, show(thing))

    def names(self, kind: str) -> list[str]:
        """Return the names of a kind, `REASON` or `PART`, without what they begin with."""
        return sorted(name.removeprefix(kind) for name in self.sums if name.startswith(kind))

    def share(self, part: str, whole: str) -> float | None:
        """Return one sum divided by another; None where there is nothing to divide by."""
        return self.sums[part] / self.sums[whole] if self.sums[whole] else None

    def mean(self, name: str) -> tuple[float, float] | None:
        """Return the mean and the standard deviation of some numbers; None where there are none."""
        n, total, squares = self.sums[name], self.sums[f"sum:{name}"], self.sums[f"squares:{name}"]
        if n == 0:
            return None
        # Whole numbers, so that nothing is lost where the values are large and close together.
        spread = max(0, n * squares - total * total)
        return total / n / UNIT, math.sqrt(spread / (n * max(1, n - 1))) / UNIT

    def trim(self) -> WindowCounts:
        """Forget names beyond the limit, so that rows with ever new ones cannot fill the memory.

        Which names stay depends on the names alone: what is kept of a whole is also kept of each of its parts, and so
        its count is exact in whatever order parts are merged.
        """
        for kind in (REASON, PART):
            names = self.names(kind)
            for name in set(names).difference(_chosen(names, MOST_NAMES)):
                for start in ("", "sum:", "squares:"):
                    self.sums.pop(f"{start}{kind}{name}", None)
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON has, the same for equal counts."""
        return {
            "sums": {name: self.sums[name] for name in sorted(self.sums) if self.sums[name]},
            "examples": {rule: list(self.examples[rule]) for rule in sorted(self.examples)},
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> WindowCounts:
        """Read what `to_json` returned; anything else is a `DataError`."""
        try:
            return cls(
                Counter({str(name): int(number) for name, number in value["sums"].items()}),
                {str(rule): tuple(map(str, texts))[:MOST_EXAMPLES] for rule, texts in value["examples"].items()},
            ).trim()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataError(f"the state of a monitor cannot be read: {error!r}", code="bad-state") from None


def merge_counts(*many: WindowCounts) -> WindowCounts:
    """Return the counts of all rows together."""
    merged = WindowCounts()
    for one in many:
        # `Counter.update` adds, and keeps sums below 0.
        merged.sums.update(one.sums)
        for rule, texts in one.examples.items():
            merged.examples[rule] = _chosen((*merged.examples.get(rule, ()), *texts), MOST_EXAMPLES)
    return merged.trim()


def _chosen(texts: Iterable[str], most: int) -> tuple[str, ...]:
    def order(text: str) -> tuple[int, str]:
        return crc32(text.encode("utf-8", "surrogatepass")), text

    return tuple(sorted(set(texts), key=order)[:most])

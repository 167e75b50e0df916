"""What a pool has seen, as numbers that add up."""

from collections import deque
from dataclasses import dataclass

__all__ = ["Counts", "Waits"]

_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Counts:
    """One pool at one moment, and since it was made.

    Now: instances that are `starting`, `idle` (never used), `dirty` (used, not yet handed out again) and `leased`,
    and the rollouts that are `waiting`. Since then: instances that were started (`starts`) and that are gone
    (`dead`), of these the `recycles` for episodes, age or memory and the `faults`; leases `given` and `returned`, of
    these the `reaped` for want of a sign of life; `timeouts` of waiting. Always starts = starting + idle + dirty +
    leased + dead; given - returned leases are open.

    `waited_s` is all the time that rollouts have waited for an instance, `longest_wait_s` the longest wait,
    `median_wait_s` that of the last thousand.
    """

    starting: int = 0
    idle: int = 0
    dirty: int = 0
    leased: int = 0
    waiting: int = 0
    starts: int = 0
    dead: int = 0
    recycles: int = 0
    given: int = 0
    returned: int = 0
    reaped: int = 0
    timeouts: int = 0
    faults: int = 0
    waited_s: float = 0.0
    longest_wait_s: float = 0.0
    median_wait_s: float = 0.0

    @property
    def free(self) -> int:
        """How many instances nobody has."""
        return self.idle + self.dirty


class Waits:
    """How long rollouts waited."""

    __slots__ = ("_last", "longest_s", "total_s")

    def __init__(self) -> None:
        self.total_s = 0.0
        self.longest_s = 0.0
        self._last: deque[float] = deque(maxlen=_KEPT)

    def add(self, seconds: float) -> None:
        """Note one wait."""
        self.total_s += seconds
        self.longest_s = max(self.longest_s, seconds)
        self._last.append(seconds)

    @property
    def median_s(self) -> float:
        """The median of the last thousand."""
        return sorted(self._last)[len(self._last) // 2] if self._last else 0.0

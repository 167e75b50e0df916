"""The search for two limits of one endpoint, calls at once and calls a second: raised in steps, or taken back."""

import math

__all__ = ["Rate", "Window"]

_LEAST = 0.2
_LONG_S = 0.5
_FINE, _CLOSED = 1.12, 1.1
_SHOWN_S, _SHOWN_WELL_S, _SHOWN_HASTILY_S = 1.1, 2.1, 0.3


def _patience_s(fails: int, pause_s: float) -> float:
    """Seconds until what was refused is tried again: the longer, the more often it was refused and the more it cost."""
    return max(min(5.0, 4.0 ** min(fails, 2)), pause_s * (30 if fails else 2))


class Window:
    """Calls at once: `now` is what is allowed, `top` the number at which a call was refused, infinite if none was."""

    def __init__(self, now: float, most: int) -> None:
        self.now = now
        self.most = most
        self.top = math.inf
        self.try_at = -math.inf
        self._step, self._fails, self._failed_at = now, 0, 0.0

    def open(self, now: float | None = None) -> None:
        """Forget the top; the next step doubles."""
        self.now = self.now if now is None else now
        self.top, self._step = math.inf, self.now

    def widen(self) -> None:
        """Begin a step; what came before it was carried."""
        if self.top < math.inf:
            self.top, self._step = math.inf, 1.0
        elif self.now > 1.1 * self._failed_at:
            self._fails = 0
        self.now = min(float(self.most), self.now + self._step)
        self._step = min(2 * self._step, self.now)

    def fail(self, level: int) -> None:
        """Go back to less than the number at which a call was refused."""
        self.now, self.top = max(1.0, level - 1.0), level
        self._step, self._failed_at = self.now, self.now

    def hold(self, resume_at: float, pause_s: float) -> None:
        """Stay there for a while."""
        self._step = 1.0
        self.try_at = resume_at + _patience_s(self._fails, pause_s)
        self._fails += 1


class Rate:
    """Calls a second: `now` is what is sent, `good` what is known to be carried; infinite where there is no limit.

    A step that is carried for long enough (a limit per second needs a second to show) is kept, and the next one is
    twice as large. A refused step is a ceiling, and the next one goes half-way to it, until there is nothing between.
    """

    def __init__(self) -> None:
        self.now = self.good = math.inf
        self.cut_at = self.try_at = -math.inf
        self.sure = False
        """Whether `good` was carried for longer than a moment."""
        self._over = math.inf
        self._step, self._since, self._sent = 1.0, math.inf, 0
        self._fails, self._failed_at = 0, 0.0

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.good < math.inf

    @property
    def trying(self) -> bool:
        """Whether a step is under way."""
        return self.now > self.good

    @property
    def fine(self) -> bool:
        """Whether the step under way is a small one."""
        return self.now <= _FINE * self.good

    @property
    def hasty(self) -> bool:
        """Whether the next step doubles."""
        return self._step == self.good

    def set(self, good: float, step: float) -> None:
        """Begin anew at a rate, with a first step of that share."""
        self.now = self.good = max(_LEAST, good)
        self._over, self._step, self.sure = math.inf, step * self.good, False

    def lower(self, good: float) -> None:
        """Send less than that was known to be carried."""
        self.now = self.good = max(_LEAST, min(self.good, good))

    def try_more(self, now: float) -> None:
        """Begin a step."""
        if self._over <= _CLOSED * self.good:
            self._over, self._step = math.inf, 0.05 * self.good
        step = min(self._step, math.sqrt(self._over * self.good) - self.good)
        self.now, self._since, self._sent = self.good + max(0.05, step), now, 0

    def give_up(self) -> None:
        """End a step that could not be seen through."""
        self.now = self.good

    def sent(self, now: float) -> None:
        """Count a call of the step under way, and keep the step if it has been carried for long enough."""
        passed, share = now - self._since, self._step / self.good
        if share > 0.5:
            least_s, least = _SHOWN_HASTILY_S, 2.0
        else:
            least_s, least = _SHOWN_S if share > 0.15 or not self._fails else _SHOWN_WELL_S, 4.0
        if passed >= least_s and self._sent >= max(least, 0.8 * self.now * passed):
            self._keep()
        self._sent += 1

    def _keep(self) -> None:
        self.sure = self._step <= 0.5 * self.good
        self.good = self.now
        if self.good > 1.1 * self._failed_at:
            self._fails = 0
        self._step = min(2 * self._step, self.good)
        if self.good >= self._over:
            self._over = math.inf

    def fail(self, carried: float) -> None:
        """Take a step back; `carried` is what the server seems to carry, for where the rate before is not sure."""
        fine, self._over = self.fine, self.now
        known = math.inf if self.sure or fine else max(0.7 * self.good, carried)
        self.now = self.good = self._failed_at = max(_LEAST, min(0.99 * self.good, known))
        self._step = (0.2 if self._over > 1.5 * self.good else 0.1) * self.good
        if fine:
            self._over = self.good

    def hold(self, resume_at: float, pause_s: float) -> None:
        """Stay there for a while: a small step was refused, so there is little to gain."""
        self.try_at = resume_at + _patience_s(self._fails + (pause_s >= _LONG_S), pause_s)
        self._fails += 1

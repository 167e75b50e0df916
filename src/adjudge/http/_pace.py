"""How many calls an endpoint is given, at once and in a second: learnt from what it refuses, by arithmetic alone.

The window (calls at once) starts small and grows by one with every accepted call, which doubles it every round trip,
until the server first refuses (429, 503 and the like) or the caller's limit is reached. There is no limit on calls a
second until then.

A refusal is put down to what was new about the call: more calls at once than have lately been accepted, or more calls
within a second. The window then goes back to what the server carried, the rate to just below it. A refused call with
nothing new about it was refused by chance (or by somebody else's load) and shrinks nothing.

A probe is paid for: every accepted call earns a hundredth of a refusal, and only with a whole one in hand, and after
twenty times the last pause, do window and rate grow again, slowly first, faster while nothing is refused.

A refusal makes everybody wait: for as long as the server says, or else for a time that doubles with every refusal that
follows before a call was accepted.
"""

import math
from collections import deque
from dataclasses import dataclass

__all__ = ["Pace", "Ticket"]

_START = 8.0
_EARN = 0.01
_BELOW = 0.97
"""The share of the calls a second that were carried at which the rate is set."""

_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 5.0
_MEMORY_S = 5.0
"""For at least how long a load that was accepted counts as known."""

_SLACK_S = 0.02
"""How far calls may catch up on the rate after a delay."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One call under way: when it was sent, as which of those in flight, and as which within a second."""

    sent: float
    level: int
    count: int


class Pace:
    """The load that one endpoint is given; `most` at once is never exceeded. Times are of one monotonic clock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.window = min(_START, float(most))
        self.rate = math.inf
        self.in_flight = 0
        self.resume_at = -math.inf
        self._known_level, self._known_count = _Peak(), _Peak()
        self._starting = True
        self._rate_is_known = False
        self._cut_at = self._probe_at = self._rate_at = -math.inf
        self._window_floor = 1.0
        self._streak = 0
        self._credit = 0.0
        self._step = 1.0
        self._gain = 0.0
        self._refused_share = 0.0
        self._next_at = -math.inf
        self._sent: deque[float] = deque()

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start: 0 is now, infinity is after another one has ended."""
        if self.in_flight >= max(1, int(self.window)):
            return math.inf
        return max(0.0, self.resume_at - now, self._next_at - now)

    def start(self, now: float) -> Ticket:
        """Count a call as sent."""
        self.in_flight += 1
        if self.rate < math.inf:
            self._next_at = max(self._next_at, now - _SLACK_S) + 1 / self.rate
        self._sent.append(now)
        while self._sent[0] <= now - 1.0:
            self._sent.popleft()
        return Ticket(now, self.in_flight, len(self._sent))

    def failed(self) -> None:
        """Count a call as ended by something that says nothing about the load."""
        self.in_flight -= 1

    def accepted(self, ticket: Ticket, now: float) -> None:
        """Count a call as served."""
        self.in_flight -= 1
        self._refused_share *= 0.98
        self._credit = min(1.0, self._credit + _EARN)
        self._known_level.see(ticket.level, now)
        self._known_count.see(ticket.count, now)
        if ticket.sent >= self._cut_at:
            self._streak = 0
        if ticket.level >= 0.5 * self.window:  # a window that is not filled has nothing to say about a larger one
            self._grow_window(now)
        if self.rate < math.inf:
            self._grow_rate(ticket, now)

    def refused(self, ticket: Ticket, now: float, wait_s: float | None = None) -> None:
        """Count a call as refused; `wait_s` is how long the server asks everybody to wait."""
        self.in_flight -= 1
        self._refused_share = 0.98 * self._refused_share + 0.02
        if self._sent and self._sent[-1] >= ticket.sent:
            self._sent.pop()  # it did not count there, so it does not count here
        if ticket.sent >= self._cut_at:
            self._cut(ticket, now)
            pause = _PAUSE_S * 2**self._streak if wait_s is None else wait_s
            self._streak = min(self._streak + 1, 16)
            self.resume_at = max(self.resume_at, now + min(pause, _LONGEST_PAUSE_S if wait_s is None else pause))
            self._cut_at = now
        else:
            # Of the same burst as the refusal before: another one too many.
            self.window = max(min(self.window, self._window_floor), self.window - 1)
        if wait_s is not None:
            self.resume_at = max(self.resume_at, now + wait_s)

    def _cut(self, ticket: Ticket, now: float) -> None:
        """Shrink what was new about the first refused call of a burst."""
        hopeless = self._refused_share > 0.25
        over_level = self._starting or hopeless or ticket.level > self._known_level.value(now)
        over_count = self._starting or hopeless or ticket.count >= self._known_count.value(now)
        self._window_floor = self.window
        if not (over_level or over_count):
            return
        if over_level:
            carried = float(self.in_flight)
            self.window = max(1.0, min(self.window, 0.8 * carried if hopeless else carried))
            self._window_floor = max(1.0, self.window / 2)
            self._step, self._gain = 1.0, 0.0
        if over_count:
            self._rate_is_known = self._rate_is_known or not over_level
            count = ticket.count - 1
            self.rate = min(self.rate, _BELOW * count) if count > 1 else max(0.05, min(self.rate, 1.0) * 0.8)
            self._next_at = now
        self._credit = max(-1.0, self._credit - 1.0)
        self._starting = False
        self._probe_at = now + 20 * max(_PAUSE_S, self.resume_at - now)
        self._rate_at = now

    def _grow_window(self, now: float) -> None:
        if self._starting:
            self.window += 1
        elif self._may_probe(now):
            self._gain += 1
            if self._gain < self.window:
                return
            self._gain = 0.0
            self.window += self._step
            self._step = min(2 * self._step, max(1.0, self.window / 4))
        self.window = min(self.window, float(self.most))

    def _grow_rate(self, ticket: Ticket, now: float) -> None:
        passed, self._rate_at = now - self._rate_at, now
        if not self._rate_is_known:
            self.rate *= 2 ** min(passed, 1.0)
            if self.rate > 4 * ticket.count + 16:
                self.rate = math.inf
        elif self._may_probe(now) and ticket.count >= 0.8 * self.rate:
            self.rate *= 1 + min(passed, 1.0) * min(1.0, 0.05 * 2 ** min(8.0, now - self._probe_at))

    def _may_probe(self, now: float) -> bool:
        return self._credit >= 1.0 and now >= self._probe_at


class _Peak:
    """The largest number seen in the last 5 to 10 seconds."""

    __slots__ = ("_before", "_now", "_since")

    def __init__(self) -> None:
        self._before = self._now = 0
        self._since = -math.inf

    def see(self, number: int, now: float) -> None:
        self._turn(now)
        self._now = max(self._now, number)

    def value(self, now: float) -> int:
        self._turn(now)
        return max(self._before, self._now)

    def _turn(self, now: float) -> None:
        if now - self._since > _MEMORY_S:
            self._before, self._now, self._since = self._now, 0, now

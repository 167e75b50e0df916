"""How many calls an endpoint is given, at once and in a second: learnt from what it refuses, by arithmetic alone.

The window (calls at once) starts small and grows by one with every accepted call, which doubles it every round trip,
until the server first refuses (429, 503 and the like) or the caller's limit is reached. The rate (calls a second) is
not limited at first.

A refusal takes the window back to what the server carries: the calls in flight that were not refused. If it refuses
again soon, its limit is one of calls a second: the rate goes to just below the calls that it accepted in the last
second. If it still refuses, both shrink by a tenth each time. If that does not help either (much less is asked and as
much is refused as before, though not much in all), the refusals come by chance: what was cut is given back, and for a
while refusals shrink nothing.

A probe is paid for: every accepted call earns a fiftieth of a refusal, and only with a whole one in hand, and after
twelve times the last pause, do window and rate grow again, slowly first, faster while nothing is refused.

A refusal makes everybody wait: for as long as the server says, or else for a moment that grows with the share of calls
that are refused.
"""

import math
from collections import deque
from dataclasses import dataclass

__all__ = ["Pace", "Ticket"]

_START = 16.0
_EARN, _DEBT = 0.02, -4.0
_BELOW, _SMALLER = 0.97, 0.9
_SOON = 40
"""How many calls accepted since make the next refusal a new matter."""

_SERIES, _NOISE_S = 4, 20.0
_MOST_NOISE = 0.25
_LEAST_RATE = 0.2
_PAUSE_S, _LONGEST_PAUSE_S = 0.005, 1.0
_SLACK_S = 0.02
"""How far calls may catch up on the rate after a delay."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One call under way: when it was sent, and how many were then in flight with it."""

    sent: float
    level: int


class Pace:
    """The load that one endpoint is given; `most` at once is never exceeded. Times are of one monotonic clock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.window = min(_START, float(most))
        self.rate = math.inf
        self.in_flight = 0
        self.resume_at = -math.inf
        self._starting = True
        self._began = self._cut_at = self._probe_at = self._grown_at = self._next_at = -math.inf
        self._window_floor = 1.0
        self._credit = 0.0
        self._step, self._gain = 1.0, 0.0
        self._refused_share = self._latency = 0.0
        self._sent: deque[float] = deque()
        self._series = _Series()

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start: 0 is now, infinity is after another one has ended."""
        if self.in_flight >= max(1, int(self.window)):
            return math.inf
        return max(0.0, self.resume_at - now, self._next_at - now)

    def start(self, now: float) -> Ticket:
        """Count a call as sent."""
        self.in_flight += 1
        if not self._starting:
            # Spread out, so that a window that opens at once is no burst.
            gap = max(1 / self.rate, self._latency / (2 * self.window))
            self._next_at = max(self._next_at, now - _SLACK_S) + gap
        if self._began == -math.inf:
            self._began = now
        self._sent.append(now)
        while self._sent[0] <= now - 1.0:
            self._sent.popleft()
        return Ticket(now, self.in_flight)

    def failed(self) -> None:
        """Count a call as ended by something that says nothing about the load."""
        self.in_flight -= 1

    def accepted(self, ticket: Ticket, now: float) -> None:
        """Count a call as served."""
        self.in_flight -= 1
        self._refused_share *= 0.96
        self._credit = min(1.0, self._credit + _EARN)
        if ticket.sent >= self._cut_at:
            self._series.quiet += 1
        taken = now - ticket.sent
        self._latency = 0.9 * self._latency + 0.1 * taken if self._latency else taken
        if self._starting:
            self.window = min(self.window + 1, float(self.most))
        elif self._credit >= 1.0 and now >= self._probe_at:
            self._grow(ticket, now)
        else:
            self._grown_at = now

    def refused(self, ticket: Ticket, now: float, wait_s: float | None = None) -> None:
        """Count a call as refused; `wait_s` is how long the server asks everybody to wait."""
        self.in_flight -= 1
        self._refused_share += 0.04 * (1 - self._refused_share)
        if self._sent and self._sent[-1] >= ticket.sent:
            self._sent.pop()  # it did not count there, so it does not count here
        self.resume_at = max(self.resume_at, now + (self._pause_s() if wait_s is None else wait_s))
        if ticket.sent < self._cut_at:
            # Of the same burst as the refusal before: another one too many.
            self.window = max(min(self.window, self._window_floor), self.window - 1)
            return
        self._cut(now)
        self._cut_at = now
        self._probe_at = now + min(12.0, 12 * (self.resume_at - now))

    def _pause_s(self) -> float:
        """Say how long everybody waits where the server does not: the longer, the more it refuses."""
        least = 0.1 if self._series.length > 1 and self.rate < math.inf else _PAUSE_S
        return min(_LONGEST_PAUSE_S, max(least, _PAUSE_S * math.exp2(16 * self._refused_share)))

    def _cut(self, now: float) -> None:
        """Shrink for the first refused call of a burst."""
        self._window_floor = self.window
        length = self._series.add(self.window, self._sent, now)
        if self._is_noise(now):
            return
        # Where a rate is known it is the first suspect, elsewhere the window; the window again only as a last resort.
        unlimited = self.rate == math.inf
        if length > 1 or not unlimited:
            self._cut_rate(now, smaller=length > 1 and not unlimited)
        if (length == 1 and unlimited) or length > _SERIES // 2:
            self._cut_window(smaller=length > 1)
        self._credit = 0.0 if self._starting else max(_DEBT, self._credit - 1.0)
        self._starting = False
        self._step, self._gain = 1.0, 0.0

    def _cut_window(self, *, smaller: bool) -> None:
        self.window = max(1.0, _SMALLER * self.window if smaller else min(self.window, float(self.in_flight)))
        self._window_floor = max(1.0, self.window * (0.8 if not self._starting else 0.5 if self.window > _START else 0))

    def _cut_rate(self, now: float, *, smaller: bool) -> None:
        carried = _BELOW * max(1, len(self._sent)) / min(1.0, max(0.2, now - self._began))
        target = min(_SMALLER * self.rate, max(carried, 0.5 * self.rate)) if smaller else carried
        self.rate = max(_LEAST_RATE, min(self.rate, target))
        if self._sent and not smaller:
            self._next_at = max(self._next_at, self._sent[0] + 1.0)  # when there is room again within a second

    def _is_noise(self, now: float) -> bool:
        """Say whether refusals go on as before however little is asked, and if so take back what was cut for them."""
        series = self._series
        if now < series.noise_until:
            if self._refused_share < min(2 * series.noise + 0.05, 2 * _MOST_NOISE):
                return True
            series.noise_until = -math.inf
        # Had the server a limit, it would carry at least the part of the former load that it accepted then.
        asked = min(self.window / series.window, self.rate / series.asked_per_s)
        if series.length < _SERIES or self._refused_share > _MOST_NOISE or asked > 0.85 * (1 - self._refused_share):
            return False
        self._starting, self.rate = True, math.inf
        series.noise, series.noise_until, series.length = self._refused_share, now + _NOISE_S, 0
        return True

    def _grow(self, ticket: Ticket, now: float) -> None:
        """Probe: the window by 1, 2, 4 ... a round trip, the rate by a quarter a second and more."""
        passed, self._grown_at = min(1.0, now - self._grown_at), now
        if self.rate < math.inf:
            self.rate *= 1 + passed * min(1.0, 0.25 * 2 ** min(2.0, now - self._probe_at))
            if self.rate > 2 * len(self._sent) + 16:
                self.rate = math.inf  # something else holds the calls back
        if ticket.level >= 0.5 * self.window:  # a window that is not filled has nothing to say about a larger one
            self._gain += 1
        if self._gain >= self.window:
            self._gain = 0.0
            self.window = min(self.window + self._step, float(self.most))
            self._step = min(2 * self._step, max(1.0, self.window / 4))


class _Series:
    """Cuts in close succession, and what was asked before the first."""

    __slots__ = ("asked_per_s", "length", "noise", "noise_until", "quiet", "window")

    def __init__(self) -> None:
        self.length = 0
        self.quiet = _SOON
        self.window = self.asked_per_s = 1.0
        self.noise, self.noise_until = 0.0, -math.inf

    def add(self, window: float, sent: deque[float], now: float) -> int:
        self.length = self.length + 1 if self.quiet < _SOON else 1
        self.quiet = 0
        if self.length == 1:
            self.window = window
            self.asked_per_s = max(1, len(sent)) / min(1.0, max(0.2, now - sent[0] if sent else 0.0))
        return self.length

"""How many calls an endpoint is given, at once and in a second: learnt from what it refuses, by arithmetic alone.

Both limits follow one rule: a little more with every call that is accepted, less with a call that is refused (429, 503,
529), where the call that is refused shows which of the two was too high.

- The window (calls at once) starts at 16 and grows by one with every accepted call, until more than three in ten are
  refused. A call that was refused with more calls in flight than the server has lately carried was one too many: the
  window becomes what was in flight without it. Later it grows by about one in a hundred calls.
- The rate (calls a second) has no limit until calls are refused in a row although no more are in flight than the server
  carries. Then it is what was accepted in the last second. It is 2.5 % higher for two spans and 2.5 % lower
  for the third, and only a refusal in a high span lowers it: a limit refuses there first, chance everywhere.

A request that is refused for the second time has a problem of its own: what its first refusal changed is taken back,
and it takes no turn away from others. Everybody waits as long as a refusal asks, but for one part in twenty of the time
at most, so that refusals by chance do not stop a run. Where the server says how many calls are left, they are spread
over the time until there are more.
"""

import math
from collections import deque
from dataclasses import dataclass

__all__ = ["Pace", "SentCall"]

_START, _START_SHARE, _START_TRUST, _START_DOUBT = 16.0, 0.3, 8.0, 3.0
"""The first window; the share of refusals that is borne while it doubles, the most credit for it, and what ends it."""

_UP, _DOWN = 0.0003, 0.03
"""How much an accepted call adds to the rate, and a refused one takes away."""

_WINDOW_UP = 1 / 256
_SWING, _SWING_S = 0.025, 1.2
"""How far the rate goes above its mean, for two of three spans of so many seconds, and below it for the third."""

_FORGET, _ROW, _MOST_DOUBT = 0.1, 3.5, 6.0
"""A refusal adds one to the doubt, a call that is sent takes a tenth away; so much of it are refusals in a row."""

_HEED = 20.0
"""Waits that are asked for take up one part in this many of the time."""


@dataclass(eq=False, slots=True)
class SentCall:
    """A call under way: when it was sent, which limits it reached, and what its refusal changed."""

    sent: float
    level: int  # how many calls the server had in hand with this one, as far as is known
    number: int
    full: bool = False  # it filled the window
    paced: bool = False  # it was sent as soon as the rate allowed
    high: bool = False  # it was sent while the rate was above its mean
    cut: float = 0.0  # the factor of the rate, or the window before as a negative number; 0: nothing was changed


class Pace:
    """The load that one endpoint is given; `most` at once is never exceeded. Times are of one monotonic clock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self.resume_at = -math.inf
        self._window, self._window_calm = min(_START, float(most)), 0
        self._rate, self._rate_calm, self._rate_calm_at = math.inf, 0.0, 0.0
        self._starting = self._hasty_window = self._hasty_rate = True
        self._doubt = self._latency = self._gap = self._quota_gap = 0.0
        self._quota_until = self._next_at = self._cut_at = self._heed_at = -math.inf
        self._carried = self._carried_before = 1
        self._turn_at = 0.0
        self._flight: dict[SentCall, None] = {}
        self._last_second: deque[float] = deque()
        self._number = 0

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start: 0 is now, infinity is after another one has ended."""
        if self.in_flight >= int(self._window):
            return math.inf
        recent = self._last_second
        while recent and recent[0] <= now - 1.0:
            recent.popleft()
        wait = max(0.0, self.resume_at - now, self._next_at - now)
        if len(recent) >= max(1.0, self._rate * (1 + _SWING)):
            return max(wait, recent[0] + 1.0 - now)
        return wait

    def start(self, now: float) -> SentCall:
        """Count a call as sent."""
        self.in_flight += 1
        self._number += 1
        call = SentCall(now, self.in_flight, self._number)
        call.full = self.in_flight >= int(self._window)
        gap = 0.0
        if self._starting:
            self._doubt = max(-_START_TRUST, self._doubt - _START_SHARE)
        else:
            self._doubt = max(0.0, self._doubt - _FORGET)
            call.high = int(now / _SWING_S) % 3 > 0
            if self._rate < math.inf:
                gap = 1 / (self._rate * (1 + _SWING if call.high else 1 - _SWING))
                # Timers fire late, so that a little delay does not count.
                call.paced = now - self._next_at <= 0.01 + 0.25 * gap
            else:
                # A window that opens is not a burst: one that is untried is spread over the whole round trip.
                untried = self._window >= 1 + max(self._carried, self._carried_before)
                gap = self._latency / self._window * (1.0 if untried else 0.5)
        if self._quota_gap > gap and now < self._quota_until:
            gap, call.paced = self._quota_gap, False
        self._gap = gap
        self._next_at = max(self._next_at, now - min(0.01, 0.5 * gap)) + gap
        self._last_second.append(now)
        self._flight[call] = None
        return call

    def spread(self, call: SentCall, now: float, left: float, until_s: float) -> None:
        """Spread `left` calls, of which those sent after `call` are gone, over the seconds until there are more."""
        self._quota_gap = until_s / max(1.0, left - (self._number - call.number))
        self._quota_until = now + until_s
        self._next_at = min(self._next_at, now + max(self._gap, self._quota_gap))

    def failed(self, call: SentCall) -> None:
        """Count a call as ended by something that says nothing about the load."""
        self.in_flight -= 1
        del self._flight[call]

    def accepted(self, call: SentCall, now: float) -> None:
        """Count a call as served."""
        self.in_flight -= 1
        del self._flight[call]
        taken = now - call.sent
        self._latency += 0.1 * (taken - self._latency) if self._latency else taken
        if now > self._turn_at:
            # What was carried is forgotten after two turns, so that a limit that falls is seen.
            self._carried, self._carried_before, self._turn_at = 1, self._carried, now + 1 + 2 * taken
        self._carried = max(self._carried, call.level)
        if self._starting:
            self._window = min(self._window + 1, float(self.most))
            return
        # Both grow the faster the longer nothing was refused.
        self._rate_calm += 1
        if call.paced and self._hasty_rate:
            self._rate += 1.0
        elif call.paced:
            self._rate *= 1 + _UP * math.exp2(min(8.0, (now - self._rate_calm_at) / 2, self._rate_calm / 80))
        if call.full:
            self._window_calm += 1
            step = _WINDOW_UP * math.exp2(min(8.0, self._window_calm / 50))
            self._window = min(float(self.most), self._window + (1 / self._window if self._hasty_window else step))

    def refused(
        self, call: SentCall, now: float, wait_s: float | None = None, *, first: SentCall | None = None
    ) -> None:
        """Count a call as refused; `wait_s` is how long the server asks to wait.

        `first` is the call with which the same request was refused before.
        """
        self.failed(call)
        if call.sent in self._last_second:
            self._last_second.remove(call.sent)
        old = now - 0.05 - 4 * (now - call.sent)
        for other in self._flight:
            if other.sent >= call.sent:
                other.level -= 1
            elif other.sent < old:
                # Had it been too much, it would have been refused by now.
                self._carried = max(self._carried, other.level)
        if first is not None:
            self._forgive(first, now)
            return
        if call.sent > self._cut_at:
            self._doubt = min(_MOST_DOUBT, self._doubt + 1)
        if not self._starting or self._doubt >= _START_DOUBT:
            # A reply on its way lets a call through that is one too many: then refusals in a full window add up.
            too_full = call.full and not call.paced and self._rate < math.inf and self._doubt >= 2
            if too_full or call.level > max(self._carried, self._carried_before):
                self._lower_window(call, now)
            elif call.sent > self._cut_at:
                self._lower_rate(call, now)
        if wait_s is not None and now >= self._heed_at:
            self.resume_at = max(self.resume_at, now + wait_s)
            self._heed_at = now + _HEED * wait_s
            self._cut_at = now

    def _forgive(self, first: SentCall, now: float) -> None:
        """Take back what a refusal changed, unless the server refuses many others too."""
        if self._doubt >= 2:
            return
        if first.cut:
            self._doubt = max(0.0, self._doubt - 1)
        if first.cut > 0:
            self._rate /= first.cut
            self._rate_calm *= 2
            self._rate_calm_at = 2 * self._rate_calm_at - now
        elif first.cut < 0:
            self._window = max(self._window, -first.cut)
        first.cut = 0.0
        self._next_at -= self._gap

    def _lower_window(self, call: SentCall, now: float) -> None:
        """Go back to what is carried. Refusals of calls that were sent before a cut say how deep it has to be."""
        if call.sent > self._cut_at:
            if self._doubt < 1:
                return
            self._hasty_window = self._starting
            self._starting = False
            self._cut_at, self._doubt = now, 0.0
        call.cut = -self._window
        self._window = max(1.0, min(self._window, call.level - 1.0))
        self._window_calm = 0

    def _lower_rate(self, call: SentCall, now: float) -> None:
        """Lower the rate a little, or where refusals come in a row to what was accepted in the last second."""
        if self._doubt >= _ROW and (call.paced or self._rate == math.inf):
            accepted = 0.95 * len(self._last_second)
            if self._rate == math.inf:
                self._rate, self._window = max(1.0, accepted), float(self.most)
            else:
                self._hasty_rate = False
                self._rate = max(0.5 * self._rate, min(self._rate, accepted))
            self._starting = False
            self._doubt, self._rate_calm = 0.0, 0.0
            self._cut_at = self._rate_calm_at = now
        elif call.paced and call.high and not self._hasty_rate:
            call.cut = 1 - _DOWN
            self._rate *= call.cut
            self._rate_calm /= 2
            self._rate_calm_at = (self._rate_calm_at + now) / 2

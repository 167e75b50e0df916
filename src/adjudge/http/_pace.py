"""How many calls an endpoint is given, at once and in a second: learnt from what it refuses, by arithmetic alone.

The window (calls at once) starts at 16 and grows by one with every accepted call, which doubles it every round trip,
until the caller's limit is reached or the server refuses (429, 503 and the like) either with a wait or a third of the
calls. Then the window is the number at which the first call was refused, less one. From there it is spread out, so that
a window that opens is no burst.

Calls that were sent before a cut belong to it, and so do refusals of the second after a cut of the rate. Every other
refusal has one of four causes:

- window: more were in flight than had been carried three times. Back to one fewer.
- rate: a higher rate was being tried. Back to the rate before, and nothing until the last second holds no more of it.
- surplus: neither, but everything points to a limit: the server says how long to wait, or refuses too large a share
  (3.5 % of hundreds of calls, 30 % of the last dozens). Then the limit is one of calls a second, or has changed: the
  rate is what was accepted in the last second, or between two refusals, and the window is open again.
- chance: none of these. Nothing is cut. If the share goes on though the rate was lowered five times and by a fifth, the
  surplus was chance, too: everything is given back, and for a minute that share is expected.

What holds the calls back, the window or the rate, is tried higher in steps that double while they are carried. A step
that is refused is not tried again soon: first after a second, then after four, then after five, or after thirty times
the wait that the server asked for. A try needs a refusal in hand: there are eight for the first eight seconds, then
every sixty accepted calls earn one, so that learning costs about one call in sixty.

A refusal makes everybody wait: for as long as the server says, or else for a moment that grows with the share of calls
that are refused.
"""

import math
from collections import deque
from typing import Literal

from adjudge.http._bounds import Rate, Window
from adjudge.http._sent import Sent, Ticket

__all__ = ["Pace", "Ticket"]

_START = 16.0
_FREE, _FREE_S, _EARN, _DEBT = 8.0, 8.0, 1 / 60, -2.0
_FAST, _SLOW = 0.04, 0.005
"""How much one call counts in the two shares of refused calls, of the last dozens and of the last hundreds."""

_MANY, _SOME, _SHARE, _SHARE_UNLIMITED = 0.3, 0.15, 0.035, 0.045
_BELOW = 0.97
_LONG_S = 0.5
"""A wait that leaves a hole in the second by which rates are measured."""

_AFTERMATH_S = 1.0
_SERIES, _SERIES_ENDS = 4, 60
_CHANCE_S, _MOST_CHANCE = 60.0, 0.12
_SLACK_S = 0.01
"""How far calls may catch up on the rate after a delay."""

_Cause = Literal["start", "window", "rate", "aftermath", "surplus", "chance"]


class Pace:
    """The load that one endpoint is given; `most` at once is never exceeded. Times are of one monotonic clock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self.resume_at = -math.inf
        self._window = Window(min(_START, float(most)), most)
        self._rate = Rate()
        self._sent = Sent()
        self._starting = True
        self._began = math.inf
        self._next_at = self._cut_at = -math.inf
        self._cause: _Cause = "chance"
        self._credit = _FREE
        self._fast = self._slow = self._latency = 0.0
        self._pauses = 0
        self._refusals: deque[float] = deque(maxlen=64)
        self._series = _Series()

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start: 0 is now, infinity is after another one has ended."""
        if self.in_flight >= int(self._window.now):
            return math.inf
        return max(0.0, self.resume_at - now, self._next_at - now)

    def start(self, now: float) -> Ticket:
        """Count a call as sent."""
        self.in_flight += 1
        if not self._starting:
            rate = self._rate.now
            paced = rate < math.inf and now - self._next_at <= 0.001 + 0.25 / rate
            gap = 1 / rate if rate < math.inf else self._even_gap()
            self._next_at = max(self._next_at, now - min(_SLACK_S, 0.5 * gap)) + gap
            self._explore(now, paced=paced)
        elif self._began == math.inf:
            self._began = now
        return self._sent.add(now, self.in_flight)

    def failed(self) -> None:
        """Count a call as ended by something that says nothing about the load."""
        self.in_flight -= 1

    def accepted(self, ticket: Ticket, now: float) -> None:
        """Count a call as served."""
        self.in_flight -= 1
        self._fast *= 1 - _FAST
        self._slow *= 1 - _SLOW
        if self._credit < 1.0:
            self._credit = min(1.0, self._credit + _EARN)
        elif now - self._began > _FREE_S:
            self._credit = 1.0
        if ticket.sent >= self._cut_at:
            self._series.quiet += 1
            self._pauses = 0
        taken = now - ticket.sent
        self._latency = 0.9 * self._latency + 0.1 * taken if self._latency else taken
        if self._starting:
            self._window.open(min(self._window.now + 1, float(self.most)))

    def refused(self, ticket: Ticket, now: float, wait_s: float | None = None) -> None:
        """Count a call as refused; `wait_s` is how long the server asks everybody to wait."""
        self.in_flight -= 1
        self._fast += _FAST * (1 - self._fast)
        self._slow += _SLOW * (1 - self._slow)
        self._sent.refuse(ticket, now)
        if ticket.sent <= self._cut_at:
            self._same_burst(ticket, now, wait_s)
            return
        cause = self._cause = self._find_cause(ticket, now, wait_s)
        fine = cause == "rate" and self._rate.fine
        self._cut(cause, ticket, now, wait_s)
        if not self._starting and (cause != "chance" or now > self._series.chance_until):
            self._pay()
        self._series.quiet = 0
        self._refusals.append(now)
        self.resume_at = max(self.resume_at, now + self._pause_s(cause, wait_s))
        if cause != "chance":
            self._cut_at = self._sent.cut_at = now
            self._hold(cause, self.resume_at - now, fine=fine)

    def _even_gap(self) -> float:
        even = self._latency / self._window.now
        return even if self._window.now > self._sent.proven else even / 2

    def _explore(self, now: float, *, paced: bool) -> None:
        """Try more of what holds the calls back, if it may be tried."""
        window, rate = self._window, self._rate
        full = self.in_flight >= int(window.now) and not paced
        if rate.trying:
            if full:
                rate.give_up()
            else:
                rate.sent(now)
        elif paced:
            if self._credit >= 1.0 and now >= rate.try_at:
                rate.try_more(now)
            return
        may = window.top == math.inf or (self._credit >= 1.0 and now >= window.try_at)
        if may and full and self._sent.proven >= int(window.now) < self.most:
            window.widen()

    def _pay(self) -> None:
        self._credit = max(_DEBT, self._credit - 1.0)

    def _same_burst(self, ticket: Ticket, now: float, wait_s: float | None) -> None:
        """Count a refusal of a call that was sent before the last cut: it says how deep to cut, not to cut again."""
        if self._credit <= 1.0:
            self._pay()
        if wait_s is not None:
            self.resume_at = max(self.resume_at, now + wait_s)
        if self._cause in ("rate", "surplus"):
            if wait_s is not None and self._rate.limited and not self._rate.sure:
                self._rate.lower(_BELOW * self._sent.second_before(ticket))
                self._settle(now)
        elif self._cause in ("window", "start") and ticket.level <= self._window.now:
            self._window.now, self._window.top = max(1.0, ticket.level - 1.0), ticket.level
            self._sent.cap(ticket.level - 1, now)

    def _find_cause(self, ticket: Ticket, now: float, wait_s: float | None) -> _Cause:
        rate, series = self._rate, self._series
        many = wait_s is not None or self._fast > _MANY
        expected = now < series.chance_until and self._fast < 1.5 * series.chance + 0.1
        cause: _Cause = "chance"
        if self._starting:
            cause = "chance" if not many else "start" if ticket.level > 1 else "surplus"
        elif expected:
            cause = "chance"
        elif ticket.level > self._sent.proven:
            cause = "window"
        elif rate.trying:
            cause = "rate"
        elif now - rate.cut_at < _AFTERMATH_S:
            cause = "aftermath"
        elif many or self._slow > (_SHARE if rate.limited else _SHARE_UNLIMITED):
            cause = "surplus"
        return cause

    def _cut(self, cause: _Cause, ticket: Ticket, now: float, wait_s: float | None) -> None:
        rate = self._rate
        if cause in ("start", "window"):
            level = min(ticket.level, self._sent.lowest_refused)
            self._window.fail(level)
            self._sent.cap(level - 1, now)
            if cause == "start":
                self._starting, self._slow, rate.cut_at = False, 0.0, now
        elif cause == "rate":
            rate.fail(self._carried_per_s(ticket, now, wait_s))
            self._settle(now)
        elif cause == "aftermath" and self._fast > _SOME and rate.limited:
            rate.lower(max(0.7 * rate.good, _BELOW * self._sent.second_before(ticket)))
        elif cause == "surplus":
            self._cut_surplus(ticket, now, wait_s)

    def _cut_surplus(self, ticket: Ticket, now: float, wait_s: float | None) -> None:
        """Lower the rate: calls were refused though nothing new was tried."""
        window, rate, series, sent = self._window, self._rate, self._series, self._sent
        self._starting = False
        last = float(sent.second_before(ticket))
        length = series.add(window.now, rate.good, last)
        if length > 1 and (self._fast > _SOME or wait_s is not None):
            sent.proven = max(1, sent.proven_since_cut)  # the window may be smaller than it was
        sent.proven_since_cut = 0
        if length > _SERIES and self._slow < _MOST_CHANCE and wait_s is None and rate.good < 0.8 * series.load:
            window.open(series.window)
            rate.set(series.rate, 0.1)
            series.is_chance(self._slow, now)
        elif rate.limited:
            carried = self._carried_per_s(ticket, now, wait_s)
            rate.set(max(0.7 * rate.good, min(0.92 * rate.good, carried)), 0.1)
            self._settle(now)
        else:
            if wait_s is not None and last < 0.5 * sent.peak:
                last = 0.7 * sent.peak  # there was a wait in that second
            rate.set(max(1.0, _BELOW * last), 1.0 if last < 3 else 0.2)
            window.open()
            self._settle(now)

    def _carried_per_s(self, ticket: Ticket, now: float, wait_s: float | None) -> float:
        """Say what the server seems to carry a second: what it took in the last one, or from one refusal to another."""
        last = self._sent.second_before(ticket)
        if wait_s is None or wait_s < _LONG_S:
            for moment in self._refusals:
                if 1.0 <= now - moment <= 4.0:
                    return _BELOW * min(last, self._sent.since(moment) / (now - moment))
        elif last >= 0.95 * self._rate.now:
            return (0.95 if self._rate.sure else 0.8) * self._rate.good  # no less than was sent: that says nothing
        return _BELOW * last

    def _settle(self, now: float) -> None:
        """Wait until the last second holds no more calls than the rate allows."""
        self._rate.cut_at = now
        moment = self._sent.moment_of_last(max(1, int(self._rate.good)))
        if moment is not None:
            self._next_at = max(self._next_at, moment + 1.0)

    def _pause_s(self, cause: _Cause, wait_s: float | None) -> float:
        """Say how long everybody waits."""
        if wait_s is not None and cause != "aftermath":
            return wait_s
        if cause == "chance":
            return min(0.005, self._latency / 8) if self._latency else 0.005
        pause = min(1.0, max(0.01, 0.005 * math.exp2(16 * self._fast)))
        if cause == "rate" or (cause in ("aftermath", "surplus") and self._fast > _SOME):
            pause = max(pause, min(0.8, 0.1 * 2**self._pauses))
            self._pauses += 1
        return max(pause, wait_s or 0.0)

    def _hold(self, cause: _Cause, pause_s: float, *, fine: bool) -> None:
        """Say when more may be tried again."""
        window, rate, soon = self._window, self._rate, self.resume_at + max(0.25, pause_s)
        window.try_at = max(window.try_at, soon)
        if cause != "surplus" or not rate.hasty:
            rate.try_at = max(rate.try_at, soon)
        if cause == "window":
            window.hold(self.resume_at, pause_s)
        elif fine:
            rate.hold(self.resume_at, pause_s)


class _Series:
    """Cuts for surplus in close succession, what was sent before the first, and what turned out to be chance."""

    __slots__ = ("_length", "chance", "chance_until", "load", "quiet", "rate", "window")

    def __init__(self) -> None:
        self._length = self.quiet = 0
        self.window = self.rate = self.load = 0.0
        self.chance, self.chance_until = 0.0, -math.inf

    def add(self, window: float, rate: float, per_s: float) -> int:
        """Count a cut, and return how many there were; a series ends after enough calls without a refusal."""
        self._length = 1 if self.quiet > _SERIES_ENDS else self._length + 1
        if self._length == 1:
            self.window, self.rate, self.load = window, rate, min(rate, per_s)
        return self._length

    def is_chance(self, share: float, now: float) -> None:
        """Expect that share of the calls to be refused for a while."""
        self._length, self.chance, self.chance_until = 0, share, now + _CHANCE_S

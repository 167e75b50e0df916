"""How many calls an endpoint is given, at once and in a second: learnt from what it refuses, by arithmetic alone.

The window (calls at once) starts at 16 and grows by one with every accepted call, which doubles it every round trip,
until the caller's limit is reached or more than three in ten calls are refused (429, 503 and the like). Then the window
is the number of calls in flight that were not refused, and it is spread out from there, so that a window that opens is
no burst.

Refusals add up to doubt, and calls that are sent take it away again: a little more than a fortieth each, so that a
refusal now and then is forgotten. A refusal with a wait counts twice. A request's third refusal and later ones do not
count: they say more about that request than about the load. What a refusal leads to depends on where it came:

- window: more were in flight than had been carried three times. Back to one fewer.
- rate: a higher rate was being tried. Back to the rate before, and nothing until the last second holds no more of it.
- aftermath: in the second after the rate was cut. A limit of calls a second may still be full of what came before.
- surplus: nothing new was tried, and there is too much doubt. Then the limit is one of calls a second, or has changed:
  the rate is what was accepted in the last second, or between two refusals, and the window is open again. If four
  such cuts, by a sixth and more in all, leave the share of refused calls as it was, it never was the load: everything
  is given back, and for a minute that share of the calls raises no doubt.
- chance: none of these. Nothing is cut. Everybody waits as asked, but not again before twenty times that has passed.

What holds the calls back, the window or the rate, is tried higher in steps that double while they are carried. A step
that is refused is not tried again soon: first after a second, then after four, then after five, or after thirty times
the wait that the server asked for. A try needs a refusal in hand: there are eight for the first eight seconds, then
every sixty accepted calls earn one, so that learning costs about one call in sixty.

A cut makes everybody wait: for as long as the server says, or else for a moment that grows with the doubt. Calls that
were sent before a cut belong to it.
"""

import math
from collections import deque
from typing import Literal

from adjudge.http._bounds import Rate, Window
from adjudge.http._sent import Sent, Ticket

__all__ = ["Pace", "Ticket"]

_START = 16.0
_START_SHARE, _START_TRUST = 0.3, 8.0
"""The share of refused calls that ends the start; the most trust, the opposite of doubt, that is built up in it."""

_SHARE, _ENOUGH = 0.025, 3.0
"""The share of refused calls that raises no doubt; the doubt that leads to a cut."""

_FREE, _FREE_S, _EARN, _DEBT = 8.0, 8.0, 1 / 60, -2.0
_BELOW = 0.97
_LONG_S = 0.5
"""A wait that leaves a hole in the second by which rates are measured."""

_AFTERMATH_S = 1.0
_CUTS, _CUTS_TO, _MOST_CHANCE, _CHANCE_S = 4, 0.85, 0.35, 60.0
_HEED = 20.0
"""Waits that are asked for by chance take up one part in this many of the time."""

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
        self._chance = _Chance()
        self._starting = True
        self._began = math.inf
        self._next_at = self._cut_at = self._heed_at = -math.inf
        self._cause: _Cause = "chance"
        self._credit = _FREE
        self._doubt = self._latency = 0.0
        self._pauses = self._floor = 0
        self._refusals: deque[float] = deque(maxlen=64)

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start: 0 is now, infinity is after another one has ended."""
        if self.in_flight >= int(self._window.now):
            return math.inf
        return max(0.0, self.resume_at - now, self._next_at - now)

    def start(self, now: float) -> Ticket:
        """Count a call as sent."""
        self.in_flight += 1
        if self._starting:
            self._doubt = max(-_START_TRUST, self._doubt - _START_SHARE)
            self._began = min(self._began, now)
        else:
            self._doubt = max(0.0, self._doubt - _SHARE - 1.5 * self._chance.share)
            rate = self._rate.now
            paced = rate < math.inf and now - self._next_at <= 0.001 + 0.25 / rate
            gap = 1 / rate if rate < math.inf else self._even_gap()
            self._next_at = max(self._next_at, now - min(_SLACK_S, 0.5 * gap)) + gap
            self._explore(now, paced=paced)
        return self._sent.add(now, self.in_flight)

    def failed(self) -> None:
        """Count a call as ended by something that says nothing about the load."""
        self.in_flight -= 1

    def accepted(self, ticket: Ticket, now: float) -> None:
        """Count a call as served."""
        self.in_flight -= 1
        self._chance.accepted(now)
        if self._credit < 1.0:
            self._credit = min(1.0, self._credit + _EARN)
        elif now - self._began > _FREE_S:
            self._credit = 1.0
        if ticket.sent >= self._cut_at:
            self._pauses = 0
        taken = now - ticket.sent
        self._latency = 0.9 * self._latency + 0.1 * taken if self._latency else taken
        if self._starting:
            self._window.open(min(self._window.now + 1, float(self.most)))

    def refused(self, ticket: Ticket, now: float, wait_s: float | None = None, *, again: bool = False) -> None:
        """Count a call as refused; `wait_s` is how long the server asks everybody to wait.

        `again` says that the same request was refused before, more than once: that is no sign of load.
        """
        self.in_flight -= 1
        self._sent.refuse(ticket, now)
        if again:
            return
        if ticket.sent <= self._cut_at:
            self._same_burst(ticket, now, wait_s)
            return
        self._doubt += 1.0 if wait_s is None or self._starting else 2.0
        self._chance.refusals += 1
        cause = self._cause = self._find_cause(ticket, now)
        if cause == "chance":
            if wait_s is not None and now >= self._heed_at:
                self.resume_at = max(self.resume_at, now + wait_s)
                self._heed_at = now + _HEED * wait_s
        else:
            fine = cause == "rate" and self._rate.fine
            self._cut(cause, ticket, now, wait_s)
            self._pay()
            self.resume_at = max(self.resume_at, now + self._pause_s(cause, wait_s))
            self._cut_at = now
            self._hold(cause, self.resume_at - now, fine=fine)
            if cause != "aftermath":
                self._doubt = 0.0
        self._refusals.append(now)

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
        window = self._window
        if self._credit <= 1.0:
            self._pay()
        if wait_s is not None:
            self.resume_at = max(self.resume_at, now + wait_s)
        if self._cause in ("rate", "surplus"):
            if wait_s is not None and self._rate.limited and not self._rate.sure:
                self._rate.lower(_BELOW * self._sent.second_before(ticket))
                self._settle(now)
        elif self._cause == "start" and window.now > self._floor:
            self._narrow(int(window.now), now)
        elif self._cause == "window" and ticket.level <= window.now:
            self._narrow(ticket.level, now)

    def _narrow(self, level: int, now: float) -> None:
        self._window.now, self._window.top = max(1.0, level - 1.0), level
        self._sent.cap(level - 1, now)

    def _find_cause(self, ticket: Ticket, now: float) -> _Cause:
        rate, doubt, expected = self._rate, self._doubt, self._chance.share
        if self._starting:
            return "start" if doubt >= _ENOUGH else "chance"
        if doubt >= 1.0 + 30 * expected:
            if ticket.level > self._sent.proven:
                return "window"
            if rate.trying:
                return "rate"
        if now - rate.cut_at < _AFTERMATH_S:
            return "aftermath"
        return "surplus" if doubt >= _ENOUGH + 10 * expected else "chance"

    def _cut(self, cause: _Cause, ticket: Ticket, now: float, wait_s: float | None) -> None:
        rate = self._rate
        if cause == "start":
            self._starting, rate.cut_at, self._floor = False, now, self._sent.proven // 2
            self._window.fail(self.in_flight + 1)
            self._sent.cap(self.in_flight, now)
        elif cause == "window":
            level = min(ticket.level, self._sent.lowest_refused)
            self._window.fail(level)
            self._sent.cap(level - 1, now)
        elif cause == "rate":
            rate.fail(self._carried_per_s(ticket, now, wait_s))
            self._settle(now)
        elif cause == "aftermath" and self._doubt > _ENOUGH and rate.limited:
            rate.lower(max(0.8 * rate.good, _BELOW * self._sent.second_before(ticket)))
            self._doubt = 0.0
        elif cause == "surplus":
            self._cut_surplus(ticket, now, wait_s)

    def _cut_surplus(self, ticket: Ticket, now: float, wait_s: float | None) -> None:
        """Lower the rate: calls were refused though nothing new was tried."""
        window, rate, sent, chance = self._window, self._rate, self._sent, self._chance
        last = float(sent.second_before(ticket))
        if chance.cut(min(rate.good, last), window.now, rate.good) > 1:
            sent.cap(self.in_flight, now)  # the window may be smaller than it was
        if chance.found(now):
            window.open(chance.window)
            rate.set(chance.rate, 0.1)
        elif rate.limited:
            carried = self._carried_per_s(ticket, now, wait_s)
            rate.set(max(0.7 * rate.good, min(0.92 * rate.good, carried)), 0.1)
            self._settle(now)
        else:
            if last < 0.5 * sent.peak:
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
        """Say how long everybody waits after a cut."""
        if wait_s is not None and cause != "aftermath":
            return wait_s
        pause = max(0.01, 0.005 * math.exp2(min(5.0, self._doubt)))
        if cause == "rate" or (cause in ("aftermath", "surplus") and self._doubt > _ENOUGH):
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


class _Chance:
    """The share of calls that is refused whatever the load, found by cuts that do not help."""

    __slots__ = ("_accepted", "_cuts", "_first", "_last", "_least", "_until", "rate", "refusals", "share", "window")

    def __init__(self) -> None:
        self.share = self.window = self.rate = 0.0
        self.refusals = self._accepted = self._cuts = 0
        self._first = self._last = self._least = 0.0
        self._until = -math.inf

    def accepted(self, now: float) -> None:
        """Count a call as served."""
        self._accepted += 1
        if self.share and now > self._until:
            self.share = 0.0

    def cut(self, load: float, window: float, rate: float) -> int:
        """Count a cut of that load, and return how many there were since refusals began; keep what was first."""
        share = self.refusals / (self.refusals + self._accepted)
        if share < 0.02 or not self._cuts:
            self._cuts, self._first, self._least = 0, load, 1.0
            self.window, self.rate = window, rate
        else:
            self._least = min(self._least, share)
        self._cuts += 1
        self._last = load
        self.refusals = self._accepted = 0
        return self._cuts

    def found(self, now: float) -> bool:
        """Say whether the cuts did not help; that share is then expected for a while."""
        if self._cuts < _CUTS or self._last >= _CUTS_TO * self._first or self._least >= _MOST_CHANCE:
            return False
        self.share, self._until, self._cuts = self._least, now + _CHANCE_S, 0
        return True

"""Servers on paper: what an endpoint takes and refuses, and a pace played against it without a clock or a socket."""

import heapq
import itertools
import math
import random
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Literal

from adjudge.http._pace import Pace, SentCall
from adjudge.http._retry import backoff_s

__all__ = ["Endpoint", "Outcome", "measure", "play"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a server allows, how long it takes, and what it says when it refuses."""

    at_once: float = math.inf
    per_s: float = math.inf
    kind: Literal["sliding", "calendar", "bucket"] = "sliding"  # the last second, this second, tokens that come back
    burst: float = 1.0  # what the bucket holds
    latency_s: float = 0.2
    spread: float = 0.0  # of the log-normal latency
    refusal_s: float = 0.01  # until a refusal is sent
    transit_s: float = 0.0  # on the way, at most, each way: calls that are sent together arrive in any order
    retry_after: float | Literal["exact"] | None = None
    chance: float = 0.0  # of being refused, whatever the load
    doomed: float = 0.0  # of a request's being refused as often as it is tried
    most: int = 64  # that the client has at once
    change: tuple[float, float] = (math.inf, 1.0)  # from then on, times the limits

    def allowed(self, now: float) -> float:
        """Return the calls a second that can be accepted at most."""
        times = self.change[1] if now >= self.change[0] else 1.0
        return min(self.per_s * times, min(self.at_once * times, self.most) / (self.latency_s + self.transit_s))


@dataclass(slots=True)
class _Call:
    """A request under way: what happens to it next, and how often it was refused."""

    doomed: bool
    what: Literal["arrives", "leaves", "is back", "again"] = "arrives"
    ticket: SentCall = field(default_factory=lambda: SentCall(0.0, 0, 0))
    refusal: float | None = None
    refusals: int = 0
    first: SentCall | None = None


class _Server:
    def __init__(self, rule: Endpoint, seed: int) -> None:
        self.rule, self.in_hand = rule, 0
        self.taken: deque[float] = deque()
        self.tokens, self.filled_at = rule.burst, 0.0
        self.chance = random.Random(seed)  # noqa: S311 (a server on paper)
        self.phase = self.chance.random()

    def changed(self) -> None:
        times = self.rule.change[1]
        self.rule = replace(self.rule, at_once=self.rule.at_once * times, per_s=self.rule.per_s * times)

    def latency_s(self) -> float:
        rule = self.rule
        if not rule.spread:
            return rule.latency_s
        return rule.latency_s * self.chance.lognormvariate(-(rule.spread**2) / 2, rule.spread)

    def transit_s(self) -> float:
        return self.chance.uniform(0.0, self.rule.transit_s) if self.rule.transit_s else 0.0

    def refuses(self, now: float) -> float | None:
        """Return None where the call is taken, else the seconds after which it would be."""
        rule = self.rule
        if rule.chance and self.chance.random() < rule.chance:
            return 0.0
        if self.in_hand >= rule.at_once:
            return 1.0
        if rule.per_s < math.inf:
            wait = self._over_rate(now)
            if wait is not None:
                return wait
        self.in_hand += 1
        return None

    def _over_rate(self, now: float) -> float | None:
        rule, taken = self.rule, self.taken
        if rule.kind == "bucket":
            self.tokens = min(rule.burst, self.tokens + (now - self.filled_at) * rule.per_s)
            self.filled_at = now
            if self.tokens < 1 - 1e-9:
                return (1 - self.tokens) / rule.per_s
            self.tokens -= 1
            return None
        since = now - 1.0 if rule.kind == "sliding" else math.floor(now + self.phase) - self.phase
        while taken and (taken[0] <= since if rule.kind == "sliding" else taken[0] < since):
            taken.popleft()
        if len(taken) >= rule.per_s:
            return taken[0] + 1.0 - now if rule.kind == "sliding" else since + 1.0 - now
        taken.append(now)
        return None


def play(rule: Endpoint, until: float, *, seed: int = 1) -> list[tuple[float, bool]]:
    """Keep a pace busy and return every call with its moment and whether it was accepted."""
    return _Play(rule, seed).until(until)


class _Play:
    def __init__(self, rule: Endpoint, seed: int) -> None:
        self.rule, self.server, self.pace, self.now = rule, _Server(rule, seed), Pace(rule.most), 0.0
        self.calls: list[tuple[float, bool]] = []
        self.events: list[tuple[float, int, _Call]] = []
        self.order = itertools.count()
        self.waiting: deque[_Call] = deque()
        self.alive = 0
        self.change_at = rule.change[0]

    def put(self, after_s: float, call: _Call, what: Literal["arrives", "leaves", "is back", "again"]) -> None:
        call.what = what
        heapq.heappush(self.events, (self.now + after_s, next(self.order), call))

    def until(self, end: float) -> list[tuple[float, bool]]:
        pace, server, events = self.pace, self.server, self.events
        while self.now < end:
            while (wait := pace.wait_s(self.now)) <= 0:
                while self.alive < 4 * self.rule.most:
                    self.waiting.append(_Call(server.chance.random() < self.rule.doomed))
                    self.alive += 1
                if not self.waiting:
                    wait = math.inf
                    break
                call = self.waiting.popleft()
                call.ticket = pace.start(self.now)
                assert pace.in_flight <= self.rule.most
                self.put(server.transit_s(), call, "arrives")
            assert events or wait < math.inf, "stuck"
            if not events or events[0][0] > self.now + wait:
                self.now += wait + 1e-9
                continue
            self.now, _, call = heapq.heappop(events)
            if self.now >= self.change_at:
                server.changed()
                self.change_at = math.inf
            self.step(call)
        return self.calls

    def step(self, call: _Call) -> None:
        """Let happen to a call what is due."""
        if call.what == "arrives":
            call.refusal = 0.0 if call.doomed else self.server.refuses(self.now)
            self.calls.append((self.now, call.refusal is None))
            self.put(self.server.latency_s() if call.refusal is None else self.rule.refusal_s, call, "leaves")
        elif call.what == "leaves":
            self.server.in_hand -= call.refusal is None
            self.put(self.server.transit_s(), call, "is back")
        elif call.what == "again":
            self.waiting.appendleft(call)
        elif call.refusal is None:
            self.alive -= 1
            self.pace.accepted(call.ticket, self.now)
        else:
            self.refuse(call, call.refusal if self.rule.retry_after == "exact" else self.rule.retry_after)

    def refuse(self, call: _Call, wait_s: float | None) -> None:
        """Tell the pace, and try again as a client does."""
        call.refusals += 1
        self.pace.refused(call.ticket, self.now, wait_s, first=call.first)
        call.first = call.first or call.ticket
        if call.refusals < 8:
            self.put((wait_s or 0.0) + backoff_s(call.refusals, self.server.chance), call, "again")
        else:
            self.alive -= 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of what was allowed, the share used; of the calls, the share refused."""

    used: float
    refused: float


def measure(rule: Endpoint, *, start: float = 10.0, lasting: float = 20.0, seed: int = 1) -> Outcome:
    """Play, and look at what comes after `start`, for at least two hundred calls."""
    allowed = rule.allowed(start)
    end = start + max(lasting, 200 / allowed)
    late = [good for moment, good in play(rule, end, seed=seed) if moment >= start]
    good = sum(late)
    return Outcome(good / (end - start) / allowed, 1 - good / max(1, len(late)))

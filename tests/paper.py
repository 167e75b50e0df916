"""Servers on paper: what an endpoint takes and refuses, and a pace played against it without a clock or a socket."""

import heapq
import itertools
import math
import random
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from adjudge.http._pace import Pace, Ticket

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
    most: int = 64  # that the client has at once
    change: tuple[float, float] = (math.inf, 1.0)  # from then on, times the limits

    def allowed(self, now: float) -> float:
        """Return the calls a second that can be accepted at most."""
        times = self.change[1] if now >= self.change[0] else 1.0
        return min(self.per_s * times, min(self.at_once * times, self.most) / (self.latency_s + self.transit_s))


@dataclass(slots=True)
class _Event:
    what: Literal["arrives", "leaves", "is back"]
    ticket: Ticket
    refusal: float | None = None


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
    server, pace, now = _Server(rule, seed), Pace(rule.most), 0.0
    calls: list[tuple[float, bool]] = []
    events: list[tuple[float, int, _Event]] = []
    change_at = rule.change[0]

    def put(after_s: float, event: _Event) -> None:
        heapq.heappush(events, (now + after_s, next(order), event))

    order = itertools.count()
    while now < until:
        while (wait := pace.wait_s(now)) <= 0:
            put(server.transit_s(), _Event("arrives", pace.start(now)))
            assert pace.in_flight <= rule.most
        assert events or wait < math.inf, "stuck"
        if not events or events[0][0] > now + wait:
            now += wait + 1e-9
            continue
        now, _, event = heapq.heappop(events)
        if now >= change_at:
            server.changed()
            change_at = math.inf
        if event.what == "arrives":
            event.refusal = server.refuses(now)
            calls.append((now, event.refusal is None))
            event.what = "leaves"
            put(server.latency_s() if event.refusal is None else rule.refusal_s, event)
        elif event.what == "leaves":
            server.in_hand -= event.refusal is None
            event.what = "is back"
            put(server.transit_s(), event)
        elif event.refusal is None:
            pace.accepted(event.ticket, now)
        else:
            pace.refused(event.ticket, now, event.refusal if rule.retry_after == "exact" else rule.retry_after)
    return calls


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

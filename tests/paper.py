"""Servers on paper: what an endpoint takes and refuses, and a pace played against it without a clock or a socket."""

import heapq
import math
import random
from collections import deque
from dataclasses import dataclass, replace

from adjudge.http._pace import Pace, Ticket

__all__ = ["Endpoint", "Outcome", "measure", "play"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a server allows, how long it takes, and what it says when it refuses."""

    at_once: float = math.inf
    per_s: float = math.inf
    kind: str = "sliding"  # the last second | calendar: this second | bucket: tokens that come back
    burst: float = 1.0  # what the bucket holds
    latency_s: float = 0.2
    spread: float = 0.0  # of the log-normal latency
    refusal_s: float = 0.01  # until a refusal arrives
    retry_after: float | str | None = None  # seconds, or "exact"
    chance: float = 0.0  # of being refused, whatever the load
    most: int = 64  # that the client has at once
    change: tuple[float, float] = (math.inf, 1.0)  # from then on, times the limits

    def allowed(self, now: float) -> float:
        """Return the calls a second that can be accepted at most."""
        times = self.change[1] if now >= self.change[0] else 1.0
        return min(self.per_s * times, min(self.at_once * times, self.most) / self.latency_s)


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
    ends: list[tuple[float, int, Ticket, float | None]] = []
    change_at = rule.change[0]
    while now < until:
        while (wait := pace.wait_s(now)) <= 0:
            ticket, refusal = pace.start(now), server.refuses(now)
            assert pace.in_flight <= rule.most
            calls.append((now, refusal is None))
            lasts = server.latency_s() if refusal is None else rule.refusal_s
            heapq.heappush(ends, (now + lasts, len(calls), ticket, refusal))
        assert ends or wait < math.inf, "stuck"
        if ends and ends[0][0] <= now + wait:
            now, _, ticket, refusal = heapq.heappop(ends)
            if refusal is None:
                server.in_hand -= 1
                pace.accepted(ticket, now)
            else:
                says = rule.retry_after
                pace.refused(ticket, now, refusal if says == "exact" else says)  # type: ignore[arg-type]
        else:
            now += wait + 1e-9
        if now >= change_at:
            server.changed()
            change_at = math.inf
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

"""What an endpoint carries is learnt from what it refuses; played through without a clock."""

import heapq
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.http._pace import Pace, Ticket

REFUSAL_S = 0.002


@dataclass
class Endpoint:
    """A server on paper: what it has in hand, when it accepted, and whether it takes one more."""

    takes: Callable[["Endpoint", float], bool]
    latency_s: float = 0.2
    in_hand: int = 0
    accepted: deque[float] = field(default_factory=deque)


def at_once(limit: int) -> Callable[[Endpoint, float], bool]:
    """Take that many calls at once."""
    return lambda server, now: server.in_hand < limit


def a_second(limit: int) -> Callable[[Endpoint, float], bool]:
    """Take that many calls in any one second."""
    return lambda server, now: sum(1 for moment in server.accepted if moment > now - 1) < limit


def by_chance(share: float) -> Callable[[Endpoint, float], bool]:
    """Refuse that share of the calls, however many there are."""
    chance = random.Random(1)  # noqa: S311 (a server on paper)
    return lambda server, now: chance.random() >= share


def play(
    server: Endpoint, *, most: int = 64, until: float = 30.0, wait_s: float | None = None
) -> list[tuple[float, bool]]:
    """Keep the pace busy and return every call with its moment and whether it was accepted."""
    pace, now, calls = Pace(most), 0.0, []
    ends: list[tuple[float, int, Ticket, bool]] = []
    while now < until:
        while pace.wait_s(now) <= 0:
            ticket, good = pace.start(now), server.takes(server, now)
            assert pace.in_flight <= most
            calls.append((now, good))
            if good:
                server.in_hand += 1
                server.accepted.append(now)
                while server.accepted[0] < now - 1:
                    server.accepted.popleft()
            heapq.heappush(ends, (now + (server.latency_s if good else REFUSAL_S), len(calls), ticket, good))
        wait = pace.wait_s(now)
        if ends and (wait == math.inf or ends[0][0] <= now + wait):
            now, _, ticket, good = heapq.heappop(ends)
            if good:
                server.in_hand -= 1
                pace.accepted(ticket, now)
            else:
                pace.refused(ticket, now, wait_s)
        else:
            now += wait + 1e-9
    return calls


def carried(calls: list[tuple[float, bool]], start: float, end: float) -> float:
    """Return the accepted calls a second between two moments."""
    return sum(good for moment, good in calls if start <= moment < end) / (end - start)


def refused_share(calls: list[tuple[float, bool]], start: float) -> float:
    """Return the share of the calls after a moment that were refused."""
    late = [good for moment, good in calls if moment >= start]
    return 1 - sum(late) / len(late)


@pytest.mark.parametrize(
    ("takes", "latency_s", "allowed"),
    [
        (at_once(1), 0.2, 5),
        (at_once(3), 0.2, 15),
        (at_once(8), 0.2, 40),
        (at_once(40), 0.2, 200),
        (at_once(10), 0.01, 1000),
        (a_second(50), 0.2, 50),
        (a_second(50), 0.01, 50),
        (a_second(200), 0.2, 200),
    ],
    ids=["1 at once", "3 at once", "8 at once", "40 at once", "10 at once, fast", "50/s", "50/s, fast", "200/s"],
)
def test_limits_are_found_and_kept(takes: Callable[[Endpoint, float], bool], latency_s: float, allowed: float) -> None:
    """Within ten seconds 90 % of what is allowed is used, and from then on at most 3 % of the calls are refused."""
    calls = play(Endpoint(takes, latency_s))
    assert carried(calls, 5, 10) >= 0.9 * allowed
    assert carried(calls, 10, 30) >= 0.9 * allowed
    assert refused_share(calls, 10) <= 0.03


def test_nothing_refused_means_everything_used() -> None:
    """A server that takes everything has the caller's limit in flight after three round trips."""
    calls = play(Endpoint(lambda server, now: True), until=5)
    assert carried(calls, 1, 5) >= 0.95 * 64 / 0.2


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_chance_does_not_strangle(share: float) -> None:
    """Refusals that have nothing to do with the load leave most of it standing."""
    calls = play(Endpoint(by_chance(share)))
    assert carried(calls, 10, 30) >= 0.5 * 64 / 0.2


def test_everybody_waits() -> None:
    """After a refusal with a wait nobody starts until it is over."""
    pace = Pace(8)
    tickets = [pace.start(0.0) for _ in range(3)]
    pace.refused(tickets[0], 0.1, 2.0)
    pace.accepted(tickets[1], 0.2)
    assert pace.wait_s(0.2) == pytest.approx(1.9)
    assert pace.wait_s(2.2) == 0


@given(
    most=st.integers(1, 20),
    steps=st.lists(st.tuples(st.sampled_from("ARF"), st.floats(0, 3), st.none() | st.floats(0, 60)), max_size=200),
)
def test_whatever_comes(most: int, steps: list[tuple[str, float, float | None]]) -> None:
    """Whatever an endpoint does, the limit holds and a call may start at some moment again."""
    pace, now, under_way = Pace(most), 0.0, deque[Ticket]()
    for outcome, passed, wait in steps:
        now += passed
        while pace.wait_s(now) <= 0:
            under_way.append(pace.start(now))
            assert pace.in_flight == len(under_way) <= most
        if under_way:
            ticket = under_way.popleft()
            if outcome == "A":
                pace.accepted(ticket, now)
            elif outcome == "R":
                pace.refused(ticket, now, wait)
            else:
                pace.failed()
    for _ in range(len(under_way)):
        pace.failed()
    assert pace.in_flight == 0
    assert pace.wait_s(now) < math.inf
    assert pace.wait_s(now + 100) == 0

"""What an endpoint carries is learnt from what it refuses; played through without a clock, and with a real server.

The family is broad on purpose, and its bars are the promise: within ten seconds (twenty where that is only a few dozen
calls or five round trips) at least 90 % of what is allowed is used, and from then on at most 3 % of the calls are
refused. Where the promise is not kept, the bar says so.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.chat import ChatClient
from adjudge.http._pace import Pace, Ticket
from adjudge.model import ChatRequest, Message
from adjudge.testing import ChatServer, Limit
from paper import Endpoint, measure, play

Wait = float | Literal["exact"] | None
LATENCIES = ((0.02, 0.0), (0.3, 0.5), (2.0, 0.3))
"""Seconds, and how much they spread."""


def windows() -> Iterator[Endpoint]:
    """Limits on calls at once."""
    for at_once in (1, 3, 8, 20, 40, 100, 200):
        for latency, spread in ((0.02, 0.0), (0.2, 0.6), (2.0, 0.0)):
            if at_once / latency < 3000:
                yield Endpoint(at_once, latency_s=latency, spread=spread, most=256 if at_once >= 40 else 64)
    for at_once in (8, 40, 100):
        yield Endpoint(at_once, retry_after=1.0, spread=0.3, most=128)
    yield Endpoint(20, refusal_s=0.1)
    yield Endpoint(20, transit_s=0.005, spread=0.05)
    yield Endpoint(100, transit_s=0.03, spread=0.3, most=256)
    yield Endpoint(40, most=8)


def rates(waits: tuple[Wait, ...], bursts: tuple[float, ...]) -> Iterator[Endpoint]:
    """Limits on calls a second, of three kinds."""
    for per_s in (5, 20, 50, 150, 500):
        for latency, spread in LATENCIES:
            for wait in waits:
                if per_s * latency <= 200:
                    for burst in bursts:
                        yield Endpoint(
                            per_s=per_s,
                            kind="bucket",
                            burst=max(2.0, burst * per_s),
                            retry_after=wait,
                            latency_s=latency,
                            spread=spread,
                            most=256,
                        )
                    yield Endpoint(per_s=per_s, retry_after=wait, latency_s=latency, spread=spread, most=256)
                    yield Endpoint(
                        per_s=per_s, kind="calendar", retry_after=wait, latency_s=latency, spread=spread, most=256
                    )


def mixes(wait: Wait) -> Iterator[Endpoint]:
    """Limits of both sorts."""
    for at_once, per_s in ((10, 30), (10, 80), (20, 80), (20, 120), (100, 40), (5, 200)):
        for kind in ("sliding", "calendar", "bucket"):
            yield Endpoint(at_once, per_s, kind, 10, 0.2, 0.4, retry_after=wait)


def chances() -> Iterator[Endpoint]:
    """Refusals that have nothing to do with the load."""
    for share in (0.005, 0.01, 0.02, 0.05):
        for most, latency in ((8, 0.2), (8, 2.0), (64, 0.2), (64, 1.0), (256, 0.2), (256, 2.0)):
            yield Endpoint(chance=share, most=most, latency_s=latency, spread=0.4)


def changes(wait: Wait) -> Iterator[Endpoint]:
    """Limits that fall or rise after half a minute."""
    for times in (0.4, 2.0):
        yield Endpoint(20, spread=0.3, retry_after=wait, change=(30.0, times))
        for kind in ("sliding", "calendar", "bucket"):
            yield Endpoint(per_s=40, kind=kind, burst=10, spread=0.3, retry_after=wait, change=(30.0, times))


def start_of(rule: Endpoint) -> float:
    """Return when the promise begins to hold."""
    if rule.change[0] < math.inf:
        return rule.change[0] + (10.0 if rule.retry_after is None else 20.0 if rule.change[1] < 1 else 40.0)
    return 20.0 if rule.allowed(0) <= 5 or rule.latency_s >= 2 else 10.0


def name_of(rule: Endpoint) -> str:
    """Return what is unusual about a server."""
    plain = Endpoint()
    return " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name in Endpoint.__slots__
        if (value := getattr(rule, name)) != getattr(plain, name)
    )


def bars_of(rule: Endpoint) -> tuple[float, float]:
    """Return the share that is used at least and the share that is refused at most: where it is less, this says so."""
    used, refused = 0.9, 0.03
    bucket = rule.kind == "bucket"
    if rule.per_s <= 5:
        used, refused = 0.75, 0.045  # one call is a fifth of what a second allows
    if bucket and rule.burst < rule.per_s and rule.latency_s >= 2:
        used = 0.6  # hardly any burst, and a round trip takes long
    if bucket:
        refused = 0.045 if rule.change[0] == math.inf else 0.07  # a full bucket hides for a while that it is too much
    if rule.retry_after == 1.0 and (rule.per_s < math.inf or rule.change[0] < math.inf):
        used = 0.6 if bucket else 0.7  # every wrong guess costs everybody a second
    return used, refused


def check(rule: Endpoint) -> None:
    """Hold a server against its bars."""
    outcome = measure(rule, start=start_of(rule))
    used, refused = bars_of(rule)
    assert outcome.used >= used
    assert outcome.refused <= refused + rule.chance


@pytest.mark.parametrize("rule", [*windows(), *mixes(None)], ids=name_of)
def test_windows_are_found_and_kept(rule: Endpoint) -> None:
    """Of a limit on calls at once, alone or with one of calls a second, 90 % is used and at most 3 % refused."""
    check(rule)


@pytest.mark.parametrize("rule", [*rates((None, "exact"), (0.1, 1.0, 3.0))], ids=name_of)
def test_rates_are_found_and_kept(rule: Endpoint) -> None:
    """Of a limit on calls a second, by the last second, the calendar or a bucket, 90 % is used and 3 % refused."""
    check(rule)


@pytest.mark.parametrize("rule", [*rates((1.0,), (0.1, 1.0)), *mixes(1.0)], ids=name_of)
def test_a_server_that_asks_for_a_second_is_not_asked_in_vain(rule: Endpoint) -> None:
    """Where every refusal costs everybody a second, most of what is allowed is used all the same."""
    check(rule)


@pytest.mark.parametrize("rule", [*changes(None), *changes(1.0)], ids=name_of)
def test_changes_are_followed(rule: Endpoint) -> None:
    """A limit that falls or rises is found again."""
    check(rule)


@pytest.mark.parametrize("rule", [*chances()], ids=name_of)
def test_chance_does_not_slow_anything_down(rule: Endpoint) -> None:
    """Refusals that have nothing to do with the load leave at least 90 % of it standing."""
    check(rule)


@pytest.mark.parametrize("per_s", [5, 20, 50])
def test_a_bucket_of_one(per_s: float) -> None:
    """Where no two calls may come close together, the rate is found, though late; this is what it does worst."""
    outcome = measure(Endpoint(per_s=per_s, kind="bucket", burst=1, spread=0.4))
    assert outcome.used >= 0.5
    assert outcome.refused <= 0.03


def test_nothing_refused_means_everything_used() -> None:
    """A server that takes everything has the caller's limit in flight after three round trips."""
    late = [moment for moment, good in play(Endpoint(), 5) if moment >= 1]
    assert len(late) >= 0.95 * 4 * 64 / 0.2


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


@settings(max_examples=40, deadline=None)
@given(
    at_once=st.integers(1, 30) | st.just(math.inf),
    per_s=st.floats(0.5, 200) | st.just(math.inf),
    kind=st.sampled_from(["sliding", "calendar", "bucket"]),
    burst=st.floats(1, 300),
    latency_s=st.floats(0.2, 3),
    spread=st.floats(0, 1),
    retry_after=st.sampled_from([None, 1.0, 5.0, "exact"]),
    chance=st.sampled_from([0.0, 0.01, 0.3]),
    most=st.integers(1, 16),
    seed=st.integers(0, 1000),
)
def test_no_server_is_given_up(seed: int, **rule: Any) -> None:
    """Whatever a server allows, something is accepted in every half minute, and `most` is never exceeded."""
    calls = play(Endpoint(**{**rule, "per_s": max(1.0, rule["per_s"])}), 65.0, seed=seed)
    for start in (0.0, 32.0):
        assert any(good for moment, good in calls if start <= moment < start + 32)


@pytest.mark.parametrize(
    ("limit", "per_s"), [(Limit(in_flight=8), 160), (Limit(per_s=40), 40)], ids=["8 at once", "40 a second"]
)
def test_a_real_server(limit: Limit, per_s: float) -> None:
    """A real server's limit is found too: after four seconds a good part of it is used and few calls are refused."""
    with ChatServer("Paris", latency_s=0.05, limit=limit, process=True) as server:
        accepted, refused = asyncio.run(ask_for(8.0, server))
    assert accepted >= 0.3 * per_s * 4
    assert refused <= 0.2 * accepted


async def ask_for(seconds: float, server: ChatServer) -> tuple[int, int]:
    """Ask with 32 workers; return the calls that were accepted and refused in the second half."""
    end = time.monotonic() + seconds

    async def work(client: ChatClient, worker: int) -> None:
        number = 0
        while time.monotonic() < end:
            number += 1
            await client.complete(ChatRequest("m", (Message("user", f"{worker} {number}"),)))

    async def look() -> tuple[int, int]:
        await asyncio.sleep(seconds / 2)
        counts = server.counts
        before = counts.calls, counts.refused
        await asyncio.sleep(end - time.monotonic())
        counts = server.counts
        refused = counts.refused - before[1]
        return counts.calls - before[0] - refused, refused

    async with ChatClient("m", base_url=server.base_url, in_flight=32, attempts=50) as client:
        looking = asyncio.create_task(look())
        await asyncio.gather(*(work(client, worker) for worker in range(32)))
        return await looking

"""What an endpoint carries is learnt from what it refuses; played through without a clock.

The family is broad on purpose, and its bars are the promise: within ten seconds (twenty where that is five round trips)
at least 90 % of what is allowed is used, and from then on at most 3 % of the calls are refused. Where the promise is
not kept, the bar says so.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.http import _retry
from adjudge.http._pace import Pace, SentCall
from paper import Endpoint, measure, play


@pytest.fixture(autouse=True, scope="module")
def usual_retries() -> Iterator[None]:
    """Wait between two attempts as long as ever: here that is on paper, and part of what is measured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_retry, "_BASE_S", 0.25)
        patch.setattr(_retry, "_LONGEST_S", 8.0)
        yield


Wait = float | Literal["exact"] | None
KINDS: tuple[Literal["sliding", "calendar", "bucket"], ...] = ("sliding", "calendar", "bucket")
LATENCIES = ((0.02, 0.0), (0.3, 0.5))
"""Seconds, and how much they spread."""


def windows() -> Iterator[Endpoint]:
    """Limits on calls at once."""
    for at_once in (1, 3, 8, 20, 40, 100):
        for latency, spread in ((0.05, 0.0), (0.2, 0.6)):
            yield Endpoint(at_once, latency_s=latency, spread=spread, most=256 if at_once >= 40 else 64)
    for at_once in (8, 40):
        yield Endpoint(at_once, retry_after=1.0, spread=0.3, most=128)
    yield Endpoint(20, latency_s=2.0)
    yield Endpoint(20, refusal_s=0.1)
    yield Endpoint(40, refusal_s=0.2, transit_s=0.003)
    yield Endpoint(20, transit_s=0.005, spread=0.05)
    yield Endpoint(40, most=8)


def rates(wait: Wait) -> Iterator[Endpoint]:
    """Limits on calls a second: the last second, the calendar's, or a bucket that holds a tenth or all of them."""
    for per_s in (20, 50, 150):
        for latency, spread in LATENCIES:
            plain = Endpoint(per_s=per_s, retry_after=wait, latency_s=latency, spread=spread, most=128)
            yield plain
            yield replace(plain, kind="calendar")
            yield replace(plain, kind="bucket", burst=max(2.0, 0.1 * per_s))
            yield replace(plain, kind="bucket", burst=per_s)


def mixes(wait: Wait) -> Iterator[Endpoint]:
    """Limits of both sorts."""
    for at_once, per_s in ((10, 30), (20, 80), (100, 40)):
        for kind in KINDS:
            yield Endpoint(at_once, per_s, kind, 10, 0.2, 0.4, retry_after=wait)


def chances() -> Iterator[Endpoint]:
    """Refusals that have nothing to do with the load: of calls, or of requests that are refused however often."""
    for most, latency in ((8, 0.2), (64, 0.2), (64, 1.0)):
        for wait in (None, 0.02, 1.0):
            for share in (0.01, 0.05):
                yield Endpoint(chance=share, most=most, latency_s=latency, spread=0.4, retry_after=wait)
        yield Endpoint(chance=0.15, most=most, latency_s=latency, spread=0.4)
        yield Endpoint(doomed=0.03, most=most, latency_s=latency, spread=0.4)


def limits(**more: Any) -> Iterator[Endpoint]:
    """Limits of every sort, for servers that refuse for other reasons too."""
    for at_once in (8, 20, 40):
        yield Endpoint(at_once, spread=0.3, **more)
    for kind in KINDS:
        for per_s in (20, 50, 150):
            yield Endpoint(per_s=per_s, kind=kind, burst=10, spread=0.3, **more)
    yield Endpoint(20, 80, spread=0.3, **more)


def changes() -> Iterator[Endpoint]:
    """Limits that fall or rise after half a minute."""
    for times in (0.4, 2.0):
        yield Endpoint(20, spread=0.3, change=(30.0, times))
        for kind in KINDS:
            yield Endpoint(per_s=40, kind=kind, burst=10, spread=0.3, change=(30.0, times))


def start_of(rule: Endpoint) -> float:
    """Return when the promise begins to hold."""
    if rule.change[0] < math.inf:
        return rule.change[0] + 10.0
    return 20.0 if rule.latency_s >= 2 else 10.0


def name_of(rule: Endpoint) -> str:
    """Return what is unusual about a server."""
    plain = Endpoint()
    return " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name in Endpoint.__slots__
        if (value := getattr(rule, name)) != getattr(plain, name)
    )


def check(rule: Endpoint, used: float = 0.9, refused: float = 0.03) -> None:
    """Hold a server against its bars; what is refused whatever the load comes on top."""
    outcome = measure(rule, start=start_of(rule))
    assert outcome.used >= used
    assert outcome.refused <= refused + rule.chance + 8 * rule.doomed


@pytest.mark.parametrize("rule", [*windows(), *mixes(None)], ids=name_of)
def test_windows_are_found_and_kept(rule: Endpoint) -> None:
    """Of a limit on calls at once, alone or with one of calls a second, 90 % is used and at most 3 % refused."""
    check(rule)


@pytest.mark.parametrize("rule", [*rates(None), *rates("exact")], ids=name_of)
def test_rates_are_found_and_kept(rule: Endpoint) -> None:
    """Of a limit by the last second or the calendar, 90 % is used and at most 3 % refused; of a bucket, less."""
    used = 0.7 if rule.burst == 2 else 0.9  # a bucket that holds hardly any burst is found late
    check(rule, used, 0.045 if rule.kind == "bucket" else 0.03)  # a full one hides for a while that it is too much


@pytest.mark.parametrize("rule", [*rates(1.0), *mixes(1.0)], ids=name_of)
def test_a_server_that_asks_for_a_second_is_not_asked_in_vain(rule: Endpoint) -> None:
    """Where every wrong guess costs everybody a second, most of what is allowed is used all the same."""
    check(rule, used=0.7)


@pytest.mark.parametrize("rule", [*changes()], ids=name_of)
def test_changes_are_followed(rule: Endpoint) -> None:
    """A limit that falls or rises is found again, within ten seconds by 80 %."""
    check(rule, used=0.8)


@pytest.mark.parametrize("rule", [*chances()], ids=name_of)
def test_chance_does_not_slow_anything_down(rule: Endpoint) -> None:
    """Refusals that have nothing to do with the load leave at least 90 % of what gets through standing."""
    check(rule, used=0.9 * (1 - rule.chance))


@pytest.mark.parametrize("rule", [*limits(chance=0.01)], ids=name_of)
def test_chance_is_not_taken_for_a_limit(rule: Endpoint) -> None:
    """Where 1 % of the calls is refused by chance, 90 % of a limit is used, and at most 3 % more refused."""
    check(rule)


@pytest.mark.parametrize("rule", [*limits(doomed=0.05)], ids=name_of)
def test_requests_that_fail_for_good_do_not_starve_the_others(rule: Endpoint) -> None:
    """Where 5 % of the requests are refused as often as they are tried, 90 % of a limit is used by the others."""
    check(rule)


@pytest.mark.parametrize("per_s", [20, 50])
def test_a_bucket_of_one(per_s: float) -> None:
    """Where no two calls may come close together, most of the rate is found."""
    check(Endpoint(per_s=per_s, kind="bucket", burst=1, spread=0.4), used=0.7)


def test_refused_again_and_again() -> None:
    """A request that is refused for the second time says nothing about the load: nobody waits for it."""
    pace = Pace(8)
    first = pace.start(0.0)
    pace.refused(first, 0.0)
    for _ in range(100):
        pace.refused(pace.start(0.0), 0.0, 5.0, first=first)
    assert pace.wait_s(0.0) == 0


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


@pytest.mark.parametrize("kind", ["filled all the time", "filled at a moment"])
@pytest.mark.parametrize(("number", "span_s"), [(60, 6.0), (600, 60.0), (50, 10.0)])
def test_what_the_server_says_is_left_is_spread(kind: str, number: int, span_s: float) -> None:
    """With headers that say how many calls are left, 90 % of them are used after ten seconds and none is refused."""
    pace, now, left, filled_at = Pace(64), 0.0, float(number), 0.0
    taken: list[float] = []
    while now < 30 + span_s:
        now += max(1e-4, pace.wait_s(now))
        call = pace.start(now)
        if kind == "filled all the time":
            left = min(number, left + (now - filled_at) * number / span_s)
            filled_at = now
        elif now >= filled_at + span_s:
            left, filled_at = float(number), now
        assert left >= 1, "refused"
        left -= 1
        taken.append(now)
        until_s = (number - left) * span_s / number if kind == "filled all the time" else filled_at + span_s - now
        pace.accepted(call, now + 1e-5)
        pace.spread(call, now + 1e-5, float(int(left)), until_s)
    late = [moment for moment in taken if 10 <= moment < 10 + 2 * span_s]
    if span_s <= 10:
        assert len(late) >= 0.9 * 2 * number
    else:
        assert len([moment for moment in taken if 10 <= moment < 30]) >= 0.9 * 20 * number / span_s


@given(
    most=st.integers(1, 20),
    steps=st.lists(st.tuples(st.sampled_from("ARF"), st.floats(0, 3), st.none() | st.floats(0, 60)), max_size=200),
)
def test_whatever_comes(most: int, steps: list[tuple[str, float, float | None]]) -> None:
    """Whatever an endpoint does, the limit holds and a call may start at some moment again."""
    pace, now, under_way = Pace(most), 0.0, deque[SentCall]()
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
                pace.failed(ticket)
    for ticket in under_way:
        pace.failed(ticket)
    assert pace.in_flight == 0
    assert pace.wait_s(now) < math.inf
    assert pace.wait_s(now + 100) == 0


@settings(max_examples=15)
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

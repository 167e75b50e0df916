"""A few instances serve many rollouts: fairly, within bounds, and with counts that add up."""

import asyncio
import random
from collections.abc import Awaitable

import pytest

from adjudge.environments import Context, Counts, EnvAcquireTimeout, EnvDied, EnvProtocolError, Pool, PoolLimits
from adjudge.errors import MissingExtra, UsageError
from environments.toys import ChancySpec, ToySpec
from environments.waiting import until
from support import soak


def check(counts: Counts) -> None:
    """Check that the counts of a pool at rest add up."""
    assert counts.starts == counts.starting + counts.idle + counts.dirty + counts.leased + counts.dead
    assert counts.given >= counts.returned >= counts.reaped
    assert counts.dead >= counts.recycles


async def test_waiting_is_first_come_first_served() -> None:
    """Rollouts get an instance in the order in which they asked."""
    order: list[int] = []

    async def rollout(number: int) -> None:
        async with await pool.acquire(f"r{number}"):
            order.append(number)
            await asyncio.sleep(0)

    with Pool(ToySpec(), 1) as pool:
        first = await pool.acquire("first")
        tasks = []
        for number in range(30):
            tasks.append(asyncio.create_task(rollout(number)))
            await asyncio.sleep(0)
        assert pool.counts().waiting == 30
        await first.close()
        await asyncio.gather(*tasks)
        assert order == list(range(30))
        counts = pool.counts()
        check(counts)
        assert (counts.starts, counts.given, counts.returned) == (1, 31, 31)
        assert counts.longest_wait_s >= counts.median_wait_s > 0.0


async def test_a_newcomer_does_not_overtake() -> None:
    """An instance that comes back goes to whoever waits, not to who asks just then."""
    with Pool(ToySpec(), 1) as pool:
        first = await pool.acquire("first")
        waiting = asyncio.create_task(pool.acquire("waiting"))
        await asyncio.sleep(0)
        await first.close()
        late = asyncio.create_task(pool.acquire("late"))
        lease = await waiting
        assert not late.done()
        await lease.close()
        await (await late).close()


async def test_waiting_is_bounded() -> None:
    """Where nobody gives back, `EnvAcquireTimeout` says how the pool stands."""
    with Pool(ToySpec(), 1) as pool:
        held = await pool.acquire("first")
        with pytest.raises(EnvAcquireTimeout, match="1 of 1 leased"):
            await pool.acquire("second", timeout=0.05)
        assert (pool.counts().timeouts, pool.counts().waiting) == (1, 0)
        await held.close()
        await (await pool.acquire("third", timeout=60)).close()


async def test_a_lease_without_a_sign_of_life_is_taken_back() -> None:
    """The reaper takes back a lease that was not called for its time; its rollout is told, another one goes on."""
    with Pool(ToySpec(), 1, limits=PoolLimits(lease_s=1.0)) as pool:
        lost = await pool.acquire("lost")
        await lost.reset(5)
        for _ in range(4):
            await asyncio.sleep(0.3)
            await lost.step("still here")
        lease = await pool.acquire("next", timeout=60)
        with pytest.raises(EnvDied, match="lost its environment") as caught:
            await lost.step("too late")
        assert caught.value.code == "lease-expired"
        assert pool.counts().reaped == 1
        await lease.close()
        with pytest.raises(EnvDied, match="lost its environment"):
            await pool.acquire("lost")
        pool.release(lost)
        await (await pool.acquire("lost")).close()


@pytest.mark.parametrize(
    "limits",
    [PoolLimits(episodes=2), PoolLimits(age_s=0.0001), PoolLimits(memory_mb=0.001)],
    ids=["episodes", "age", "memory"],
)
async def test_instances_are_recycled(limits: PoolLimits) -> None:
    """An instance that has done enough episodes, is old or large is ended when it comes back, and replaced."""
    with Pool(ToySpec(), 1, "worker", limits=limits) as pool:
        pids = []
        for number in range(4):
            async with await pool.acquire(f"r{number}") as env:
                await env.reset(3)
                pids.append((await env.step("who")).info["pid"])
        assert len(set(pids)) == (2 if limits.episodes else 4)
        assert pool.counts().recycles == len(set(pids))
        check(pool.counts())


@pytest.mark.parametrize("backend", ["process", "worker"])
async def test_what_cannot_be_started_says_why(backend: str) -> None:
    """A missing package, a broken world or a wrong name reaches every rollout that asks, and none waits for ever."""
    with Pool(ToySpec(colour="missing"), 2, backend) as pool:
        results = await asyncio.gather(*(pool.acquire(f"r{n}", timeout=60) for n in range(5)), return_exceptions=True)
        assert [type(result) for result in results] == [MissingExtra] * 5
        assert "pip install 'adjudge[toys]'" in str(results[0])
        check(pool.counts())
    with Pool(ToySpec(colour="broken"), 1, backend) as pool:
        with pytest.raises(EnvDied, match="no paint"):
            await pool.acquire("r", timeout=3)
        check(pool.counts())


async def test_a_missing_package_is_told_to_all_who_wait() -> None:
    """What is wrong with the call would be wrong for the next one too: one start is enough to tell all who wait."""
    with Pool(ToySpec(colour="missing"), 1, "worker") as pool:
        results = await asyncio.gather(*(pool.acquire(f"r{n}", timeout=60) for n in range(50)), return_exceptions=True)
        assert [type(result) for result in results] == [MissingExtra] * 50
        assert pool.counts().starts < 5
        check(pool.counts())


async def test_closing_waits_for_what_is_starting() -> None:
    """When `aclose` returns, nothing of the pool is left, also of instances that were being started."""
    pool = Pool(ToySpec(), 2, "worker")
    waiting = asyncio.create_task(pool.acquire("r"))
    await until(lambda: pool.counts().starting == 1)
    await pool.aclose()
    counts = pool.counts()
    check(counts)
    assert (counts.starting, counts.dead) == (0, counts.starts)
    with pytest.raises(UsageError, match="closed"):
        await waiting


async def test_a_world_that_answers_no_step() -> None:
    """What a world of this process answers must be a Step or an Outcome: else it is a protocol error, and no score."""
    async with Pool(ChancySpec(), 1) as pool:
        env = await pool.acquire("r")
        await env.reset(3)
        env.member.instance._world.step = lambda _: ("text", 0.0, False, {})  # type: ignore[union-attr]
        with pytest.raises(EnvProtocolError, match="tuple"):
            await env.step("x")
        with pytest.raises(EnvProtocolError):
            await env.outcome()


def test_what_could_never_work_is_refused() -> None:
    """A pool of nothing, an unknown backend and a limit of nothing are errors where they are written."""
    for size in (0, -1):
        with pytest.raises(UsageError, match="at least one"):
            Pool(ToySpec(), size)
    with pytest.raises(UsageError, match="'process', 'worker'"):
        Pool(ToySpec(), 1, "cloud")
    with pytest.raises(UsageError, match="lease_s must be above 0"):
        PoolLimits(lease_s=float("nan"))
    for calls in (0, -1, "many", 1.5):
        with pytest.raises(UsageError, match="max_calls"):
            Pool(ToySpec(max_calls=calls), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [None, "60", float("nan")])
async def test_a_wait_is_a_number_of_seconds(seconds: object) -> None:
    """What is no number of seconds to wait is said to be none."""
    async with Pool(ToySpec(), 1) as pool:
        with pytest.raises(UsageError, match="number of seconds"):
            await pool.acquire("r", timeout=seconds)  # type: ignore[arg-type]
        with pytest.raises(EnvAcquireTimeout, match="within 0 s"):
            await pool.acquire("r", timeout=0)


async def test_closing_turns_everybody_away() -> None:
    """Who waits, who holds and who comes after a pool was closed is told so."""
    pool = Pool(ToySpec(), 1)
    held = await pool.acquire("held")
    await held.reset(1)
    waiting = asyncio.create_task(pool.acquire("waiting"))
    await asyncio.sleep(0)
    await pool.aclose()
    for work in (waiting, pool.acquire("late"), held.step("x")):
        with pytest.raises(UsageError):
            await work
    counts = pool.counts()
    check(counts)
    assert (counts.leased, counts.free, counts.waiting) == (0, 0, 0)


@pytest.mark.soak
@pytest.mark.parametrize("backend", ["process", "worker"])
async def test_random_cancellation_leaks_nothing(backend: str) -> None:
    """10,000 acquires and releases with cancellation at any moment: the counts stay exact and nobody starves."""
    chance = random.Random(7)  # noqa: S311 (when to cancel)
    total = soak(10_000) if backend == "process" else soak(1_000)
    done = {"finished": 0, "cancelled": 0}

    async def rollout(number: int) -> None:
        async with Context(f"r{number}", pools=[pool]) as context:
            env = await context.acquire_resource("toy", timeout=60)
            await env.reset(3)
            await env.step(str(number))
            await asyncio.sleep(0)
            assert (await env.outcome()).observation == str(number)
        done["finished"] += 1

    async def one(number: int) -> None:
        task = asyncio.create_task(rollout(number))
        if chance.random() < 0.4:
            for _ in range(chance.randrange(12)):
                await asyncio.sleep(0)
            task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            done["cancelled"] += 1

    with Pool(ToySpec(), 4, backend) as pool:
        for start in range(0, total, 100):
            await asyncio.gather(*(one(start + number) for number in range(min(100, total - start))))
        assert done["finished"] + done["cancelled"] == total
        assert min(done.values()) > total // 10
        assert await until(lambda: pool.counts().starting == 0)
        counts = pool.counts()
        check(counts)
        assert (counts.leased, counts.waiting, counts.timeouts, counts.reaped) == (0, 0, 0, 0)
        assert counts.given == counts.returned
        async with asyncio.timeout(60):
            leases = await asyncio.gather(*(pool.acquire(f"last{n}") for n in range(4)))
        for lease in leases:
            await lease.close()


async def test_two_thousand_rollouts_at_once() -> None:
    """2,048 concurrent rollouts share 64 instances; each sees its own episode."""

    async def rollout(number: int) -> bool:
        async with Context(f"r{number}", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(3)
            for step in range(3):
                await env.step(f"{number}.{step}")
                await asyncio.sleep(0)
            return (await env.outcome()).observation == f"{number}.0|{number}.1|{number}.2"

    with Pool(ToySpec(), 64) as pool:
        works: list[Awaitable[bool]] = [rollout(number) for number in range(2048)]
        assert all(await asyncio.gather(*works))
        counts = pool.counts()
        check(counts)
        assert (counts.given, counts.returned, counts.starts) == (2048, 2048, 64)

"""A rollout's environment from several processes, on several hosts: the same episode everywhere, or a typed error."""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from adjudge.environments import Context, EnvDied, EnvError, HttpBackend, Pool
from adjudge.errors import UsageError
from environments.elsewhere import LIMITS, Elsewhere, Server, elsewhere, score, servers
from environments.toys import FarChancySpec, FarSpec
from environments.waiting import until
from processes.helpers import children
from support import soak


def pool_at(*running: Server, size: int = 4, spec: FarSpec | None = None) -> Pool:
    """Make a pool over some servers."""
    return Pool(spec or FarSpec(), size, HttpBackend([server.url for server in running]), limits=LIMITS)


async def test_a_reward_asked_elsewhere_is_the_same() -> None:
    """Another process has the reward of the episode, whenever it asks; without a lease it has an error, never 0."""
    with servers(1) as running, elsewhere([running[0].url]) as other:
        async with pool_at(*running) as pool:
            assert str((await other.reward("r"))["reason"]).startswith("no-environment")
            async with Context("r", pools=[pool]) as context:
                env = await context.acquire_resource("scienceworld")
                assert await other.reward("r") == {"status": "scored", "value": 0.0, "reason": "no-episode"}
                await env.reset(4)
                for number in range(1, 4):
                    await env.step("go")
                    assert (await other.reward("r"))["value"] == number / 4
                await env.reset(2)
                assert (await other.reward("r"))["value"] == 0.0
                assert (await env.step("go")).done is False
                assert (await other.reward("r"))["value"] == 0.5 == (await env.outcome()).reward
                assert str((await other.reward("another"))["reason"]).startswith("no-environment")

            assert await until(lambda: is_released(other))


def is_released(other: Elsewhere) -> bool:
    """Whether the other process has heard that the environment was given back."""
    return str(other.ask(["r"])[0]["reason"]).startswith("lease-released")


async def test_tools_and_rewards_meet() -> None:
    """A second process acts in the same episode; it may not start another one, and gives back nothing but its own."""
    with servers(1) as running:
        async with pool_at(*running) as one, pool_at(*running) as other:
            async with Context("r", pools=[one]) as first, Context("r", pools=[other]) as second:
                here, there = [await context.acquire_resource(FarSpec()) for context in (first, second)]
                assert (there.is_guest, here.is_guest, there.first) == (True, False, None)
                await here.reset(3)
                await here.step("one")
                assert (await there.step("two")).observation == "2: two"
                assert (await here.outcome()).observation == "one|two" == (await there.outcome()).observation
                assert there.task == {"goal": 3}
                with pytest.raises(UsageError, match="another process holds"):
                    await there.reset(3)
                with pytest.raises(EnvError, match="started with task"):
                    there.expect(2)
                await second.release_resource()
                assert (await here.step("three")).done
                # A late one sees how far it is.
                again = await second.acquire_resource("scienceworld")
                assert (again.first, again.last) == (here.first, here.last)
                assert await again.health()
            assert await until(lambda: other.counts().starts == 0 and one.counts().dirty == 1)


async def test_many_processes_that_acquire_at_once() -> None:
    """Whoever is first has the lease, the others join it: there is one instance."""
    with servers(1, size=8) as running:
        pools = [pool_at(*running) for _ in range(6)]
        contexts = [Context("r", pools=[pool]) for pool in pools]
        found = await asyncio.gather(*(context.acquire_resource("scienceworld") for context in contexts))
        assert [env.is_guest for env in found].count(False) == 1
        owner = next(env for env in found if not env.is_guest)
        await owner.reset(9)
        assert {(await env.step("x")).info["pid"] for env in found} == {(await owner.step("y")).info["pid"]}
        for context in contexts:
            await context.release_resource()
        for pool in pools:
            await pool.aclose()


async def test_a_rollout_of_a_process_that_died_can_be_joined_again() -> None:
    """A guest whose lease ended over there joins the next one of that rollout."""
    with servers(1) as running:
        async with pool_at(*running) as one, pool_at(*running) as other:
            guest = Context("r", pools=[other])
            for goal in (2, 4):
                async with Context("r", pools=[one]) as context:
                    await context.reset_resource("scienceworld", goal)
                    env = await guest.acquire_resource("scienceworld")
                    assert (await env.outcome()).task == {"goal": goal}
                    await context.end_resource()
                    with pytest.raises((EnvDied, UsageError)):
                        await wait_for_the_end(env)
            await guest.release_resource()


async def wait_for_the_end(env: Any) -> None:
    """Read until the lease is over."""
    while True:
        await env.outcome()
        await asyncio.sleep(0.01)


async def test_load_is_balanced() -> None:
    """Two hosts have the same load within a fifth, also where each of many processes has few sessions."""
    with servers(2, size=16) as running:
        pools = [pool_at(*running, size=2) for _ in range(6)]
        leases = [await pool.acquire(f"r{index}.{k}") for index, pool in enumerate(pools) for k in range(2)]
        found = Counter(lease.member.instance._url for lease in leases if lease.member is not None)  # type: ignore[attr-defined]
        assert abs(found[running[0].url] - found[running[1].url]) <= 0.2 * len(leases) / 2
        for pool in pools:
            await pool.aclose()


async def test_load_is_balanced_among_sessions_that_open_at_once() -> None:
    """They are spread as they are chosen; where one host is nearly full, nobody waits for it."""
    with servers(2, size=12) as running:
        async with pool_at(*running, size=24) as pool:
            found = where(await asyncio.gather(*(pool.acquire(f"r{number}") for number in range(16))))
            assert abs(found[running[0].url] - found[running[1].url]) <= 2
    with servers(2, size=6) as running:
        async with pool_at(running[0], size=4) as first, pool_at(*running, size=8) as pool:
            for number in range(4):
                await first.acquire(f"x{number}")
            found = where(await asyncio.gather(*(pool.acquire(f"r{number}", timeout=5) for number in range(8))))
            assert found == {running[0].url: 2, running[1].url: 6}


def where(leases: Sequence[Any]) -> Counter[str]:
    """Count the sessions of each host."""
    return Counter(lease.member.instance._url for lease in leases)


async def test_a_dead_host_is_left_out_and_taken_back() -> None:
    """What is on a dead host is replaced on another one, where replaying is honest; later it gets sessions again."""
    with servers(2, size=8) as running:
        async with pool_at(*running, size=4) as pool:
            leases = [await pool.acquire(f"r{number}") for number in range(4)]
            for lease in leases:
                await lease.reset(9)
                await lease.step("one")
            running[0].kill()
            for lease in leases:
                assert (await lease.step("two")).observation == "2: two"
            used = {lease.member.instance._url for lease in leases if lease.member is not None}  # type: ignore[attr-defined]
            assert used == {running[1].url}
            # Another process finds the later one, although the dead host cannot be asked.
            async with pool_at(running[1]) as other:
                assert (await score(other, "r0"))["value"] == 2 / 9
            running[0] = Server("FarSpec", size=8, port=running[0].port)

            async def is_back() -> bool:
                async with pool_at(*running) as fresh:
                    lease = await fresh.acquire("x")
                    return lease.member is not None and lease.member.instance._url == running[0].url  # type: ignore[attr-defined]

            assert await is_back()
            backend = pool._backend
            hosts = await backend._hosts.by_load(lambda host: backend._load(host, pool.spec, LIMITS))  # type: ignore[attr-defined]
            while len(hosts) < 2:
                await asyncio.sleep(0.1)
                hosts = await backend._hosts.by_load(lambda host: backend._load(host, pool.spec, LIMITS))  # type: ignore[attr-defined]
            assert hosts[0].url == running[0].url


async def test_what_cannot_be_known_is_not_no_episode() -> None:
    """While a host is dead, a rollout may have had its episode there: neither its reward nor a new lease is 0."""
    with servers(2) as running:
        async with pool_at(*running) as pool:
            running[0].kill()
            found = await score(pool, "r")
            assert (found["status"], str(found["reason"]).partition(":")[0]) == ("error", "env-died")
            async with Context("r", pools=[pool]) as context:
                env = await context.acquire_resource("scienceworld")
                with pytest.raises(EnvDied):
                    await env.outcome()
                await env.reset(1)
                assert (await env.step("go")).done


@pytest.mark.soak
@pytest.mark.parametrize("spec", [FarSpec(), FarChancySpec()], ids=["replayed", "not-replayed"])
async def test_rewards_elsewhere_while_everything_dies(spec: FarSpec) -> None:
    """Workers are killed, then one of two hosts: each reward asked elsewhere is exact or a typed error, never 0."""
    count, kills = soak(256), soak(20)
    chance = random.Random(7)  # noqa: S311 (which one dies)
    kind = type(spec).__name__
    with servers(2, kind, size=4) as running, elsewhere([server.url for server in running], kind) as other:
        done: dict[str, Any] = {}

        async def rollout(number: int) -> None:
            name = f"r{number}"
            async with Context(name, pools=[pool]) as context:
                played = 0
                try:
                    env = await context.acquire_resource("scienceworld", timeout=60)
                    await env.reset(5)
                    for _ in range(1 + number % 4):
                        await env.step("sleep 0.01")
                        played += 1
                except EnvError as error:
                    done[name] = (None, error.code)
                # Asked before the context is left, as a trainer does.
                async with asking:
                    found = await other.reward(name)
                ours = done.get(name, (played / 5, ""))
                done[name] = (*ours, found)

        async def kill() -> None:
            for number in range(kills):
                await asyncio.sleep(0.05)
                alive = [server for server in running if server.process.poll() is None]
                victims = [pid for server in alive for pid in children(server.process.pid)]
                if victims:
                    os.kill(chance.choice(victims), signal.SIGKILL)
                if number == kills // 2:
                    running[0].kill()

        asking = asyncio.Lock()
        async with pool_at(*running, size=8, spec=spec) as pool:
            await asyncio.gather(kill(), *(rollout(number) for number in range(count)))
        assert len(done) == count
        for name, (value, code, found) in done.items():
            if found["status"] == "scored":
                assert value is not None, (name, code, found)
                assert found["value"] == value > 0, (name, found)
            else:
                assert (found["status"], found["value"]) == ("error", None), (name, found)
                assert str(found["reason"]).partition(":")[0] in CODES, (name, found)
        scored = sum(found["status"] == "scored" for *_, found in done.values())
        assert scored > 0


CODES = ("env-died", "lease-expired", "lease-released", "no-environment", "env-step-timeout", "out-of-memory")

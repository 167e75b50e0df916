"""A start that fails is nobody's fault: it is tried again until the time of whoever waits is up."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest
from aiohttp import web

from adjudge.environments import (
    AgentGymAlfworld,
    AgentGymBackend,
    Context,
    EnvAcquireTimeout,
    EnvDied,
    EnvServer,
    HttpBackend,
    OpenEnvBackend,
    OpenEnvSpec,
    Pool,
    PoolLimits,
)
from adjudge.environments._world import Backend, EnvSpec
from adjudge.environments.webshop import WebShopServerSpec
from environments.test_pools import check
from environments.toys import FrailChancySpec, FrailSpec, ToySpec
from environments.waiting import until


async def test_a_worker_that_dies_while_starting_is_started_again(tmp_path: Path) -> None:
    """A rollout with time left gets an environment although the first starts for it were killed."""
    spec = FrailSpec(log=str(tmp_path / "log"), deadly=(1, 2, 3))
    async with Pool(spec, 1, "worker") as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource(spec, timeout=60)
        assert await env.reset(2) == "count to 2"
        counts = pool.counts()
        check(counts)
        assert (counts.starts, counts.faults, counts.timeouts) == (4, 3, 0)


async def test_many_rollouts_lose_nothing_by_failed_starts(tmp_path: Path) -> None:
    """Where every second start is killed, all of 30 rollouts get an environment, and the counts add up."""
    spec = FrailSpec(log=str(tmp_path / "log"), deadly=tuple(range(1, 40, 2)))

    async def rollout(number: int) -> bool:
        async with Context(f"r{number}", pools=[pool]) as context:
            env = await context.acquire_resource(spec, timeout=120)
            await env.reset(1)
            return (await env.step("x")).done

    async with Pool(spec, 3, "worker", limits=PoolLimits(episodes=3)) as pool:
        assert all(await asyncio.gather(*(rollout(number) for number in range(30))))
        check(pool.counts())
        assert pool.counts().faults > 3


async def test_time_that_is_up_ends_the_tries() -> None:
    """A rollout whose time is up gets the reason why nothing starts, and nothing is started for it any more."""
    async with Pool(ToySpec(colour="broken"), 1) as pool:
        with pytest.raises(EnvDied, match=r"no paint.*tried again for 1 s"):
            await pool.acquire("r", timeout=1.0)
        counts = pool.counts()
        assert counts.faults > 1
        assert (counts.timeouts, counts.waiting) == (1, 0)
    check(pool.counts())
    assert pool.counts().starting == 0


async def test_a_pause_grows_between_failed_starts() -> None:
    """A world that never starts does not keep the machine busy: the pauses double."""
    async with Pool(ToySpec(colour="broken"), 1) as pool:
        with pytest.raises(EnvDied):
            await pool.acquire("r", timeout=2.0)
        assert pool.counts().faults <= 6  # pauses of 0.05, 0.1, 0.2, 0.4, 0.8 and 1 s


@pytest.mark.parametrize("call", ["step", "reset", "outcome"])
async def test_a_replacement_that_dies_while_starting_is_replaced(tmp_path: Path, call: str) -> None:
    """An episode whose worker was killed goes on although the first replacements die before they are there."""
    spec = FrailSpec(log=str(tmp_path / "log"), deadly=(2, 3, 4, 5))
    async with Pool(spec, 1, "worker") as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource(spec)
        await env.reset(9)
        os.kill((await env.step("one")).info["pid"], signal.SIGKILL)
        if call == "step":
            assert (await env.step("two")).observation == "2: two"
        elif call == "reset":
            assert await env.reset(9) == "count to 9"
        else:
            assert (await env.outcome()).observation == "one"
        assert spec.starts() == 6


async def test_a_reset_does_not_need_a_replay(tmp_path: Path) -> None:
    """A world that may not be replayed is reset on a replacement, however many of those died while they started."""
    spec = FrailChancySpec(log=str(tmp_path / "log"), deadly=(2, 3, 4, 5))
    async with Pool(spec, 1, "worker") as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource(spec)
        await env.reset(9)
        os.kill((await env.step("one")).info["pid"], signal.SIGKILL)
        assert await env.reset(9) == "count to 9"


def free_port() -> int:
    """Return a port at which nobody listens yet."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


async def test_a_booting_server_is_waited_for() -> None:
    """An environment server that listens only later than its first rollout asks serves that rollout all the same."""
    port = free_port()
    async with Pool(ToySpec(), 1) as behind, Pool(ToySpec(), 1, HttpBackend(f"http://127.0.0.1:{port}")) as pool:
        asked = asyncio.create_task(pool.acquire("r", timeout=60))
        await asyncio.sleep(0.3)
        assert not asked.done()
        async with EnvServer([behind]).serving(port=port), await asked as env:
            assert await env.reset(1) == "count to 1"


@pytest.mark.parametrize(
    ("spec", "backend", "answers"),
    [
        (AgentGymAlfworld(), AgentGymBackend, "/create"),
        (OpenEnvSpec(), OpenEnvBackend, "/ws"),
    ],
    ids=["agentgym", "openenv"],
)
async def test_other_booting_servers_are_waited_for(spec: EnvSpec, backend: type[Backend], answers: str) -> None:
    """The same for servers of other kinds: nothing listens, then the door answers 503, then it is there."""
    port, calls = free_port(), 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal calls
        if request.path != answers:
            return web.json_response(True)  # noqa: FBT003 (the answer to a close)
        calls += 1
        if calls < 3:
            return web.Response(status=503, text="warming up")
        if answers == "/create":
            return web.json_response({"id": 4})
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        await socket.send_json({"type": "state", "data": {}})
        await socket.receive()
        return socket

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with Pool(spec, 1, backend(f"http://127.0.0.1:{port}")) as pool:  # type: ignore[call-arg]
        asked = asyncio.create_task(pool.acquire("r", timeout=60))
        await asyncio.sleep(0.3)
        assert not asked.done()
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await (await asked).close()
        assert calls == 3
        await pool.aclose()
        await runner.cleanup()


async def test_the_booting_official_shop_is_waited_for() -> None:
    """A WebShop server is waited for before the episode begins, when there is still time to wait in."""
    port = free_port()
    spec = WebShopServerSpec(url=f"http://127.0.0.1:{port}")
    async with Pool(spec, 1) as pool:
        asked = asyncio.create_task(pool.acquire("r", timeout=60))
        assert await until(lambda: pool.counts().faults > 0)
        assert not asked.done()
        with socket.create_server(("127.0.0.1", port)):
            await (await asked).close()


async def test_a_start_that_works_forgets_the_failures(tmp_path: Path) -> None:
    """Once a start has worked, whoever waits too long for a free one is told that, not of an old failure."""
    spec = FrailSpec(log=str(tmp_path / "log"), deadly=(1,))
    async with Pool(spec, 1, "worker") as pool:
        held = await pool.acquire("a", timeout=60)
        with pytest.raises(EnvAcquireTimeout, match="1 of 1 leased"):
            await pool.acquire("b", timeout=0.05)
        await held.close()

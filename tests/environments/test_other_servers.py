"""Servers of AgentGym's and OpenEnv's kind, each played from a recorded exchange: any other request is a failure."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import WSMsgType, web

from adjudge.environments import (
    AgentGymAlfworld,
    AgentGymBackend,
    AgentGymScienceWorld,
    AgentGymWebShop,
    Context,
    EnvBadTask,
    EnvDied,
    EnvProtocolError,
    OpenEnvBackend,
    OpenEnvSpec,
    Pool,
)
from adjudge.environments.tools import alfworld_admissible_commands, alfworld_objective
from adjudge.errors import UsageError
from adjudge.rewards import alfworld_episode_reward, scienceworld_reward, webshop_reward
from environments.toys import ToySpec
from support import GOLDEN


def recorded(name: str) -> list[dict[str, Any]]:
    """Return a recorded exchange."""
    rows: list[dict[str, Any]] = json.loads((GOLDEN / "environments" / f"{name}.json").read_text(encoding="utf-8"))
    return rows


@asynccontextmanager
async def running(app: web.Application) -> AsyncIterator[str]:
    """Run a server; yields its address."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def agentgym(exchange: Iterator[dict[str, Any]]) -> AsyncIterator[str]:
    """Play an AgentGym server."""

    async def answer(request: web.Request) -> web.Response:
        row = next(exchange)
        assert (request.method, request.path_qs) == (row["method"], row["path"])
        if request.method == "POST":
            assert json.loads(await request.read()) == row["body"]
        return web.json_response(row["answer"])

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with running(app) as url:
        yield url


async def test_agentgym_webshop() -> None:
    """The goal's number starts the episode, the page is read apart, and the purchase is the reward."""
    rows = iter(recorded("agentgym-webshop"))
    async with (
        agentgym(rows) as url,
        Pool(AgentGymWebShop(), 1, AgentGymBackend(url)) as pool,
        Context("r", pools=[pool]) as context,
    ):
        env = await context.acquire_resource("webshop")
        assert "red kettle" in await env.reset(0)
        assert env.first is not None
        assert env.first.info["actions"]["clickables"] == ["search"]
        assert "K1" in (await env.step('search[red kettle & "lid" ]]')).observation
        assert (await env.step("click[buy now]")).done
        result = await webshop_reward(None, context=context, task_id=0)
        assert result == {"reward": 0.75, "output": "Thank you for shopping"}
        with pytest.raises(EnvBadTask):
            await webshop_reward(None, context=context, task_id=1)
    assert list(rows) == []


async def test_agentgym_alfworld() -> None:
    """The admissible commands come with every answer, from the first on; a win is the reward."""
    rows = iter(recorded("agentgym-alfworld"))
    async with (
        agentgym(rows) as url,
        Pool(AgentGymAlfworld(), 1, AgentGymBackend(url)) as pool,
        Context("r", pools=[pool]) as context,
    ):
        env = await context.acquire_resource("alfworld")
        await env.reset(7)
        assert await alfworld_admissible_commands(context=context) == "look\ntake egg 1"
        assert await alfworld_objective(context=context) == "put an egg on the shelf."
        await env.step("take egg 1")
        assert await alfworld_episode_reward(context) == {"reward": 0.0}
        assert (await env.step("put egg 1 in/on shelf 1")).info["won"]
        assert await alfworld_episode_reward(context) == {"reward": 1.0}
    assert list(rows) == []


async def test_agentgym_scienceworld() -> None:
    """Steps and outcomes are worth what they are worth in our own ScienceWorld: points are shares of 100."""
    rows = iter(recorded("agentgym-sciworld"))
    async with (
        agentgym(rows) as url,
        Pool(AgentGymScienceWorld(), 1, AgentGymBackend(url)) as pool,
        Context("r", pools=[pool]) as context,
    ):
        env = await context.acquire_resource("scienceworld")
        with pytest.raises(EnvBadTask, match="99999"):
            await env.reset(99999)
        assert await env.reset(12) == "Your task is to boil water.\nThis room is a kitchen."
        assert env.first is not None
        assert (env.first.info["score"], env.first.info["done_reason"]) == (0, None)
        start = await env.outcome()
        assert (start.reward, start.score_raw, start.success, start.failed) == (0.0, 0.0, False, False)
        step = await env.step("activate stove")
        assert (step.reward, step.info["score"]) == (0.33, 33)
        assert (await scienceworld_reward(None, context))["reward"] == pytest.approx(0.33)
        last = await env.step("focus on sink")
        assert (last.done, last.reward, last.info["done_reason"]) == (True, -1.33, "failed")
        result = await scienceworld_reward(None, context)
        assert (result["reward"], result["score_raw"], result["failed"]) == (0.0, -100.0, True)
        assert (await env.outcome()).done_reason == "failed"
    assert list(rows) == []


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([{"id": 1}, {"error": "no such game"}], EnvProtocolError),
        ([{"error": "out of memory"}], EnvProtocolError),
        (["seven"], EnvProtocolError),
    ],
    ids=["reset", "create", "no-number"],
)
async def test_agentgym_errors_are_errors(answers: list[Any], error: type[Exception]) -> None:
    """`{"error": ...}` under a status of 200 is a fault of the server, never an observation."""
    left = iter(answers)

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(next(left))

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with running(app) as url, Pool(AgentGymAlfworld(), 1, AgentGymBackend(url)) as pool:
        with pytest.raises(error):
            await (await pool.acquire("r", timeout=1)).reset(1)


@pytest.mark.parametrize("answers", [[{"observation": "x"}], [{"score": 0}, {"reward": 33, "done": False}]])
async def test_agentgym_points_need_a_score(answers: list[dict[str, Any]]) -> None:
    """A ScienceWorld server that names no score is a protocol error: points of a step are not a share of the task."""
    left = iter([{"id": 1}, *({"observation": "x", **one} for one in answers)])

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(next(left, {}))

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with running(app) as url, Pool(AgentGymScienceWorld(), 1, AgentGymBackend(url)) as pool:
        env = await pool.acquire("r")
        if len(answers) > 1:
            await env.reset(1)
        with pytest.raises(EnvProtocolError, match="without a score"):
            await (env.step("look") if len(answers) > 1 else env.reset(1))


async def test_agentgym_never_shares_a_cart() -> None:
    """A full server that gives out an environment for the second time is refused."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(5)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with running(app) as url, Pool(AgentGymWebShop(), 2, AgentGymBackend(url)) as pool:
        await pool.acquire("a")
        with pytest.raises(EnvDied, match="second time"):
            await pool.acquire("b", timeout=1)


async def test_openenv() -> None:
    """A socket is a session; text goes in and comes out by field; what the server refuses is the agent's."""
    rows = iter(recorded("openenv-echo"))
    async with openenv(rows) as url:
        spec = OpenEnvSpec(observation="text")
        async with Pool(spec, 1, OpenEnvBackend(url)) as pool, Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("openenv")
            assert await env.reset({"seed": 3}) == "ready"
            step = await env.step('say "茶" & ]\n')
            assert (step.observation, step.reward, step.info["length"]) == ('say "茶" & ]\n', 0.5, 11)
            refused = await env.step("bad")
            assert (refused.info["valid"], refused.done) == (False, False)
            assert (await env.step("end")).done
            assert (await env.outcome()).reward == 1.0
            assert await env.health()
            await env.reset(None)
            with pytest.raises(EnvDied, match="division by zero"):
                await env.step("boom")
        assert list(rows) == []


async def test_openenv_that_hangs_up() -> None:
    """A session that the server ends is `EnvDied`; a task that is no mapping is none."""
    async with (
        openenv(iter(recorded("openenv-echo")[:2])) as url,
        Pool(OpenEnvSpec(), 1, OpenEnvBackend(url)) as pool,
    ):
        env = await pool.acquire("r")
        with pytest.raises(EnvBadTask):
            await env.reset(3)
        assert await env.reset({"seed": 3}) == '{"text":"ready","length":0}'
        with pytest.raises(EnvDied):
            await env.step("anything")
        assert not await env.health()
    with (
        Pool(OpenEnvSpec(), 1, OpenEnvBackend("http://127.0.0.1:9")) as pool,
        pytest.raises(EnvDied, match="opened no session"),
    ):
        await pool.acquire("r", timeout=1)


@asynccontextmanager
async def openenv(exchange: Iterator[dict[str, Any]]) -> AsyncIterator[str]:
    """Play an OpenEnv server; it hangs up where the record ends."""

    async def session(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            given = json.loads(message.data) if message.type is WSMsgType.TEXT else {"type": "close"}
            row = next(exchange, None)
            if given == {"type": "close"} or row is None:
                break
            assert given == row["message"]
            await socket.send_json(row["answer"])
        await socket.close()
        return socket

    app = web.Application()
    app.router.add_get("/ws", session)
    async with running(app) as url:
        yield url


async def test_a_spec_of_another_kind_is_refused() -> None:
    """These servers need specs that speak their dialect."""
    for backend in (AgentGymBackend("http://127.0.0.1:9"), OpenEnvBackend("http://127.0.0.1:9")):
        with Pool(ToySpec(), 1, backend) as pool, pytest.raises(UsageError, match="needs a"):
            await pool.acquire("r", timeout=60)

"""Our servers speak OpenEnv: sockets and single requests, in its words, with its error codes."""

import base64
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from adjudge.environments import (
    Context,
    EnvAcquireTimeout,
    EnvBadTask,
    EnvDied,
    EnvServer,
    HttpBackend,
    OpenEnvBackend,
    OpenEnvSpec,
    Pool,
    PoolLimits,
)
from adjudge.environments import _openenv_server as served
from adjudge.rewards import get_reward
from environments.toys import ChancySpec, FarSpec, ToySpec
from environments.waiting import until

SPEC = OpenEnvSpec(observation="text")


@asynccontextmanager
async def server(*pools: Pool, token: str | None = None) -> AsyncIterator[str]:
    """Serve pools to clients of OpenEnv."""
    async with EnvServer(pools, token=token, openenv=True).serving() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a full server say so soon."""
    monkeypatch.setattr(served.OpenEnvDoor.__init__, "__kwdefaults__", {"patience_s": 0.2})


@asynccontextmanager
async def socket(url: str, **headers: str) -> AsyncIterator[Any]:
    """Open a session, and give a function that sends a message and returns its answer."""
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/ws", headers=headers) as one:

        async def ask(what: str, **data: Any) -> Any:
            await one.send_json({"type": what, "data": data} if data else {"type": what})
            return await one.receive_json()

        ask.raw = one  # type: ignore[attr-defined]
        yield ask


async def post(url: str, what: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Send a single request."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/{what}", json=body, headers=headers) as reply,
    ):
        return reply.status, await reply.json()


async def get(url: str, what: str) -> tuple[int, Any]:
    """Ask for something."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/{what}") as reply:
        return reply.status, await reply.json()


async def test_a_session() -> None:
    """Reset, step, state and close, each answered as OpenEnv's own server does."""
    async with Pool(ToySpec(), 1, "worker") as pool, server(pool) as url:
        async with socket(url) as ask:
            assert (await ask("state"))["data"] == {"episode_id": None, "step_count": 0, "kind": "toy"}
            first = await ask("reset", task=2, episode_id="e7")
            assert (first["type"], first["data"]["reward"], first["data"]["done"]) == ("observation", None, False)
            assert first["data"]["observation"]["text"] == "count to 2"
            assert first["data"]["observation"]["info"]["commands"] == ["up", "say ..."]
            assert (await ask("step", message="one"))["data"]["observation"]["text"] == "1: one"
            last = (await ask("step", message="two"))["data"]
            assert (last["done"], last["reward"]) == (True, 1.0)
            assert (await ask("step", message="three"))["data"]["done"]
            state = (await ask("state"))["data"]
            assert (state["episode_id"], state["step_count"], state["reward"], state["success"]) == ("e7", 2, 1.0, True)
            assert pool.counts().leased == 1
        assert await until(lambda: pool.counts().leased == 0)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "INVALID_JSON"),
        ('{"type": "fly"}', "UNKNOWN_TYPE"),
        ('{"type": "step", "data": {"text": "x"}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": "x"}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"message": "x"}}', "VALIDATION_ERROR"),
        ('{"type": "reset"}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"seed": 5000}}', "VALIDATION_ERROR"),
    ],
)
async def test_what_the_client_got_wrong(message: str, code: str) -> None:
    """It is said in OpenEnv's codes, and the session goes on."""
    async with Pool(ToySpec(), 1) as pool, server(pool) as url, socket(url) as ask:
        await ask.raw.send_str(message)
        answer = await ask.raw.receive_json()
        assert (answer["type"], answer["data"]["code"]) == ("error", code)
        assert (await ask("reset", seed=1))["data"]["observation"]["text"] == "count to 1"


async def test_our_own_client_plays_it() -> None:
    """What is full, what died and what is no task arrive as what they are."""
    limits = PoolLimits(start_s=3.0)
    async with (
        Pool(ChancySpec(), 1, "worker") as behind,
        server(behind) as url,
        Pool(SPEC, 1, OpenEnvBackend(url), limits=limits) as pool,
        Context("r", pools=[pool]) as context,
    ):
        env = await context.acquire_resource("openenv")
        with pytest.raises(EnvBadTask, match="no goal 5000"):
            await env.reset({"task": 5000})
        assert await env.reset({"seed": 3}) == "count to 3"
        step = await env.step("one")
        assert step.observation == "1: one"
        os.kill(step.info["info"]["pid"], signal.SIGKILL)
        with pytest.raises(EnvDied):
            await env.step("two")


@pytest.mark.usefixtures("impatient")
async def test_a_full_server_says_so() -> None:
    """Capacity is `CAPACITY_REACHED`, with the numbers; for our client it is `EnvAcquireTimeout`, and it waits."""
    async with Pool(ToySpec(), 1) as behind, server(behind) as url:
        async with socket(url), socket(url) as ask:
            found = await ask.raw.receive_json()
            assert (found["data"]["code"], found["data"]["max_sessions"]) == ("CAPACITY_REACHED", 1)
            async with Pool(SPEC, 1, OpenEnvBackend(url)) as pool:
                with pytest.raises(EnvAcquireTimeout, match="no room"):
                    await pool.acquire("r", timeout=1.5)
        async with Pool(SPEC, 1, OpenEnvBackend(url)) as pool, await pool.acquire("r", timeout=60) as env:
            assert await env.reset({"seed": 1}) == "count to 1"


async def test_an_environment_that_cannot_be_made() -> None:
    """It is `FACTORY_ERROR`, and `EnvDied` for our client."""
    async with Pool(ToySpec(colour="missing"), 1) as behind, server(behind) as url, socket(url) as ask:
        assert (await ask.raw.receive_json())["data"]["code"] == "FACTORY_ERROR"


async def test_single_requests() -> None:
    """One step a request: the episode is found by its id, errors have statuses."""
    async with Pool(ToySpec(), 3) as pool, server(pool) as url:
        assert (await get(url, "health")) == (200, {"status": "healthy"})
        assert (await get(url, "metadata"))[1]["name"] == "toy"
        assert (await get(url, "schema"))[1]["action"]["required"] == ["message"]
        assert (await post(url, "step", {"action": {"message": "x"}}))[0] == 422
        for name in ("a", "b"):
            status, found = await post(url, "reset", {"seed": 9, "episode_id": name})
            assert (status, found["observation"]["text"], found["done"]) == (200, "count to 9", False)
        await post(url, "step", {"action": {"message": "x"}, "episode_id": "a"})
        _, found = await post(url, "step", {"action": {"message": "y"}, "episode_id": "a"})
        assert found["observation"]["text"] == "2: y"
        assert (await get(url, "state?episode_id=a"))[1]["step_count"] == 2
        assert (await get(url, "state?episode_id=b"))[1]["step_count"] == 0
        status, found = await post(url, "reset", {"seed": 5000, "episode_id": "a"})
        assert (status, found["code"], found["reason"]) == (422, "VALIDATION_ERROR", "env-bad-task")
        assert (await post(url, "reset", {"seed": 1}))[0] == 200
        assert pool.counts().leased == 3


async def test_a_reward_of_an_episode_that_openenv_played() -> None:
    """The episode's id is the rollout's: another process has its reward over our own protocol."""
    async with Pool(FarSpec(), 2, "worker") as behind, server(behind) as url:
        scorer = get_reward("scienceworld_reward")
        async with Pool(FarSpec(), 2, HttpBackend(url)) as pool:

            async def reward() -> Any:
                return await scorer.ascore({"final_response": None}, context=Context("e1", pools=[pool]))

            async with socket(url) as ask:
                assert str((await reward()).reason).startswith("no-environment")
                await ask("reset", seed=4, episode_id="e1")
                await ask("step", message="go")
                assert (await reward()).value == 0.25
                await ask("reset", seed=2, episode_id="e1")
                assert (await reward()).value == 0.0


async def test_nobody_takes_a_rollout_that_is_played() -> None:
    """Neither a socket nor single requests: they are refused, leave the episode alone, and give nothing back."""
    async with (
        Pool(FarSpec(), 3, "worker") as behind,
        server(behind) as url,
        Pool(FarSpec(), 2, HttpBackend(url)) as pool,
        socket(url) as ask,
    ):
        async with Context("far", pools=[pool]) as context:
            env = await context.acquire_resource("scienceworld")
            await env.reset(4)
            await env.step("go")
            await ask("reset", seed=4, episode_id="near")
            await ask("step", message="go")

            async def values() -> list[Any]:
                scorer = get_reward("scienceworld_reward")
                found = [Context(name, pools=[reader]) for name in ("far", "near")]
                return [(await scorer.ascore({"final_response": None}, context=one)).value for one in found]

            async with Pool(FarSpec(), 2, HttpBackend(url)) as reader:
                for name in ("far", "near"):
                    async with socket(url) as other:
                        await other("reset", seed=3, episode_id="mine")
                        refused = (await other("reset", seed=2, episode_id=name))["data"]
                        assert (refused["code"], refused["reason"]) == ("VALIDATION_ERROR", "rollout-shared")
                        assert (await other("state"))["data"]["episode_id"] == "mine"
                        assert await values() == [0.25, 0.25]
                    assert await until(lambda: behind.counts().leased == 2)
                    status, refused = await post(url, "reset", {"seed": 2, "episode_id": name})
                    assert (status, refused["reason"]) == (422, "rollout-shared")
                    assert (await post(url, "step", {"action": {"message": "x"}, "episode_id": name}))[0] == 422
                    assert await until(lambda: behind.counts().leased == 2)
                    assert await values() == [0.25, 0.25]
            await env.step("go")
            assert (await env.outcome()).reward == 0.5
        # Given back, its id is free again.
        async with socket(url) as other:
            assert (await other("reset", seed=2, episode_id="far"))["type"] == "observation"


async def test_who_may() -> None:
    """With a token nobody else; the token may be the password of the URL; a page in a browser never."""
    async with Pool(ToySpec(), 2) as pool, server(pool, token="s3cret") as url:  # noqa: S106
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with socket(url):
                pass
        assert (await post(url, "reset", {"seed": 1}))[0] == 401
        basic = base64.b64encode(b"token:s3cret").decode()
        for value in ("Bearer s3cret", f"Basic {basic}"):
            async with socket(url, Authorization=value) as ask:
                assert (await ask("reset", seed=1))["type"] == "observation"
    async with Pool(ToySpec(), 1) as pool, server(pool) as url:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with socket(url, Origin="http://127.0.0.1"):
                pass
        async with aiohttp.ClientSession() as session, session.post(f"{url}/reset", data=b"{}") as reply:
            assert reply.status == 422


async def test_several_kinds() -> None:
    """Each has its own address; without the option nobody speaks OpenEnv."""
    async with Pool(ToySpec(), 1) as one, Pool(ChancySpec(), 1) as other:
        async with server(one, other) as url:
            for kind in ("toy", "chancy"):
                async with socket(f"{url}/{kind}") as ask:
                    assert (await ask("state"))["data"]["kind"] == kind
            with pytest.raises(aiohttp.WSServerHandshakeError):
                async with socket(url):
                    pass
        async with EnvServer([one]).serving() as port:
            with pytest.raises(aiohttp.WSServerHandshakeError):
                async with socket(f"http://127.0.0.1:{port}"):
                    pass

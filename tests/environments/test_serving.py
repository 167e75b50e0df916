"""The same environment over every backend: text intact, each step done once, and typed errors from afar."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.environments import (
    Context,
    EnvAcquireTimeout,
    EnvBadTask,
    EnvDied,
    EnvProtocolError,
    EnvServer,
    HttpBackend,
    Pool,
    PoolLimits,
    default_spec,
)
from adjudge.errors import UsageError
from environments.toys import ChancySpec, ToySpec
from environments.waiting import until
from processes.helpers import TESTS, all_gone

ODD = [
    'a & b # c / d " e ] f \\ g',
    "line\nline\r\n\ttab\0",
    "naïve 茶 🫖 \u2028 \u202e",
    "]]>&amp;%26+%0A",
    "",
    " " * 3,
    "x" * 100_000,
    "more than a channel takes at once" * 30_000,
    "search[a] ] & click[b]",
]


@asynccontextmanager
async def served(pool: Pool, token: str | None = None) -> AsyncIterator[str]:
    """Serve a pool on this loop; yields the address."""
    async with EnvServer([pool], token=token).serving() as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def pool_of(backend: str, spec: ToySpec | None = None) -> AsyncIterator[Pool]:
    """Make a pool over one of the backends; HTTP leads to a server with workers."""
    spec = spec or ToySpec()
    if backend != "http":
        async with Pool(spec, 2, backend) as pool:
            yield pool
        return
    async with Pool(spec, 2, "worker") as behind, served(behind) as url, Pool(spec, 2, HttpBackend(url)) as pool:
        yield pool


@pytest.mark.parametrize("backend", ["process", "worker", "http"])
async def test_actions_arrive_intact(backend: str) -> None:
    """Whatever the text of an action, the world hears exactly that."""
    async with pool_of(backend) as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource("toy")
        await env.reset(500)
        for number, action in enumerate(ODD, 1):
            assert (await env.step(action)).observation == f"{number}: {action}"
        assert backend == "http" or (await env.step("y" * 2_000_000)).observation.endswith("y" * 2_000_000)
        assert (await env.step("half \ud83e pair")).observation.endswith("half \ufffd pair")
        with pytest.raises(UsageError, match="an action is text"):
            await env.step(7)  # type: ignore[arg-type]
        assert (await env.outcome()).observation.startswith("|".join(ODD))


def test_any_text_arrives_intact() -> None:
    """The same, for any text that there is."""

    async def play(actions: list[str]) -> None:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(900)
            for number, action in enumerate(actions, 1):
                assert (await env.step(f">{action}")).observation == f"{number}: >{action}"

    @settings(max_examples=25)
    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20))
    def check(actions: list[str]) -> None:
        asyncio.run(play(actions))

    with Pool(ToySpec(), 1, "worker") as pool:
        check()


@pytest.mark.parametrize("backend", ["process", "worker", "http"])
async def test_no_state_crosses_rollouts(backend: str) -> None:
    """Many rollouts over few instances, at once: each hears itself only, and errors keep their types."""

    async def rollout(number: int) -> None:
        async with Context(f"r{number}", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            with pytest.raises(EnvBadTask):
                await env.reset(1000)
            await env.reset(50)
            assert env.first is not None
            assert env.first.info["commands"] == ["up", "say ..."]
            for step in range(5):
                await env.step(f"{number}.{step}")
            outcome = await env.outcome()
            assert outcome.observation == "|".join(f"{number}.{step}" for step in range(5))
            assert (outcome.reward, outcome.task) == (0.1, {"goal": 50})

    async with pool_of(backend) as pool:
        await asyncio.gather(*(rollout(number) for number in range(24)))
        assert pool.counts().given == pool.counts().returned == 24


async def post(url: str, what: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Send one request as another client would."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/{what}", json=body, headers=named) as reply,
    ):
        return reply.status, await reply.json()


async def test_a_repeated_request_is_done_once() -> None:
    """The same key gets the same answer, also while the first is under way; another request under it is refused."""
    async with Pool(ToySpec(), 1, "worker") as pool, served(pool) as url:
        opened = await asyncio.gather(*(post(url, "open", {"kind": "toy"}, Idempotency_Key="o") for _ in range(3)))
        assert len({answer["session"] for _, answer in opened}) == 1
        session = opened[0][1]["session"]
        await post(url, "reset", {"task": 9}, Adjudge_Session=session)

        async def step(action: str, key: str) -> tuple[int, Any]:
            return await post(url, "step", {"action": action}, Adjudge_Session=session, Idempotency_Key=key)

        both = await asyncio.gather(step("sleep 0.2", "k1"), step("sleep 0.2", "k1"))
        assert both[0] == both[1] == await step("sleep 0.2", "k1")
        assert (await step("two", "k2"))[1]["observation"] == "2: two"
        status, answer = await step("three", "k2")
        assert (status, answer["error"][1]) == (400, "key-reused")
        await post(url, "close", {}, Adjudge_Session=session)
        status, answer = await step("four", "k4")
        assert (status, answer["error"][0]) == (409, "env-died")
        assert pool.counts().leased == 0


async def test_a_lost_answer_does_not_repeat_the_step() -> None:
    """Where the connection breaks before the answer came, the step is asked again and was done once."""
    cut = 0

    async def relay(request: web.Request) -> web.StreamResponse:
        nonlocal cut
        body = await request.read()
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{url}{request.path}", data=body, headers=request.headers) as reply,
        ):
            answer = await reply.read()
            if request.path == "/v1/step" and cut < 2:
                cut += 1
                assert request.transport is not None
                request.transport.close()
            return web.Response(status=reply.status, body=answer, content_type="application/json")

    async with Pool(ChancySpec(), 1) as behind, served(behind) as url:
        app = web.Application()
        app.router.add_post("/{path:.*}", relay)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        async with (
            Pool(ChancySpec(), 1, HttpBackend(f"http://127.0.0.1:{runner.addresses[0][1]}")) as pool,
            await pool.acquire("r") as env,
        ):
            await env.reset(9)
            assert (await env.step("one")).observation == "1: one"
            assert (await env.step("two")).observation == "2: two"
        await runner.cleanup()
        assert cut == 2


@pytest.mark.parametrize("spec", [ToySpec(), ChancySpec()], ids=["replayed", "not-replayed"])
async def test_a_cancelled_step_is_not_taken_for_done(spec: ToySpec) -> None:
    """A step that is cancelled on its way leaves no episode to go on with: it is replayed without it, or an error."""
    async with Pool(spec, 2) as behind, served(behind) as url, Pool(spec, 1, HttpBackend(url)) as pool:
        env = await pool.acquire("r")
        await env.reset(9)
        await env.step("one")
        task = asyncio.create_task(env.step("lost"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        if spec.deterministic:
            assert (await env.step("two")).observation == "2: two"
        else:
            with pytest.raises(EnvDied, match="without an answer"):
                await env.step("two")


async def test_a_token_is_asked_for() -> None:
    """Without the token nothing is answered, not even what there is; beyond loopback no server starts without."""
    async with Pool(ToySpec(), 1) as behind, served(behind, token="s3cret") as url:  # noqa: S106
        assert (await post(url, "open", {"kind": "toy"}))[0] == 401
        assert (await post(url, "open", {"kind": "toy"}, Authorization="Bearer s3cre"))[0] == 401
        async with aiohttp.ClientSession() as session, session.get(f"{url}/v1/status") as reply:
            assert reply.status == 401
        async with (
            Pool(ToySpec(), 1, HttpBackend(url, token="s3cret")) as pool,  # noqa: S106
            await pool.acquire("r") as env,
        ):
            assert await env.reset(1) == "count to 1"
        async with Pool(ToySpec(), 1, HttpBackend(url, token="wrong")) as pool:  # noqa: S106
            with pytest.raises(UsageError, match="token is missing or wrong"):
                await pool.acquire("r")
        with pytest.raises(UsageError, match="give a token"):
            async with EnvServer([behind]).serving("0.0.0.0"):  # noqa: S104
                pass


async def test_a_request_that_is_none_of_ours() -> None:
    """Another content type, no JSON, another kind or spec, an unknown call or session: an error, never a crash."""
    async with Pool(ToySpec(), 1) as pool, served(pool) as url:
        assert (await post(url, "open", {"kind": "house"}))[1]["error"][1] == "unknown-environment"
        assert (await post(url, "open", {"kind": "toy", "spec": {"colour": "blue"}}))[1]["error"][1] == "other-spec"
        assert (await post(url, "step", {"action": "x"}, Adjudge_Session="nobody"))[1]["error"][0] == "env-died"
        session = (await post(url, "open", {"kind": "toy"}))[1]["session"]
        assert (await post(url, "fly", {}, Adjudge_Session=session))[1]["error"][1] == "unknown-call"
        assert (await post(url, "step", {"action": 7}, Adjudge_Session=session))[1]["error"][1] == "bad-action"
        assert (await post(url, "outcome", {}, Adjudge_Session=session))[1]["error"][1] == "no-episode"
        async with aiohttp.ClientSession() as http:
            async with http.post(f"{url}/v1/open", data=b"{}", headers={"Content-Type": "text/plain"}) as reply:
                assert (reply.status, (await reply.json())["error"][1]) == (400, "bad-content-type")
            async with http.post(f"{url}/v1/open", data=b"[", headers={"Content-Type": "application/json"}) as reply:
                assert (reply.status, (await reply.json())["error"][1]) == (400, "bad-body")
            async with http.get(f"{url}/v1/status") as reply:
                assert (await reply.json())["toy"]["leased"] == 1


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Host: ][", 401),
        ("Host: 127.0.0.1:x", 401),
        ("Host: elsewhere.example", 401),
        ("Host: 127.0.0.1\r\nAuthorization: Bearer \xff", 200),
    ],
)
async def test_headers_that_are_none(header: str, status: int) -> None:
    """A header that makes no sense is answered like any other; there is no header that the server fails at."""
    async with Pool(ToySpec(), 1) as pool, served(pool) as url:
        port = int(url.rpartition(":")[2])
        assert await raw(port, header) == status
    async with Pool(ToySpec(), 1) as pool, served(pool, token="s3cret") as url:  # noqa: S106
        port = int(url.rpartition(":")[2])
        assert await raw(port, header) == 401


async def raw(port: int, header: str) -> int:
    """Ask for the status with a header as it is written here, and return the HTTP status of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /v1/status HTTP/1.1\r\n{header}\r\nConnection: close\r\n\r\n".encode("latin-1"))
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1])


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # aiohttp's, of which nobody is told
async def test_what_is_too_large_is_named() -> None:
    """A request above the server's limit is a protocol error that says so, and the episode ends with it."""
    async with Pool(ToySpec(), 1) as behind, served(behind) as url, Pool(ToySpec(), 1, HttpBackend(url)) as pool:
        env = await pool.acquire("r")
        await env.reset(3)
        with pytest.raises(EnvProtocolError, match="larger than"):
            await env.step("x" * (9 << 20))


def descriptors() -> int:
    """Count what this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_closing_closes_connections() -> None:
    """A pool that was closed holds no connection to its server any more."""
    async with Pool(ToySpec(), 2) as behind, served(behind) as url:
        backend = HttpBackend(url)
        before = descriptors()
        for _ in range(2):  # and the next one opens them anew
            async with Pool(ToySpec(), 2, backend) as pool:
                for name in ("a", "b"):
                    async with await pool.acquire(name) as env:
                        await env.reset(1)
            assert await until(lambda: descriptors() <= before)


async def test_sessions_expire() -> None:
    """A session that nobody calls is taken back by the server, and its client is told."""
    async with (
        Pool(ChancySpec(), 1, limits=PoolLimits(lease_s=1.0)) as behind,
        served(behind) as url,
        Pool(ChancySpec(), 2, HttpBackend(url)) as pool,
    ):
        lost = await pool.acquire("lost")
        await lost.reset(3)
        async with await pool.acquire("next", timeout=60) as env:
            assert await env.reset(1) == "count to 1"
        with pytest.raises(EnvDied):
            await lost.step("too late")


async def test_a_full_server_is_an_acquire_timeout() -> None:
    """Where the server has none free, the client waits no longer than it may."""
    async with (
        Pool(ToySpec(), 1) as behind,
        served(behind) as url,
        Pool(ToySpec(), 2, HttpBackend(url), limits=PoolLimits(start_s=0.5)) as pool,
    ):
        held = await pool.acquire("a")
        with pytest.raises(EnvAcquireTimeout):
            await pool.acquire("b", timeout=1.0)
        await held.close()


@pytest.mark.parametrize("spec", [ToySpec(), ChancySpec()], ids=["replayed", "not-replayed"])
def test_the_command_serves_and_may_be_killed(spec: ToySpec) -> None:
    """`adjudge env serve` leases; when the server is killed, the rollout is told, and its workers are gone."""
    place = f"environments.toys:{type(spec).__name__}"
    command = [sys.executable, "-m", "adjudge", "env", "serve", place, "--port", "0", "--backend", "worker"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line.startswith(f"serving {spec.kind} at http://127.0.0.1:")

        async def play() -> None:
            limits = PoolLimits(start_s=3.0)  # how long a server that is gone is waited for
            async with Pool(spec, 1, HttpBackend(line.split()[-1]), limits=limits) as pool:
                env = await pool.acquire("r")
                await env.reset(5)
                pid = (await env.step("one")).info["pid"]
                server.send_signal(signal.SIGKILL)
                server.wait(5)
                assert all_gone([pid])
                with pytest.raises(EnvDied):
                    await env.step("two")

        asyncio.run(play())


def test_what_the_command_refuses() -> None:
    """A wrong kind is one line that names the closest."""
    done = subprocess.run(
        [sys.executable, "-m", "adjudge", "env", "serve", "webshp"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "did you mean 'webshop'" in done.stderr


@pytest.mark.parametrize("kind", [":Spec", "..:Spec", "a b:Spec", "toys:"])
def test_a_place_that_is_none(kind: str) -> None:
    """What cannot be the place of a spec is an error that says so, whatever the import makes of it."""
    with pytest.raises(UsageError, match="cannot be imported"):
        default_spec(kind)


def test_a_port_that_is_taken() -> None:
    """An address at which the server cannot listen is one line that says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "adjudge", "env", "serve", "webshop", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in done.stderr
    assert "try another --port" in done.stderr
    assert json.dumps(done.stdout) == '""'

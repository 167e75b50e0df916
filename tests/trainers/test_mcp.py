"""A server of MCP tools as a world: the real package, over standard streams and over HTTP.

`make integration` runs it in an environment that has mcp.
"""

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from adjudge.environments import Context, EnvBadTask, EnvDied, EnvStepTimeout, Pool, PoolLimits
from adjudge.errors import UsageError
from adjudge.integrations.mcp import McpSpec
from adjudge.rewards import get_reward
from processes.helpers import soon

TILL = (sys.executable, str(Path(__file__).with_name("mcp_till.py")))
SPEC = McpSpec(command=TILL, reset_tool="start", outcome_tool="number", last_tools=("done",))


def call(tool: str, **arguments: Any) -> str:
    """Return an action."""
    return json.dumps({"tool": tool, "arguments": arguments})


async def play(spec: McpSpec, task: Any, actions: list[str]) -> tuple[list[Any], Any]:
    """Play an episode and score it."""
    async with Pool(spec, 1) as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource("mcp")
        seen: list[Any] = [await env.reset(task), env.first]
        for action in actions:
            step = await env.step(action)
            seen.append((step.observation, step.done))
        return seen, await get_reward("episode_reward", kind="mcp").ascore({}, context=context)


@pytest.mark.parametrize(("tool", "success"), [("number", None), ("fields", 1.0)])
def test_an_episode(tool: str, success: float | None) -> None:
    """Tools are called, the last one ends it, and the outcome tool says what it is worth."""
    spec = McpSpec(command=TILL, reset_tool="start", outcome_tool=tool, last_tools=("done",))
    actions = [
        call("give", cents=20),
        call("done", fail=True),
        call("give", cents=10),
        call("done"),
        call("give", cents=1),
    ]
    seen, score = asyncio.run(play(spec, {"change": 30}, actions))
    assert seen[0].startswith("Give 30.\n\nTools:\ngive: Give a coin.")
    assert "start" not in [one["function"]["name"] for one in seen[1].info["tools"]]
    assert tool not in seen[0]
    assert seen[2] == ("20", False)
    assert ("not yet" in seen[3][0], seen[3][1]) == (True, False)
    assert seen[4:6] == [("30", False), ("Closed.", True)]
    assert seen[6][1]
    assert (score.status, score.value, score.parts) == ("scored", 1.0, {"success": success})


@pytest.mark.parametrize(
    "action", ["give 20", "[]", '{"tool": 3}', '{"tool": "give", "arguments": 3}', '{"tool": "number"}']
)
def test_what_is_not_an_action(action: str) -> None:
    """It is answered, nothing is done, and what is ours cannot be called."""
    seen, score = asyncio.run(play(SPEC, {"change": 30}, [action]))
    assert "An action is JSON" in seen[2][0] or "There is no tool" in seen[2][0]
    assert score.value == 0.0


def test_wrong_arguments_are_for_the_agent() -> None:
    """The server's message is the observation."""
    seen, _ = asyncio.run(play(SPEC, {"change": 30}, [call("give", coins=3)]))
    assert "cents" in seen[2][0]


def test_episodes_start_afresh() -> None:
    """With a reset tool by it, without one by a new server; nothing is left of the episode before."""

    async def twice(spec: McpSpec, task: Any) -> list[str]:
        async with Pool(spec, 1) as pool:
            given = []
            for name in ("a", "b"):
                async with Context(name, pools=[pool]) as context:
                    env = await context.acquire_resource("mcp")
                    await env.reset(task)
                    given.append((await env.step(call("give", cents=5))).observation)
            return given

    assert asyncio.run(twice(SPEC, {"change": 9})) == ["5", "5"]
    assert asyncio.run(twice(McpSpec(command=TILL, outcome_tool="number"), None)) == ["5", "5"]


def test_faults_are_faults() -> None:
    """A server that dies, a task that it refuses, an outcome in words, a spec without one: never a number."""
    with pytest.raises(EnvDied):
        asyncio.run(play(SPEC, {"change": 30}, [call("give", cents=666)]))
    with pytest.raises(EnvDied):
        asyncio.run(play(McpSpec(command=(sys.executable, "-c", "1")), None, []))
    for task in ({"change": -1}, {"colour": 1}, 7):
        with pytest.raises(EnvBadTask):
            asyncio.run(play(SPEC, task, []))
    for spec in (McpSpec(command=TILL, outcome_tool="words"), McpSpec(command=TILL)):
        _, score = asyncio.run(play(spec, None, []))
        assert (score.status, score.value) == ("error", None)
        assert str(score.reason).startswith("env-protocol")
    with pytest.raises(UsageError, match="has no tool nothing; it has start"):
        asyncio.run(play(McpSpec(command=TILL, outcome_tool="nothing"), None, []))
    with pytest.raises(UsageError, match="command of the MCP server, or its url"):
        McpSpec()


def test_a_server_that_hangs_ends_with_its_world(tmp_path: Path) -> None:
    """Its process is not left behind by a step that takes too long."""
    place = tmp_path / "pid"
    code = f"import os, runpy; open({str(place)!r}, 'w').write(str(os.getpid()))"
    code += f"; runpy.run_path({TILL[1]!r}, None, '__main__')"
    spec = McpSpec(command=(sys.executable, "-c", code), reset_tool="start", outcome_tool="number")

    async def hang() -> None:
        async with Pool(spec, 1, limits=PoolLimits(step_s=3.0)) as pool, Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("mcp")
            await env.reset({"change": 5})
            with pytest.raises(EnvStepTimeout):
                await env.step(call("give", cents=777))

    asyncio.run(hang())
    server = Path("/proc") / place.read_text(encoding="utf-8")
    assert soon(lambda: not server.exists())


def test_a_missing_program_is_named() -> None:
    """It is none of the server's faults."""
    with pytest.raises(EnvDied, match="no program 'no-such-till'"):
        asyncio.run(play(McpSpec(command=("no-such-till",)), None, []))


def test_over_http() -> None:
    """The same server behind an address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([*TILL, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            assert soon(lambda: _answers(port))
            spec = McpSpec(url=f"http://127.0.0.1:{port}/mcp", reset_tool="start", outcome_tool="number")
            seen, score = asyncio.run(play(spec, {"change": 4}, [call("give", cents=1)]))
            assert (seen[2], score.value) == (("1", False), 0.25)
        finally:
            server.kill()


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0

"""The real worlds through pools, contexts and rewards."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from adjudge.environments import Context, EnvBadTask, Pool
from adjudge.environments.alfworld import AlfworldSpec, games
from adjudge.environments.scienceworld import ScienceWorldSpec, ScienceWorldTask
from adjudge.rewards import alfworld_episode_reward, scienceworld_reward
from environments.worlds import needs
from processes.helpers import TESTS

TASK = ScienceWorldTask("lifespan-longest-lived", simplifications="easy")


def java_of(worker: int) -> int:
    """Return the Java process of a worker."""
    return int(Path(f"/proc/{worker}/task/{worker}/children").read_text(encoding="ascii").split()[0])


@needs("scienceworld")
async def test_scienceworld_is_played_on_through_deaths() -> None:
    """An episode goes on, by replay, after its Java or its worker was killed; the reward is the real score."""
    with Pool(ScienceWorldSpec(), 1) as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource(ScienceWorldSpec())
            with pytest.raises(EnvBadTask):
                await env.reset(ScienceWorldTask("boil", variation=30))
            observation = await env.reset(TASK)
            assert "Your task is to find the animal with the longest life span" in observation
            await env.step("teleport to outside")
            worker = env.member.instance.pid  # type: ignore[union-attr]
            os.kill(java_of(worker), signal.SIGKILL)
            assert (await env.step("look around")).info["moves"] == 1
            os.kill(env.member.instance.pid, signal.SIGKILL)  # type: ignore[union-attr]
            step = await env.step("look around")
            assert (step.info["moves"], "outside" in step.observation) == (1, True)
            step = await env.step("focus on baby baby brown bear")
            assert (step.done, step.info["done_reason"]) == (True, "completed")
            result = await scienceworld_reward(None, context=context)
            assert (result["reward"], result["score_raw"], result["success"]) == (1.0, 100.0, True)
        assert pool.counts().faults == 2


@needs("alfworld")
async def test_alfworld_is_won_in_a_pool() -> None:
    """A rollout's commands and its reward reach the same game."""
    game = next(game for game in games() if game.name == "mug_on_desk")
    with Pool(AlfworldSpec(), 1) as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("alfworld")
            await env.reset(game.name)
            for command in game.solution:
                assert await alfworld_episode_reward(context=context) == {"reward": 0.0}
                await env.step(command)
            assert await alfworld_episode_reward(context=context) == {"reward": 1.0}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_installing_the_worlds_shows_what_it_does() -> None:
    """`make worlds` compiles for minutes: it says so first, and pip is not silenced."""
    dry = ["make", "--dry-run", "--always-make", "--no-print-directory", ".venv/.worlds"]
    lines = subprocess.run(dry, cwd=TESTS.parent, capture_output=True, text=True, check=True).stdout.splitlines()
    (build,) = [number for number, line in enumerate(lines) if "pip wheel" in line]
    assert "--quiet" not in lines[build] + lines[build + 1]
    assert "minutes" in lines[build - 1]

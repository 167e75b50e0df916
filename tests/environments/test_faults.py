"""A dead environment never looks like a failed agent, and leaves nothing behind."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

from adjudge.environments import (
    Context,
    EnvDied,
    EnvError,
    EnvProtocolError,
    EnvStepTimeout,
    Pool,
    PoolLimits,
    WorkerBackend,
)
from adjudge.errors import AdjudgeError
from environments.toys import ChancySpec, ToySpec
from environments.waiting import until
from processes.helpers import TESTS, all_gone, children
from support import soak


async def test_an_episode_goes_on_by_replay() -> None:
    """A deterministic episode survives the death of its process: its actions are done again in a fresh one."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(9)
            pid = (await env.step("one")).info["pid"]
            os.kill(pid, signal.SIGKILL)
            step = await env.step("two")
            assert (step.observation, step.info["pid"] != pid) == ("2: two", True)
            os.kill(step.info["pid"], signal.SIGKILL)
            assert (await env.outcome()).observation == "one|two"
        counts = pool.counts()
        assert (counts.faults, counts.starts, counts.leased) == (2, 3, 0)


async def test_without_replay_the_death_is_an_error() -> None:
    """Where a replay would not be honest, every further call says what the episode died of; a reset starts afresh."""
    with Pool(ChancySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("chancy")
            await env.reset(9)
            os.kill((await env.step("one")).info["pid"], signal.SIGKILL)
            for call in (env.step("two"), env.step("three"), env.outcome()):
                with pytest.raises(EnvDied, match="SIGKILL"):
                    await call
            assert await env.reset(9) == "count to 9"
            assert (await env.step("again")).observation == "1: again"


@pytest.mark.parametrize("backend", ["process", "worker"])
async def test_a_world_that_breaks(backend: str) -> None:
    """An exception of the world is the end of it, told as such; an action that always kills is not tried for ever."""
    with Pool(ToySpec(), 1, backend) as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(9)
            await env.step("one")
            with pytest.raises(EnvDied, match="the toy broke"):
                await env.step("crash")
            with pytest.raises(EnvDied, match="the toy broke"):
                await env.outcome()
            assert await env.reset(9) == "count to 9"
        assert pool.counts().faults == 4


async def test_a_deadly_action_and_a_deadly_task() -> None:
    """An action or a task that kills every process it is given to ends as `EnvDied` after a few."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(9)
            with pytest.raises(EnvDied):
                await env.step("die")
            with pytest.raises(EnvDied):
                await env.reset({"goal": 1, "deadly": True})
            assert await env.reset(9) == "count to 9"


async def test_a_call_that_takes_too_long() -> None:
    """A step over its time is `EnvStepTimeout`, its process is killed, and the episode is over, replay or not."""
    with Pool(ToySpec(), 1, "worker", limits=PoolLimits(step_s=1.0)) as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(9)
            for call in (env.step("hang"), env.step("next"), env.outcome()):
                with pytest.raises(EnvStepTimeout):
                    await call
            assert await env.reset(9) == "count to 9"


async def test_memory_is_bounded() -> None:
    """A world that eats memory meets its worker's limit."""
    with Pool(ChancySpec(), 1, WorkerBackend(memory_mb=400)) as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("chancy")
            await env.reset(9)
            with pytest.raises(EnvDied, match="memory limit") as caught:
                await env.step("grow")
            assert caught.value.code == "out-of-memory"


async def test_an_answer_that_is_none() -> None:
    """A world whose answer cannot be sent is `EnvProtocolError` or its end, never a step."""
    with Pool(ChancySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("chancy")
            await env.reset(9)
            with pytest.raises((EnvProtocolError, EnvDied)):
                await env.step("odd")


async def test_a_cancelled_step_was_not_done() -> None:
    """A cancelled step takes its process with it; a deterministic episode goes on as if it had not been asked."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(9)
            await env.step("one")
            task = asyncio.create_task(env.step("sleep 30"))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await env.step("two")).observation == "2: two"


@pytest.mark.parametrize("call", ["step", "reset", "outcome"])
async def test_a_cancelled_call_says_so(call: str) -> None:
    """Where an episode cannot go on after a call was cancelled, the error says that the caller cancelled it."""
    with Pool(ChancySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("chancy")
            await env.reset(9)
            instance = env.member.instance if env.member else None
            calls = {"step": env.step("sleep 30"), "reset": env.reset(9), "outcome": env.outcome()}
            if call != "step":  # which a stopped worker answers as little
                os.kill(instance.pid, signal.SIGSTOP)  # type: ignore[union-attr]
            task = asyncio.create_task(calls.pop(call))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for unused in calls.values():
                unused.close()
            for late in (env.step("two"), env.outcome()):
                with pytest.raises(EnvDied, match="the caller cancelled a") as told:
                    await late
                assert told.value.code == "call-cancelled"
            assert await env.reset(9) == "count to 9"
            assert (await env.step("one")).observation == "1: one"


@pytest.mark.parametrize("spec", [ToySpec(max_calls=2), ChancySpec(max_calls=2)], ids=["replayed", "not-replayed"])
@pytest.mark.parametrize("goal", [2, 100], ids=["done", "call-limit"])
async def test_the_reward_of_a_finished_episode_needs_no_worker(spec: ToySpec, goal: int) -> None:
    """What an episode is worth is known with its last step: the worker may die before anybody asks."""
    with Pool(spec, 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource(spec)
            await env.reset(goal)
            await env.step("one")
            last = await env.step("two")
            assert last.done
            os.kill(last.info["pid"], signal.SIGKILL)
            for _ in range(2):
                outcome = await env.outcome()
                assert (outcome.observation, outcome.reward) == ("one|two", 2 / goal)
                assert outcome.done_reason == ("counted" if goal == 2 else "call-limit")
            assert (await env.step("three")).info["repeated"]
            assert pool.counts().starts == 1
            assert await env.reset(1) == "count to 1"
            assert (await env.outcome()).observation == ""


async def test_quick_and_slow_steps_in_turn() -> None:
    """A worker that was quick may take long the next time: the event loop goes on, and each answer is its step's."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    with Pool(ToySpec(), 1, "worker") as pool:
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(500)
            ticking = asyncio.create_task(tick())
            actions = ["a", "sleep 0.003", "b", "sleep 0.3", "c", "d", "sleep 0.001", "e"]
            for number, action in enumerate(actions, 1):
                assert (await env.step(action)).observation == f"{number}: {action}"
            ticking.cancel()
            assert ticks > 10
            assert (await env.outcome()).observation == "|".join(actions)


async def test_an_instance_that_dies_while_free_is_not_handed_out() -> None:
    """The next rollout gets one that answers."""
    with Pool(ToySpec(), 1, "worker") as pool:
        async with await pool.acquire("a") as env:
            await env.reset(3)
            pid = (await env.step("who")).info["pid"]
        os.kill(pid, signal.SIGKILL)
        async with await pool.acquire("b") as env:
            await env.reset(3)
            assert (await env.step("who")).info["pid"] != pid
        assert pool.counts().faults == 1


async def test_a_release_under_a_running_call_ends_the_instance() -> None:
    """An environment that is given back while it is busy is ended, not handed out."""
    with Pool(ToySpec(), 1, "worker") as pool:
        context = Context("r", pools=[pool])
        env = await context.acquire_resource("toy")
        await env.reset(9)
        task = asyncio.create_task(env.step("sleep 30"))
        await asyncio.sleep(0.05)
        await context.release_resource()
        with pytest.raises(AdjudgeError):
            await asyncio.wait_for(task, 60)
        async with await pool.acquire("next", timeout=60) as other:
            assert await other.reset(1) == "count to 1"


@pytest.mark.soak
@pytest.mark.parametrize("victims", ["used", "any"])
@pytest.mark.parametrize("spec", [ToySpec(), ChancySpec()], ids=["replayed", "not-replayed"])
async def test_kills_among_many_rollouts(spec: ToySpec, victims: str) -> None:
    """256 rollouts on 8 workers, 20 kill -9 of those in use, or of any: each finishes or ends as a typed error."""
    rollouts, kills, chance = soak(256), soak(20), random.Random(3)  # noqa: S311 (which worker is killed)
    before = children()
    pids: set[int] = set()
    ends: Counter[str] = Counter()
    steps = 0

    async def rollout(number: int) -> None:
        nonlocal steps
        try:
            async with Context(f"r{number}", pools=[pool]) as context:
                env = await context.acquire_resource(spec, timeout=120)
                await env.reset(30)
                for step in range(30):
                    pids.add((await env.step(f"{number}.{step}")).info["pid"])
                    steps += 1
                    if steps % (rollouts * 20 // kills) == 0 and ends["kill"] < kills:
                        ends["kill"] += 1
                        there = children() - before
                        os.kill(chance.choice(sorted(there if victims == "any" else pids & there)), signal.SIGKILL)
                    await asyncio.sleep(0.001)
                expected = "|".join(f"{number}.{step}" for step in range(30))
                outcome = await env.outcome()
                assert (outcome.observation, outcome.reward) == (expected, 1.0)
                ends["done"] += 1
        except EnvError as error:
            ends[error.code] += 1

    with Pool(spec, 8, "worker") as pool:
        await asyncio.gather(*(rollout(number) for number in range(rollouts)))
        assert ends["kill"] == kills
        assert ends["done"] + ends["env-died"] == rollouts
        if spec.deterministic:
            assert ends["done"] == rollouts
        assert await until(lambda: pool.counts().starting == 0)
        counts = pool.counts()
        assert (counts.leased, counts.waiting) == (0, 0)
        assert counts.given == counts.returned == rollouts
        assert counts.starts == counts.free + counts.dead
        await pool.aclose()
    assert all_gone(pids)
    assert children() <= before


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_workers_die_with_their_parent(ending: signal.Signals) -> None:
    """However the parent ends, its workers go with it, one in the middle of a step too."""
    command = [sys.executable, str(Path(__file__).with_name("parents.py"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 3
        parent.send_signal(ending)
        parent.wait(60)
        assert all_gone(pids)


def test_a_forked_child_starts_with_nothing() -> None:
    """A forked child has a pool without instances, and may start its own; the parent's go on."""
    with Pool(ToySpec(), 1, "worker") as pool:
        context = Context("r", pools=[pool])
        env = context.sync.acquire_resource("toy")
        env.reset(5)
        env.step("before")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on: forking with threads
            child = os.fork()
        if child == 0:
            with Context("c", pools=[pool]) as other:
                mine = other.sync.acquire_resource("toy", timeout=60)
                good = mine.reset(2) == "count to 2" and pool.counts().starts == 1
            os._exit(0 if good else 1)
        deadline = time.monotonic() + 60
        status = 0
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.02)
        assert os.waitstatus_to_exitcode(status) == 0
        assert env.step("after").observation == "2: after"
        context.sync.release_resource()

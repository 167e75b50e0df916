"""ScienceWorld, the real simulator in a real Java process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.environments import EnvBadTask, EnvDied, EnvError, EnvProtocolError
from adjudge.environments.scienceworld import ScienceWorldSpec, ScienceWorldTask
from adjudge.environments.scienceworld._world import ScienceWorld
from environments.worlds import Remote, gone, needs
from support import soak

pytestmark = needs("scienceworld")

SHORT = ScienceWorldTask("find-non-living-thing")
BOIL = ScienceWorldTask("boil", variation=0, simplifications="easy")

SOLVED = (
    *("find-non-living-thing", "lifespan-longest-lived", "lifespan-shortest-lived"),
    *("lifespan-longest-lived-then-shortest-lived", "find-animal", "find-living-thing", "find-plant"),
    *("identify-life-stages-2", "chemistry-mix", "measure-melting-point-known-substance", "freeze"),
    *("change-the-state-of-matter-of", "chemistry-mix-paint-secondary-color", "chemistry-mix-paint-tertiary-color"),
    *("measure-melting-point-unknown-substance", "melt", "boil", "identify-life-stages-1"),
    *("inclined-plane-friction-named-surfaces", "inclined-plane-determine-angle", "grow-plant", "grow-fruit"),
    *("power-component", "power-component-renewable-vs-nonrenewable-energy", "test-conductivity"),
    *("test-conductivity-of-unknown-substances", "use-thermometer"),
)
"""The tasks whose solution by the simulator itself fits into 100 moves: 27 of 30."""

HISTORIES = ("chemistry-mix-paint-secondary-color", *sorted(set(SOLVED) - {"chemistry-mix-paint-secondary-color"}))
"""The same, first one whose objects a Java process orders by what it has played before, unless it is told not to."""


@pytest.fixture(scope="module")
def shared() -> Iterator[ScienceWorld]:
    """Start Java once for the tests that leave it as it was."""
    world = ScienceWorldSpec().build()
    yield world
    world.close()


@pytest.fixture
def world(shared: ScienceWorld) -> Iterator[ScienceWorld]:
    """Give back the limits that a test may have changed."""
    yield shared
    shared._spec = ScienceWorldSpec()


@pytest.mark.soak
def test_the_simulators_own_solutions_complete_their_tasks(world: ScienceWorld) -> None:
    """All 27 tasks whose solution fits into the limit end at 100 (in `make test`, two of them)."""
    assert len(set(SOLVED)) == 27
    for name in SOLVED[: soak(27)]:
        path = world.gold_path(name)
        world.reset(name)
        steps = [world.step(action) for action in path]
        outcome = world.outcome()
        assert (name, outcome.score_raw, outcome.reward, outcome.success) == (name, 100.0, 1.0, True)
        assert (outcome.failed, outcome.done_reason, steps[-1].done) == (False, "completed", True)
        assert sum(step.reward or 0.0 for step in steps) == pytest.approx(1.0)


def test_the_first_observation_says_what_to_do_and_what_is_there(world: ScienceWorld) -> None:
    """A reset returns the task and the first look around, has taken no move and has no score."""
    observation = world.reset(BOIL)
    assert observation.startswith("Your task is to boil water.")
    assert "This room is called the hallway." in observation
    assert world.info() == {"score": 0, "moves": 0, "done_reason": None}
    assert world.outcome().task == {"name": "boil", "variation": 0, "simplifications": "easy"}


def test_free_actions_never_end_an_episode(world: ScienceWorld) -> None:
    """What takes no time counts as no move, however often it is done."""
    world._spec = ScienceWorldSpec(step_limit=1)
    world.reset(BOIL)
    steps = [world.step(action) for action in ("look around", "inventory", "task", "help", "nonsense") * 2]
    assert [(step.done, step.info["moves"]) for step in steps] == [(False, 0)] * 10


def test_calls_are_capped(world: ScienceWorld) -> None:
    """Free actions count as calls, and the last call that is allowed ends the episode."""
    world._spec = ScienceWorldSpec(max_calls=3)
    world.reset(BOIL)
    assert [world.step("look around").done for _ in range(3)] == [False, False, True]
    assert world.outcome().done_reason == "call-limit"


def test_more_moves_than_the_limit_end_an_episode(world: ScienceWorld) -> None:
    """The limit itself is still allowed, as in the package's own wrapper."""
    world._spec = ScienceWorldSpec(step_limit=1)
    world.reset(BOIL)
    assert not world.step("look at kitchen").done
    step = world.step("look at kitchen")
    assert (step.done, step.info["done_reason"], step.info["moves"]) == (True, "step-limit", 2)


def test_a_score_below_zero_is_a_failure(world: ScienceWorld) -> None:
    """The wrong focus ends the episode at -100; the reward is 0, and nothing that follows changes it."""
    world.reset(BOIL)
    step = world.step("focus on agent")
    assert (step.done, step.reward, step.info["score"]) == (True, -1.0, -100)
    ended = world.outcome()
    assert (ended.reward, ended.score_raw, ended.success, ended.failed) == (0.0, -100.0, False, True)
    after = world.step("look around")
    assert (after.observation, after.done, after.reward) == ("The episode is over (failed).", True, 0.0)
    assert world.outcome() == ended


def test_the_last_episode_leaves_nothing_behind(world: ScienceWorld) -> None:
    """A reset after a failure starts at 0, although the simulator itself keeps the last score until the next step."""
    world.reset(BOIL)
    world.step("focus on agent")
    world.reset(SHORT)
    assert (world.outcome().score_raw, world.outcome().failed, world.outcome().done_reason) == (0.0, False, None)


def test_reading_the_outcome_changes_nothing(world: ScienceWorld) -> None:
    """An outcome read twice is the same, and takes no move."""
    world.reset(BOIL)
    world.step("look at kitchen")
    assert world.outcome() == world.outcome()
    assert world.info()["moves"] == 1


@pytest.mark.parametrize(
    "task",
    [
        "boyl",
        ScienceWorldTask("boil", variation=30),
        ScienceWorldTask("boil", variation=-1),
        {"name": "boil", "variation": True},
        {"name": "boil", "seed": 1},
        {"variation": 1},
        ScienceWorldTask("boil", simplifications="opendoors"),
        ScienceWorldTask("boil", simplifications="easy,openDoors"),
        ScienceWorldTask("power-component", simplifications="noElectricalAction"),
        "",
        7,
        None,
    ],
    ids=repr,
)
def test_there_is_no_such_task(world: ScienceWorld, task: Any) -> None:
    """An unknown task, a variation out of range and unknown simplifications are errors; the world can still be used."""
    with pytest.raises(EnvBadTask):
        world.reset(task)
    assert world.outcome().done_reason == "no-episode"
    assert world.reset(SHORT)


@pytest.mark.parametrize(
    "action", ['pour & # / " ] \\ into \n cup', "caf\u00e9 \U0001f600 \u202e", "\x00", "", "a" * 10_000, "\r\n\t"]
)
def test_any_text_arrives(world: ScienceWorld, action: str) -> None:
    """An action reaches the simulator as it was written, and is an observation however little sense it makes."""
    world.reset(BOIL)
    step = world.step(action)
    assert not step.done
    assert list(world._jvm.server.getActionHistory())[-1] == action


def test_half_a_character_is_no_fault(world: ScienceWorld) -> None:
    """A lone surrogate, which cannot be sent, is an action that is not understood."""
    world.reset(BOIL)
    assert "No known action" in world.step("\ud800").observation


def test_an_error_text_is_an_error(world: ScienceWorld) -> None:
    """What the simulator calls an ERROR is raised, at every call, until the next reset: it has no score."""
    world.reset(BOIL)
    world._jvm.server.load("boil", 999, "", False)  # noqa: FBT003  # Java takes no keywords
    with pytest.raises(EnvProtocolError, match="variation"):
        world.step("look around")
    with pytest.raises(EnvProtocolError):
        world.outcome()
    assert world.reset(BOIL)
    assert world.outcome().score_raw == 0.0


def test_a_crash_inside_the_simulator_is_no_failure_of_the_agent(world: ScienceWorld) -> None:
    """After an exception of its own the simulator answers with -100 for ever; that is raised and is no score."""
    world.reset(BOIL)
    world._agent.setErrorState("java.lang.NullPointerException")
    with pytest.raises(EnvProtocolError, match="NullPointerException"):
        world.step("look around")
    with pytest.raises(EnvProtocolError):
        world.outcome()


def test_a_step_needs_an_episode(shared: ScienceWorld) -> None:
    """A step before the first reset says what to do."""
    shared._episode = None
    with pytest.raises(EnvError, match="call reset") as caught:
        shared.step("look around")
    assert caught.value.code == "no-episode"


def test_replays_are_the_same(world: ScienceWorld) -> None:
    """The same task and actions give the same episode: here again, after another one, and in another process."""
    path = [*world.gold_path(SHORT), "wait", "look around"]

    def play() -> list[Any]:
        return [world.reset(SHORT), *((s.observation, s.info["score"]) for s in map(world.step, path))]

    first = play()
    world.reset(BOIL)
    world.step("wait1")
    assert play() == first
    with Remote(ScienceWorldSpec()) as remote:
        start, *steps, outcome = remote.play(ScienceWorldSpec().task(SHORT), path)
    assert [start, *((step["observation"], step["info"]["score"]) for step in steps)] == first
    assert outcome["success"] is True


@pytest.mark.soak
def test_a_fresh_java_answers_as_a_used_one(world: ScienceWorld) -> None:
    """Whatever a Java process has played before, all 27 tasks go the same way in it as in a fresh one (here, two)."""
    for name in HISTORIES[: soak(27)]:
        # A look after every action shows the order in which the objects of a room are kept.
        path = [action for one in world.gold_path(name) for action in (one, "look around")]
        fresh = ScienceWorldSpec().build()
        try:
            assert play(fresh, name, path) == play(world, name, path), name
        finally:
            fresh.close()


def play(world: ScienceWorld, name: str, path: list[str]) -> list[Any]:
    """Play a task and return what was seen."""
    return [world.reset(name), *((step.observation, dict(step.info)) for step in map(world.step, path))]


def test_java_dies_with_its_worker() -> None:
    """Java is in the worker's process group, and is gone within 5 s of a kill -9 of the worker alone."""
    remote = Remote(ScienceWorldSpec())
    java, worker = remote.ask("pid"), remote.worker.pid
    assert os.getpgid(java) == worker
    os.kill(worker, signal.SIGKILL)
    assert gone(java)
    remote.worker.close()


def test_a_closed_worker_leaves_no_java() -> None:
    """Java is gone when the worker is closed in good order, in the middle of an episode."""
    with Remote(ScienceWorldSpec()) as remote:
        remote.ask("reset", "boil")
        java = remote.ask("pid")
    assert gone(java)


def test_a_killed_java_is_a_death(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """After a kill -9 of Java every call is `EnvDied`, no outcome is made up, and nothing is logged or printed."""
    world = ScienceWorldSpec().build()
    try:
        world.reset(BOIL)
        os.kill(world.pid, signal.SIGKILL)
        for call in (lambda: world.step("look around"), world.outcome, lambda: world.reset(BOIL)):
            with pytest.raises(EnvDied):
                call()
    finally:
        world.close()
        world.close()
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_nobody_else_can_give_java_commands(world: ScienceWorld) -> None:
    """The port answers only whoever has the token."""
    from py4j.java_gateway import GatewayParameters, JavaGateway
    from py4j.protocol import Py4JError

    port = world._jvm._gateway.gateway_parameters.port
    stranger = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    with pytest.raises(Py4JError):
        stranger.jvm.java.lang.System.getProperty("user.home")
    stranger._gateway_client.is_connected = False
    stranger.close()


@pytest.mark.soak
def test_memory_is_bounded() -> None:
    """After 200 episodes (in `make test`, 20) a Java process holds 500 MB or less."""
    world = ScienceWorldSpec().build()
    tasks = ("boil", "find-plant", "grow-plant", "power-component")
    try:
        for number in range(soak(200)):
            world.reset(ScienceWorldTask(tasks[number % 4], variation=number // 4 % 5, simplifications="easy"))
            for _ in range(5):
                world.step("wait1")
        status = Path(f"/proc/{world.pid}/status").read_text(encoding="ascii")
    finally:
        world.close()
    assert int(status.partition("VmRSS:")[2].split()[0]) / 1024 <= 500

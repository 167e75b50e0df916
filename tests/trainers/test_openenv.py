"""Environments of OpenEnv whose rubric is a scorer, in this process and behind its own server.

`make integration` runs it in an environment that has openenv-core.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("openenv.core")

import uvicorn
from openenv.core import GenericEnvClient
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from openenv.core.rubrics import ExponentialDiscountingTrajectoryRubric, TrajectoryRubric, WeightedSum

from adjudge.errors import UsageError
from adjudge.integrations import RewardFault
from adjudge.integrations.openenv import Steps, rubric
from adjudge.model import Score
from adjudge.rewards import reward
from support import ROOT
from trainers import golden


class Say(Action):  # type: ignore[misc]
    """What the agent says."""

    text: str


class Reply(Observation):  # type: ignore[misc]
    """What it hears."""

    text: str = ""


class Question(Environment[Say, Reply, State]):  # type: ignore[misc]
    """Asks a question; an answer without `?` ends the episode."""

    def __init__(self, scorer: Any, task: dict[str, Any], **options: Any) -> None:
        self.task = task
        super().__init__(rubric=rubric(scorer, row=self.row, **options))

    def row(self, steps: Steps) -> dict[str, Any]:
        """Return the episode as a row."""
        said = [action.text for action, _ in steps]
        return {**self.task, "final_response": said[-1], "turns": len(said)}

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Reply:
        """Ask."""
        self._reset_rubric()
        return Reply(text=self.task["question"])

    def step(self, action: Say, timeout_s: float | None = None, **options: Any) -> Reply:
        """Hear an answer."""
        reply = Reply(text="Go on.", done="?" not in action.text)
        reply.reward = self._apply_rubric(action, reply)
        return reply

    async def step_async(self, action: Say, timeout_s: float | None = None, **options: Any) -> Reply:
        """Hear an answer, for rubrics that wait."""
        reply = Reply(text="Go on.", done="?" not in action.text)
        reply.reward = await self._apply_rubric_async(action, reply)
        return reply

    @property
    def state(self) -> State:
        """Return the state, which has nothing to say."""
        return State()


TASK = {"question": "Capital?", "answer": "Paris"}


def own(final_response: str, answer: str, turns: int) -> Score:
    """Score three responses three ways."""
    outcomes = {"dead": Score.error("env-died: gone"), "tie": Score.unscored("tie")}
    return outcomes.get(final_response) or Score.scored(float(final_response == answer), parts={"turns": float(turns)})


def test_an_episode_has_the_reward_of_its_scorer() -> None:
    """Steps before the end have OpenEnv's own 0.0; the last one has the number, and the rubric the whole score."""
    world = Question(own, TASK)
    world.reset()
    replies = [world.step(Say(text=text)) for text in ("Lyon?", "Paris")]
    assert [(one.reward, one.done) for one in replies] == [(0.0, False), (1.0, True)]
    assert world.rubric.score.parts == {"turns": 2.0}
    assert world.rubric.compute_step_rewards() == [0.0, 1.0]
    world.reset()
    assert (world.rubric.score, world.rubric.compute_step_rewards()) == (None, [])
    assert world.step(Say(text="Paris")).reward == 1.0
    assert world.rubric.score.parts == {"turns": 1.0}


@pytest.mark.parametrize(("text", "status"), [("dead", "error"), ("tie", "unscored")])
def test_a_row_without_a_number_is_no_reward(text: str, status: str) -> None:
    """None, or 0.0 where that was asked for; the rubric says what it is."""
    for on_fault, expected in (("mask", None), ("zero", 0.0)):
        world = Question(own, TASK, on_fault=on_fault, max_failed=1.0)
        world.reset()
        assert world.step(Say(text=text)).reward == expected
        assert world.rubric.score.status == status
    world = Question(own, TASK, on_fault="raise", max_failed=1.0)
    with pytest.raises(RewardFault, match=status):
        world.step(Say(text=text))


def test_their_sum_does_not_make_a_number_of_it() -> None:
    """In a sum of OpenEnv's, none is not a number: the step fails, and nothing is trained on."""
    one, other = (Question(scorer, TASK, max_failed=1.0).rubric for scorer in (own, "qa_f1_reward"))
    both = WeightedSum([one, other], [0.5, 0.5])
    assert both(Say(text="Paris"), Reply(done=True)) == 1.0
    with pytest.raises(TypeError):
        both(Say(text="dead"), Reply(done=True))


def test_the_faults_of_all_clients_count_together() -> None:
    """Each client has an environment of its own; too many faults among all of them end the next episode."""
    worlds = [Question(own, TASK, name="together", window=20) for _ in range(3)]
    assert [world.step(Say(text="dead")).reward for world in worlds[:2]] == [None, None]
    with pytest.raises(RewardFault, match="together: 3 of the last 20"):
        worlds[2].step(Say(text="dead"))


def test_a_scorer_that_waits_is_awaited() -> None:
    """For OpenEnv it is an async rubric."""

    @reward
    async def slow(final_response: str, answer: str) -> float:
        await asyncio.sleep(0)
        return float(final_response == answer)

    async def play() -> list[Any]:
        world = Question(slow, TASK)
        world.reset()
        return [(await world.step_async(Say(text=text))).reward for text in ("Lyon?", "Paris")]

    assert asyncio.run(play()) == [0.0, 1.0]


def test_a_scorer_of_groups_is_refused() -> None:
    """An environment has one rollout."""

    @reward(group=True)
    def rank(final_response: list[str]) -> list[float]:
        return [1.0 for _ in final_response]

    with pytest.raises(UsageError, match="an environment has one"):
        rubric(rank, row=lambda steps: {})


def test_it_is_a_rubric_of_theirs() -> None:
    """Hooks, names and the like are OpenEnv's own."""
    made = rubric("qa_f1_reward", row=lambda steps: {"final_response": "Paris", "answer": "Paris"})
    assert isinstance(made, TrajectoryRubric)
    assert not isinstance(made, ExponentialDiscountingTrajectoryRubric)
    seen: list[Any] = []
    made.register_forward_hook(lambda rubric, action, observation, result: seen.append(result))
    made(Say(text="Paris"), Reply(done=True))
    assert seen == [made.last_score] == [1.0]


@contextmanager
def served(make: Callable[[], Question]) -> Iterator[str]:
    """Serve an environment with OpenEnv's server."""
    config = uvicorn.Config(create_fastapi_app(make, Say, Reply), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(("text", "expected"), [("Paris", 1.0), ("Lyon", 0.0), ("dead", None)])
def test_a_trainer_gets_it_over_the_network(text: str, expected: float | None) -> None:
    """A client of OpenEnv has the number, and None where there is none."""
    with (
        served(lambda: Question(own, TASK, max_failed=1.0)) as address,
        GenericEnvClient(base_url=address).sync() as client,
    ):
        assert client.reset().observation["text"] == "Capital?"
        assert client.step({"text": "Lyon?"}).reward == 0.0
        result = client.step({"text": text})
        assert (result.reward, result.done) == (expected, True)


@pytest.mark.parametrize("scorer", golden.SCORERS)
def test_golden_rows(scorer: str) -> None:
    """Rows have the numbers that they have everywhere; one without a number has no reward."""
    rows = golden.rows(scorer)
    worlds = [Question(scorer, {"question": row["prompt"], "answer": row["answer"]}, max_failed=1.0) for row in rows]
    ended = Reply(done=True)
    values = [world.rubric(Say(text=row["response"]), ended) for world, row in zip(worlds, rows, strict=True)]
    golden.check(scorer, values)


@contextmanager
def our_server(kind: str) -> Iterator[str]:
    """Serve a world of ours by the command, with a Python that has it; skip where there is none."""
    module = {"webshop": "adjudge", "scienceworld": "scienceworld", "alfworld": "textworld"}[kind]
    pythons = [sys.executable, str(ROOT / ".venv" / "bin" / "python")]
    found = [
        one
        for one in pythons
        if not subprocess.run([one, "-c", f"import {module}"], check=False, capture_output=True).returncode
    ]
    if not found:
        pytest.skip(f"needs {module}: make worlds")
    command = [found[0], "-m", "adjudge", "env", "serve", kind, "--openenv", "--port", "0", "--size", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


PLAYED: list[tuple[str, dict[str, Any], list[str], str]] = [
    ("webshop", {"seed": 0}, ["search[bottle]"], "Results"),
    ("scienceworld", {"task": {"name": "find-living-thing", "variation": 0}}, ["look around"], "room"),
    ("alfworld", {"task": "book_by_desklamp"}, ["look"], ""),
]


@pytest.mark.parametrize(("kind", "task", "actions", "shown"), PLAYED, ids=[row[0] for row in PLAYED])
def test_the_real_client_plays_our_worlds(kind: str, task: dict[str, Any], actions: list[str], shown: str) -> None:
    """Over the address of the only kind, and over that of the kind; at the end the place is free again."""
    with our_server(kind) as url:
        for address in (url, f"{url}/{kind}"):
            with GenericEnvClient(base_url=address).sync() as client:
                first = client.reset(**task, episode_id="e1")
                assert first.observation["text"]
                assert (first.reward, first.done) == (None, False)
                for action in actions:
                    result = client.step({"message": action})
                assert shown.lower() in result.observation["text"].lower()
                state = client.state()
                assert (state["episode_id"], state["step_count"], state["kind"]) == ("e1", len(actions), kind)
                with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                    client.step({"text": "x"})
                with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                    client.reset(task={"no": "such"})

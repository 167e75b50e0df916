"""How an episode ended is read and never advanced; what the environment does wrong is never the agent's."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from adjudge.environments import Context, EnvBadTask, EnvDied, EnvSpec, Pool, PoolLimits, WebShopSpec, World
from adjudge.errors import UsageError
from adjudge.model import Outcome, Step
from adjudge.rewards import alfworld_episode_reward, get_reward, scienceworld_reward, webshop_reward


class Room:
    """A world whose outcome is what it was told to be."""

    def __init__(self) -> None:
        self.outcome_ = Outcome()
        self.steps = 0

    def reset(self, task: Any) -> str:
        """Take the task for the outcome."""
        self.outcome_ = Outcome(**task) if isinstance(task, dict) else Outcome(reward=0.0, observation="shop")
        self.steps = 0
        return "begin"

    def step(self, action: str) -> Step:
        """Count, or break."""
        if action == "break":
            raise RuntimeError("the roof fell in")
        self.steps += 1
        return Step(f"{self.steps}")

    def outcome(self) -> Outcome:
        """Say what was told."""
        return self.outcome_

    def close(self) -> None:
        """Nothing to free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomSpec(EnvSpec):
    """A room."""

    kind: ClassVar[str] = "webshop"

    def build(self) -> World:
        """Make one."""
        return Room()


class AlfworldRoom(RoomSpec):
    """The same under another name."""

    kind: ClassVar[str] = "alfworld"


class Picky(AlfworldRoom):
    """A room that knows no task."""

    def task(self, task: Any) -> Any:
        """Refuse it."""
        raise EnvBadTask(f"there is no {task}")


class ScienceRoom(RoomSpec):
    """The same under another name."""

    kind: ClassVar[str] = "scienceworld"


def play(reward: Any, spec: EnvSpec, task: Any, *actions: str, **columns: Any) -> Any:
    """Play an episode and return what the reward says twice, which is the same."""

    async def main() -> Any:
        async with Pool(spec, 1) as pool, Context("r", pools=[pool]) as context:
            env = await context.acquire_resource(spec)
            if task is not None:
                await env.reset(task)
            for action in actions:
                try:
                    await env.step(action)
                except EnvDied:
                    continue
            first = await reward(context=context, **columns)
            assert first == await reward(context=context, **columns)
            return first

    return asyncio.run(main())


def engine(name: str, spec: EnvSpec, task: Any, *actions: str, **columns: Any) -> Any:
    """Play the same through the engine; the row has a column of every injected name."""

    async def ask(context: Context, **row: Any) -> Any:
        return await get_reward(name).ascore({**row, "context": "a column", "trajectory": 7}, context=context)

    return play(ask, spec, task, *actions, **columns)


@pytest.mark.parametrize("task", [0, 7])
def test_webshop(task: int) -> None:
    """The reward is that of the purchase, without one 0; task 0 is a task."""
    result = play(webshop_reward, RoomSpec(), task, "search[x]", final_response=None, task_id=task)
    assert result == {"reward": 0.0, "output": "shop"}
    bought = {"reward": 2 / 3, "observation": "thanks"}
    assert play(webshop_reward, RoomSpec(), bought, final_response="done", task_id=bought) == {
        "reward": 2 / 3,
        "output": "thanks",
    }


def test_webshop_of_another_task() -> None:
    """A row whose task is not the episode's is `EnvBadTask`: raised by a direct call, an error through the engine."""
    with pytest.raises(EnvBadTask, match="started with task 0"):
        play(webshop_reward, RoomSpec(), 0, final_response=None, task_id=1)
    score = engine("webshop_reward", RoomSpec(), 0, final_response=None, task_id=1)
    assert (score.status, score.value) == ("error", None)
    assert score.reason.startswith("env-bad-task: ")


@pytest.mark.parametrize(
    ("task", "value"),
    [
        ({"reward": 1.0, "success": True}, 1.0),
        ({"reward": 0.0, "success": False}, 0.0),
        ({"reward": 1.0}, 1.0),
        ({"reward": None}, 0.0),
    ],
)
def test_alfworld(task: dict[str, Any], value: float) -> None:
    """1 when the episode was won; None counts as 0."""
    assert play(alfworld_episode_reward, AlfworldRoom(), task) == {"reward": value}


@pytest.mark.parametrize(("raw", "value"), [(100.0, 1.0), (33.0, 0.33), (0.0, 0.0), (-100.0, 0.0), (None, 0.25)])
def test_scienceworld(raw: float | None, value: float) -> None:
    """The score so far as a share of 100, a negative one 0; the parts say the rest."""
    task = {"reward": 0.25, "score_raw": raw, "success": raw == 100.0, "failed": raw == -100.0, "observation": "lab"}
    result = play(scienceworld_reward, ScienceRoom(), task, final_response=None)
    assert result == {
        "reward": value,
        "output": "lab",
        "score_raw": raw,
        "success": raw == 100.0,
        "failed": raw == -100.0,
    }
    score = engine("scienceworld_reward", ScienceRoom(), task, final_response="x")
    assert (score.status, score.value) == ("scored", value)
    assert score.parts == {"score_raw": raw, "success": float(raw == 100.0), "failed": float(raw == -100.0)}


CASES = [
    ("webshop_reward", RoomSpec(), {"final_response": None, "task_id": 0}),
    ("alfworld_episode_reward", AlfworldRoom(), {}),
    ("scienceworld_reward", ScienceRoom(), {"final_response": None}),
]


@pytest.mark.parametrize(("name", "spec", "columns"), CASES)
def test_no_episode(name: str, spec: EnvSpec, columns: dict[str, Any]) -> None:
    """A rollout in which no episode was started scores 0 with the reason."""
    score = engine(name, spec, None, **columns)
    assert (score.status, score.value, score.reason) == ("scored", 0.0, "no-episode")


def test_no_environment_is_started_to_say_so() -> None:
    """A rollout that never had an environment is an error, never 0, and no reason to start one."""
    with Pool(RoomSpec(), 1) as pool:
        context = Context("r", pools=[pool])
        result = asyncio.run(webshop_reward(None, context=context, task_id=0))
        assert (result["reward"], result["error"].partition(":")[0]) == (0.0, "no-environment")
        row = {"final_response": None, "task_id": 0}
        score = asyncio.run(get_reward("webshop_reward").ascore(row, context=context))
        assert (score.status, score.value) == ("error", None)
        assert str(score.reason).startswith("no-environment: rollout r has no webshop environment")
        assert pool.counts().starts == 0


@pytest.mark.parametrize(("name", "spec", "columns"), CASES)
def test_a_dead_environment(name: str, spec: EnvSpec, columns: dict[str, Any]) -> None:
    """A death is an error Score; a direct call has 0.0 and the key `error`, which is there only then."""
    task = {"reward": 1.0, "success": True}
    columns = {**columns, **({"task_id": task} if "task_id" in columns else {})}
    score = engine(name, spec, task, "break", **columns)
    assert (score.status, score.value) == ("error", None)
    assert score.reason.startswith("env-died: ")
    result = play(get_reward(name).function, spec, task, "break", **columns)  # type: ignore[attr-defined]
    assert result["reward"] == 0.0
    assert "the roof fell in" in result["error"]
    assert "error" not in play(get_reward(name).function, spec, task, **columns)  # type: ignore[attr-defined]


def test_an_environment_that_is_gone_is_no_missing_episode() -> None:
    """A rollout that lost its environment, or gave it back before it was scored, is an error and not 0."""

    async def main() -> None:
        reward = get_reward("webshop_reward")
        row = {"final_response": "", "task_id": 0}
        async with Pool(RoomSpec(), 1, limits=PoolLimits(lease_s=1.0)) as pool:
            context = Context("r", pools=[pool])
            await context.reset_resource("webshop", 0)
            while not pool.counts().reaped:  # noqa: ASYNC110 (the reaper tells nobody)
                await asyncio.sleep(0.01)
            for one in (context, Context("r", pools=[pool])):
                score = await reward.ascore(row, context=one)
                assert (score.status, str(score.reason).partition(":")[0]) == ("error", "lease-expired")
            await context.release_resource()
            await context.reset_resource("webshop", 0)
            await context.release_resource()
            score = await reward.ascore(row, context=context)
            assert (score.status, str(score.reason).partition(":")[0]) == ("error", "lease-released")

    asyncio.run(main())


@dataclass
class Foreign:
    """A client of another library: a context and an environment in one, that answers reads with what it has."""

    answer: Any
    heard: list[Any] = field(default_factory=list)

    async def acquire_resource(self, kind: str) -> "Foreign":
        """Return itself."""
        self.heard.append(kind)
        return self

    async def step(self, *words: Any) -> Any:
        """Answer the read command."""
        self.heard.append(words)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_foreign_webshop() -> None:
    """`step("get_reward", task_id)` is the read command, and its mapping the result."""
    client = Foreign({"reward": 0.5, "observation": "thanks"})
    assert asyncio.run(webshop_reward("x", client, 0)) == {"reward": 0.5, "output": "thanks"}
    assert client.heard == ["webshop", ("get_reward", 0)]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (("obs", 0.0, True, {"won": True}), 1.0),
        (("obs", 1.0, True, {"won": False}), 0.0),
        (("obs", 1.0, True, {}), 1.0),
        (("obs", None, False, {}), 0.0),
        ((["obs"], [0.0], [True], {"won": [True]}), 1.0),
    ],
)
def test_foreign_alfworld(answer: tuple[Any, ...], value: float) -> None:
    """`step("")` reads; `won` decides, or else the reward, also in a batch of one."""
    client = Foreign(answer)
    assert asyncio.run(alfworld_episode_reward(client)) == {"reward": value}
    assert client.heard == ["alfworld", ("",)]


@pytest.mark.parametrize(("share", "value"), [(0.4, 0.4), (1, 1.0), (-1.0, 0.0), (None, 0.0)])
def test_foreign_scienceworld(share: float | None, value: float) -> None:
    """`step("get_reward")` reads a share of 1; a negative one is 0."""
    client = Foreign({"reward": share, "observation": "lab"})
    result = asyncio.run(scienceworld_reward("x", client))
    assert (result["reward"], result["output"]) == (value, "lab")
    assert result["success"] is (share == 1)
    assert client.heard == ["scienceworld", ("get_reward",)]


@pytest.mark.parametrize(
    "answer",
    [
        *(ConnectionResetError("gone"), "nonsense", None, {"observation": "no reward"}),
        *({"reward": "1"}, {"reward": 7}, {"reward": float("inf")}),
    ],
)
def test_foreign_faults(answer: Any) -> None:
    """A foreign client that raises, or answers something that is no answer, is an error and never a number."""
    for name, row in (("webshop_reward", {"task_id": 1}), ("scienceworld_reward", {}), ("alfworld_episode_reward", {})):
        score = get_reward(name).score({"final_response": "", **row}, context=Foreign(answer))  # type: ignore[arg-type]
        assert (score.status, score.value) == ("error", None)
        result = asyncio.run(get_reward(name).function(context=Foreign(answer), **_arguments(name)))  # type: ignore[attr-defined]
        assert result["reward"] == 0.0
        assert result["error"]


class ForeignSync(Foreign):
    """The same without anything to await."""

    def acquire_resource(self, kind: str) -> "Foreign":  # type: ignore[override]
        """Return itself."""
        self.heard.append(kind)
        return self

    def step(self, *words: Any) -> Any:
        """Answer the read command."""
        self.heard.append(words)
        return self.answer


def test_foreign_clients_that_are_not_async() -> None:
    """A client whose calls return at once is read by the same commands."""
    found = {"reward": 0.5, "observation": "thanks"}
    assert asyncio.run(webshop_reward("x", ForeignSync(found), 0)) == {"reward": 0.5, "output": "thanks"}
    assert asyncio.run(alfworld_episode_reward(ForeignSync(("obs", 0.0, True, {"won": True})))) == {"reward": 1.0}
    assert asyncio.run(scienceworld_reward("x", ForeignSync(found)))["score_raw"] == 50.0


class Empty:
    """A foreign context that has no environment to give."""

    async def acquire_resource(self, kind: str) -> None:
        """Give nothing."""


@pytest.mark.parametrize("name", [name for name, _, _ in CASES])
def test_a_foreign_context_without_an_environment(name: str) -> None:
    """A foreign context that returns no environment is at fault: whether there was an episode, nobody can say."""
    result = asyncio.run(get_reward(name).function(context=Empty(), **_arguments(name)))  # type: ignore[attr-defined]
    assert (result["reward"], result["error"].partition(":")[0]) == (0.0, "env-protocol")


@pytest.mark.parametrize(("name", "kind"), [("webshop_reward", "webshop"), ("alfworld_episode_reward", "alfworld")])
def test_a_task_that_there_is_not(name: str, kind: str) -> None:
    """An episode that could not be started for want of such a task is an error of the reset, told and not raised."""

    async def main() -> Any:
        async with Context("r") as context:
            env = await context.acquire_resource(WebShopSpec() if kind == "webshop" else Picky())
            with pytest.raises(EnvBadTask):
                await env.reset("no such task")
            return await get_reward(name).function(context=context, **_arguments(name))  # type: ignore[attr-defined]

    result = asyncio.run(main())
    assert (result["reward"], result["error"].partition(":")[0]) == (0.0, "env-bad-task")


def _arguments(name: str) -> dict[str, Any]:
    both = {} if name == "alfworld_episode_reward" else {"final_response": ""}
    return {**both, "task_id": 1} if name == "webshop_reward" else both


@pytest.mark.parametrize("name", [name for name, _, _ in CASES])
def test_a_context_is_needed(name: str) -> None:
    """Without a context nothing can be read: the engine says so, a direct call raises."""
    score = get_reward(name).score({"final_response": "", "task_id": 0, "context": "a column"})
    assert (score.status, score.value) == ("error", None)
    assert score.reason is not None
    assert score.reason.startswith("missing-context")
    with pytest.raises(UsageError, match="Context"):
        asyncio.run(get_reward(name).function(context=None, **_arguments(name)))  # type: ignore[attr-defined]


def test_through_the_engine_without_a_loop() -> None:
    """A sync engine call scores rollouts whose episodes were played on another loop."""
    with Pool(RoomSpec(), 2) as pool:
        contexts = [Context(f"r{number}", pools=[pool]) for number in range(2)]
        for number, context in enumerate(contexts):
            context.sync.reset_resource("webshop", {"reward": number / 2})
        rows = [{"final_response": "", "task_id": {"reward": number / 2}} for number in range(2)]
        scores = get_reward("webshop_reward").score_many(rows, contexts=contexts)
        assert [score.value for score in scores] == [0.0, 0.5]
        for context in contexts:
            context.sync.release_resource()

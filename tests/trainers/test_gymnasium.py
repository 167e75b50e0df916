"""Environments of Gymnasium as worlds: the real package, in worker processes.

`make integration` runs it in an environment that has gymnasium.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium import spaces

from adjudge.environments import Context, EnvBadTask, Pool
from adjudge.errors import UsageError
from adjudge.integrations.gymnasium import GymnasiumSpec
from adjudge.rewards import get_reward

LAKE = GymnasiumSpec(id="FrozenLake-v1", options={"is_slippery": False}, actions=("left", "down", "right", "up"))


class Echo(gymnasium.Env):  # type: ignore[misc]  # untyped where Gymnasium is not installed
    """Says what it hears; "bye" ends it, and a dull text is cut short."""

    render_mode = None
    action_space = observation_space = spaces.Text(8, charset="abcdefghijklmnopqrstuvwxyz")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin."""
        if options and "refuse" in options:
            raise ValueError("no such option")
        return "hello", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Hear."""
        return action, len(action) / 8, action == "bye", action == "dull", {"odd": {1, 2}}


gymnasium.register("Echo-v0", Echo, disable_env_checker=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSpec(GymnasiumSpec):
    """One kind of its own."""

    kind: ClassVar[str] = "echo"
    home: ClassVar[str] = "process"

    id: str = "Echo-v0"


async def play(spec: GymnasiumSpec, task: Any, actions: list[str]) -> tuple[list[Any], Any]:
    """Play an episode and score it."""
    async with Pool(spec, 1) as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource(spec.kind)
        seen: list[Any] = [await env.reset(task)]
        for action in actions:
            step = await env.step(action)
            seen.append((step.observation, step.reward, step.done, step.info.get("done_reason")))
        score = await get_reward("episode_reward", kind=spec.kind).ascore({}, context=context)
    return seen, (score.status, score.value)


def test_a_discrete_world() -> None:
    """Numbers get names; the goal is worth what Gymnasium says, also where the start is not 0."""
    seen, score = asyncio.run(play(LAKE, 3, [" Down", "down", "RIGHT", "right", "down", "right"]))
    assert seen[0] == "0"
    assert seen[1] == ("4", 0.0, False, None)
    assert seen[-1] == ("15", 1.0, True, "terminated")
    assert score == ("scored", 1.0)


def test_what_is_not_an_action() -> None:
    """It is answered, and the world stands where it was."""
    seen, score = asyncio.run(play(LAKE, {"seed": 3}, ["fly", "9", "", "down"]))
    assert "choose one of left, down, right, up" in seen[1][0]
    assert (seen[2][1:], seen[4][0], score) == ((0.0, False, None), "4", ("scored", 0.0))
    plain = GymnasiumSpec(id="FrozenLake-v1", options={"is_slippery": False})
    assert asyncio.run(play(plain, None, ["1"]))[0][1][0] == "4"


def test_a_world_that_renders_text() -> None:
    """The map is the observation."""
    spec = GymnasiumSpec(id="FrozenLake-v1", options={"is_slippery": False, "render_mode": "ansi"})
    assert "FHFH" in asyncio.run(play(spec, 1, []))[0][0]


def test_a_text_world_of_ones_own() -> None:
    """Texts go in and out; what the space does not have is no action; an end is an end."""
    seen, score = asyncio.run(play(SpaceSpec(), None, ["abc", "no spaces", "bye", "abc"]))
    assert seen[:2] == ["hello", ("abc", 3 / 8, False, None)]
    assert (seen[2][2], seen[3][2:], seen[4][2]) == (False, (True, "terminated"), True)
    assert score == ("scored", 0.75)
    assert asyncio.run(play(SpaceSpec(), {"options": {}}, ["dull"]))[0][1][2:] == (True, "truncated")


@pytest.mark.parametrize("task", ["seven", True, {"level": 3}, {"options": {"refuse": 1}}])
def test_what_is_not_a_task(task: Any) -> None:
    """It is `EnvBadTask`."""
    with pytest.raises(EnvBadTask):
        asyncio.run(play(SpaceSpec(), task, []))


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        (GymnasiumSpec(id="FrozenLake-v99"), "cannot make"),
        (GymnasiumSpec(id="CartPole-v1"), "observations must be"),
        (GymnasiumSpec(id="Pendulum-v1"), "actions must be"),
        (GymnasiumSpec(id="FrozenLake-v1", actions=("one",)), "1 names of actions"),
        (GymnasiumSpec(id="FrozenLake-v1", options={"colour": "red"}), "cannot make"),
    ],
    ids=["unknown", "boxes", "torque", "names", "options"],
)
def test_what_cannot_be_a_world(spec: GymnasiumSpec, match: str) -> None:
    """An environment with other spaces, and one that there is not, are wrong calls, said at once."""
    with pytest.raises(UsageError, match=match):
        asyncio.run(play(spec, 1, []))


def test_specs_are_values() -> None:
    """Equal specs are one pool, whatever the order of their options."""
    one, other = ({"is_slippery": False, "map_name": "4x4"}, {"map_name": "4x4", "is_slippery": False})
    assert hash(GymnasiumSpec(id="a", options=one)) == hash(GymnasiumSpec(id="a", options=other))

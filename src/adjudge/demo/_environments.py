"""Chapter 7: short episodes in live environments; tools and reward reach the same one through the rollout's context.

The shop's items are our own and in the public domain (CC0), and so is the game. ScienceWorld and ALFWorld are played
where they are installed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any

from adjudge.demo._scene import Scene
from adjudge.environments import Context, ScienceWorldTask, close_pools
from adjudge.environments.alfworld import games
from adjudge.environments.tools import alfworld_step, scienceworld_step, webshop_click, webshop_search
from adjudge.errors import AdjudgeError
from adjudge.rewards import alfworld_episode_reward, scienceworld_reward, webshop_reward

BOTTLE = 3  # the shop's task: a water bottle
GAME = "mug_on_desk"
THING = ScienceWorldTask("find-non-living-thing", variation=0, simplifications="easy")
MOVES = ("go to kitchen", "focus on painting", "move painting to red box")
WIDTH = 60


@dataclass(frozen=True, slots=True)
class Episode:
    """What is played: the kind, its task, the actions in order, and the reward that is asked in the end."""

    kind: str
    task: Any
    actions: Sequence[tuple[str, Callable[..., Awaitable[str]]]]
    reward: Callable[..., Awaitable[dict[str, Any]]]


def _shopping() -> Episode:
    wanted = "leak proof wide mouth water bottle 16 ounce"
    clicks = ("AJ0003W4FJ", "16 ounce", "Buy Now")
    actions = [
        (f"search[{wanted}]", partial(webshop_search, wanted)),
        *((f"click[{one}]", partial(webshop_click, one)) for one in clicks),
    ]
    return Episode("webshop", BOTTLE, actions, partial(webshop_reward, None, task_id=BOTTLE))


def _science() -> Episode:
    actions = [(move, partial(scienceworld_step, move)) for move in MOVES]
    return Episode("scienceworld", THING, actions, partial(scienceworld_reward, None))


def _household() -> Episode:
    solution = next(game.solution for game in games() if game.name == GAME)
    return Episode(
        "alfworld", GAME, [(move, partial(alfworld_step, move)) for move in solution], alfworld_episode_reward
    )


def chapter(scene: Scene) -> None:
    """Play one episode of each environment that there is."""
    scene.say(
        "7. Environments: one short episode in each. The agent's tools and its reward reach the same live instance "
        "through the rollout's context, and a dead instance is an error, never a bad agent"
    )
    asyncio.run(_play_all(scene.say))
    scene.say(
        "The shop follows WebShop's rules on items of our own: these are adjudge shop numbers, not WebShop scores. "
        "ScienceWorld and ALFWorld are the real ones, in worker processes: a few serve thousands of rollouts, and one "
        "that is killed is replaced, its episode replayed. Play yourself: adjudge shop play 7. More is in "
        "docs/how-to/environments.md."
    )


async def _play_all(say: Callable[[str], None]) -> None:
    try:
        for episode in (_shopping(), _science(), _household()):
            try:
                say(await _play(episode))
            except AdjudgeError as error:
                # A world that is not installed must not end the tour.
                say(f"    {episode.kind}: not played here. {error.message}")
    finally:
        close_pools()


async def _play(episode: Episode) -> str:
    lines = []
    async with Context(f"demo-{episode.kind}") as context:
        env = await context.acquire_resource(episode.kind)
        lines.append(f"    {episode.kind}: {_short(await env.reset(episode.task))}")
        for action, act in episode.actions:
            lines.append(f"      > {action}\n        {_short(await act(context=context))}")
        found = await episode.reward(context=context)
    lines.append(f"      reward {found['reward']:.2f}")
    return "\n".join(lines)


def _short(text: str) -> str:
    """Return the beginning of an observation; the shop's pages repeat the instruction before anything new."""
    new = text.rpartition("Back to Search [SEP] ")[2].removeprefix("WebShop [SEP] Instruction: [SEP] ")
    return shorten(new.replace("[SEP]", "|"), WIDTH, placeholder="...")

"""Three buyers to compare an agent with: one knows the goal, one reads it naively, one clicks at random."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from adjudge.environments.webshop._make import Chance
from adjudge.environments.webshop._pages import BUY, NEXT
from adjudge.environments.webshop._world import ShopWorld
from adjudge.model import Outcome, Step

__all__ = ["BASELINES", "BaselineResult", "play_naive", "play_oracle", "play_random", "run_baseline"]

RANDOM_STEPS = 30


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """What a buyer reached over some tasks: the mean reward and the share of tasks with reward 1."""

    name: str
    tasks: int
    reward: float
    success: float


def play_oracle(world: ShopWorld, task: int) -> Outcome:
    """Buy the goal's own item with the goal's options: the known optimum."""
    world.reset(task)
    goal = world.catalogue.goals[task]
    step = world.step(f"search[{goal.title}]")
    wanted = goal.asin.lower()
    while wanted not in _clickables(step) and NEXT.lower() in _clickables(step):
        step = world.step(f"click[{NEXT}]")
    world.step(f"click[{wanted}]")
    for value in goal.options.values():
        world.step(f"click[{value}]")
    world.step(f"click[{BUY}]")
    return world.outcome()


def play_naive(world: ShopWorld, task: int) -> Outcome:
    """Search for the instruction as it stands, take the first item, choose the options that it names, buy."""
    world.reset(task)
    goal = world.catalogue.goals[task]
    instruction = goal.instruction.lower()
    step = world.step(f"search[{instruction}]")
    found = [each for each in _clickables(step) if each in world.catalogue.places]
    if found:
        step = world.step(f"click[{found[0]}]")
        for each in _clickables(step):
            if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", instruction):
                world.step(f"click[{each}]")
        world.step(f"click[{BUY}]")
    return world.outcome()


def play_random(world: ShopWorld, task: int, *, seed: int = 0) -> Outcome:
    """Search for some words of the instruction, then click anything, at most 30 steps; the same for the same seed."""
    world.reset(task)
    chance = Chance(f"{seed}:{task}")
    words = world.catalogue.goals[task].instruction.split()
    action = f"search[{chance.pick(words)}]"
    for _ in range(RANDOM_STEPS):
        step = world.step(action)
        if step.done:
            break
        clickables = _clickables(step)
        action = f"click[{chance.pick(clickables)}]" if clickables else f"search[{chance.pick(words)}]"
    return world.outcome()


BASELINES: dict[str, Callable[[ShopWorld, int], Outcome]] = {
    "oracle": play_oracle,
    "naive": play_naive,
    "random": play_random,
}


def run_baseline(name: str, world: ShopWorld, tasks: Iterable[int]) -> BaselineResult:
    """Let the buyer of that name play the tasks, one after the other."""
    outcomes = [BASELINES[name](world, task) for task in tasks]
    count = len(outcomes)
    rewards = [outcome.reward or 0.0 for outcome in outcomes]
    successes = sum(outcome.success is True for outcome in outcomes)
    return BaselineResult(name, count, sum(rewards) / max(1, count), successes / max(1, count))


def _clickables(step: Step) -> list[str]:
    found: list[str] = step.info["actions"]["clickables"]
    return found

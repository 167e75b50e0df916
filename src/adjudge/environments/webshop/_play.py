"""Who plays the shop besides an agent: a person in a terminal, and three buyers to compare an agent with."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from adjudge.environments.webshop._make import Chance
from adjudge.environments.webshop._pages import BUY, NEXT, Page
from adjudge.environments.webshop._world import ShopWorld
from adjudge.model import Outcome, Step

__all__ = [
    "BASELINES",
    "BaselineResult",
    "play_naive",
    "play_oracle",
    "play_random",
    "play_terminal",
    "run_baseline",
]

HELP = "Type words to search, the number of a button, or an action such as click[buy now]. An empty line ends it."

# What may follow what on one line: buttons, an axis and its options, an item and its texts.
_TOGETHER = {("button", "button"), ("text", "option"), ("option", "option"), ("product", "text"), ("item", "text")}


def play_terminal(world: ShopWorld, task: int | str, ask: Callable[[str], str], say: Callable[[str], None]) -> Outcome:
    """Let a person play a task; an empty answer, or `EOFError` from `ask`, ends it."""
    world.reset(task)
    say(HELP)
    while True:
        for line in _lines(world.page):
            say(line)
        if world.visit.page == "done":
            break
        try:
            typed = ask("> ").strip()
        except EOFError:
            break
        if not typed:
            break
        if not world.step(_action(typed, world.page.clickables)).info["valid"]:
            say(f"That does nothing here. {HELP}")
    return world.outcome()


def _lines(page: Page) -> Iterator[str]:
    """Return the lines of a page, its buttons numbered; what belongs together is on one line."""
    numbers = {text: number for number, text in enumerate(page.clickables, 1)}
    line: list[str] = []
    before = ""
    yield ""
    for part in page.parts:
        number = numbers.get(part.text.lower()) if part.role != "text" else None
        words = part.text if number is None else f"[{number}] {part.text}{' *' if part.is_chosen else ''}"
        if line and (before, part.role) not in _TOGETHER:
            yield "  ".join(line)
            line = []
        line.append(words)
        before = "item" if before == "product" or (before == "item" and part.role == "text") else part.role
    if line:
        yield "  ".join(line)


def _action(typed: str, clickables: list[str]) -> str:
    """Return the action that a person means: an action, the number of a button, or words to search for."""
    if "[" in typed:
        return typed
    if typed.isascii() and typed.isdigit() and 1 <= int(typed[:6]) <= len(clickables):
        return f"click[{clickables[int(typed[:6]) - 1]}]"
    return f"click[{typed}]" if typed.lower() in clickables else f"search[{typed}]"


RANDOM_STEPS = 30


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """The result of a buyer over some tasks: the mean reward and the share of tasks with reward 1."""

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
    # Near-duplicates may come first: the goal's own item can be on a later page.
    while wanted not in _clickables(step) and NEXT.lower() in _clickables(step):
        step = world.step(f"click[{NEXT}]")
    world.step(f"click[{wanted}]")
    for value in goal.options.values():
        world.step(f"click[{value}]")
    world.step(f"click[{BUY}]")
    return world.outcome()


def play_naive(world: ShopWorld, task: int) -> Outcome:
    """Search for the whole instruction, take the first item, choose the options that it names, buy."""
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

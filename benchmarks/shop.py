"""What the shop's own rules and pages cost beside its search, and what a visitor weighs: CPU time, one process.

An episode searches, looks at two items and a sub page, chooses, and buys. Its searches are timed alone; what is left of
the episode, divided by its steps, is the shop's own step. Interleaved, best of 7.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import tracemalloc
from time import process_time

from adjudge.environments.webshop import ShopWorld, WebShopSpec

ROUNDS = 7
VISITORS = 2_048
STEP_BAR = 0.5  # of a search
MEMORY_BAR = 64.0  # MB for all visitors, the items included


def episode(world: ShopWorld, task: int) -> list[str]:
    """Return the actions of one episode."""
    goal = world.catalogue.goals[task]
    world.reset(task)
    found = world.step(f"search[{goal.instruction}]").info["actions"]["clickables"]
    items = [each for each in found if each in world.catalogue.places]
    options = [f"click[{values[0]}]" for values in world.catalogue.item(items[1]).options.values()]
    return [
        f"search[{goal.instruction}]",
        f"click[{items[0]}]",
        "click[description]",
        "click[< prev]",
        "click[< prev]",
        f"click[{items[1]}]",
        *options,
        "click[attributes]",
        "click[< prev]",
        "click[buy now]",
    ]


def cpu() -> tuple[float, float, int]:
    """Return the seconds that all episodes and that their searches take, and the number of steps."""
    world = WebShopSpec().build()
    plans = [episode(world, task) for task in range(len(world.catalogue.goals))]
    steps = sum(map(len, plans))
    whole = searches = float("inf")
    for _ in range(ROUNDS):
        start = process_time()
        for task, plan in enumerate(plans):
            world.reset(task)
            for action in plan:
                world.step(action)
        whole = min(whole, process_time() - start)
        start = process_time()
        for goal in world.catalogue.goals:
            world.catalogue.index.search(goal.instruction, 50)
        searches = min(searches, process_time() - start)
    return whole, searches, steps


def memory() -> float:
    """Return the megabytes that the items and 2,048 visitors on a page of results hold."""
    tracemalloc.start()
    spec = WebShopSpec()
    worlds = [spec.build() for _ in range(VISITORS)]
    for task, world in enumerate(worlds):
        world.reset(task % len(world.catalogue.goals))
        world.step(f"search[{world.catalogue.goals[task % len(world.catalogue.goals)].instruction}]")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / 1e6


def main() -> int:
    """Print the ratio and the memory; fail if one is over its bar."""
    held = memory()
    whole, searches, steps = cpu()
    count = len(WebShopSpec().catalogue().goals)
    search, own = searches / count, (whole - searches) / steps
    print(f"search      {search * 1e6:8.1f} us")
    print(f"own step    {own * 1e6:8.1f} us   {own / search:5.2f} of a search  (bar {STEP_BAR:g})")
    print(f"{VISITORS:,} visitors and the items: {held:.1f} MB  (bar {MEMORY_BAR:g})")
    return 0 if own / search < STEP_BAR and held < MEMORY_BAR else 1


if __name__ == "__main__":
    sys.exit(main())

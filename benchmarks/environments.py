"""What environments cost: a call through a pool, a call through a worker, and waiting in a long line.

Each figure is a ratio to a floor in the same run, with the two alternating in short rounds and the least round of each
taken. All are CPU time, of both ends where there are two; everything is pinned to one core, so that the price of waking
a sleeping core falls on nobody.

    python benchmarks/environments.py
"""

import sys
from pathlib import Path

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # the toy world, which a worker imports too

import asyncio
import multiprocessing
import os
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection

from adjudge.environments import Context, Pool
from adjudge.processes._limits import cpu_time
from environments.toys import Counter, ToySpec

ROUNDS = 40
CALLS = 200
ACTION = 'search[red kettle & "lid"]'
TASK = {"goal": 999}


def echo_for_ever(pipe: Connection) -> None:
    """Send back what comes: the bare child."""
    while True:
        pipe.send(pipe.recv())


def play_for_ever(pipe: Connection) -> None:
    """Play the world behind a bare pipe: the same action in, the same step out."""
    world = Counter(ToySpec())
    while True:
        action = pipe.recv()
        pipe.send(world.reset(TASK) if action is None else world.step(action))


async def per_call(action: Callable[[], Awaitable[object]], child: int | None = None) -> float:
    """CPU microseconds of one call, over one round, of this process and the child that answers."""

    def clock() -> float:
        return time.process_time() + (0.0 if child is None else cpu_time(child) or 0.0)

    start = clock()
    for _ in range(CALLS):
        await action()
    return (clock() - start) / CALLS * 1e6


def show(what: str, floor: float, cost: float, aim: float) -> None:
    """Print one figure."""
    print(f"{what:<44} {cost:8.2f} us  floor {floor:8.2f} us  ratio {cost / floor:5.2f} x  (aim: {aim:g} or less)")


async def pooled_call() -> None:
    """Time a step through context, pool and lease against the same world's step behind one bare await."""
    world = Counter(ToySpec())

    async def bare() -> object:
        return world.step(ACTION)

    async with Pool(ToySpec(), 1) as pool, Context("r", pools=[pool]) as context:
        env = await context.acquire_resource("toy")
        pairs = []
        for _ in range(ROUNDS):
            world.reset(TASK)
            await env.reset(TASK)
            pairs.append((await per_call(bare), await per_call(lambda: env.step(ACTION))))
    floor, cost = (min(side) for side in zip(*pairs, strict=True))
    show("step through the pool / bare awaited step", floor, cost, 3)


async def worker_call() -> None:
    """Time a step in a worker against the same step behind a bare pipe, and against a bare echo of the action."""
    played, echoed = Bare(play_for_ever), Bare(echo_for_ever)
    async with Pool(ToySpec(), 1, "worker") as pool, await pool.acquire("r") as env:
        rounds = []
        await env.reset(TASK)
        worker = (await env.step(ACTION)).info["pid"]
        for _ in range(ROUNDS):
            await env.reset(TASK)
            await played.ask(None)
            rounds.append((
                await per_call(lambda: played.ask(ACTION), played.pid),
                await per_call(lambda: echoed.ask(ACTION), echoed.pid),
                await per_call(lambda: env.step(ACTION), worker),
            ))  # fmt: skip
    played.end()
    echoed.end()
    step, echo, cost = (min(side) for side in zip(*rounds, strict=True))
    show("step through a worker / through a bare pipe", step, cost, 2)
    show("the same / bare echo of the action alone", echo, cost, 2)


class Bare:
    """A child behind a bare pipe."""

    def __init__(self, target: Callable[[Connection], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(target=target, args=(theirs,), daemon=True)
        self._child.start()
        self.pid = self._child.pid

    async def ask(self, what: object) -> object:
        """Go there and back."""
        self._pipe.send(what)
        return self._pipe.recv()

    def end(self) -> None:
        """End the child."""
        self._child.terminate()
        self._child.join()


async def line(waiters: int) -> float:
    """CPU microseconds of one acquire and release, with so many rollouts in line for eight instances."""

    async def rollout(name: str) -> None:
        await (await pool.acquire(name)).close()

    async with Pool(ToySpec(), 8) as pool:
        held = [await pool.acquire(f"held{number}") for number in range(8)]
        tasks = [asyncio.create_task(rollout(f"r{number}")) for number in range(waiters)]
        await asyncio.sleep(0)
        assert pool.counts().waiting == waiters  # noqa: S101
        start = time.process_time()
        for lease in held:
            await lease.close()
        await asyncio.gather(*tasks)
        return (time.process_time() - start) / waiters * 1e6


async def waiting() -> None:
    """Time a turn in a line of 10,000 against one in a line of 100."""
    short = long = float("inf")
    for _ in range(10):
        short = min(short, sum([await line(100) for _ in range(20)]) / 20)
        long = min(long, await line(10_000))
    show("acquire with 10,000 waiters / with 100", short, long, 1.3)


async def many_rollouts() -> None:
    """Time 2,048 concurrent rollouts of ten steps in one process, one instance each."""

    async def rollout(number: int) -> None:
        async with Context(f"r{number}", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            await env.reset(TASK)
            for _ in range(10):
                await env.step(ACTION)
                await asyncio.sleep(0)

    async with Pool(ToySpec(), 2048) as pool:
        for what in ("with their start", "on instances that are there"):
            start = time.process_time()
            await asyncio.gather(*(rollout(number) for number in range(2048)))
            print(f"2,048 rollouts at once, {what:<28} {time.process_time() - start:6.2f} s CPU")


def main() -> None:
    """Print all figures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for part in (pooled_call, worker_call, waiting, many_rollouts):
        asyncio.run(part())


if __name__ == "__main__":
    main()

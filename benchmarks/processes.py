"""What a job through `WorkerPool.run` costs, against a bare `multiprocessing.Pipe` round trip of the same payload.

Both send a short text to a child that sends it back. Everything is pinned to one core, so that the time that passes is
the CPU time of both ends, and not the price of waking a sleeping core, which falls on one or the other by chance. The
two alternate in short rounds; the figure is the ratio of the least rounds. Aim: 2x or less.

    python benchmarks/processes.py
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from adjudge.processes import WorkerPool

ROUNDS = 15
CALLS = 400
PAYLOAD = r"\frac{1}{2} + \sqrt{3}"


def echo_for_ever(pipe: Connection) -> None:
    """Send back what comes: the bare child."""
    while True:
        pipe.send(pipe.recv())


def per_call(action: Callable[[], object]) -> float:
    """Microseconds of one call, over one round."""
    start = time.perf_counter()
    for _ in range(CALLS):
        action()
    return (time.perf_counter() - start) / CALLS * 1e6


def main() -> None:
    """Print both costs and their ratio."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=echo_for_ever, args=(theirs,), daemon=True)
    child.start()

    def bare() -> object:
        ours.send(PAYLOAD)
        return ours.recv()

    with WorkerPool("builtins:str", warm=()) as pool:
        assert bare() == PAYLOAD  # noqa: S101
        assert pool.run(PAYLOAD) == PAYLOAD  # noqa: S101
        pairs = [(per_call(bare), per_call(lambda: pool.run(PAYLOAD))) for _ in range(ROUNDS)]
    child.terminate()
    child.join()
    floor, cost = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    print(f"bare pipe round trip  {floor:7.1f} us")
    print(f"WorkerPool.run              {cost:7.1f} us")
    print(f"ratio                 {cost / floor:7.2f} x   (aim: 2 or less)")


if __name__ == "__main__":
    main()

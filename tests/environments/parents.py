"""A program that owns environments in workers and waits to be killed; it prints the workers' pids first."""

import asyncio
import time

from adjudge.environments import Pool
from environments.toys import ToySpec


async def main() -> None:
    """Lease three workers: one idle, one in an episode, one in the middle of a step."""
    pool = Pool(ToySpec(), 3, "worker")
    leases = [await pool.acquire(f"r{number}") for number in range(3)]
    pids = []
    for lease in leases:
        await lease.reset(5)
        pids.append((await lease.step("who")).info["pid"])
    await leases[0].close()
    hanging = asyncio.create_task(leases[1].step("hang"))
    await asyncio.sleep(0.2)
    print(*pids, flush=True)  # noqa: T201
    time.sleep(600)  # noqa: ASYNC251 (to be killed in)
    await hanging


if __name__ == "__main__":
    asyncio.run(main())

"""A process that asks for rewards of rollouts which others play; and servers of environments, to be killed.

As a program: `elsewhere.py SPEC URL...` reads ids of rollouts from standard input and prints a score for each.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adjudge.environments import Context, HttpBackend, Pool, PoolLimits, default_spec
from adjudge.rewards import get_reward
from processes.helpers import TESTS

LIMITS = PoolLimits(start_s=10.0)


class Server:
    """`adjudge env serve` in a process of its own."""

    def __init__(self, spec: str, *, size: int = 2, port: int = 0) -> None:
        place = f"environments.toys:{spec}"
        command = [sys.executable, "-m", "adjudge", "env", "serve", place, "--backend", "worker"]
        self.process = subprocess.Popen(
            [*command, "--size", str(size), "--port", str(port)],
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """Kill it, as a host that fails does."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def environment() -> dict[str, str]:
    """Return the environment in which our programs find these tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}


@contextmanager
def servers(count: int, spec: str = "FarSpec", *, size: int = 2) -> Iterator[list[Server]]:
    """Run so many servers."""
    running: list[Server] = []
    try:
        running.extend(Server(spec, size=size) for _ in range(count))
        yield running
    finally:
        for server in running:
            server.kill()


class Elsewhere:
    """The other process, which is asked for rewards."""

    def __init__(self, urls: Sequence[str], spec: str = "FarSpec") -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), spec, *urls],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
        )

    async def reward(self, rollout_id: str) -> dict[str, Any]:
        """Ask for one reward."""
        return (await asyncio.to_thread(self.ask, [rollout_id]))[0]

    def ask(self, rollout_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Ask for rewards, at once."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(" ".join(rollout_ids) + "\n")
        self.process.stdin.flush()
        found: list[dict[str, Any]] = json.loads(self.process.stdout.readline())
        return found


@contextmanager
def elsewhere(urls: Sequence[str], spec: str = "FarSpec") -> Iterator[Elsewhere]:
    """Have another process that asks for rewards."""
    other = Elsewhere(urls, spec)
    with other.process:
        try:
            yield other
        finally:
            other.process.kill()


async def score(pool: Pool, rollout_id: str) -> dict[str, Any]:
    """Return a rollout's reward as this process gets it, without having acquired anything."""
    scorer = get_reward("scienceworld_reward")
    async with Context(rollout_id, pools=[pool]) as context:
        found = await scorer.ascore({"final_response": None}, context=context)
    return {"status": found.status, "value": found.value, "reason": found.reason}


async def main(spec: str, urls: Sequence[str]) -> None:
    """Answer line after line."""
    async with Pool(default_spec(f"environments.toys:{spec}"), 4, HttpBackend(urls), limits=LIMITS) as pool:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await asyncio.gather(*(score(pool, name) for name in line.split()))), flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))

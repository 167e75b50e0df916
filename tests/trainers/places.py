"""Where verl's function may be asked: other processes, threads, actors of Ray. Each scores 512 golden rows and more.

They come again and again, because rows that were scored before meet caches and workers that are warm.
"""

import asyncio
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from adjudge.integrations.verl import acompute_score, make_compute_score
from trainers import golden

TIMES = -(-512 // len(golden.TABLE))  # that 512 rollouts are scored
MARK = f"ADJUDGE_TEST_MARK=trainers-{os.getpid()}"  # in the environment of every process that is started here


def asked(row: dict[str, Any]) -> dict[str, Any]:
    """Return a golden row as verl passes it."""
    return {
        "data_source": "golden",
        "solution_str": row["response"],
        "ground_truth": row["answer"],
        "extra_info": {"question": row["prompt"]},
    }


def values(scorer: str) -> list[float]:
    """Score the golden rows of a scorer, here."""
    compute = make_compute_score(scorer, max_failed=1.0)
    return [compute(**asked(row))["score"] for row in golden.rows(scorer) * TIMES]


def processes(start: str) -> list[list[float]]:
    """Score in the processes of a pool."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(start)) as pool:
        return list(pool.map(values, golden.SCORERS))


def threads() -> list[list[float]]:
    """Score in threads, all at once."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(values, golden.SCORERS))


class Actor:
    """An actor that scores."""

    def values(self, scorer: str) -> list[float]:
        """Score the golden rows."""
        return values(scorer)


class AsyncActor:
    """An actor with an event loop."""

    async def values(self, scorer: str) -> list[float]:
        """Score the golden rows, all at once."""
        rows = golden.rows(scorer) * TIMES
        found = await asyncio.gather(*(acompute_score(**asked(row), scorer=scorer, max_failed=1.0) for row in rows))
        return [one["score"] for one in found]


def actor(kind: type) -> list[list[float]]:
    """Score in an actor of Ray's, and kill it."""
    import ray

    made = ray.remote(kind).remote()
    found: list[list[float]] = ray.get([made.values.remote(scorer) for scorer in golden.SCORERS], timeout=120)
    ray.kill(made)
    return found


def workers_elsewhere() -> list[int]:
    """Return the workers that were started under these tests, but not by this process itself."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            marked = MARK.encode() in (folder / "environ").read_bytes()
            worker = b"adjudge.processes" in (folder / "cmdline").read_bytes()
            parent = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            if marked and worker and int(parent) != os.getpid():
                found.append(int(folder.name))
    return found

"""Places from which tier 1 is asked, each started as a program: `python scenes.py NAME` prints what was said there."""

import asyncio
import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from adjudge.judges.local import LocalJudge
from adjudge.processes import WorkerPool

ROWS: list[dict[str, Any]] = [
    {"question": "Where do goats come from?", "reference": "Iran", "response": "They come from Persia, they say."},
    {"question": "Who wrote Emma?", "reference": ["Jane Austen", "Austen"], "response": "A lady from Hampshire did."},
]
Said = list[float | None]


def said(judge: LocalJudge) -> Said:
    """Return the probabilities that a judge gives."""
    return [judgement.probability for judgement in judge.judge_many(ROWS)]


def job(tier: int) -> Said:
    """Judge in a worker process of ours."""
    return said(LocalJudge(tier=tier))


def here() -> list[Said]:
    """Judge in the main thread."""
    return [said(LocalJudge(tier=1))]


def two_judges() -> list[Said]:
    """Judge with two judges in turn."""
    first, second = LocalJudge(tier=1), LocalJudge(tier=1)
    return [said(judge) for judge in (first, second, first)]


def threads() -> list[Said]:
    """Judge in eight threads at once, none of which has judged before."""
    found: list[Said] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(said(LocalJudge(tier=1)))

    started = [threading.Thread(target=work) for _ in range(8)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return found


def loop() -> list[Said]:
    """Judge in an event loop, both rows at once."""

    async def work() -> Said:
        judge = LocalJudge(tier=1)
        asked = [judge.ajudge(row["question"], row["reference"], row["response"]) for row in ROWS]
        return [judgement.probability for judgement in await asyncio.gather(*asked)]

    return [asyncio.run(work())]


def fork() -> list[Said]:
    """Judge, fork, and judge in the child with what it inherits."""
    judge = LocalJudge(tier=1)
    first = said(judge)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, json.dumps(said(judge)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        return [first, json.load(pipe), said(judge)]


def fork_first() -> list[Said]:
    """Make a judge, and judge only in forked children, which load all by themselves."""
    return _pool("fork", LocalJudge(tier=1))


def forked() -> list[Said]:
    """Judge, then in forked children."""
    judge = LocalJudge(tier=1)
    return [said(judge), *_pool("fork", judge)]


def spawned() -> list[Said]:
    """Judge, then send the judge to new processes."""
    judge = LocalJudge(tier=1)
    return [said(judge), *_pool("spawn", judge)]


def workers() -> list[Said]:
    """Judge in worker processes of ours, within their limits."""
    with WorkerPool("scenes:job", size=2, warm=()) as pool:
        return [pool.run(1), pool.run(1)]


def _pool(method: str, judge: LocalJudge) -> list[Said]:
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map(said, [judge] * 4)


SCENES: list[Callable[[], list[Said]]] = [
    here,
    two_judges,
    threads,
    loop,
    fork,
    fork_first,
    forked,
    spawned,
    workers,
]

if __name__ == "__main__":
    (chosen,) = (scene for scene in SCENES if scene.__name__ == sys.argv[1])
    print(json.dumps(chosen()))  # noqa: T201 (what it is for)

"""A pool behaves the same from the main thread, any thread and any event loop."""

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from adjudge.errors import UsageError
from adjudge.processes import JobCrashed, JobTimeout, Worker, WorkerClosed, WorkerPool
from processes.helpers import DO, in_line, new_pool, occupied, soon
from support import soak


@pytest.mark.soak
def test_many_threads() -> None:
    """Sixteen threads at once each get their own answers."""
    with new_pool(size=3) as pool, ThreadPoolExecutor(16) as threads:
        numbers = range(soak(3000))
        assert list(threads.map(lambda number: pool.run(("echo", number)), numbers)) == list(numbers)
        assert len(pool.pids) <= 3


@pytest.mark.soak
def test_many_tasks() -> None:
    """So do tasks of an event loop."""

    async def main() -> None:
        numbers = range(soak(3000))
        with new_pool(size=3) as pool:
            assert await asyncio.gather(*(pool.arun(("echo", number)) for number in numbers)) == list(numbers)

    asyncio.run(main())


def test_threads_and_loops_together() -> None:
    """Threads and several event loops share one pool."""

    async def main(pool: WorkerPool, first: int) -> list[object]:
        return list(await asyncio.gather(*(pool.arun(("echo", first + number)) for number in range(20))))

    with new_pool(size=2) as pool, ThreadPoolExecutor(8) as threads:
        loops = [threads.submit(lambda first=first: asyncio.run(main(pool, first))) for first in (0, 100, 200)]  # type: ignore[misc]
        plain = [threads.submit(pool.run, ("echo", number)) for number in range(20)]
        assert [loop.result() for loop in loops] == [list(range(first, first + 20)) for first in (0, 100, 200)]
        assert [job.result() for job in plain] == list(range(20))


def test_two_loops_in_a_row(pool: WorkerPool) -> None:
    """A pool outlives the event loop that first used it, and keeps its worker."""
    assert asyncio.run(pool.arun(("echo", 1))) == 1
    before = pool.pids
    assert asyncio.run(pool.arun(("echo", 2))) == 2
    assert pool.run(("echo", 3)) == 3
    assert pool.pids == before


def test_first_come_first_served(tmp_path: Path) -> None:
    """Whoever waits longer is served first, threads and tasks alike."""
    served: list[int] = []

    async def main(pool: WorkerPool) -> None:
        async def task(number: int) -> None:
            await pool.arun(("echo", number))
            served.append(number)

        def thread(number: int) -> None:
            pool.run(("echo", number))
            served.append(number)

        tasks: list[asyncio.Task[None]] = []
        threads: list[threading.Thread] = []
        with occupied(pool, tmp_path):
            for number in range(12):
                if number % 2:
                    tasks.append(asyncio.create_task(task(number)))
                else:
                    threads.append(threading.Thread(target=thread, args=(number,)))
                    threads[-1].start()
                assert await asyncio.to_thread(in_line, pool, number + 1)
        await asyncio.gather(*tasks)
        for each in threads:
            each.join()

    with new_pool() as pool:
        asyncio.run(main(pool))
    # A thread may note its number a moment after the next in line has noted its own.
    assert sorted(served) == list(range(12))
    assert all(later - earlier >= -2 for earlier, later in pairwise(served))


def test_order_of_service(tmp_path: Path) -> None:
    """The order in which one worker takes jobs is the order in which they came."""
    with new_pool() as pool:
        threads = []
        turns: dict[int, int] = {}
        with occupied(pool, tmp_path):
            for number in range(10):
                threads.append(threading.Thread(target=lambda n=number: turns.update({n: pool.run(("remember", n))})))
                threads[-1].start()
                assert in_line(pool, number + 1)
        for thread in threads:
            thread.join()
    assert turns == {number: number + 1 for number in range(10)}


def test_loop_goes_on(pool: WorkerPool) -> None:
    """While a job runs the event loop does other things."""

    async def main() -> None:
        job = asyncio.create_task(pool.arun(("spin", 0.4)))
        ticks = 0
        while not job.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks > 5

    asyncio.run(main())


def test_cancelled_job(pool: WorkerPool) -> None:
    """A cancelled job takes its worker with it; the next answer is right and its own."""

    async def main() -> None:
        for number in range(5):
            job = asyncio.create_task(pool.arun(("sleep", 60)))
            await asyncio.sleep(0.05 * number)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job
            assert await pool.arun(("echo", number)) == number

    asyncio.run(main())
    assert len(pool.pids) == 1


def test_cancelled_in_line(pool: WorkerPool, tmp_path: Path) -> None:
    """Whoever is cancelled while waiting leaves the line, and harms neither worker nor those behind."""

    async def main() -> None:
        await pool.arun(("echo", 0))
        before = pool.pids
        first = asyncio.create_task(pool.arun(("hold", str(tmp_path))))
        assert await asyncio.to_thread(soon, (tmp_path / "begun").exists)
        line = [asyncio.create_task(pool.arun(("echo", number))) for number in range(10)]
        assert await asyncio.to_thread(in_line, pool, 10)
        for task in line[::2]:
            task.cancel()
        (tmp_path / "end").touch()
        done = await asyncio.gather(first, *line, return_exceptions=True)
        assert done[0] == "held"
        assert done[2::2] == [1, 3, 5, 7, 9]
        assert all(isinstance(error, asyncio.CancelledError) for error in done[1::2])
        assert pool.pids == before

    asyncio.run(main())


@pytest.mark.soak
def test_random_cancellation() -> None:
    """Cancelled at any moment whatever, a pool loses no worker, mixes up no answers and keeps to its size."""
    dice = random.Random(5)  # noqa: S311  # repeatable, not secret

    async def main(pool: WorkerPool) -> None:
        async def one(number: int, patience: float) -> None:
            try:
                async with asyncio.timeout(patience):
                    assert await pool.arun(("echo", number)) == number
            except TimeoutError:
                pass

        for _ in range(soak(50)):
            await asyncio.gather(*(one(number, dice.choice((5.0, dice.random() * 0.01))) for number in range(40)))
            assert len(pool.pids) <= 3

    with new_pool(size=3) as pool:
        asyncio.run(main(pool))
        assert [pool.run(("echo", number)) for number in range(10)] == list(range(10))


def test_loop_closed_with_a_caller_in_line(tmp_path: Path) -> None:
    """A loop that is closed with a caller still in line does not cost the pool its worker."""
    with new_pool() as pool:
        with occupied(pool, tmp_path):
            loop = asyncio.new_event_loop()
            coroutine = pool.arun(("echo", 1))
            task = loop.create_task(coroutine)
            while not pool._crew._line:
                loop.run_until_complete(asyncio.sleep(0))
            loop.close()
        assert pool.run(("echo", 2)) == 2
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        del task
        coroutine.close()


def hostile(call: Callable[[tuple[str, object]], object], number: int) -> str:
    """Run one of the jobs that have to be ended, and say how it was."""
    job = ("spin", "hold_the_lock", "take_all", "segfault")[number % 4]
    try:
        call((job, 60))
    except (JobTimeout, JobCrashed) as error:
        return f"{job}: {type(error).__name__}"
    return "survived"


ENDS = ["spin: JobTimeout", "hold_the_lock: JobTimeout", "take_all: JobCrashed", "segfault: JobCrashed"] * 4


def test_hostile_jobs_from_threads() -> None:
    """Sixteen jobs that hang or crash, at once from threads: each is ended, and later answers are right."""
    with new_pool(size=4, cpu_s=0.5, memory_mb=256) as pool, ThreadPoolExecutor(16) as threads:
        assert list(threads.map(lambda number: hostile(pool.run, number), range(16))) == ENDS
        assert list(threads.map(lambda number: pool.run(("echo", number)), range(16))) == list(range(16))
        assert len(pool.pids) <= 4


def test_hostile_jobs_from_a_loop() -> None:
    """The same from an event loop."""

    async def one(pool: WorkerPool, number: int) -> str:
        try:
            return str(await pool.arun((ENDS[number].partition(":")[0], 60)))
        except (JobTimeout, JobCrashed) as error:
            return f"{ENDS[number].partition(':')[0]}: {type(error).__name__}"

    async def main() -> None:
        with new_pool(size=4, cpu_s=0.5, memory_mb=256) as pool:
            assert await asyncio.gather(*(one(pool, number) for number in range(16))) == ENDS
            assert await asyncio.gather(*(pool.arun(("echo", n)) for n in range(16))) == list(range(16))

    asyncio.run(main())


def test_worker_on_a_loop() -> None:
    """A `Worker` has the same faces: awaited, it answers, keeps its limits, and closes."""

    async def main() -> None:
        async with Worker(DO, stderr="discard") as worker:
            assert await worker.acall(("remember", 1), cpu_s=5, wall_s=30) == 1
            assert worker.call(("remember", 2), cpu_s=5, wall_s=30) == 2
            with pytest.raises(JobTimeout):
                await worker.acall(("spin", 60), cpu_s=0.2, wall_s=30)
            assert not worker.alive
            with pytest.raises(WorkerClosed):
                await worker.acall(("remember", 3), cpu_s=5, wall_s=30)

    asyncio.run(main())


def test_worker_does_one_thing_at_a_time(tmp_path: Path) -> None:
    """A second call to a busy `Worker` is refused, and the first goes on."""

    async def main() -> None:
        async with Worker(DO) as worker:
            first = asyncio.create_task(worker.acall(("hold", str(tmp_path)), cpu_s=5, wall_s=60))
            assert await asyncio.to_thread(soon, (tmp_path / "begun").exists)
            with pytest.raises(UsageError, match="has a job already"):
                await worker.acall(("echo", 1), cpu_s=5, wall_s=30)
            (tmp_path / "end").touch()
            assert await first == "held"
            assert await worker.acall(("echo", 1), cpu_s=5, wall_s=30) == 1

    asyncio.run(main())


def test_worker_killed_from_another_thread() -> None:
    """A call whose worker is killed by its owner ends as `WorkerClosed`, not as a crash of the job."""
    worker = Worker(DO)
    worker.call(("echo", 1), cpu_s=5, wall_s=30)
    threading.Timer(0.2, worker.kill).start()
    with pytest.raises(WorkerClosed):
        worker.call(("sleep", 60), cpu_s=5, wall_s=30)

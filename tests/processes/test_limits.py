"""Limits hold, and only the worker's own doing counts towards them."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable

import pytest

from adjudge.errors import UsageError
from adjudge.processes import JobCrashed, JobTimeout, Worker, WorkerPool, _limits, _worker
from processes.helpers import PATIENCE_S, all_gone, busy_machine, new_pool

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's clocks and limits")


def outcome(action: Callable[[], object]) -> object:
    """Say what came of a job, as something that compares."""
    try:
        return action()
    except (JobTimeout, JobCrashed) as error:
        return type(error).__name__


@pytest.mark.parametrize("job", ["spin", "spin_in_threads", "hold_the_lock"])
def test_cpu_limit(pool: WorkerPool, job: str) -> None:
    """A job that uses up its CPU time ends as `JobTimeout`, its worker is gone, and the next answer is right."""
    assert pool.run(("echo", 1)) == 1
    before = pool.pids
    start = time.monotonic()
    with pytest.raises(JobTimeout, match=r"0\.3 s of CPU time"):
        pool.run((job, 600), cpu_s=0.3)
    assert time.monotonic() - start < PATIENCE_S
    assert all_gone(list(before))
    assert pool.run(("echo", 2)) == 2
    assert not set(before) & set(pool.pids)


def test_wall_backstop() -> None:
    """A job that sleeps uses no CPU time and is ended by the wall-clock backstop."""
    with new_pool(cpu_s=5, wall_s=0.4) as pool:
        start = time.monotonic()
        with pytest.raises(JobTimeout, match=r"0\.4 s of wall-clock time"):
            pool.run(("sleep", 600))
        assert 0.4 <= time.monotonic() - start < PATIENCE_S
        assert pool.run(("echo", 2)) == 2


def test_stopped_worker() -> None:
    """A worker that was stopped by a signal is ended by the backstop like one that sleeps."""
    with new_pool(wall_s=0.4) as pool:
        with pytest.raises(JobTimeout):
            pool.run(("stop", None))
        assert pool.run(("echo", 2)) == 2


def test_sleeping_costs_no_cpu(pool: WorkerPool) -> None:
    """A job may sleep for longer than its CPU limit."""
    assert pool.run(("sleep", 0.5), cpu_s=0.2) == "slept"


def test_each_job_starts_at_zero(pool: WorkerPool) -> None:
    """What earlier jobs of the same worker used does not count."""
    assert [pool.run(("spin", 0.12), cpu_s=0.3) for _ in range(5)] == ["spun"] * 5
    assert len(pool.pids) == 1


def test_waiting_in_line_costs_nothing() -> None:
    """Time in the queue counts towards neither limit."""
    results: list[object] = []
    with new_pool(wall_s=1.5) as pool:
        threads = [
            threading.Thread(target=lambda: results.append(outcome(lambda: pool.run(("sleep", 0.4))))) for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == ["slept"] * 5


def test_starting_costs_nothing() -> None:
    """What a worker imports in advance does not count towards its first job."""
    with WorkerPool("processes.jobs:do", cpu_s=0.4, wall_s=0.8, warm=("processes.slow_import",)) as pool:
        assert pool.run(("echo", 1)) == 1


def test_backstop_grows_with_the_limit() -> None:
    """A job that is given more CPU time than the pool's is given more wall-clock time in proportion."""
    with new_pool(cpu_s=0.1, wall_s=0.5) as pool:
        assert pool.run(("sleep", 0.8), cpu_s=0.4) == "slept"
        with pytest.raises(JobTimeout, match=r"0\.5 s of wall"):
            pool.run(("sleep", 0.8), cpu_s=0.05)


def test_late_answer_is_a_timeout(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that took too much CPU time is a timeout even where it comes before anybody looked."""
    monkeypatch.setattr(_limits.Meter, "first_look", lambda _: 20.0)
    with pytest.raises(JobTimeout):
        pool.run(("spin", 0.3), cpu_s=0.2)
    assert pool.run(("echo", 2)) == 2


@pytest.mark.parametrize("job", ["spin", "hold_the_lock"])
def test_cpu_limit_without_a_readable_clock(job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the owner cannot read the worker's clock, a timer in the worker keeps the CPU limit."""
    monkeypatch.setattr(_limits, "cpu_time", lambda _: None)
    monkeypatch.setattr(_worker, "cpu_time", lambda _: None)
    with new_pool() as pool:
        assert pool.run(("spin", 0.1), cpu_s=0.5) == "spun"
        assert pool.run(("sleep", 0.3), cpu_s=0.2) == "slept"
        with pytest.raises(JobTimeout):
            pool.run((job, 60), cpu_s=0.3)
        assert pool.run(("echo", 2)) == 2


@linux
@pytest.mark.parametrize("job", ["grow", "take_all"])
def test_memory_limit(job: str) -> None:
    """A memory bomb ends as `JobCrashed` with the code `out-of-memory`, and the next answer is right."""
    with new_pool(memory_mb=192) as pool:
        with pytest.raises(JobCrashed) as caught:
            pool.run((job, None))
        assert caught.value.code == "out-of-memory"
        assert pool.run(("echo", 2)) == 2


@linux
def test_limits_in_the_worker() -> None:
    """A worker has its memory limit, no core dumps, and a session and process group of its own."""
    with Worker("processes.jobs:do", memory_mb=300) as worker:
        found = worker.call(("limits", None), cpu_s=5, wall_s=30)
    assert found == {"memory": 300 << 20, "core": 0, "group": worker.pid, "pid": worker.pid, "session": worker.pid}


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_senseless_limits(pool: WorkerPool, seconds: float) -> None:
    """A limit of no time is refused before anything is sent."""
    with pytest.raises(UsageError):
        pool.run(("echo", 1), cpu_s=seconds)
    with pytest.raises(UsageError):
        new_pool(wall_s=seconds)
    assert pool.pids == ()


def test_busy_machine_changes_nothing() -> None:
    """With eight other processes spinning, every job ends as it does on an idle machine."""
    jobs = [("spin", 0.05), ("echo", "x"), ("spin", 60), ("sleep", 0.1), ("spin", 0.2), ("sleep", 60)]
    with new_pool(size=2, cpu_s=0.4, wall_s=1.5) as pool:
        idle = [outcome(lambda job=job: pool.run(job)) for job in jobs]  # type: ignore[misc]
        assert idle == ["spun", "x", "JobTimeout", "slept", "spun", "JobTimeout"]
        with busy_machine():
            assert [outcome(lambda job=job: pool.run(job)) for job in jobs] == idle  # type: ignore[misc]


@linux
def test_waiting_for_a_core_is_not_sleeping() -> None:
    """A job that has to wait for a core for longer than the wall backstop is not ended by it."""
    core = min(os.sched_getaffinity(0))
    with new_pool(cpu_s=2, wall_s=0.5) as pool, busy_machine(core=core):
        os.sched_setaffinity(pool.run(("pid", None)), {core})
        start = time.monotonic()
        assert pool.run(("spin", 0.25)) == "spun"
        assert time.monotonic() - start > 0.5

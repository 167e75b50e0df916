"""Workers start when they are needed and are gone when they are not, whatever becomes of their owner."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import adjudge.processes
from adjudge.processes import Worker, WorkerClosed, WorkerPool
from processes.helpers import (
    DO,
    PATIENCE_S,
    TESTS,
    all_gone,
    children,
    in_line,
    new_pool,
    own_threads,
    parent,
    running,
    soon,
)

HEAVY = ("asyncio", "ctypes", "msgspec", "multiprocessing", "numpy", "pickle", "socket", "subprocess", "sympy")


@pytest.mark.parametrize("scene", ["busy", "watched_by_thread", "starting"])
def test_owner_killed(scene: str) -> None:
    """Kill -9 of the owner takes all workers along, whatever they are doing, and what they started."""
    with parent(scene) as (owner, pids):
        assert pids
        assert all(running(pid) for pid in pids)
        owner.send_signal(signal.SIGKILL)
        assert all_gone(pids)


def test_owner_killed_with_a_forked_child() -> None:
    """A forked child that outlives the owner does not keep the owner's workers alive."""
    with parent("with_fork") as (owner, (fork, *pids)):
        owner.send_signal(signal.SIGKILL)
        try:
            assert pids
            assert all_gone(pids)
            assert running(fork)
        finally:
            os.kill(fork, signal.SIGKILL)


@pytest.mark.parametrize(("scene", "status"), [("ordinary_end", 0), ("exits", 3), ("raises", 1), ("exits_at_once", 0)])
def test_owner_ends(scene: str, status: int) -> None:
    """However a program ends, it does not hang and leaves no worker."""
    with parent(scene) as (owner, pids):
        assert owner.wait(PATIENCE_S) == status
        assert pids
        assert all_gone(pids)


def test_owner_interrupted() -> None:
    """An interrupt in the middle of a job reaches the caller; the pool goes on with a new worker."""
    with parent("interrupted") as (owner, pids):
        assert owner.stdout is not None
        assert owner.stdout.readline() == "1\n"
        assert owner.wait(PATIENCE_S) == 0
        assert all_gone(pids)


@pytest.mark.parametrize("scene", ["forks", "forks_while_starting", "daemonic_fork", "daemonic_spawn", "spawned"])
def test_in_other_processes(scene: str) -> None:
    """In a forked, spawned or daemonic child a pool works as anywhere, with workers of its own, and leaves none."""
    with parent(scene) as (owner, pids):
        assert owner.stdout is not None
        assert owner.stdout.readline() == "1\n"
        assert owner.wait(PATIENCE_S) == 0
        assert all_gone([pid for pid in pids if pid])


def test_worker_outlives_the_thread_that_made_it() -> None:
    """A worker belongs to the process, not to the thread that happened to start it."""
    made: list[Worker] = []
    thread = threading.Thread(target=lambda: made.append(Worker(DO)))
    thread.start()
    thread.join()
    time.sleep(0.2)
    with made[0] as worker:
        assert worker.call(("echo", 1), cpu_s=5, wall_s=30) == 1
        time.sleep(0.2)
        assert worker.alive


def test_nothing_before_first_use() -> None:
    """Making a pool starts nothing; its first job does."""
    before, threads = children(), set(threading.enumerate())
    with new_pool(size=4) as pool:
        assert children() <= before
        assert set(threading.enumerate()) <= threads
        pool.run(("echo", 1))
        assert len(pool.pids) == 1
    assert not pool.pids


def test_idle_workers_go_home() -> None:
    """After `idle_s` without a job a pool has no process and no thread, and starts again when asked."""
    threads = own_threads()
    with new_pool(size=2, idle_s=0.3) as pool:
        pids = []
        for _ in range(2):
            pids.append(pool.run(("pid", None)))
            assert soon(lambda: pool.pids == ())
            assert all_gone(pids)
            assert soon(lambda: own_threads() <= threads)
        assert len(set(pids)) == 2


def test_busy_workers_stay() -> None:
    """A job may take longer than `idle_s`, and a pool in use keeps its worker."""
    # More than a second: a busy machine may let this thread wait for some of it between two jobs.
    with new_pool(idle_s=1.5) as pool:
        pids = {pool.run(("pid", None)) for _ in range(10) if pool.run(("sleep", 0.05)) == "slept"}
        assert pool.run(("sleep", 1.8)) == "slept"
        assert len(pids) == 1


def test_forgotten_pool() -> None:
    """A pool that nobody holds any more takes its workers along."""
    pool = new_pool()
    pids = {pool.run(("pid", None))}
    del pool
    gc.collect()
    assert all_gone(pids)


def test_closed_pool() -> None:
    """A closed pool refuses jobs, and may be closed again."""
    pool = new_pool()
    pool.run(("echo", 1))
    pool.close()
    pool.close()
    with pytest.raises(WorkerClosed):
        pool.run(("echo", 1))


def test_close_with_jobs_running_and_waiting() -> None:
    """Closing a pool ends its running jobs and those in line as `WorkerClosed`, without delay."""
    pool = new_pool(size=2)
    errors: list[str] = []

    def work() -> None:
        try:
            pool.run(("sleep", 60))
        except WorkerClosed as error:
            errors.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert in_line(pool, 4)
    pool.close()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert errors == ["worker-closed"] * 6


def test_worker_keeps_its_state() -> None:
    """A `Worker` is one process from its first job to its last."""
    with Worker(DO) as worker:
        assert [worker.call(("remember", "x"), cpu_s=5, wall_s=30) for _ in range(3)] == [1, 2, 3]
        assert worker.call(("pid", None), cpu_s=5, wall_s=30) == worker.pid
        assert worker.alive
    assert not worker.alive
    assert not running(worker.pid)


def test_worker_cpu_time() -> None:
    """The owner can read how much CPU time its worker has used."""
    with Worker(DO) as worker:
        worker.call(("echo", 1), cpu_s=5, wall_s=30)
        before = worker.cpu_s
        worker.call(("spin", 0.2), cpu_s=5, wall_s=30)
        worker.call(("sleep", 0.3), cpu_s=5, wall_s=30)
        assert 0.19 < worker.cpu_s - before < 0.45


def test_worker_may_clean_up(tmp_path: Path) -> None:
    """A closed worker ends in the ordinary way, so that what it holds can be given back."""
    note = tmp_path / "note"
    with Worker(DO) as worker:
        worker.call(("at_exit", str(note)), cpu_s=5, wall_s=30)
    assert note.read_text(encoding="utf-8") == "cleaned up"


def test_killed_worker_may_not(tmp_path: Path) -> None:
    """A killed worker does nothing more, nor does what it started."""
    note = tmp_path / "note"
    worker = Worker(DO)
    child = worker.call(("start_child", None), cpu_s=5, wall_s=30)
    worker.call(("at_exit", str(note)), cpu_s=5, wall_s=30)
    worker.kill()
    worker.kill()
    worker.close()
    assert all_gone([worker.pid, child])
    assert not note.exists()


def test_import_is_light() -> None:
    """`import adjudge.processes` loads nothing heavy and starts nothing."""
    code = f"import sys, adjudge.processes, threading; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_public_names() -> None:
    """`__all__` is what a reader of the package sees."""
    visible = {name for name in vars(adjudge.processes) if name.isidentifier() and not name.startswith("_")}
    assert visible == set(adjudge.processes.__all__)
    assert WorkerPool.__module__.startswith("adjudge.processes")


def test_example_in_the_docs(tmp_path: Path) -> None:
    """The example on the page runs and prints what the page says."""
    page = (TESTS.parent / "docs" / "explanation" / "processes.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    said = page.partition("```text\n")[2].partition("```")[0]
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == said

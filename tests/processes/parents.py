"""Programs that own workers and end in every way there is. Each prints its workers' pids, then does what it is for."""

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.context import ForkContext, SpawnContext

from adjudge.errors import ProcessError
from adjudge.processes import Worker, WorkerClosed, WorkerPool, _launch
from processes.helpers import DO, new_pool

SCENES: dict[str, Callable[[], None]] = {}


def scene(function: Callable[[], None]) -> Callable[[], None]:
    """Make a function a scene that the tests can ask for by name."""
    SCENES[function.__name__] = function
    return function


def tell(*pids: int) -> None:
    """Tell the test which processes to watch."""
    print(*pids, flush=True)  # noqa: T201


def occupied(*jobs: str) -> WorkerPool:
    """Make a pool whose workers are in the middle of these jobs."""
    pool = new_pool(size=len(jobs), cpu_s=600, wall_s=600)
    for job in jobs:
        threading.Thread(target=pool.run, args=((job, 500),), daemon=True).start()
    while sum(worker._greeted and worker._using.locked() for worker in list(pool._crew._workers)) < len(jobs):
        time.sleep(0.01)
    return pool


@scene
def busy() -> None:
    """Wait to be killed, with workers that hold the lock, spin, sleep, and do nothing."""
    pool = occupied("hold_the_lock", "spin", "sleep")
    idle = new_pool()
    grandchild = idle.run(("start_child", None))
    tell(*pool.pids, *idle.pids, grandchild)
    time.sleep(600)


@scene
def watched_by_thread() -> None:
    """Wait to be killed, as on a system whose kernel does not watch for us."""
    _launch.KERNEL_WATCH = False
    pool = occupied("spin", "sleep")
    tell(*pool.pids)
    time.sleep(600)


@scene
def starting() -> None:
    """Wait to be killed, with a worker that is still importing."""
    worker = Worker(DO, warm=("processes.slow_import",), stderr="discard")
    tell(worker.pid)
    time.sleep(600)


@scene
def with_fork() -> None:
    """Wait to be killed, with a forked child that lives on and has a copy of everything."""
    pool = occupied("hold_the_lock")
    other = os.fork()
    if other == 0:
        time.sleep(600)
        os._exit(0)
    tell(other, *pool.pids)
    time.sleep(600)


@scene
def ordinary_end() -> None:
    """End without closing anything."""
    tell(*occupied("hold_the_lock", "sleep").pids)


@scene
def exits() -> None:
    """Leave by sys.exit."""
    tell(*occupied("hold_the_lock", "sleep").pids)
    sys.exit(3)


@scene
def raises() -> None:
    """Leave by an exception."""
    tell(*occupied("hold_the_lock", "sleep").pids)
    raise RuntimeError("as intended")


@scene
def exits_at_once() -> None:
    """Leave without any clean-up."""
    tell(*occupied("hold_the_lock", "sleep").pids)
    os._exit(0)


@scene
def interrupted() -> None:
    """Be interrupted in the middle of a job, catch it, and get right answers afterwards."""
    pool = new_pool(cpu_s=600, wall_s=600)
    pool.run(("echo", 1))
    tell(*pool.pids)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        pool.run(("interrupt", os.getpid()))
    except KeyboardInterrupt:
        assert pool.run(("echo", 2)) == 2
        tell(len(pool.pids))


@scene
def forks() -> None:
    """Fork with a pool and a worker; both processes get right answers, from workers of their own."""
    pool, worker = new_pool(size=2), Worker(DO, stderr="discard")
    mine = {pool.run(("pid", None)), worker.call(("pid", None), cpu_s=5, wall_s=30)}
    tell(*mine)
    child = os.fork()
    if child == 0:
        assert pool.pids == ()
        assert pool.run(("pid", None)) not in mine
        try:
            worker.call(("echo", 1), cpu_s=5, wall_s=30)
        except WorkerClosed:
            worker.kill()
            os._exit(17)
        os._exit(1)
    assert all(pool.run(("echo", number)) == number for number in range(20))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
    assert pool.run(("pid", None)) in mine
    assert worker.call(("pid", None), cpu_s=5, wall_s=30) in mine
    tell(1)


@scene
def forks_while_starting() -> None:
    """Fork again and again while other threads start, use and kill workers; every child can work at once."""
    pool = new_pool(size=2, cpu_s=0.05)
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            try:
                pool.run(("spin", 0.06))
            except ProcessError:  # what becomes of these jobs is not the point
                continue

    threads = [threading.Thread(target=churn) for _ in range(3)]
    for thread in threads:
        thread.start()
    tell(0)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os._exit(0 if pool.run(("echo", 5), cpu_s=5) == 5 else 1)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    for thread in threads:
        thread.join()
    tell(1)


def use_pool_in_child(results: "multiprocessing.Queue[object]") -> None:
    """Use a pool inside somebody's own worker, by every face."""
    pool = new_pool()
    from_thread: list[object] = []
    thread = threading.Thread(target=lambda: from_thread.append(pool.run(("echo", "thread"))))
    thread.start()
    thread.join()
    main, loop = pool.run(("echo", "main")), asyncio.run(pool.arun(("echo", "loop")))
    results.put((multiprocessing.current_process().daemon, main, from_thread[0], loop, pool.pids))


def in_child(context: ForkContext | SpawnContext, *, daemon: bool) -> None:
    """Use a pool in a multiprocessing child, and tell what came of it."""
    results = context.Queue()
    child = context.Process(target=use_pool_in_child, args=(results,), daemon=daemon)
    child.start()
    was_daemon, *answers, pids = results.get(timeout=30)
    assert was_daemon is daemon
    assert answers == ["main", "thread", "loop"]
    tell(*pids)
    child.join()
    assert child.exitcode == 0
    tell(1)


@scene
def daemonic_fork() -> None:
    """Use a pool in a forked, daemonic child."""
    in_child(multiprocessing.get_context("fork"), daemon=True)


@scene
def daemonic_spawn() -> None:
    """Use a pool in a spawned, daemonic child."""
    in_child(multiprocessing.get_context("spawn"), daemon=True)


@scene
def spawned() -> None:
    """Use a pool in a spawned child."""
    in_child(multiprocessing.get_context("spawn"), daemon=False)


if __name__ == "__main__":
    SCENES[sys.argv[1]]()

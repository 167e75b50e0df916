"""Looking at real processes."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from adjudge.processes import WorkerPool

DO = "processes.jobs:do"
TESTS = Path(__file__).parent.parent
PATIENCE_S = 60.0
"""How long to wait for what must happen: it only ends a test that would hang, however busy the machine is."""


def new_pool(
    *, size: int = 1, cpu_s: float = 5.0, wall_s: float = 30.0, memory_mb: int | None = 512, idle_s: float = 60.0
) -> WorkerPool:
    """Make a pool for the jobs of these tests."""
    return WorkerPool(
        DO, size=size, cpu_s=cpu_s, wall_s=wall_s, memory_mb=memory_mb, warm=(), idle_s=idle_s, stderr="discard"
    )


def running(pid: int) -> bool:
    """Whether there is such a process, dead ones that nobody has waited for left out."""
    if not Path("/proc").exists():
        return subprocess.run(["/bin/ps", "-p", str(pid)], check=False, capture_output=True).returncode == 0
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int | None = None) -> set[int]:
    """All children of a process (this one), the dead that nobody has waited for among them."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == (pid or os.getpid()):
            found.add(int(folder.name))
    return found


def own_threads() -> set[threading.Thread]:
    """Find the threads that the package has started in this process and that are alive."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("adjudge")}


def soon(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
    """Whether something comes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def all_gone(pids: set[int] | list[int]) -> bool:
    """Whether these processes end."""
    return soon(lambda: not any(running(pid) for pid in pids))


@contextmanager
def occupied(pool: WorkerPool, folder: Path) -> Iterator[None]:
    """Keep a worker of a pool busy meanwhile, with a job that has begun and does not end by itself."""
    thread = threading.Thread(target=pool.run, args=(("hold", str(folder)),))
    thread.start()
    try:
        assert soon((folder / "begun").exists)
        yield
    finally:
        (folder / "end").touch()
        thread.join()


def in_line(pool: WorkerPool, count: int) -> bool:
    """Whether so many callers come to wait for a worker of this pool."""
    return soon(lambda: len(pool._crew._line) == count)


@contextmanager
def parent(scene: str) -> Iterator[tuple["subprocess.Popen[str]", list[int]]]:
    """Play a scene of `parents.py` in an interpreter of its own, up to where it tells its workers' pids."""
    command = [sys.executable, str(Path(__file__).with_name("parents.py")), scene]
    # Both folders: this one is the script's own and found anyway, the other holds the package of the jobs.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        try:
            yield process, pids
        finally:
            process.kill()


@contextmanager
def busy_machine(count: int = 8, core: int | None = None) -> Iterator[None]:
    """Have so many other processes spin meanwhile, all on one core where one is named."""
    # Each in a session of its own, or the scheduler may count them as one against each worker.
    command = [sys.executable, "-S", "-c", "while True: pass"]
    spinners = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        if core is not None:
            for spinner in spinners:
                os.sched_setaffinity(spinner.pid, {core})
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
        for spinner in spinners:
            spinner.wait()

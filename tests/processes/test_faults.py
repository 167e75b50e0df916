"""Whatever a job does, its caller gets a typed error and the next caller a right answer."""

import asyncio
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import ProcessError, UsageError
from adjudge.processes import JobCrashed, JobFailed, MessageTooLarge, Worker, WorkerPool, WorkerStartError
from processes.helpers import DO, TESTS, all_gone, new_pool, soon
from support import soak

FAULTS: list[tuple[str, object, type[ProcessError], str]] = [
    ("segfault", None, JobCrashed, "SIGSEGV"),
    ("die_of_recursion", None, JobCrashed, "worker"),
    ("kill_self", signal.SIGKILL, JobCrashed, "SIGKILL"),
    ("kill_self", signal.SIGABRT, JobCrashed, "SIGABRT"),
    ("leave", 0, JobCrashed, "exit status 0"),
    ("leave", 5, JobCrashed, "exit status 5"),
    ("leave_now", 7, JobCrashed, "exit status 7"),
    ("hang_up", None, JobCrashed, "worker"),
    ("write_to_channel", b"\xff" * 100, JobCrashed, "impossible length"),
    ("write_to_channel", struct.pack("!I", 5) + b"\xdd\xff\xff\xff\xff", JobCrashed, "not an answer"),
    ("write_to_channel", struct.pack("!I", 9) + b"\x93\xa4done\x00\xc1\xc1", JobCrashed, "not an answer"),
    ("write_to_channel", struct.pack("!I", 4000) + b"\x91" * 4000, JobCrashed, "not an answer"),
    ("fail", "no\nsuch\x00 unit", JobFailed, "ValueError: no\nsuch\x00 unit"),
    ("fail", "\ud800", JobFailed, "ValueError: .ud800"),
    ("fail", "x" * 1_000_000, JobFailed, "ValueError: xxx"),
    ("fail_hostile", None, JobCrashed, "exit status 1"),
    ("fail_out", None, JobCrashed, "worker"),
    ("no such job", None, JobFailed, "KeyError: 'no such job'"),
    ("object", None, JobFailed, "TypeError"),
    ("huge_int", None, JobFailed, "OverflowError"),
    ("surrogate", None, JobFailed, "UnicodeEncodeError"),
    ("nest", 100_000, JobFailed, "RecursionError"),
    ("bytes", 65 << 20, MessageTooLarge, "more than a message may have"),
]


@pytest.mark.parametrize(("job", "argument", "error", "text"), FAULTS)
def test_fault(pool: WorkerPool, job: str, argument: object, error: type[ProcessError], text: str) -> None:
    """Each fault has its error, and only a dead worker is replaced."""
    before = pool.run(("pid", None))
    with pytest.raises(error, match=text) as caught:
        pool.run((job, argument))
    assert type(caught.value) is error
    assert len(caught.value.message) < 5000
    after = pool.run(("pid", None))
    assert (after == before) is (error is not JobCrashed)
    assert pool.run(("echo", "right")) == "right"


def test_failure_is_text_only(pool: WorkerPool) -> None:
    """`JobFailed` carries the exception's class name and message, nothing of the object, and can be pickled."""
    with pytest.raises(JobFailed) as caught:
        pool.run(("fail", "furlong: unknown"))
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  # our own
    assert (copy.type_name, copy.text, copy.code) == ("ValueError", "furlong: unknown", "job-failed")
    assert caught.value.__cause__ is None


def test_pickle_in_an_answer_stays_bytes(pool: WorkerPool) -> None:
    """What comes back is never unpickled."""
    data = pickle.dumps(Path("x"))
    assert pool.run(("echo", data)) == data


@pytest.mark.parametrize(
    "value",
    [None, True, -(2**63), 2**64 - 1, 1.5, "", "\x00\u2028\U0001f600", b"\x00\xff", [], {"a": [1, {"b": None}]}],
)
def test_plain_data_returns_as_it_was(pool: WorkerPool, value: object) -> None:
    """Plain data goes to a worker and back unchanged."""
    assert pool.run(("echo", value)) == value


def test_tuples_return_as_lists(pool: WorkerPool) -> None:
    """A tuple comes back as a list."""
    assert pool.run(("set_of_tuples", None)) == [[1, 2], [3, 4]]


class Unpicklable:
    """What says why it cannot be pickled."""

    def __reduce__(self) -> Any:
        raise TypeError("not for travelling")


@pytest.mark.parametrize("payload", [lambda: 0, threading.Lock(), Unpicklable(), sys.stdout])
def test_unpicklable_payload(pool: WorkerPool, payload: object) -> None:
    """A payload that cannot be sent is the caller's mistake, and no worker hears of it."""
    before = pool.run(("pid", None))
    with pytest.raises(UsageError, match="cannot be sent"):
        pool.run(("echo", payload))
    assert pool.run(("pid", None)) == before


def test_payload_that_cannot_be_loaded(tmp_path: Path) -> None:
    """A payload whose class the worker cannot import is a failed job."""
    name = "only_here"
    module = type(sys)(name)
    module.Local = type("Local", (), {"__module__": name})  # type: ignore[attr-defined]
    sys.modules[name] = module
    try:
        with new_pool() as pool:
            with pytest.raises(JobFailed, match="ModuleNotFoundError"):
                pool.run(("echo", module.Local()))
            assert pool.run(("echo", 1)) == 1
    finally:
        del sys.modules[name]


def test_large_messages(pool: WorkerPool) -> None:
    """A message may have 64 MB each way; a larger payload is refused before it is sent."""
    data = os.urandom(20 << 20)
    assert pool.run(("echo", data)) == data
    before = pool.pids
    with pytest.raises(MessageTooLarge, match="payload"):
        pool.run(("echo", b"x" * (65 << 20)))
    assert pool.run(("echo", 1)) == 1
    assert pool.pids == before


def test_killed_in_the_middle(pool: WorkerPool, tmp_path: Path) -> None:
    """Kill -9 of a worker with a job ends the job as `JobCrashed`; the next one is answered."""
    pid = pool.run(("pid", None))

    def kill() -> None:
        assert soon((tmp_path / "begun").exists)
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(JobCrashed, match="SIGKILL"):
        pool.run(("hold", str(tmp_path)))
    killer.join()
    assert pool.run(("echo", 2)) == 2


@pytest.mark.soak
def test_killed_while_idle(pool: WorkerPool) -> None:
    """Kill -9 of an idle worker is nobody's failure."""
    for number in range(soak(50)):
        pid = pool.run(("pid", None))
        os.kill(pid, signal.SIGKILL)
        assert all_gone([pid])
        assert pool.run(("echo", number)) == number


@pytest.mark.soak
def test_faults_one_after_the_other() -> None:
    """Faults in any order, again and again, leave right answers and nothing behind."""
    with new_pool(size=2) as pool:
        for turn in range(soak(30)):
            for job, argument, error, _ in FAULTS:
                if job in {"bytes", "nest", "die_of_recursion"}:
                    continue
                with pytest.raises(error):
                    pool.run((job, argument))
                assert pool.run(("echo", turn)) == turn


def test_grandchildren_go_too(pool: WorkerPool) -> None:
    """What a job started dies with its worker, whether that is killed, crashes or is closed."""
    for end in ("segfault", "leave_now", "hang_up"):
        pid = pool.run(("start_child", None))
        with pytest.raises(JobCrashed):
            pool.run((end, 0))
        assert all_gone([pid])
    pid = pool.run(("start_child", None))
    pool.close()
    assert all_gone([pid])


def test_prints_do_not_corrupt() -> None:
    """What a job prints goes to standard error, never into the channel; its input is empty."""
    code = "from adjudge.processes import WorkerPool; pool = WorkerPool('processes.jobs:do', warm=()); "
    code += "print([pool.run(('shout', 'loud\\n')), pool.run(('echo', 1))])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "['loud\\n', 1]\n"
    assert done.stderr.count("loud\n") == 4


def test_output_can_be_discarded(capfd: pytest.CaptureFixture[str]) -> None:
    """With `stderr="discard"` nothing that a job prints is seen."""
    with new_pool() as pool:
        assert pool.run(("shout", "quiet\n")) == "quiet\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("target", "warm", "text"),
    [
        ("no_such_module:f", (), "no_such_module"),
        ("math:no_such_function", (), "no_such_function"),
        ("math:pi", (), "not a function"),
        ("math:sqrt", ("no_such_warm",), "no_such_warm"),
    ],
)
def test_worker_that_cannot_start(target: str, warm: tuple[str, ...], text: str) -> None:
    """What cannot be loaded is said at every attempt, in the same words, and nobody waits for ever."""
    with WorkerPool(target, warm=warm, stderr="discard") as pool:
        for _ in range(3):
            with pytest.raises(WorkerStartError, match=text):
                pool.run(4.0)


@pytest.mark.parametrize("deaths", [2, 3])
def test_a_worker_that_dies_while_it_starts(deaths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that no worker has taken yet goes to the next one; the third death in a row is told, sync and async."""
    monkeypatch.setenv("FRAIL_DEATHS", str(deaths))

    def run_async(pool: WorkerPool) -> object:
        return asyncio.run(pool.arun(("echo", 1)))

    for number, run in enumerate((lambda pool: pool.run(("echo", 1)), run_async)):
        monkeypatch.setenv("FRAIL_LOG", str(tmp_path / str(number)))
        with WorkerPool(DO, warm=("processes.frail_import",), stderr="discard") as pool:
            if deaths == 2:
                assert run(pool) == 1
            else:
                with pytest.raises(WorkerStartError, match="SIGKILL"):
                    run(pool)


def test_no_room_to_start() -> None:
    """A worker whose memory limit is too small for its imports is a start that failed."""
    with new_pool(memory_mb=16) as pool, pytest.raises(WorkerStartError):
        pool.run(("echo", 1))


def test_no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be started, the caller is told."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with new_pool() as pool, pytest.raises(WorkerStartError, match="no worker process could be started"):
        pool.run(("echo", 1))


@pytest.mark.parametrize(
    "options",
    [
        {"target": "math"},
        {"target": "math:"},
        {"target": "os; x:y"},
        {"target": "__main__:f"},
        {"target": "math:sqrt", "warm": "sympy"},
        {"target": "math:sqrt", "memory_mb": 0},
        {"target": "math:sqrt", "stderr": "file"},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    """Options that could never work are refused at once, by both."""
    for kind in (WorkerPool, Worker):
        with pytest.raises(UsageError):
            kind(**options)


def test_worker_after_its_death() -> None:
    """A lone worker is not replaced: after its death it refuses jobs."""
    worker = Worker(DO, stderr="discard")
    with pytest.raises(JobCrashed):
        worker.call(("segfault", None), cpu_s=5, wall_s=30)
    assert not worker.alive
    with pytest.raises(ProcessError, match="make a new one"):
        worker.call(("echo", 1), cpu_s=5, wall_s=30)

"""Interrupts, killed workers and readers that go away: an orderly end, one line, and no process left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import COMMAND, F1, GOOD, PATIENCE, start, write

SLOW = """
import os, time

def slow(final_response):
    with open(f"pid-{os.getpid()}", "w"):
        pass
    time.sleep(float(final_response))
    return 1.0
"""


class Running:
    """A run that has begun to score, with the processes that do."""

    def __init__(self, folder: Path, *, pause: float, workers: int) -> None:
        (folder / "slowly.py").write_text(SLOW)
        write(folder / "rows.jsonl", [{"final_response": str(pause), "pad": "x" * 2000}] * 2000)
        (folder / "out.jsonl").write_text("old")
        self.folder = folder
        self.process = start(
            *("score", "rows.jsonl", "--scorer", "slowly:slow", "--out", "out.jsonl", "--workers", str(workers)),
            cwd=folder,
        )
        deadline = time.monotonic() + PATIENCE
        while len(self.pids()) < workers and time.monotonic() < deadline:
            assert self.process.poll() is None
            time.sleep(0.05)
        assert len(self.pids()) == workers

    def pids(self) -> list[int]:
        """Return the processes that have scored a row."""
        return [int(path.name.removeprefix("pid-")) for path in self.folder.glob("pid-*")]

    def end(self) -> tuple[int, list[str]]:
        """Return the exit code and the lines on stderr that are not blank."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        assert stdout == b""
        return self.process.returncode, [line for line in stderr.decode().splitlines() if line]

    def left(self) -> list[int]:
        """Return which of the processes are alive after a while."""
        deadline = time.monotonic() + PATIENCE
        while (alive := [pid for pid in self.pids() if _is_alive(pid)]) and time.monotonic() < deadline:
            time.sleep(0.1)
        return alive

    def clean(self) -> None:
        """End what is left of it."""
        for pid in {self.process.pid, *self.pids()}:
            if _is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def runs() -> Iterator[list[Running]]:
    """Collect runs and clean up after them."""
    started: list[Running] = []
    yield started
    for run in started:
        run.clean()


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupt(tmp_path: Path, runs: list[Running], workers: int) -> None:
    """Ctrl-C ends the run with 130 and one line: no traceback, the old output untouched, no worker left."""
    run = Running(tmp_path, pause=0.001, workers=workers)
    runs.append(run)
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.end() == (130, ["adjudge: interrupted"])
    assert run.left() == []
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_interrupt_while_a_reward_hangs(tmp_path: Path, runs: list[Running]) -> None:
    """Ctrl-C does not wait for a reward that hangs in a worker."""
    run = Running(tmp_path, pause=3000, workers=2)
    runs.append(run)
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.end() == (130, ["adjudge: interrupted"])
    assert run.left() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_parent_ends(tmp_path: Path, runs: list[Running], number: signal.Signals) -> None:
    """Workers do not outlive the command, however it is ended."""
    run = Running(tmp_path, pause=0.001, workers=2)
    runs.append(run)
    run.process.send_signal(number)
    run.process.wait(timeout=PATIENCE)
    assert run.process.returncode != 0
    assert run.left() == []
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_killed_worker(tmp_path: Path, runs: list[Running]) -> None:
    """A worker killed from outside ends the run with 3 and one line; the old output is untouched."""
    run = Running(tmp_path, pause=0.001, workers=2)
    runs.append(run)
    os.kill(run.pids()[0], signal.SIGKILL)
    code, lines = run.end()
    assert code == 3
    assert lines == ["adjudge: error: a worker process died: killed from outside, or out of memory"]
    assert run.left() == []
    assert (tmp_path / "out.jsonl").read_text() == "old"


@pytest.mark.parametrize(
    "arguments", [["score", "rows.jsonl", *F1, "--out", "-"], ["score", "rows.jsonl", *F1], ["scorers"], ["demo"]]
)
def test_reader_goes_away(tmp_path: Path, arguments: list[str]) -> None:
    """A reader that has seen enough, as `head -1`, is no error: no traceback and exit code 0."""
    write(tmp_path / "rows.jsonl", [GOOD] * 20_000)
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stdout is not None
    assert process.stderr is not None
    if "--out" in arguments:
        assert process.stdout.read(10) == b'{"id":1,"s'
    process.stdout.close()
    shown = process.stderr.read().decode()
    process.stderr.close()
    assert "Traceback" not in shown
    assert "Exception" not in shown
    assert process.wait(timeout=PATIENCE) == 0


def test_no_stdin(tmp_path: Path) -> None:
    """Rows from a standard input that is closed are an error of the call, in words."""
    script = f"exec {sys.executable} -m adjudge score - --scorer qa_f1_reward <&-"
    result = subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE)
    assert result.returncode == 2
    assert b"Error" not in result.stderr

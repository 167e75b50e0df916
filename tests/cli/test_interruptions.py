"""A run that is killed, interrupted or started twice: nothing that was acknowledged is lost, nothing is paid twice."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError
from adjudge.runs._export import scored_cases, verdict_line
from adjudge.runs._plan import PLAN, plan_from
from adjudge.runs._store import Store
from adjudge.testing import ChatServer
from cli.command import PATIENCE, adjudge, said
from cli.judging import KEY, arguments, begin, by_number, judge, lines, write_rows
from support import soak

ENV = {"OPENAI_API_KEY": KEY}


def settled(path: Path) -> set[bytes]:
    """Return the verdicts that a run has so far, as somebody else sees them."""
    try:
        with Store.read(path) as store:
            names = plan_from(store.meta(PLAN), path).names
            found = b"".join(
                [
                    verdict_line(case.id, names, scores)
                    for page in scored_cases(store, names, "not-run")
                    for case, scores in page
                ]
            )
    except AdjudgeError as error:
        if error.code in ("not-a-run", "cannot-read"):  # it has not begun yet
            return set()
        raise
    return {line for line in found.splitlines() if b'"not-run"' not in line}


def wait_for(path: Path, count: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a run has so many verdicts."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        if len(settled(path)) >= count:
            return
        time.sleep(0.02)
    pytest.fail("the run does not get on")


def end(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Return the exit code and what was said."""
    _, stderr = process.communicate(timeout=PATIENCE)
    return process.returncode, stderr.decode()


@pytest.mark.soak
def test_kill_and_resume(tmp_path: Path) -> None:
    """However often a run is killed, it goes on: no verdict lost or changed, the same bytes in the end."""
    kills, count, workers = soak(100), 400, 8
    write_rows(tmp_path / "rows.jsonl", count)
    chance = random.Random(11)  # noqa: S311 (no secret)
    with ChatServer(by_number, latency_s=0.02) as server:
        result = judge(tmp_path, server, "--workers", str(workers), run="whole.run", out="whole.jsonl")
        assert result.returncode == 0, result.stderr
        before = server.counts.calls
        had: set[bytes] = set()
        done = 0
        run = 0
        while done < kills:
            path = tmp_path / f"{run}.run"
            command = ["resume", path.name, "--out", "out.jsonl"] if settled(path) else []
            command = command or arguments(server, "--workers", str(workers), run=path.name)
            process = begin(tmp_path, *command)
            try:
                process.wait(chance.uniform(0.3, 1.3))
            except subprocess.TimeoutExpired:
                process.kill()
                done += 1
            process.communicate()
            have = settled(path)
            assert had <= have
            had = have
            if len(had) == count:
                assert server.counts.calls - before <= count + (done + 1) * workers
                assert adjudge("resume", path.name, "--out", "out.jsonl", cwd=tmp_path, env=ENV).returncode == 0
                assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
                before, had, run = server.counts.calls, set(), run + 1
        if had:
            result = adjudge("resume", path.name, "--out", "out.jsonl", cwd=tmp_path, env=ENV)
            assert result.returncode == 0, result.stderr
            assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """SIGINT and SIGTERM end a run before its rows are done, one line says how to go on, and it does."""
    count, workers = 300, 4
    write_rows(tmp_path / "rows.jsonl", count)
    with ChatServer(by_number, latency_s=0.02) as server:
        process = begin(tmp_path, *arguments(server, "--workers", str(workers)))
        wait_for(tmp_path / "a.run", 20, process)
        process.send_signal(number)
        assert end(process) == (code, "adjudge: interrupted; to resume: adjudge resume a.run\n")
        assert not (tmp_path / "out.jsonl").exists()
        assert not (tmp_path / "a.run.lock").exists()
        result = adjudge("resume", "a.run", "--out", "out.jsonl", cwd=tmp_path, env=ENV)
        assert result.returncode == 0, result.stderr
        assert server.counts.calls <= count + workers
    assert {line["status"] for line in lines(tmp_path / "out.jsonl")} == {"scored"}


def test_signal_while_the_server_hangs(tmp_path: Path) -> None:
    """An interrupt does not wait for a server that does not answer."""
    write_rows(tmp_path / "rows.jsonl", 20)
    with ChatServer(by_number, latency_s=600) as server:
        process = begin(tmp_path, *arguments(server))
        deadline = time.monotonic() + PATIENCE
        while not server.counts.in_flight and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert end(process)[0] == 130


def test_two_processes(tmp_path: Path) -> None:
    """A second process on the same run is refused at once with the first one's id; the first goes on."""
    write_rows(tmp_path / "rows.jsonl", 1000)
    with ChatServer(by_number, latency_s=0.05) as server:
        process = begin(tmp_path, *arguments(server, "--workers", "2"))
        wait_for(tmp_path / "a.run", 4, process)
        for command in (["resume", "a.run"], arguments(server)):
            result = adjudge(*command, cwd=tmp_path, env=ENV)
            assert result.returncode == 3
            assert f"process {process.pid}" in said(result)
        listed = adjudge("runs", ".", cwd=tmp_path).stdout.decode()
        assert "a.run  running" in listed
        process.send_signal(signal.SIGTERM)
        assert end(process)[0] == 143
        assert server.counts.repeats == 0


def test_same_command_again(tmp_path: Path) -> None:
    """The command that began a run goes on with it; with other rows it is refused."""
    write_rows(tmp_path / "rows.jsonl", 30)
    with ChatServer(by_number) as server:
        assert judge(tmp_path, server).returncode == 0
        assert judge(tmp_path, server).returncode == 0
        assert server.counts.calls == 30
        write_rows(tmp_path / "rows.jsonl", 31)
        result = judge(tmp_path, server)
    assert result.returncode == 2
    assert "other cases" in said(result)


def test_retry_failed(tmp_path: Path) -> None:
    """Rows that ended in an error are asked again only when that is wanted."""
    write_rows(tmp_path / "rows.jsonl", 10)
    with ChatServer({"choices": "nonsense"}) as server:
        assert judge(tmp_path, server).returncode == 3
    assert {line["status"] for line in lines(tmp_path / "out.jsonl")} == {"error"}
    with ChatServer(by_number) as server:
        options = ["--out", "out.jsonl", "--base-url", server.base_url]
        assert adjudge("resume", "a.run", *options, cwd=tmp_path, env=ENV).returncode == 3
        assert server.counts.calls == 0
        assert adjudge("resume", "a.run", "--retry-failed", *options, cwd=tmp_path, env=ENV).returncode == 0
    assert {line["status"] for line in lines(tmp_path / "out.jsonl")} == {"scored"}


def test_disk_full(tmp_path: Path) -> None:
    """A full disk ends the run with 3 and one line that says how to go on."""
    write_rows(tmp_path / "rows.jsonl", 400)
    with ChatServer(by_number) as server:
        limited = " ".join(["ulimit -f 300; exec", *_command(), *arguments(server)])
        result = subprocess.run(
            ["/bin/sh", "-c", limited], cwd=tmp_path, env={**os.environ, **ENV}, capture_output=True, check=False
        )
        assert result.returncode == 3, result.stderr
        assert "adjudge resume a.run" in said(result)
        result = adjudge("resume", "a.run", "--out", "out.jsonl", cwd=tmp_path, env=ENV)
        assert result.returncode == 0, result.stderr
    assert len(lines(tmp_path / "out.jsonl")) == 400


def _command() -> list[str]:
    from cli.command import COMMAND

    return COMMAND


def test_stopped_while_a_pipe_is_open(tmp_path: Path) -> None:
    """A run that reads from a pipe ends at once when it is stopped, though whoever writes into the pipe does not."""
    row = b'{"id": %d, "question": "?", "reference": "red", "response": "blue sky %d"}\n'
    with ChatServer(process=True) as server:
        command = ["-m", "adjudge", "judge", "run", "-", "--judge", "openai:m", "--base-url", server.base_url]
        process = subprocess.Popen(
            [sys.executable, *command, "--run", "a.run", "--cache", "off"],
            cwd=tmp_path,
            env={**os.environ, **ENV},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(b"".join(row % (n, n) for n in range(300)))
        process.stdin.flush()
        wait_for(tmp_path / "a.run", 200, process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        assert "adjudge resume" in end(process)[1]  # which closes the pipe


def test_resumed_from_another_folder(tmp_path: Path) -> None:
    """The rows of a run are found again wherever it is resumed."""
    write_rows(tmp_path / "rows.jsonl", 2000)
    (tmp_path / "elsewhere").mkdir()
    with ChatServer(by_number, latency_s=0.05, process=True) as server:
        process = begin(tmp_path, *arguments(server, "--workers", "2"))
        wait_for(tmp_path / "a.run", 5, process)
        process.kill()
        process.communicate()
        with Store.read(tmp_path / "a.run") as store:
            assert plan_from(store.meta(PLAN), tmp_path).source == str(tmp_path / "rows.jsonl")
        result = adjudge("resume", "../a.run", "--workers", "64", cwd=tmp_path / "elsewhere", env=ENV)
    assert result.returncode == 0, result.stderr

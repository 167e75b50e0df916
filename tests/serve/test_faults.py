"""Processes that die, rows that hang, servers that end: each with real processes and signals."""

import os
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from processes.helpers import soon
from serve.serving import TOKEN, Client, command, serving
from support import soak

FAST = {"final_response": "x"}


def wait_for(path: Path) -> int:
    """Return the process id that a row has written into a file."""
    for _ in range(400):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def sockets(client: Client) -> int:
    """Return how many sockets the server has."""
    found = 0
    for place in Path(f"/proc/{client.process.pid}/fd").iterdir():
        with suppress(OSError):  # it may be closed by now
            found += str(place.readlink()).startswith("socket:")
    return found


def test_rows_of_a_killed_process_are_errors(tmp_path: Path) -> None:
    """Kill -9 of a scoring process: the rows that it had are errors with the reason, and the next ones are right."""
    with serving(tmp_path, "--scorer", "rewards:slow") as client, ThreadPoolExecutor() as pool:
        rows = [{**FAST, "seconds": 30.0, "pidfile": str(tmp_path / "pid")}, FAST]
        answer = pool.submit(client.scores, rows)
        os.kill(wait_for(tmp_path / "pid"), signal.SIGKILL)
        scores = answer.result(30)
        assert [one["status"] for one in scores] == ["error", "error"]
        assert {one["reason"].partition(":")[0] for one in scores} == {"job-crashed"}
        assert [one["value"] for one in client.scores([FAST] * 3)] == [1.0] * 3
        assert client.metrics()["adjudge_failed_batches_total"] == 1


def test_a_process_has_a_limit_of_memory(tmp_path: Path) -> None:
    """A row that takes more memory than a process may have is an error; the rows beside it have their scores."""
    rows = [FAST, {**FAST, "what": "memory"}, FAST]
    with serving(tmp_path, "--scorer", "rewards:odd", "--memory-mb", "1024") as client:
        scores = client.scores(rows)
        assert [one["status"] for one in scores] == ["scored", "error", "scored"]
        assert "MemoryError" in scores[1]["reason"]


@pytest.mark.soak
def test_killing_processes_under_load_loses_only_what_they_had(tmp_path: Path) -> None:
    """While processes are killed again and again, every row has one outcome, and none a wrong number."""
    kills = soak(60)
    with serving(tmp_path, "--scorer", "rewards:slow", "--workers", "2") as client:
        ended = threading.Event()
        found: list[dict[str, object]] = []

        def ask() -> None:
            while not ended.is_set():
                found.extend(client.scores([{**FAST, "seconds": 0.001}] * 5))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            time.sleep(0.3)
            for pid in client.workers[:1]:
                os.kill(pid, signal.SIGKILL)
        ended.set()
        for thread in threads:
            thread.join()
        outcomes = {(one["status"], one["value"], str(one["reason"]).partition(":")[0]) for one in found}
        assert outcomes <= {("scored", 1.0, "None"), ("error", None, "job-crashed")}
        assert len(found) % 5 == 0
        assert [one["value"] for one in client.scores([FAST])] == [1.0]
        counted = client.metrics()
        assert sum(count for name, count in counted.items() if name.startswith("adjudge_rows_total")) == len(found) + 1
        assert counted["adjudge_queued_rows"] == 0


def test_a_row_that_hangs_fails_alone(tmp_path: Path) -> None:
    """A row over the time limit is an error; those beside it are asked again, and scored."""
    with serving(tmp_path, "--scorer", "rewards:slow", "--timeout", "1") as client:
        scores = client.scores([FAST, {**FAST, "seconds": 60.0}, FAST, FAST])
        assert [one["value"] for one in scores] == [1.0, None, 1.0, 1.0]
        assert scores[1]["reason"].startswith("job-timeout: ")


def test_a_row_cannot_give_itself_more_time(tmp_path: Path) -> None:
    """A row that asks for a longer limit of its own ends at the server's, with the process that works for it."""
    hard = r"\boxed{\int \frac{\sin(x^x)}{\ln(1+x^{x}+e^{x^2})} dx}"
    good = {"final_response": r"\boxed{\frac{1}{2}}", "answer": "0.5"}
    with serving(tmp_path, "--scorer", "math_equal_reward", "--timeout", "2") as client:
        scores = client.scores([good, {"final_response": hard, "answer": "x", "limit_s": 1e6}, good])
        assert [one["value"] for one in scores] == [1.0, None, 1.0]
        assert scores[1]["reason"].startswith("job-timeout: ")


def test_slow_rows_are_no_rows_that_hang(tmp_path: Path) -> None:
    """Rows that take longer together than one may are all scored, if each keeps to the limit."""
    with serving(tmp_path, "--scorer", "rewards:slow", "--timeout", "1", "--workers", "1") as client:
        began = time.monotonic()
        scores = client.scores([{**FAST, "seconds": 0.3}] * 6)
        assert time.monotonic() - began > 1.0
        assert [one["value"] for one in scores] == [1.0] * 6
        assert client.metrics()["adjudge_failed_batches_total"] == 0


def test_requests_that_were_gathered_do_not_share_a_death(tmp_path: Path) -> None:
    """A row that ends its process takes no row of another request with it, although they were scored together."""
    with serving(tmp_path, "--scorer", "rewards:odd", "--scorer", "rewards:slow", "--workers", "1") as client:
        with ThreadPoolExecutor(16) as pool:
            # The only process is busy: what comes meanwhile is gathered.
            busy = pool.submit(
                client.scores, [{**FAST, "seconds": 1.0, "pidfile": str(tmp_path / "pid")}], "rewards:slow"
            )
            wait_for(tmp_path / "pid")
            kinds = ["exit" if at == 5 else "raise" if at == 7 else None for at in range(12)]
            asked = [pool.submit(client.scores, [{**FAST, "what": kind}]) for kind in kinds]
            answers = [one.result(60)[0] for one in asked]
            assert busy.result()[0]["value"] == 1.0
        codes = [None if one["reason"] is None else one["reason"].partition(":")[0] for one in answers]
        assert codes == ["job-crashed" if at == 5 else "raised" if at == 7 else None for at in range(12)]
        assert {tuple(one["parts"]) for one in answers} == {("words",)}


def test_too_much_is_refused_and_not_kept(tmp_path: Path) -> None:
    """Where too many rows are waiting, a request is 429 with Retry-After; afterwards the next one is answered."""
    options = ("--scorer", "rewards:slow", "--workers", "1", "--max-rows", "1")
    with serving(tmp_path, *options) as client, ThreadPoolExecutor(32) as pool:
        asked = [pool.submit(client.ask, "POST", "/score", {"rows": [{**FAST, "seconds": 0.4}]}) for _ in range(24)]
        replies = [one.result(60) for one in asked]
        assert {reply.status for reply in replies} == {200, 429}
        assert {reply.headers["Retry-After"] for reply in replies if reply.status == 429} == {"1"}
        assert all(reply.json["scores"][0]["value"] == 1.0 for reply in replies if reply.status == 200)
        assert client.scores([FAST])[0]["value"] == 1.0
        # A stream is not refused: it waits for its turn.
        lines = client.ask("POST", "/score", b'{"final_response": "x"}\n' * 40, Content_Type="application/x-ndjson")
        assert lines.body.count(b'"status":"scored"') == 40


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
def test_an_answer_that_nobody_reads_is_not_kept(tmp_path: Path, kind: str) -> None:
    """After --timeout seconds in which nothing of it was taken the connection ends, and the answer goes."""
    row, count = b'{"final_response": "a", "answer": "a"}', 100_000
    body = b'{"rows":[%b]}' % b",".join([row] * count) if kind == "application/json" else (row + b"\n") * count
    options = ("--scorer", "qa_f1_reward", "--timeout", "2", "--max-rows", str(count))
    with serving(tmp_path, *options) as client, socket.socket() as slow:
        before = sockets(client)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(60)
        slow.connect(("127.0.0.1", client.port))
        head = f"POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: {kind}\r\n"
        slow.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        # The kernel has some megabytes of what nobody reads; whether the server keeps the rest shows in its sockets.
        assert soon(lambda: sockets(client) > before)
        assert soon(lambda: sockets(client) == before)


def test_sigterm_answers_what_is_here(tmp_path: Path) -> None:
    """SIGTERM: the request that is being scored is answered, a new one is refused, the process ends with 0."""
    with serving(tmp_path, "--scorer", "rewards:slow") as client, ThreadPoolExecutor() as pool:
        answer = pool.submit(client.scores, [{**FAST, "seconds": 1.5, "pidfile": str(tmp_path / "pid")}] * 2)
        worker = wait_for(tmp_path / "pid")
        client.process.terminate()
        time.sleep(0.3)
        with pytest.raises(ConnectionError):
            client.ask("GET", "/health")
        assert [one["value"] for one in answer.result(30)] == [1.0, 1.0]
        assert client.process.wait(10) == 0
        assert not Path(f"/proc/{worker}").exists()


def test_no_process_outlives_a_killed_server(tmp_path: Path) -> None:
    """Where the server is killed with -9, its scoring processes end."""
    (tmp_path / "rewards.py").write_text("")
    process = subprocess.Popen(
        command("--scorer", "qa_f1_reward", "--no-token"), stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    with process, process.stdout:
        process.stdout.readline()
        workers = Client(process, 0).workers
        assert workers
        process.kill()
    for _ in range(250):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            return
        time.sleep(0.02)
    raise AssertionError(workers)


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    """A port that another server has is a wrong call, and leaves no process behind."""
    with serving(tmp_path, "--scorer", "qa_f1_reward") as client:
        words = command("--scorer", "qa_f1_reward", "--port", str(client.port))
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "cannot listen" in done.stderr

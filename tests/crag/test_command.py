"""`adjudge crag` as a person calls it: real processes, a real server, real signals."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import AdjudgeError
from adjudge.runs._store import Store
from adjudge.testing import ChatServer, Fault
from cli.command import PATIENCE, adjudge, said, start, write
from crag.worlds import by_color, dataset
from support import ROOT, soak

FILES = (
    *("turn_data.jsonl", "turn_evaluation_results_all.csv", "turn_evaluation_results_ego.csv"),
    "scores_dictionary.json",
)
AGENT = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT / "tests")!r})
from crag.worlds import Batches, answer_to

class Agent(Batches):
    pause = 0.0

    def batch_generate_response(self, queries, images, message_histories):
        with open("asked.txt", "a") as file:
            file.write("".join(f"{{query}}\\n" for query in queries))
        time.sleep(self.pause)
        return [answer_to(query) for query in queries]

class Held(Agent):
    def batch_generate_response(self, *given):
        answers = super().batch_generate_response(*given)
        while not os.path.exists("go"):
            time.sleep(0.01)
        return answers

class Slow(Agent):
    pause = 0.05

def odd(querry):
    return 1.0

class Faulty(Agent):
    def batch_generate_response(self, queries, images, message_histories):
        raise ZeroDivisionError("no answer today")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an agent and a data set."""
    (tmp_path / "my_agent.py").write_text(AGENT)
    write(tmp_path / "data.jsonl", [{**row, "image": None, "image_url": None} for row in dataset(40)])
    return tmp_path


def call(what: str, *more: str, agent: str = "Agent", out: str = "out") -> list[str]:
    """Return the arguments of a command."""
    subject = ["turns.jsonl"] if what == "evaluate" else ["--agent", f"my_agent:{agent}", "--dataset", "data.jsonl"]
    return ["crag", what, *subject, "--out", out, *more]


def judge(server: ChatServer) -> list[str]:
    """Return the options that make the server the judge."""
    return ["--judge", "m", "--base-url", server.base_url, "--cache", "off"]


def files_of(folder: Path, out: str) -> dict[str, bytes]:
    """Read everything that was written for people."""
    return {name: (folder / out / name).read_bytes() for name in FILES}


def test_run(folder: Path) -> None:
    """A run writes all files, shows a table with intervals and breakdowns, and ends with 0."""
    with ChatServer(by_color) as server:
        options = [*judge(server), "--by", "domain", "--parquet", "--workers", "4"]
        done = adjudge(*call("run", *options), cwd=folder, env={"OPENAI_API_KEY": "sk-very-secret"})
        calls = server.counts.calls
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert all(word in shown for word in ("truthfulness", "95 % interval", "by domain", "judge: openai:m"))
    assert done.stderr.decode() == "adjudge: everything is in out\n"
    scores = json.loads((folder / "out" / "scores_dictionary.json").read_bytes())
    assert scores["all"]["total"] == 100.0
    assert calls == Counter(row["api_response"] is not None for row in _rows(folder))[True]
    assert (folder / "out" / "turn_evaluation_results_all.parquet").exists()
    assert f"{scores['all']['accuracy']:.4f}" in shown
    assert not any(b"sk-very-secret" in path.read_bytes() for path in (folder / "out").iterdir())


def _rows(folder: Path) -> list[dict[str, Any]]:
    from adjudge.crag._results import read_results

    return list(read_results(folder / "out" / "turn_evaluation_results_all.csv"))


def test_names_in_the_breakdown(folder: Path) -> None:
    """A breakdown shows the names that the data set has for its numbers; the files keep the numbers."""
    features = {"turns": [{"domain": {"names": ["animal", "book"], "_type": "ClassLabel"}}]}
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    result = adjudge(*call("run", "--judge", "local", "--by", "domain"), cwd=folder)
    assert result.returncode == 0, said(result)
    shown = result.stdout.decode().partition("by domain\n")[2]
    assert [line.split()[0] for line in shown.splitlines()[:4]] == ["domain", "animal", "book", "2"]
    scores = json.loads((folder / "out" / "scores_dictionary.json").read_bytes())
    assert [part["value"] for part in scores["all"]["breakdowns"]["domain"]] == [0, 1, 2]


def test_in_two_steps(folder: Path) -> None:
    """`generate`, then `evaluate` on its file, gives the files that `run` gives."""
    options = ("--judge", "local")
    assert adjudge(*call("run", *options), cwd=folder).returncode == 0
    done = adjudge(*call("generate", out="two"), cwd=folder)
    assert done.returncode == 0
    assert done.stdout.decode() == "100 turns of 40 conversations, 0 of them not answered\n"
    shutil.copy(folder / "two" / "turn_data.jsonl", folder / "turns.jsonl")
    assert adjudge(*call("evaluate", *options, out="two"), cwd=folder).returncode == 0
    assert files_of(folder, "two") == files_of(folder, "out")


def test_workers_change_nothing(folder: Path) -> None:
    """One worker and eight write the same bytes."""
    with ChatServer(by_color, latency_s=0.002) as server:
        for workers in ("1", "8"):
            options = [*judge(server), "--workers", workers]
            assert adjudge(*call("run", *options, out=workers), cwd=folder).returncode == 0
    assert files_of(folder, "1") == files_of(folder, "8")


def settled(path: Path, what: str) -> int:
    """Return how many turns a run has answers, or labels, for."""
    try:
        with Store.read(path) as store:
            count = store.count()
            found = store.trajectories(0, count) if what == "generate" else store.scores(0, count)
    except AdjudgeError as error:
        if error.code in ("not-a-run", "cannot-read"):  # it has not begun yet
            return 0
        raise
    return len(found)


def killed(folder: Path, arguments: list[str], enough: Callable[[], bool]) -> None:
    """Start a command and kill it as soon as it has done enough."""
    process = start(*arguments, cwd=folder)
    deadline = time.monotonic() + PATIENCE
    while not enough():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()


@pytest.mark.soak
def test_killed_while_generating(folder: Path) -> None:
    """Killed again and again, a run goes on: no answer is lost, a batch at most is asked twice, the files are equal."""
    options = ["--judge", "local"]
    assert adjudge(*call("run", *options, agent="Slow"), cwd=folder).returncode == 0
    (folder / "asked.txt").unlink()
    kills = soak(20)
    chance = random.Random(5)  # noqa: S311 (no secret)
    had = 0
    for kill in range(kills):
        want = min(90, had + chance.randint(1, max(2, 80 // kills)))
        path = folder / "killed" / "generate.run"
        killed(folder, call("run", *options, agent="Slow", out="killed"), lambda: settled(path, "generate") >= want)  # noqa: B023
        have = settled(path, "generate")
        assert have >= max(had, want), kill
        had = have
    assert adjudge(*call("run", *options, agent="Slow", out="killed"), cwd=folder).returncode == 0
    assert files_of(folder, "killed") == files_of(folder, "out")
    asked = Counter((folder / "asked.txt").read_text().splitlines())
    assert len(asked) == 100
    assert asked.total() <= 100 + 4 * kills


@pytest.mark.soak
def test_killed_while_judging(folder: Path) -> None:
    """Killed while judging, a run goes on: no verdict is paid twice but those in flight, and the files are the same."""
    kills, workers = soak(20), 4
    with ChatServer(by_color, latency_s=0.03) as server:
        options = [*judge(server), "--workers", str(workers)]
        assert adjudge(*call("run", *options), cwd=folder).returncode == 0
        calls = server.counts.calls
        had = 0
        path = folder / "killed" / "evaluate.run"
        for _ in range(kills):
            want = min(85, had + max(1, 60 // kills))
            killed(folder, call("run", *options, out="killed"), lambda: settled(path, "evaluate") >= want)  # noqa: B023
            have = settled(path, "evaluate")
            assert have >= max(had, want)
            had = have
        assert adjudge(*call("run", *options, out="killed"), cwd=folder).returncode == 0
        assert server.counts.calls - calls <= calls + workers * kills
    assert files_of(folder, "killed") == files_of(folder, "out")
    asked = Counter((folder / "asked.txt").read_text().splitlines())
    assert set(asked.values()) == {2}  # once for each folder


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(folder: Path, number: signal.Signals, code: int) -> None:
    """SIGINT and SIGTERM end a run in good order, with one line, and the same command goes on."""
    arguments = call("run", "--judge", "local", agent="Slow")
    process = start(*arguments, cwd=folder)
    deadline = time.monotonic() + PATIENCE
    while settled(folder / "out" / "generate.run", "generate") < 8:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stderr) == (code, b"adjudge: interrupted; to resume, run the same command\n")
    assert not (folder / "out" / "turn_data.jsonl").exists()
    assert adjudge(*arguments, cwd=folder).returncode == 0


def test_failing_agents(folder: Path) -> None:
    """An agent that always fails ends with 3: every turn is there, typed, and counts as no answer."""
    done = adjudge(*call("run", "--judge", "local", agent="Faulty"), cwd=folder)
    assert done.returncode == 3
    assert b"undecided: more than 0.05 of the turns have no label" in done.stderr
    assert b"100 of 100 turns have no label (0 unscored by the judge, 100 not answered by the agent)" in done.stdout
    scores = json.loads((folder / "out" / "scores_dictionary.json").read_bytes())
    assert (scores["all"]["total"], scores["all"]["errors"], scores["all"]["accuracy"]) == (0.0, 100, 0.0)
    done = adjudge(*call("generate", agent="Faulty", out="other"), cwd=folder)
    assert done.returncode == 3
    assert b"no answer today" in done.stdout


def test_judge_down(folder: Path) -> None:
    """A judge that does not answer ends with 3 and unscored turns; `--retry-failed` asks again, and only those."""
    with ChatServer(Fault("500", retry_after_ms=10)) as server:
        done = adjudge(*call("run", *judge(server), "--workers", "8"), cwd=folder)
    assert done.returncode == 3
    scores = json.loads((folder / "out" / "scores_dictionary.json").read_bytes())
    assert scores["all"]["hallucination"] == 0.0
    assert scores["all"]["unscored"] > 10
    with ChatServer(by_color) as server:
        done = adjudge(*call("run", *judge(server), "--retry-failed"), cwd=folder)
        assert server.counts.calls == scores["all"]["unscored"]
    assert done.returncode == 0, done.stderr


def test_refused_key(folder: Path) -> None:
    """A refused key stops the run with 3 and one line; the answers are kept, and the same command goes on."""
    with ChatServer(by_color, key="right") as server:
        done = adjudge(*call("run", *judge(server)), cwd=folder, env={"OPENAI_API_KEY": "wrong"})
        assert done.returncode == 3
        assert done.stderr.startswith(b"adjudge: undecided: stopped: unauthorised")
        asked = (folder / "asked.txt").read_text()
        done = adjudge(*call("run", *judge(server)), cwd=folder, env={"OPENAI_API_KEY": "right"})
    assert done.returncode == 0, done.stderr
    assert (folder / "asked.txt").read_text() == asked


def test_without_a_judge(folder: Path) -> None:
    """For want of a key nothing is evaluated, before the agent is asked; `none` switches the judge off."""
    refused = adjudge(*call("run"), cwd=folder)
    assert refused.returncode == 2
    last = refused.stderr.decode().splitlines()[-1]
    assert last.startswith("adjudge: error: semantic evaluation is off: there is no key for gpt-4o")
    assert last.endswith("--judge none evaluates without one")
    off = adjudge(*call("run", "--judge", "none", out="off"), cwd=folder)
    assert off.stderr == b"adjudge: everything is in off\n"
    assert off.returncode == 0
    assert b"semantic evaluation was off" in off.stdout


BAD_LINES = {
    "broken": ('{"session_id": "a", "turns": [', "line 2"),
    "no turns": ('{"session_id": "a", "answers": []}', "line 2"),
    "no answer": ('{"session_id": "a", "turns": [{"interaction_id": "i", "query": "?"}], "answers": []}', "line 2"),
    "double": (json.dumps(dataset(1)[0] | {"image": None}), "line 2: session_id 's000'"),
    "type": ('{"session_id": "a", "turns": 5, "answers": []}', "line 2: turns"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_bad_data(folder: Path, kind: str) -> None:
    """A row of the data set that cannot be used is one line that names the place, before the agent is asked."""
    line, place = BAD_LINES[kind]
    rows = [{**row, "image": None} for row in dataset(2)]
    write(folder / "data.jsonl", [rows[0], line, rows[1]])
    done = adjudge(*call("run", "--judge", "local"), cwd=folder)
    assert done.returncode == 2
    assert place in said(done)
    assert not (folder / "asked.txt").exists()


def test_bad_turn_data(folder: Path) -> None:
    """A line of the turn data that cannot be used is one line that names it, in the middle and at the end."""
    good = json.dumps({"session_id": "s", "query": "?", "ground_truth": "a", "agent_response": "b"})
    numbered = json.dumps({**json.loads(good), "turn_idx": 1})
    for lines, place in [
        ([good, '{"session_id": "t"', good], "line 2"),
        (
            [good, '{"session_id": "t", "query": "?", "ground_truth": "a"}'],
            "line 2: there is no field 'agent_response'",
        ),
        ([good, good.replace('"b"', "5")], "line 2: agent_response: expected `str`, got `int`"),
        ([numbered, good, numbered], "lines 1 and 3: there are two turns"),
    ]:
        (folder / "turns.jsonl").write_text("\n".join(lines))
        done = adjudge(*call("evaluate", "--judge", "local"), cwd=folder)
        assert done.returncode == 2
        assert place in said(done)


def test_bad_calls(folder: Path) -> None:
    """A wrong call is one line and 2."""
    for arguments, words in [
        (call("run", "--judge", "local", agent="Agnt"), "did you mean 'Agent'"),
        (["crag", "generate", "--agent", "nowhere:A", "--dataset", "data.jsonl", "--out", "o"], "nowhere"),
        (["crag", "run", "--agent", "my_agent:Agent", "--dataset", "none.jsonl", "--out", "o"], "none.jsonl"),
        (["crag", "evaluate", "none.jsonl", "--out", "o"], "none.jsonl"),
        (["crag", "evaluate"], "TURNS"),
        (call("run", "--judge", "openai:"), "does not name a model"),
        (call("run", "--scorer", "qa_f1_rewrd", "--judge", "local"), "did you mean 'qa_f1_reward'"),
        (
            call("run", "--scorer", "my_agent:odd", "--judge", "local"),
            "no column 'querry', which odd needs; did you mean 'query'?",
        ),
    ]:
        done = adjudge(*arguments, cwd=folder)
        assert done.returncode == 2, (arguments, done.stderr)
        assert words in said(done)
    assert not (folder / "asked.txt").exists()
    env = {**os.environ, "MAX_BATCH_SIZE": "lots"}
    done = adjudge(*call("run", "--judge", "local"), cwd=folder, env=env)
    assert done.returncode == 2
    assert "MAX_BATCH_SIZE" in said(done)


def test_two_processes(folder: Path) -> None:
    """A second process on the same folder is refused with the first one's id."""
    arguments = call("generate", agent="Held")
    process: subprocess.Popen[bytes] = start(*arguments, cwd=folder)
    deadline = time.monotonic() + PATIENCE
    while not (folder / "asked.txt").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    done = adjudge(*arguments, cwd=folder)
    (folder / "go").touch()
    assert done.returncode == 3
    assert f"process {process.pid}" in said(done)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0

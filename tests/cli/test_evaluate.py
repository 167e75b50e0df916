"""`adjudge evaluate`: the same results as in Python, agents side by side, and what a wrong call says."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate, open_run
from adjudge.agents import load_agent
from adjudge.crag import sample
from agent_server import Asked, Reply, serving
from cli.command import adjudge, said, write

AGENTS = """
from pathlib import Path

KNOWN = {"Capital of France?": "Paris", "Largest planet?": "Jupiter", "Sky?": "It is blue"}


def good(question):
    with Path("asked").open("a") as file:
        file.write(question + chr(10))
    return KNOWN[question]


def long(question):
    return "I think that it is " + KNOWN[question]


def broken(question):
    if question == "Sky?":
        raise RuntimeError("down")
    return "Lyon"
"""
CASES = [
    {"id": "q1", "text": "Capital of France?", "answer": "Paris"},
    {"id": "q2", "text": "Largest planet?", "answer": "Jupiter"},
    {"id": "q3", "text": "Sky?", "answer": "blue"},
]
F1 = ("--scorer", "qa_f1_reward", "--map", "question=text")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with agents, and cases in two forms."""
    (tmp_path / "my_agents.py").write_text(AGENTS)
    write(tmp_path / "cases.jsonl", CASES)
    (tmp_path / "cases.json").write_text(json.dumps(CASES, indent=2))
    return tmp_path


def report(folder: Path) -> dict[str, Any]:
    """Return what `--json out.json` wrote."""
    found: dict[str, Any] = json.loads((folder / "out.json").read_bytes())
    return found


def test_as_in_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command and the function have the same scores, and a run of the one is resumed by the other."""
    monkeypatch.chdir(folder)
    agent = load_agent("./my_agents.py:good")
    cases = [{**case, "question": case["text"]} for case in CASES]
    theirs = evaluate(cases, agent=agent, scorers=["qa_f1_reward"], judge="local:0", run="python.run")
    call = ("evaluate", "cases.jsonl", "--agent", "my_agents:good", *F1, "--judge", "local:0", "--run", "a.run")
    done = adjudge(*call, "--out", "scores.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    ours = [(one.id, one.scorer, one.score.value) for one in open_run("a.run").scores()]
    assert ours == [(one.id, one.scorer, one.score.value) for one in theirs.scores]
    assert len((folder / "scores.jsonl").read_bytes().splitlines()) == 6
    asked = (folder / "asked").read_text()
    assert adjudge(*call, cwd=folder).returncode == 0
    assert (folder / "asked").read_text() == asked


def test_side_by_side(folder: Path) -> None:
    """Several agents are in one table, each compared with the first in pairs; the worst exit code counts."""
    agents = ("--agent", "my_agents:good", "--agent", "my_agents:long", "--agent", "my_agents:broken")
    done = adjudge("evaluate", "cases.json", *agents, *F1, "--run", "e.run", "--json", "out.json", cwd=folder)
    assert done.returncode == 3
    lines = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
    assert lines[:3] == [
        "agent scored mean 95 % interval to the first",
        "qa_f1_reward",
        "my_agents:good 3 of 3 0.8333 0.1162 .. 1.0000",
    ]
    assert lines[3].startswith("my_agents:long 3 of 3 0.2646 ")
    assert lines[4].startswith("my_agents:broken 2 of 3 0.0000* ")
    missing = "1 of 3 rows (33.3%) have no score: agent-failed 1; with them the mean lies in 0.0000 .. 0.3333"
    assert lines[5] == f"* qa_f1_reward of my_agents:broken: {missing}"
    found = report(folder)
    assert (found["schema"], found["exit_code"]) == (1, 3)
    good, long, broken = found["agents"]
    assert [one["run"] for one in found["agents"]] == [
        "e-my_agents-good.run",
        "e-my_agents-long.run",
        "e-my_agents-broken.run",
    ]
    scores = long["scores"]["qa_f1_reward"]
    assert scores["difference"]["value"] == pytest.approx(scores["mean"] - good["scores"]["qa_f1_reward"]["mean"])
    # Of the third agent one case has no score: the other two are compared with those of the first.
    assert (broken["scores"]["qa_f1_reward"]["difference"]["n"], broken["scores"]["qa_f1_reward"]["error"]) == (2, 1)
    assert (good["undecided"], good["scores"]["qa_f1_reward"]["difference"]) == (None, None)
    assert "have no score" in broken["undecided"]


def test_limit(folder: Path) -> None:
    """Only so many cases are asked; a run is bound to them."""
    call = ("evaluate", "cases.jsonl", "--agent", "my_agents:good", *F1, "--run", "a.run")
    assert adjudge(*call, "--limit", "2", cwd=folder).returncode == 0
    assert (folder / "asked").read_text().splitlines() == ["Capital of France?", "Largest planet?"]
    done = adjudge(*call, "--limit", "3", cwd=folder)
    assert (done.returncode, "more than the 2 cases" in said(done)) == (2, True)


def test_rows_with_responses(folder: Path) -> None:
    """Without an agent the rows hold their responses, under any name that is mapped."""
    write(folder / "rows.jsonl", [{"id": 1, "output": "Paris", "answer": "Paris"}])
    mapped = ("--map", "final_response=output", "--scorer", "qa_em_reward", "--json", "out.json")
    assert adjudge("evaluate", "rows.jsonl", *mapped, cwd=folder).returncode == 0
    (one,) = report(folder)["agents"]
    assert (one["agent"], one["scores"]["qa_em_reward"]["mean"]) == (None, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "my_agents:good", "--scorer", "qa_f1_reward"], "cases.jsonl has no question for the agent"),
        (["--agent", "my_agents:good", *F1, "--map", "answer=anser"], "no column 'anser'"),
        (["--agent", "my_agents:good", *F1, "--map", "quest=text"], "no scorer takes an argument 'quest'"),
        (["--agent", "my_agents:good"], "name a scorer or a judge"),
        (["--agent", "gpt-4o", *F1], "'gpt-4o' does not name an agent; did you mean 'openai:gpt-4o'?"),
        (["--agent", "my_agents:good", "--judge", "claude-sonnet-4"], "did you mean 'anthropic:claude-sonnet-4'?"),
        (["--agent", "my_agents:good", "--scorer", "gpt-4o"], "did you mean 'openai:gpt-4o'?"),
        (["--agent", "my_agents:good", "--agent", "my_agents:good", *F1], "an agent is named twice"),
        (["--agent", "my_agents:good", "--agent", "my_agents:gone", *F1], "my_agents has no 'gone'"),
        (["--agent", "my_agents:good", "--agent", "my_agents:long", "--out", "o", *F1], "--out is for one agent"),
        (["--agent", "my_agents:good", *F1, "--json", "gone/out.json"], "there is no folder gone"),
        (["--agent", "my_agents:good", *F1, "--field", "response=$.a"], "--field needs an agent behind a URL"),
        (["--agent", "my_agents:good", *F1, "--wait", "3"], "--wait needs an agent behind a URL"),
    ],
)
def test_wrong_calls(folder: Path, arguments: list[str], words: str) -> None:
    """A call that is wrong is one line and exit code 2, before any agent is asked."""
    done = adjudge("evaluate", "cases.jsonl", *arguments, cwd=folder)
    assert (done.returncode, words in said(done)) == (2, True), done.stderr
    assert not (folder / "asked").exists()


def keyed(asked: Asked) -> Reply | dict[str, str]:
    """Answer those who have the key."""
    if asked.headers.get("x-key") != "open-sesame-0123":
        return Reply(b"no key", status=401)
    return {"text": "Paris"}


def test_headers_of_a_resumed_run(folder: Path) -> None:
    """Headers and fields are not kept in a run: `adjudge resume` takes them again."""
    more = ("--header", "x-key=$MY_KEY", "--field", "response=$.text")
    wrong, right = ({"MY_KEY": key} for key in ("wrong-key-0123", "open-sesame-0123"))
    with serving(keyed) as url:
        call = ("evaluate", "cases.jsonl", "--agent", url, *F1, "--limit", "1", "--run", "a.run", *more)
        done = adjudge(*call, cwd=folder, env=wrong)
        assert (done.returncode, b"the agent answered 401: no key" in done.stdout) == (3, True)
        done = adjudge("resume", "a.run", "--retry-failed", *more, cwd=folder, env=right)
        assert done.returncode == 0, done.stderr
        assert b"1.0000" in done.stdout
        done = adjudge("resume", "a.run", "--retry-failed", *more[:2], cwd=folder, env=right)
        assert "has changed since the run began" in said(done)
    assert not any(b"sesame" in file.read_bytes() for file in folder.glob("a.run*"))


def test_headers_of_a_benchmark(folder: Path) -> None:
    """`adjudge crag generate` asks an agent with an interface of its own, and waits for it."""
    more = ("--header", "x-key=env:MY_KEY", "--field", "response=$.text", "--wait", "20", "--num-conversations", "1")
    with serving(keyed) as url:
        call = ("crag", "generate", "--agent", url, "--dataset", str(sample.path()), *more)
        done = adjudge(*call, cwd=folder, env={"MY_KEY": "open-sesame-0123"})
    assert done.returncode == 0, done.stderr
    assert b'"Paris"' in (folder / "crag-results" / "turn_data.jsonl").read_bytes()


def test_mapped_for_a_judge(folder: Path) -> None:
    """`judge run --map` gives a judge its columns, and refuses a name that no judge reads."""
    write(folder / "rows.jsonl", [{"id": 1, "question": "Capital?", "answer": "Paris", "output": "Paris"}])
    call = ("judge", "run", "rows.jsonl", "--judge", "local:0", "--out", "-")
    done = adjudge(*call, "--map", "response=output", cwd=folder)
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "CORRECT")
    assert "no scorer takes an argument 'respons'" in said(adjudge(*call, "--map", "respons=output", cwd=folder))
    assert "no column 'outptu'" in said(adjudge(*call, "--map", "response=outptu", cwd=folder))

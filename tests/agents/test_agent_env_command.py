"""`--agent-env` and refused keys, on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.crag import sample
from cli.command import adjudge, said

SECRET = "sk-0123456789abcdef"  # noqa: S105 (not one)
ENV = {"MY_SERVICE_KEY": SECRET, "OPENAI_API_KEY": "sk-of-the-judge-0123"}
NEEDY = """
import json, os, sys
os.environ["MY_SERVICE_KEY"]
for line in sys.stdin:
    print(json.dumps({"response": str("OPENAI_API_KEY" in os.environ), "tools_used": ["t"]}), flush=True)
"""


@pytest.fixture
def agent(tmp_path: Path) -> tuple[str, str]:
    """Write a program that needs a variable, and a scenario for it."""
    (tmp_path / "needy.py").write_text(NEEDY)
    (tmp_path / "s.toml").write_text('id = "s"\nquestion = "?"\ntools_should_include = ["t"]\n')
    return "--agent", f"command: {sys.executable} {tmp_path / 'needy.py'}"


def test_check(tmp_path: Path, agent: tuple[str, str]) -> None:
    """A program gets the variables that are named, not the judge's key; without them its error says what to do."""
    done = adjudge("check", "s.toml", *agent, "--json", "all.json", cwd=tmp_path, env=ENV)
    assert done.returncode == 3
    assert "--agent-env NAME" in " ".join((done.stdout + done.stderr).decode().split())
    named = ("--agent-env", "MY_SERVICE_KEY")
    done = adjudge("check", "s.toml", *agent, *named, "--json", "all.json", cwd=tmp_path, env=ENV)
    assert done.returncode == 0, done.stderr
    assert '"False"' in (tmp_path / "all.json").read_text()
    done = adjudge("check", "s.toml", *agent, "--agent-env", "NOT_THERE", cwd=tmp_path, env=ENV)
    assert (done.returncode, "NOT_THERE is not set" in said(done)) == (2, True)
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_crag(tmp_path: Path, agent: tuple[str, str]) -> None:
    """The same holds for the agent of a benchmark."""
    data = ("--dataset", str(sample.path()), "--num-conversations", "1", "--out", "o")
    done = adjudge("crag", "generate", *agent, *data, "--agent-env", "MY_SERVICE_KEY", cwd=tmp_path, env=ENV)
    assert done.returncode == 0, done.stderr
    turns = [json.loads(line) for line in (tmp_path / "o" / "turn_data.jsonl").read_text().splitlines()]
    assert {turn["agent_response"] for turn in turns} == {"False"}


def test_resume(tmp_path: Path, agent: tuple[str, str]) -> None:
    """A run keeps neither the variables nor their names: they are named again."""
    start = f"""
from adjudge import evaluate
cases = [{{"id": "1", "question": "?", "answer": "False"}}]
evaluate(cases, agent={agent[1]!r}, scorers=["qa_f1_reward"], run="a.run")
"""
    (tmp_path / "start.py").write_text(start)
    subprocess.run([sys.executable, "start.py"], cwd=tmp_path, check=True, env={**os.environ, **ENV})
    again = ("resume", "a.run", "--retry-failed")
    adjudge(*again, cwd=tmp_path, env=ENV)
    shown = adjudge("show", "a.run", "--failures", cwd=tmp_path)
    assert "--agent-env NAME" in " ".join(shown.stdout.decode().split())
    done = adjudge(*again, "--agent-env", "MY_SERVICE_KEY", cwd=tmp_path, env=ENV)
    assert done.returncode == 0, done.stderr


def test_keys_are_refused(tmp_path: Path) -> None:
    """A key in an address or a command ends with 2, and is neither shown nor kept."""
    (tmp_path / "s.toml").write_text('id = "s"\nquestion = "?"\n')
    for agent in (f"http://h/chat?api_key={SECRET}", f"http://u:{SECRET}@h/", f"command: ./a --api-key {SECRET}"):
        done = adjudge("check", "s.toml", "--agent", agent, "--debug", "--run", "a.run", cwd=tmp_path)
        assert done.returncode == 2
        assert SECRET.encode() not in done.stdout + done.stderr
        assert not (tmp_path / "a.run").exists()

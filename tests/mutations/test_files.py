"""Files that were changed at random, after real ones: refused, or read as what they are, and nothing else happens."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.sinks import Outbox, OutScore
from adjudge.testing import ChatServer
from cli.command import adjudge
from mutations import child
from support import soak

ROWS = [{"id": n, "question": f"{n} + 1?", "reference": str(n + 1), "response": str(n + n % 3)} for n in range(12)]
SCENARIOS = """
[defaults]
deadline = 60
[[scenarios]]
id = "capital"
question = "What is the capital of France?"
tags = ["geography"]
agents_should_exclude = ["clarification"]
tools_should_include = ["search"]
scorers = ["contains_reward"]
references = ["Paris"]
[scenarios.workflow]
tools_order = "in_order"
tools_count = { search = { min = 1, max = 2 } }

[[scenarios]]
id = "greeting"
turns = ["Hello", "Who are you?"]
tools_should_include = []
"""
GATE = """
max_unscored = 0.5
min_rows = 1
workflow = { min = 0.9, lower_end = true }
[scorers]
contains_reward = 1.0
[tags.geography]
workflow = 1.0
"""
MESSAGES = [
    {"role": "user", "content": "What is the capital of France?"},
    {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "name": "search", "content": "Paris"},
    {"role": "assistant", "content": "It is Paris."},
]


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    """Serve a model."""
    with ChatServer() as one:
        yield one


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, server: ChatServer) -> Path:
    """Return a folder with a real file of every kind, by a user of another machine."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "stranger"))
        (folder / "rows.jsonl").write_text("".join(json.dumps({**row, "label": 1}) + "\n" for row in ROWS))
        common = ("--judge", "openai:m", "--base-url", server.base_url, "--cache", "good.cache")
        env = {"OPENAI_API_KEY": "k"}
        # Stopped by its budget: there is something left to resume.
        run = ("judge", "run", "rows.jsonl", *common, "--run", "good.run", "--max-calls", "8")
        assert adjudge(*run, cwd=folder, env=env).returncode == 3
        calibrate = ("judge", "calibrate", "rows.jsonl", *common, "--probes", "0", "--run", "c.run")
        done = adjudge(*calibrate, cwd=folder, env=env)
        assert done.returncode == 0, done.stderr
        (made,) = (folder / "calibration").iterdir()
        made.rename(folder / "good.json")
        with Outbox(folder / "good.outbox") as outbox:
            for kind in ("langfuse", "phoenix", "mlflow", "otel"):
                about = {"kind": kind, "host": "http://10.255.255.1", "project": "p"}
                outbox.add(kind, about, [OutScore("f1", 0.5, trace_id=f"t{n}") for n in range(3)])
    (folder / "good.toml").write_text(SCENARIOS)
    (folder / "gate.toml").write_text(GATE)
    (folder / "traces.json").write_text(json.dumps({"metadata": {"scenario_id": "capital"}, "messages": MESSAGES}))
    return folder


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["run", "outbox", "cache", "calibration", "scenarios", "gate"])
def test_mutated_files(kind: str, good: Path, server: ChatServer, tmp_path: Path) -> None:
    """A changed file runs no code, calls nobody, does not hang, and gives no bare exception."""
    port = server.base_url.rpartition(":")[2].partition("/")[0]
    ours = {"LANGFUSE_HOST", "PHOENIX_COLLECTOR_ENDPOINT", "MLFLOW_TRACKING_URI", "OTEL_EXPORTER_OTLP_ENDPOINT"}
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LANGFUSE")},
        "LANGFUSE_PUBLIC_KEY": "pk",
        "LANGFUSE_SECRET_KEY": "sk",
        "PHOENIX_API_KEY": "k",
        "OPENAI_API_KEY": "k",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        **dict.fromkeys(ours, f"http://127.0.0.1:{port}"),
        "ADJUDGE_TEST_PORT": port,
    }
    command = [sys.executable, child.__file__, kind, str(good), str(soak(200)), "17"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert not done.stdout, done.stdout.decode()

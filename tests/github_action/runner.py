"""A runner for one composite action: the `run` steps of action.yml in a shell, with the environment that GitHub sets.

Steps that use other actions are only recorded. `gh` and `pip` are stubs that record how they were called.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from support import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_bytes())
TOKEN = "ghs_of-the-test"  # noqa: S105 (not a token of anybody's)
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
PATIENCE = 300.0  # seconds after which a step counts as hanging

PYTHON = f"""#!/bin/sh
if [ "$1 $2" = "-m pip" ]; then
    printf '%s\\n' "$*" >>"$STUBS/pip.txt"
    if [ "$3" = cache ]; then echo /pip-cache; fi
    exit 0
fi
exec "{sys.executable}" "$@"
"""
GH = f"""#!{sys.executable}
import json, os, pathlib, sys
words, stubs = sys.argv[1:], pathlib.Path(os.environ["STUBS"])
files = [one.rpartition("@")[2] for one in words if one.startswith("body=@")]
files += [after for one, after in zip(words, words[1:]) if one == "--body-file"]
call = {{"words": words, "token": os.environ.get("GH_TOKEN"), "body": [pathlib.Path(one).read_text() for one in files]}}
with (stubs / "gh.jsonl").open("a") as calls:
    calls.write(json.dumps(call) + "\\n")
for answer in json.loads((stubs / "gh.json").read_text()):
    if " ".join(words).startswith(answer["call"]):
        if "report" in answer:
            folder = pathlib.Path(words[words.index("--dir") + 1])
            folder.mkdir(parents=True)
            (folder / "report.json").write_text(answer["report"])
        print(answer.get("out", ""))
        print(answer.get("error", ""), file=sys.stderr)
        sys.exit(answer.get("code", 0))
sys.exit("HTTP 403: Resource not accessible by integration")
"""


@dataclass
class Job:
    """How a job ended: its exit code, what the action's outputs are, the log, and who was called."""

    code: int = 0
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    uses: dict[str, dict[str, str]] = field(default_factory=dict)
    gh: list[dict[str, Any]] = field(default_factory=list)
    pip: list[str] = field(default_factory=list)
    summary: str = ""


def run_action(
    folder: Path, *, answers: list[dict[str, Any]] | None = None, env: Mapping[str, str] | None = None, **given: str
) -> Job:
    """Run the action in a folder with inputs (`_` for `-`).

    `answers` are what `gh` says to calls that begin with a text, `env` is what the job has set.
    """
    stubs, temp = folder.parent / f"{folder.name}-stubs", folder.parent / f"{folder.name}-temp"
    for made in (stubs, temp):
        made.mkdir()
    for name, text in (("python", PYTHON), ("gh", GH)):
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o755)
    (stubs / "gh.json").write_text(json.dumps(answers or []))
    (stubs / "event.json").write_text('{"pull_request": {"number": 7}}')
    base = {
        **{name: os.environ[name] for name in ("HOME", "PYTHONPATH", "LANG") if name in os.environ},
        "PATH": f"{stubs}{os.pathsep}{os.environ['PATH']}",
        "STUBS": str(stubs),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_EVENT_PATH": str(stubs / "event.json"),
        "GITHUB_REPOSITORY": "octo/agent",
        "GITHUB_STEP_SUMMARY": str(stubs / "summary.md"),
        "GITHUB_WORKFLOW_REF": "octo/agent/.github/workflows/gate.yml@refs/pull/7/merge",
        "GITHUB_WORKSPACE": str(folder),
        "RUNNER_TEMP": str(temp),
        **(env or {}),
    }
    inputs = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    # GitHub fills in the defaults of inputs first.
    inputs["token"] = TOKEN
    job = Job()
    for at, step in enumerate(ACTION["runs"]["steps"]):
        _run_step(job, step, inputs, base, folder, stubs / f"output-{at}")
    job.outputs = {name: _fill(about["value"], inputs, job) for name, about in ACTION["outputs"].items()}
    if (stubs / "gh.jsonl").exists():
        job.gh = [json.loads(line) for line in (stubs / "gh.jsonl").read_text().splitlines()]
    job.pip = (stubs / "pip.txt").read_text().splitlines() if (stubs / "pip.txt").exists() else []
    job.summary = (stubs / "summary.md").read_text(encoding="utf-8") if (stubs / "summary.md").exists() else ""
    return job


def _run_step(
    job: Job, step: dict[str, Any], inputs: dict[str, str], base: dict[str, str], folder: Path, output: Path
) -> None:
    condition = step.get("if", "success()")
    if (job.code and "always()" not in condition) or not _holds(condition, inputs, job):
        return
    if "uses" in step:
        job.uses[step["uses"]] = {key: _fill(str(value), inputs, job) for key, value in step["with"].items()}
        return
    output.touch()
    variables = {name: _fill(value, inputs, job) for name, value in step.get("env", {}).items()}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],  # noqa: S607 (as GitHub does)
        cwd=folder / _fill(step.get("working-directory", "."), inputs, job),
        env={**base, **variables, "GITHUB_OUTPUT": str(output)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    job.log += done.stdout.decode(errors="backslashreplace")
    job.code = job.code or done.returncode
    if "id" in step:
        lines = output.read_text(encoding="utf-8").splitlines()
        job.steps[step["id"]] = {key: value for key, _, value in (line.partition("=") for line in lines)}


def _fill(text: str, inputs: Mapping[str, str], job: Job) -> str:
    return EXPRESSION.sub(lambda found: _value(found[1], inputs, job), text)


def _value(name: str, inputs: Mapping[str, str], job: Job) -> str:
    if name.startswith("inputs."):
        return inputs[name.removeprefix("inputs.")]
    if name.startswith("github."):
        return {"run_id": "1001", "run_attempt": "1"}[name.removeprefix("github.")]
    _, step, kind, key = name.split(".")
    assert kind == "outputs"
    return job.steps.get(step, {}).get(key, "")


def _holds(condition: str, inputs: Mapping[str, str], job: Job) -> bool:
    for part in condition.split(" && "):
        if part in ("always()", "success()"):
            continue
        name, comparison, wanted = part.split(" ")
        if (_value(name, inputs, job) == wanted.strip("'")) != (comparison == "=="):
            return False
    return True

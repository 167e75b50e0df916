"""The pages for frameworks are run, each with the real packages, and so is every set-up that was once read wrongly.

A set-up is an agent in the process of the check, and the same agent behind HTTP. Each passes, and FAILs against
expectations that are wrong on purpose. `make integration` makes the virtual environments.
"""

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pages import FENCE, commands, run, start
from support import ROOT

ENVIRONMENTS = Path(os.environ.get("ADJUDGE_FRAMEWORKS", ROOT / ".venv" / "frameworks"))
PAGES = sorted((ROOT / "docs" / "how-to" / "frameworks").glob("*.md"))
SHAPES = [
    (shape, instrumentation)
    for shape in ("nodes", "react", "create_agent", "supervisor")
    for instrumentation in ("openinference", "openllmetry", "langsmith")
]
# What nothing fits, each on its own: agents, and tools.
WRONG = """
[[scenarios]]
id = "agents"
question = "What is the weather in Oslo?"
agents_should_include = ["nobody"]
[[scenarios]]
id = "tools"
question = "What is the weather in Oslo?"
tools_should_include = ["nothing"]
"""
SHAPE = """
[[scenarios]]
id = "weather"
question = "What is the weather in Oslo?"
agents_should_include = ["triage", "weather"]
tools_should_include = {tools}
scorers = ["contains_reward"]
references = ["sunny"]
[scenarios.workflow]
agents_order = "strict"
tools_arguments = {{ get_weather = {{ exact = {{ city = "Oslo" }} }} }}
"""


def programs(name: str) -> Path:
    """Return where the programs of a page's virtual environment are; LangGraph shares LangChain's."""
    return ENVIRONMENTS / {"langgraph": "langchain"}.get(name, name) / "bin"


def write_files(page: Path, folder: Path, only: str | None = None) -> list[str]:
    """Write the files of a page, or one of them, and return its checks."""
    checks = []
    for language, file, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if file and only in (None, file):
            (folder / file).write_text(body, encoding="utf-8")
        elif language == "console":
            checks += [command for command, _ in commands(body)]
    return checks


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serving(agent: str, folder: Path, where: Path, spans: int, **environment: str) -> Iterator[str]:
    """Serve an agent by the docs' own server, in its virtual environment; gives its address."""
    port = free_port()
    address = f"http://127.0.0.1:{spans}"
    soon = {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_BSP_SCHEDULE_DELAY": "200", **environment}
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        command = [str(where / "python"), "serve.py", agent, str(port)]
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **soon}, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}/chat"
        finally:
            process.kill()
            process.wait()


def results_of(command: str, folder: Path, where: Path, **environment: str) -> list[Any]:
    """Run a check and return its results."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    done = start(f"{command} --json report.json", folder, where, environment)
    assert report.exists(), done.stdout + done.stderr
    results: list[Any] = json.loads(report.read_text(encoding="utf-8"))["results"]
    return results


def check_both_ways(command: str, folder: Path, where: Path, **environment: str) -> None:
    """Check that a command passes in process and over HTTP, and that both FAIL where the expectation is wrong."""
    (folder / "wrong.toml").write_text(WRONG, encoding="utf-8")
    check_right_and_wrong(command, folder, where, **environment)
    write_files(ROOT / "docs" / "how-to" / "frameworks.md", folder, only="serve.py")
    spans = free_port()
    (agent,) = re.findall(r"--agent (\S+)", command)
    with serving(agent, folder, where, spans, **environment) as url:
        command = command.replace(f"--agent {agent}", f"--agent {url} --wait 120")
        check_right_and_wrong(command.replace("--otlp-endpoint", f"--otlp-endpoint {spans}"), folder, where)


def check_right_and_wrong(command: str, folder: Path, where: Path, **environment: str) -> None:
    """Check that a command passes, and FAILs where the expectation is wrong."""
    (right,) = results_of(command, folder, where, **environment)
    assert right["pass"] is True, [command, right["reasons"]]
    for wrong in results_of(re.sub(r"\w+\.toml", "wrong.toml", command, count=1), folder, where, **environment):
        assert wrong["pass"] is False, [command, wrong["reasons"]]
        assert wrong["reasons"][0].startswith("missing: "), wrong["reasons"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages(page: Path, tmp_path: Path) -> None:
    """A page's commands print what stands below them."""
    write_files(page, tmp_path)
    for language, _, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "console":
            for command, expected in commands(body):
                assert run(command, tmp_path, programs(page.stem)) == expected, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_in_process_and_over_http(page: Path, tmp_path: Path) -> None:
    """Every agent of a page is right in process and over HTTP, and FAILs against a wrong expectation."""
    for command in write_files(page, tmp_path):
        check_both_ways(command, tmp_path, programs(page.stem))


@pytest.mark.parametrize(("shape", "instrumentation"), SHAPES)
def test_shapes_of_langgraph(shape: str, instrumentation: str, tmp_path: Path) -> None:
    """Agents, order, tools and arguments of LangGraph's shapes are right through each instrumentation."""
    shutil.copy(Path(__file__).parent / "shapes.py", tmp_path)
    tools = ["get_weather", *(["ask_weather"] if shape == "create_agent" else [])]
    (tmp_path / "weather.toml").write_text(SHAPE.format(tools=json.dumps(tools)), encoding="utf-8")
    command = "adjudge check weather.toml --agent shapes:answer --otlp-endpoint"
    check_both_ways(command, tmp_path, programs("langchain"), SHAPE=shape, INSTRUMENTATION=instrumentation)

"""`adjudge check` and `adjudge init` on the sample system: as functions, behind an address, by its spans."""

import json
import re
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.scenarios.sample import SCENARIOS, SampleServer
from cli.command import adjudge, said

RUN = ("--run", "check.run", "--json", "out.json")
WANTED = {"sound": 0, "faulty": 1, "lossy": 3}
FUNCTIONS = {"sound": "answer", "faulty": "faulty_answer", "lossy": "lossy_answer"}
OUTCOMES = {True: "pass", False: "fail", None: "undecided"}
SPANS = """
import json, os, sys, urllib.request

assert os.environ["OTEL_EXPORTER_OTLP_HEADERS"] == ""
for line in sys.stdin:
    trace = json.loads(line)["session_id"]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pdf_retrieval"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in tool.items()]
    span = {"traceId": trace, "spanId": trace[16:], "name": "t", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{**span, "attributes": attributes}]}]}]}
    url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(spans).encode(), headers)).read()
    print(json.dumps({"response": "DIN-SQL"}), flush=True)
"""


def results(folder: Path) -> list[dict[str, Any]]:
    """Return the results that were written."""
    found: list[dict[str, Any]] = json.loads((folder / "out.json").read_bytes())["results"]
    return found


def expected(variant: str) -> dict[str, str]:
    """Return how each scenario of the sample ends for a variant, as its file says."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SCENARIOS.glob("*.toml"))]
    pattern = re.compile(rf'^{variant} = "(\w+)"$', re.MULTILINE)
    found = [(re.findall('^id = "(.*)"$', text, re.MULTILINE)[0], pattern.findall(text)[0]) for text in texts]
    return dict(found)


@pytest.mark.parametrize("variant", list(WANTED))
def test_functions(tmp_path: Path, variant: str) -> None:
    """Every scenario ends as its file says, and the exit code with it: 0 sound, 1 faulty, 3 lossy."""
    agent = ("--agent", f"adjudge.scenarios.sample:{FUNCTIONS[variant]}")
    done = adjudge("check", str(SCENARIOS), *agent, *RUN, cwd=tmp_path)
    assert done.returncode == WANTED[variant], done.stderr
    assert {one["id"]: OUTCOMES[one["pass"]] for one in results(tmp_path)} == expected(variant)


@pytest.mark.parametrize("variant", ["sound", "faulty"])
def test_spans_over_the_endpoint(tmp_path: Path, variant: Any) -> None:
    """An instrumented agent that says nothing but its answer is judged by the spans that it sends to our address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with SampleServer(variant=variant, otlp_url=f"http://127.0.0.1:{port}/v1/traces") as server:
        endpoint = ("--otlp-endpoint", str(port))
        done = adjudge("check", str(SCENARIOS), "--agent", server.url, *endpoint, *RUN, cwd=tmp_path)
    assert done.returncode == WANTED[variant], done.stderr
    assert f"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:{port}" in done.stderr.decode()
    assert {one["id"]: OUTCOMES[one["pass"]] for one in results(tmp_path)} == expected(variant)


def test_a_program_is_told_the_address(tmp_path: Path) -> None:
    """A program that is started by the check finds the endpoint in its environment, and no header of somebody else."""
    (tmp_path / "spans.py").write_text(SPANS)
    (tmp_path / "s.toml").write_text('id = "s1"\nquestion = "?"\ntools_should_include = ["pdf_retrieval"]\n')
    agent = ("--agent", f"command: {sys.executable} spans.py", "--otlp-endpoint")
    env = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=secret"}
    done = adjudge("check", "s.toml", *agent, *RUN, cwd=tmp_path, env=env)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert results(tmp_path)[0]["response"] == "DIN-SQL"


def test_a_trace_of_its_own(tmp_path: Path) -> None:
    """An agent that works under a trace of its own, and names it in its answer, is judged by the spans there."""
    own = SPANS.replace('json.loads(line)["session_id"]', '"00112233445566778899aabbccddeeff"')
    (tmp_path / "spans.py").write_text(own.replace('"DIN-SQL"}', '"DIN-SQL", "trace_id": trace}'))
    (tmp_path / "s.toml").write_text('id = "s1"\nquestion = "?"\ntools_should_include = ["pdf_retrieval"]\n')
    agent = ("--agent", f"command: {sys.executable} spans.py", "--otlp-endpoint")
    done = adjudge("check", "s.toml", *agent, *RUN, cwd=tmp_path)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert results(tmp_path)[0]["trace_id"] == "00112233445566778899aabbccddeeff"


@pytest.mark.parametrize(("tool", "code"), [("web_search", 3), ("pdf_retrieval", 1)])
def test_a_thread_of_its_own(tmp_path: Path, tool: str, code: int) -> None:
    """Work under a trace of nobody, as in a thread without the context, may be the run's: only what was seen counts."""
    stray = SPANS.replace(
        '{**span, "attributes": attributes}',
        '{**span, "traceId": "ab" * 16, "attributes": attributes}, {**span, "attributes": attributes}',
    )
    (tmp_path / "spans.py").write_text(stray)
    (tmp_path / "s.toml").write_text(f'id = "s1"\nquestion = "?"\ntools_should_exclude = ["{tool}"]\n')
    agent = ("--agent", f"command: {sys.executable} spans.py", "--otlp-endpoint")
    done = adjudge("check", "s.toml", *agent, *RUN, cwd=tmp_path)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert ("copy_context" in str(results(tmp_path)[0]["reasons"])) is (code == 3)


def test_init(tmp_path: Path) -> None:
    """What `init` writes passes against the sample agent as it stands; nothing is ever written over."""
    done = adjudge("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    command = done.stdout.decode().splitlines()[-1].split()
    assert adjudge(*command[1:], *RUN, cwd=tmp_path).returncode == 0
    (tmp_path / "scenarios" / "starter.toml").unlink()
    (tmp_path / "gate.toml").write_text("mine")
    again = adjudge("init", cwd=tmp_path)
    assert (again.returncode, "gate.toml exists already" in said(again)) == (2, True)
    assert (tmp_path / "gate.toml").read_text() == "mine"
    assert not (tmp_path / "scenarios" / "starter.toml").exists()
    assert adjudge("init", "new/folder", cwd=tmp_path).returncode == 0
    assert (tmp_path / "new" / "folder" / "gate.toml").exists()


def test_the_starter_gate_bites(tmp_path: Path) -> None:
    """The same files fail the faulty variant."""
    adjudge("init", cwd=tmp_path)
    agent = ("--agent", "adjudge.scenarios.sample:faulty_answer")
    done = adjudge("check", "scenarios", "--gate", "gate.toml", *agent, *RUN, cwd=tmp_path)
    assert done.returncode == 1, done.stderr

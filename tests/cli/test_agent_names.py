"""`--agents`, `--map-agent`, `--ignore-agent` and `[agents]`: the same names for functions, traces and the endpoint."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.scenarios import run_scenarios
from cli.command import adjudge, said

AGENT = """
def answer(question):
    return [{"role": "assistant", "name": "team", "content": "On it."},
            {"role": "assistant", "name": "call_model", "content": "Paris"}]
"""
SENDER = """
import json, os, sys, urllib.request

for line in sys.stdin:
    trace = json.loads(line)["session_id"]
    document = json.loads(open("spans.json").read().replace("TRACE", trace))
    url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(document).encode(), headers)).read()
    print(json.dumps({"response": "Paris"}), flush=True)
"""
QUESTION = 'id = "s1"\nquestion = "Capital?"\nagents_should_include = ["research"]\n'
SCENARIO = f"[[scenarios]]\n{QUESTION}"
TABLE = '\n[agents]\ncall_model = "research"\nteam = false\n'
MAPPED = ("--map-agent", "call_model=research", "--ignore-agent", "team")


def span(name: str, number: int, parent: int | None, **attributes: str) -> dict[str, Any]:
    """Return a span as OTLP has it."""
    pairs = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    link = {} if parent is None else {"parentSpanId": f"{parent:016x}"}
    times = {"startTimeUnixNano": str(number), "endTimeUnixNano": "99"}
    return {"traceId": "TRACE", "spanId": f"{number:016x}", "name": name, "attributes": pairs, **link, **times}


SPANS = [
    span("team", 1, None, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="team"),
    span("call_model", 2, 1),
    span(
        "chat", 3, 2, gen_ai__operation__name="chat", gen_ai__completion='[{"role": "assistant", "content": "Paris"}]'
    ),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the agent, its program and its trace."""
    document = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": SPANS}]}]})
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "sender.py").write_text(SENDER)
    (tmp_path / "spans.json").write_text(document)
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "s1.json").write_text(document.replace("TRACE", "ab" * 16))
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "named.toml").write_text(SCENARIO + TABLE)
    (tmp_path / "one.toml").write_text(QUESTION + TABLE)
    (tmp_path / "gate.toml").write_text(TABLE)
    (tmp_path / "names.yaml").write_text("call_model: research\nteam: false\n")
    return tmp_path


SOURCES = {
    "function": ("--agent", "agent:answer"),
    "traces": ("--traces", "traces"),
    "endpoint": ("--agent", f"command: {sys.executable} sender.py", "--otlp-endpoint"),
}
PLACES = {
    "options": ("s.toml", *MAPPED),
    "a file": ("s.toml", "--agents", "names.yaml"),
    "the gate as a file": ("s.toml", "--agents", "gate.toml"),
    "the gate": ("s.toml", "--gate", "gate.toml"),
    "the scenario file": ("named.toml",),
    "the scenario": ("one.toml",),
}


@pytest.mark.parametrize("source", SOURCES)
def test_without_names_it_fails(folder: Path, source: str) -> None:
    """The record says that another agent was called: a failure, and with names it passes."""
    done = adjudge("check", "s.toml", *SOURCES[source], cwd=folder)
    assert done.returncode == 1, said(done)
    done = adjudge("check", "s.toml", *SOURCES[source], *MAPPED, cwd=folder)
    assert done.returncode == 0, said(done)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_for_names(folder: Path, place: str) -> None:
    """Names count wherever they are written."""
    done = adjudge("check", *PLACES[place], *SOURCES["traces"], cwd=folder)
    assert done.returncode == 0, said(done)


def test_the_call_comes_first(folder: Path) -> None:
    """What the call says replaces what the scenario says, and that replaces the gate."""
    (folder / "gate.toml").write_text('[agents]\ncall_model = "other"\nteam = false\n')
    assert adjudge("check", "named.toml", "--gate", "gate.toml", *SOURCES["traces"], cwd=folder).returncode == 0
    call = ("named.toml", "--map-agent", "call_model=writer")
    assert adjudge("check", *call, *SOURCES["traces"], cwd=folder).returncode == 1


def test_a_resumed_run_has_the_same_names(folder: Path) -> None:
    """Other names are another question: the run file refuses them."""
    run = (*SOURCES["traces"], "--run", "check.run")
    assert adjudge("check", "s.toml", *run, *MAPPED, cwd=folder).returncode == 0
    again = adjudge("check", "s.toml", *run, "--map-agent", "call_model=writer", cwd=folder)
    assert again.returncode == 2, said(again)


WRONG = [
    (("--map-agent", "call_model"), "write name=agent, as in call_model=research"),
    (("--map-agent", "a=b", "--map-agent", "b=c"), "is given another name itself"),
    (("--map-agent", "a=b", "--map-agent", "a=c"), "'a' is given twice"),
    (("--map-agent", "a=b", "--ignore-agent", "a"), "'a' is given twice"),
    (("--agents", "nowhere.toml"), "nowhere.toml"),
    (("--agents", "agent.py"), "not TOML"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_calls(folder: Path, options: tuple[str, ...], message: str) -> None:
    """A wrong name is a wrong call, found before the agent is asked."""
    done = adjudge("check", "s.toml", *SOURCES["function"], *options, cwd=folder)
    assert (done.returncode, message in said(done)) == (2, True), said(done)


def test_in_python() -> None:
    """`run_scenarios` takes the same names."""
    scenario = {"id": "s1", "question": "Capital?", "agents_should_include": ["research"]}
    saved = {"s1": [{"role": "assistant", "name": "call_model", "content": "Paris"}]}
    assert run_scenarios(scenario, trajectories=saved).results[0]["pass"] is False
    names = {"call_model": "research"}
    assert run_scenarios(scenario, trajectories=saved, agents=names).results[0]["pass"] is True
    assert run_scenarios({**scenario, "agents": names}, trajectories=saved).results[0]["pass"] is True


@pytest.mark.parametrize("source", SOURCES)
def test_a_name_that_no_record_has(folder: Path, source: str) -> None:
    """A name of the call that occurs nowhere is a typing mistake more often than not: a warning names it."""
    done = adjudge("check", "s.toml", *SOURCES[source], *MAPPED, "--ignore-agent", "taem", cwd=folder)
    assert b"no record has the name 'taem'" in done.stdout + done.stderr, said(done)
    done = adjudge("check", "s.toml", *SOURCES[source], *MAPPED, cwd=folder)
    assert b"no record has the name" not in done.stdout + done.stderr, said(done)

"""`adjudge traces show`: what is understood of a record, from files and from spans that arrive."""

import gzip
import json
import os
import re
import signal
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from cli.command import adjudge, lines_of, said, start
from support import GOLDEN

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "Paris"}'}}
CHAT = [
    {"role": "user", "content": "Capital?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "It is \x1b[31mParis\x1b[0m."},
    {"role": "assistant", "content": "Paris"},
]


def shown(text: str) -> list[tuple[str, str]]:
    """Return the lines of a table, each as its two columns."""
    pairs = [re.split(r"\s{2,}", line.rstrip(), maxsplit=1) for line in text.splitlines()]
    return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]


def test_a_pipe(tmp_path: Path) -> None:
    """A pipe without a writer is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    done = adjudge("traces", "show", "pipe", cwd=tmp_path)
    assert (done.returncode, said(done)) == (2, "pipe is not a regular file")


def test_a_conversation(tmp_path: Path) -> None:
    """Calls in order, with what ran and what did not; nothing that a record wrote reaches the terminal as it is."""
    (tmp_path / "run.json").write_text(json.dumps(CHAT))
    done = adjudge("traces", "show", "run.json", cwd=tmp_path, env={"COLUMNS": "160"})
    assert done.returncode == 0, said(done)
    lines = shown(done.stdout.decode())
    assert lines[0] == ("agents", "unknown")
    assert lines[1][1].startswith('1. search {"q":"Paris"} -> It is')
    assert lines[2][1] == '2. search {"q":"Paris"}  (requested, never executed)'
    assert ("answer", "Paris") in lines
    assert b"\x1b" not in done.stdout
    assert lines[-1] == ("try", "adjudge traces show run.json --map-agent '*=AGENT'")
    named = adjudge("traces", "show", "run.json", "--map-agent", "*=research", cwd=tmp_path)
    assert shown(named.stdout.decode())[0] == ("agents", "research")
    assert "unknown" not in named.stdout.decode()


def test_as_json(tmp_path: Path) -> None:
    """As JSON lines it is the whole trajectory, for every run of the record."""
    (tmp_path / "run.json").write_text(json.dumps(CHAT))
    (line,) = lines_of(adjudge("traces", "show", "run.json", "--json", cwd=tmp_path).stdout)
    assert line["trajectory"]["tool_calls"][0]["arguments"] == {"q": "Paris"}
    assert line["candidates"] == ["*"]


def test_recorded_runs(tmp_path: Path) -> None:
    """Of a run that a framework recorded, the table shows what happened."""
    recorded = (GOLDEN / "frameworks" / "ag2-native.one_tool.json.gz").read_bytes()
    (tmp_path / "run.json").write_bytes(gzip.decompress(recorded))
    lines = dict(shown(adjudge("traces", "show", "run.json", cwd=tmp_path).stdout.decode()))
    assert lines["tools"].startswith("1. get_weather ")
    assert lines["agents"] not in ("unknown", "none")


def span(name: str, number: int, parent: int | None, **attributes: str) -> dict[str, Any]:
    """Return a span as OTLP has it."""
    pairs = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    link = {} if parent is None else {"parentSpanId": f"{parent:016x}"}
    times = {"startTimeUnixNano": str(number), "endTimeUnixNano": "99"}
    return {"traceId": "ab" * 16, "spanId": f"{number:016x}", "name": name, "attributes": pairs, **link, **times}


SPANS = [
    span("run", 1, None),
    span("call_model", 2, 1),
    span(
        "chat", 3, 2, gen_ai__operation__name="chat", gen_ai__completion='[{"role": "assistant", "content": "Paris"}]'
    ),
]
DOCUMENT = {"resourceSpans": [{"scopeSpans": [{"spans": SPANS}]}]}


def test_a_mapping_is_suggested(tmp_path: Path) -> None:
    """Where no span says that it is an agent, those around model calls are suggested."""
    (tmp_path / "spans.json").write_text(json.dumps(DOCUMENT))
    done = adjudge("traces", "show", "spans.json", cwd=tmp_path, env={"COLUMNS": "160"})
    assert "--map-agent 'call_model=AGENT'" in done.stdout.decode()
    done = adjudge("traces", "show", "spans.json", "--map-agent", "call_model=research", cwd=tmp_path)
    assert shown(done.stdout.decode())[0] == ("agents", "research")


def test_spans_that_arrive(tmp_path: Path) -> None:
    """A trace is shown once it is whole, while the command goes on listening."""
    process = start("traces", "show", "--listen", cwd=tmp_path)
    assert process.stderr is not None
    assert process.stdout is not None
    try:
        address = process.stderr.readline().decode().strip().partition("ENDPOINT=")[2]
        with closing(HTTPConnection(address.removeprefix("http://"))) as connection:
            connection.request("POST", "/v1/traces", json.dumps(DOCUMENT), {"Content-Type": "application/json"})
            assert connection.getresponse().status == 200
        assert process.stdout.readline().decode().strip() == f"run {'ab' * 16}"
        assert process.stdout.readline().decode().split() == ["agents", "unknown"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


WRONG = [
    ((), "name the file of a record"),
    (("run.json", "--listen"), "name the file of a record"),
    (("nowhere.json",), "nowhere.json"),
    (("run.json", "--trace", "x"), "has no run 'x'"),
    (("run.json", "--format", "oltp"), "did you mean 'otlp'"),
    (("--listen", "x"), "the endpoint must be PORT or HOST:PORT"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_calls(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """A wrong call says what is wrong."""
    (tmp_path / "run.json").write_text(json.dumps(DOCUMENT))
    done = adjudge("traces", "show", *arguments, cwd=tmp_path)
    assert (done.returncode, message in said(done)) == (2, True), said(done)

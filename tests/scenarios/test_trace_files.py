"""Saved traces in place of an agent: matched by name or by what is written in them, never by a path made of an id."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.scenarios import CheckOptions, CheckResult, check
from adjudge.scenarios._traces import TraceFiles
from adjudge.traces import load
from support import GOLDEN

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Which paper?"},
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "pdf_retrieval", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "name": "pdf_retrieval", "content": "DIN-SQL"},
    {"role": "assistant", "content": "DIN-SQL"},
]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def scenarios(*ids: str) -> list[dict[str, Any]]:
    """Return scenarios that want one tool."""
    return [{"id": one, "question": "Which paper?", "tools_should_include": ["pdf_retrieval"]} for one in ids]


def checked(folder: Path, *ids: str, **options: Any) -> CheckResult:
    """Check scenarios against the traces of a folder."""
    options.setdefault("run", folder.parent / "check.run")
    return check(scenarios(*ids), CheckOptions(traces=folder, **options))


def put(path: Path, data: object) -> None:
    """Write a trace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


def span(tool: str = "pdf_retrieval", trace: str = TRACE, **attributes: str) -> dict[str, Any]:
    """Return an OTLP request with one executed tool."""
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, **attributes}
    whole = {
        "traceId": trace,
        "spanId": trace[-16:],
        "name": f"execute_tool {tool}",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in named.items()],
    }
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [whole]}]}]}


@pytest.mark.parametrize("name", ["s1.json", "s1.otlp.json", "s1/any.json", "s1-1.json", "s1#1.json", "s1.1.json"])
def test_by_name(tmp_path: Path, name: str) -> None:
    """A file, or its folder, is named after the scenario."""
    put(tmp_path / "traces" / name, CHAT)
    found = checked(tmp_path / "traces", "s1")
    assert (found.run.passes, found.exit_code) == ({"passed": 1, "failed": 0, "undecided": 0}, 0)


@pytest.mark.parametrize(
    "data",
    [
        {"messages": CHAT, "metadata": {"scenario_id": "s1"}},
        span(**{"adjudge.scenario_id": "s1"}),
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": [{"key": "adjudge.scenario_id", "value": {"stringValue": "s1"}}]},
                    "scopeSpans": span()["resourceSpans"][0]["scopeSpans"],
                }
            ]
        },
    ],
)
def test_by_what_is_inside(tmp_path: Path, data: object) -> None:
    """Else metadata or an attribute says which scenario it is."""
    put(tmp_path / "traces" / "run-17.json", data)
    assert checked(tmp_path / "traces", "s1").exit_code == 0


@pytest.mark.parametrize("form", ["lines", "one document", "indented"])
def test_one_file_with_many_runs(tmp_path: Path, form: str) -> None:
    """A collector's file holds the runs of all scenarios; each is found by its attribute, repeats in order."""
    runs = [("s1", "pdf_retrieval"), ("s2", "web_search"), ("s1", "pdf_retrieval")]
    lines = [
        span(tool, f"{number:032x}", **{"adjudge.scenario_id": name}) for number, (name, tool) in enumerate(runs, 1)
    ]
    file = tmp_path / "spans.jsonl"
    if form == "lines":
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    else:
        whole = {"resourceSpans": [one for line in lines for one in line["resourceSpans"]]}
        file.write_text(json.dumps(whole, indent=1 if form == "indented" else None))
    found = checked(file, "s1", "s2")
    assert [(one["id"], one["repeat"], one["pass"]) for one in found.run.results] == [
        ("s1", 1, True),
        ("s1", 2, True),
        ("s2", 1, False),
    ]
    assert [one["trace_id"] for one in found.run.results] == [f"{number:032x}" for number in (1, 3, 2)]


def test_every_format(tmp_path: Path) -> None:
    """Whatever `adjudge.traces` reads, a scenario can be checked by; two files of one name are two runs."""
    (tmp_path / "traces").mkdir()
    files = sorted(file for file in (GOLDEN / "traces").iterdir() if file.suffix in (".json", ".pb"))
    for file in files:
        shutil.copy(file, tmp_path / "traces")
    wanted = [
        {"id": name, "question": "?", "tools_should_exclude": ["never"]} for name in {file.stem: None for file in files}
    ]
    found = check(wanted, CheckOptions(traces=tmp_path / "traces", run=tmp_path / "check.run"))
    assert len(found.run.results) == len(files) > len(wanted) >= 8
    assert found.exit_code == 0, [one for one in found.run.results if one["pass"] is not True]


def golden_trace(name: str) -> Any:
    """Return one of the recorded traces."""
    return json.loads((GOLDEN / "traces" / f"{name}.json").read_bytes())


def test_metadata_of_every_service(tmp_path: Path) -> None:
    """Langfuse, LangSmith, the OpenAI Agents SDK and Inspect have places of their own for it."""
    named = {"scenario_id": "s1"}
    agents = golden_trace("sdk-openai-agents")
    trace = {"object": "trace", "id": agents[0]["trace_id"], "metadata": named}
    (sample,) = golden_trace("inspect")["samples"]
    data = {
        "langfuse": {**golden_trace("langfuse-trace"), "metadata": named},
        "langsmith": [{**run, "extra": {"metadata": named}} for run in golden_trace("sdk-langsmith")],
        "agents": [trace, *(one for one in agents if one["object"] != "trace")],
        "inspect": {**golden_trace("inspect"), "samples": [{**sample, "metadata": named}]},
    }
    for name, record in data.items():
        put(tmp_path / "traces" / f"run-{name}.json", record)
    found = TraceFiles.of(tmp_path / "traces", {"s1": {}})
    assert [saved.path.stem for saved in found.records["s1"]] == sorted(f"run-{name}" for name in data)
    assert [saved.trace_id is None for saved in found.records["s1"]] == [False, True, False, False]  # a sample has none


def test_samples_of_inspect(tmp_path: Path) -> None:
    """A sample is the scenario of its id, and each epoch a repeat; in JSON as in an archive."""
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    path = GOLDEN / "inspect" / "react50x3.eval"
    found = TraceFiles.of(path, {"s-1": {}, "s-5": {}})
    assert [saved.trace for saved in found.records["s-1"]] == ["s-1/1", "s-1/2", "s-1/3"]
    wanted = [{"id": "s-1", "question": "?", "tools_should_include": ["get_weather", "book_hotel"], "repeats": 3}]
    result = check(wanted, CheckOptions(traces=path, run=tmp_path / "check.run"))
    assert [one["pass"] for one in result.run.results] == [True, True, True]


def test_epochs_in_json(tmp_path: Path) -> None:
    """The epochs of a sample share its id, and are told apart."""
    (sample,) = golden_trace("inspect")["samples"]
    both = [{**sample, "id": "s1", "epoch": epoch, "uuid": f"u{epoch}"} for epoch in (1, 2)]
    put(tmp_path / "log.json", {**golden_trace("inspect"), "samples": both})
    found = TraceFiles.of(tmp_path / "log.json", {"s1": {}})
    assert [saved.trace for saved in found.records["s1"]] == ["s1/1", "s1/2"]
    assert [load(saved.path, trace=saved.trace).complete for saved in found.records["s1"]] == [True, True]


def test_what_is_missing_is_undecided(tmp_path: Path) -> None:
    """No trace, a broken one, or an incomplete one fails nobody; a file of nobody is named in a warning."""
    put(tmp_path / "traces" / "s1.json", CHAT)
    (tmp_path / "traces" / "s2.json").write_text("{")
    put(tmp_path / "traces" / "else\x1b[2J.json", CHAT)
    found = checked(tmp_path / "traces", "s1", "s2", "s3")
    assert [one["pass"] for one in found.run.results] == [True, None, None]
    assert found.run.results[2]["reasons"] == [
        "agent-failed: no-trajectory: there is no trace of scenario 's3', repeat 1"
    ]
    assert found.exit_code == 3
    (warning,) = found.run.warnings
    assert "'else\\x1b[2J.json'" in warning


def test_no_trace_id_is_made_up(tmp_path: Path) -> None:
    """A trace without an id has none: no score goes to a trace that is not there."""
    put(tmp_path / "traces" / "s1.json", CHAT)
    put(tmp_path / "traces" / "s2.json", span())
    assert [one["trace_id"] for one in checked(tmp_path / "traces", "s1", "s2").run.results] == [None, TRACE]


def test_ids_are_no_paths(tmp_path: Path) -> None:
    """An id that looks like a path leads nowhere; such a scenario is found by what is inside."""
    put(tmp_path / "outside.json", CHAT)
    put(tmp_path / "traces" / "s1.json", CHAT)
    found = checked(tmp_path / "traces", "../outside", "s1", str(tmp_path / "outside"))
    assert [one["pass"] for one in found.run.results] == [None, True, None]
    put(tmp_path / "traces" / "b.json", {"messages": CHAT, "metadata": {"scenario_id": "../outside"}})
    found = checked(tmp_path / "traces", "../outside", "s1", run=tmp_path / "second.run")
    assert found.exit_code == 0


def test_tool_arguments_name_no_scenario(tmp_path: Path) -> None:
    """What the agent wrote into a call does not decide which scenario it is held against."""
    arguments = json.dumps({"metadata": {"scenario_id": "s1"}, "adjudge.scenario_id": "s1"})
    call = {"id": "1", "function": {"name": "pdf_retrieval", "arguments": arguments}}
    result = {**CHAT[2], "content": arguments}
    put(tmp_path / "traces" / "x.json", {"messages": [CHAT[0], {"role": "assistant", "tool_calls": [call]}, result]})
    with pytest.raises(UsageError, match="no file belongs to a scenario"):
        checked(tmp_path / "traces", "s1")


def test_a_file_that_was_cut(tmp_path: Path) -> None:
    """Where the spans that name the scenario are lost, the record is at fault and not the call: undecided."""
    cut = span()
    cut["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["parentSpanId"] = "00000000000000ff"
    put(tmp_path / "traces" / "x.json", cut)
    assert checked(tmp_path / "traces", "s1").exit_code == 3
    line = json.dumps(span())
    (tmp_path / "traces" / "x.json").write_text(f"{line}\n{line[:90]}", encoding="utf-8")
    assert checked(tmp_path / "traces", "s1", run=tmp_path / "second.run").exit_code == 3
    put(tmp_path / "traces" / "x.json", span())
    with pytest.raises(UsageError, match="no file belongs to a scenario"):
        checked(tmp_path / "traces", "s1")


def test_nothing_there(tmp_path: Path) -> None:
    """A folder that is not there is a wrong call."""
    with pytest.raises(UsageError, match="no such file or folder"):
        checked(tmp_path / "traces", "s1")

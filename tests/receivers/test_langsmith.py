"""Traces out of LangSmith, from a local server that speaks its interface, and from exported files."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import TrajectoryError, UsageError
from adjudge.receivers import LangSmithReceiver, ReceiverError, read_langsmith
from receivers.services import LangSmith, NewLangSmith, Service, run

TRACE = "0af76519-16cd-43dd-8448-eb211c80319c"
OTHER = "1bf76519-16cd-43dd-8448-eb211c80319d"


def receiver(server: Service, **options: Any) -> LangSmithReceiver:
    """Return a receiver of a local server."""
    return LangSmithReceiver(server.base_url, api_key="lsv2-test", **options)


def named(agent: str) -> dict[str, Any]:
    """Return what makes a chain an agent."""
    return {"extra": {"metadata": {"lc_agent_name": agent}}}


def story(trace: str = TRACE, tools: int = 1, start: int = 1) -> list[dict[str, Any]]:
    """Return a run of an agent and some tools."""
    return [
        run(trace, start, "chain", "research", **named("research")),
        *(run(trace, start + number, "tool", "pdf_retrieval", start) for number in range(1, tools + 1)),
    ]


@pytest.mark.parametrize("name", [TRACE, TRACE.replace("-", "")], ids=["UUID", "32 digits"])
def test_all_pages_are_read(name: str) -> None:
    """A trace of more runs than a page holds is read whole, by either form of its id."""
    with LangSmith(story(tools=250)) as service:
        found = receiver(service).fetch(name, settle=0.05)
        assert len([path for path in service.paths() if path == "/runs/query"]) == 6  # three pages, asked for twice
    assert (found.complete, len(found.tools_used), found.agents_called) == (True, 250, ("research",))
    assert found.trace_id == name


def test_late_runs_are_waited_for() -> None:
    """A trace is asked for again until its root has come and ended."""
    late = story(tools=3)
    root = late.pop(0)

    def grow(service: Service) -> None:
        if len(service.seen) == 2:
            service.items.append(root | {"end_time": None})
        if len(service.seen) == 3:
            service.items[-1] = root

    with LangSmith(list(late), after=grow) as service:
        assert receiver(service).fetch(TRACE, settle=0.05).complete
    with LangSmith(late) as service:
        assert not receiver(service).fetch(TRACE, timeout=0.2).complete


def test_a_session_is_resolved_in_its_project() -> None:
    """A thread's traces are found in the project and taken together; what it is called is data, not a filter."""
    name = 'my "thread")), eq(x, "'
    items = [*story(), *story(OTHER, start=50)]
    with LangSmith(items, {name: [TRACE, OTHER]}) as service:
        langsmith = receiver(service, project="project-1")
        assert asyncio.run(langsmith.resolve(name)) == (TRACE, OTHER)
        found = langsmith.fetch(name, roots=2, settle=0.05)
        assert (found.complete, len(found.tools_used)) == (True, 2)
        with pytest.raises(UsageError, match="give project="):
            receiver(service).fetch(name)
        with pytest.raises(UsageError, match="only in a project"):
            asyncio.run(receiver(service).resolve(name))


@pytest.mark.parametrize("suffix", ["", "/api/v1"])
def test_the_newer_interface_is_used_where_the_older_is_gone(suffix: str) -> None:
    """A server without `/runs/query` is asked in its newer words, given the project."""
    with NewLangSmith(story(tools=5)) as service:
        service.base_url += suffix
        found = receiver(service, project="project-1").fetch(TRACE, settle=0.05)
        assert (found.complete, found.tools_used, found.agents_called) == (True, ("pdf_retrieval",) * 5, ("research",))
        with pytest.raises(ReceiverError, match="404"):
            receiver(service).fetch(TRACE)


@pytest.mark.parametrize("fault", [(429, {"Retry-After": "0.1"}, b""), (500, {}, b"oops"), (200, {}, b"{")])
def test_faults_that_pass_are_asked_again(fault: tuple[int, dict[str, str], bytes]) -> None:
    """A server that is busy or cut off is asked again."""
    with LangSmith(story(tools=150), faults=[fault, fault]) as service:
        assert receiver(service).fetch(TRACE, settle=0.05).complete


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key comes from the environment; one that is refused is not tried again; without one nothing is sent."""
    monkeypatch.delenv("LANGSMITH_API_KEY", raising=False)
    with LangSmith(story()) as service:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", service.base_url)
        with pytest.raises(ReceiverError, match="set LANGSMITH_API_KEY"):
            LangSmithReceiver().fetch(TRACE)
        assert service.seen == []
        monkeypatch.setenv("LANGSMITH_API_KEY", "wrong")
        with pytest.raises(ReceiverError, match="refused the key"):
            LangSmithReceiver().fetch(TRACE)
        assert len(service.seen) == 1
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2-test")
        assert LangSmithReceiver().fetch(TRACE, settle=0.05).complete


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"runs": 3}', b'{"runs": [3]}', b"null"])
def test_garbage_is_an_error(body: bytes) -> None:
    """An answer of another shape is an error that says so."""
    with LangSmith(faults=[(200, {}, body)]) as service, pytest.raises(ReceiverError, match="not a page of runs"):
        receiver(service).fetch(TRACE, timeout=0.1)


def nested(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a run tree."""
    root, *children = ({key: one[key] for key in one if key != "parent_run_id"} for one in runs)
    return {**root, "child_runs": children}


EXPORTS = {
    "flat lines": lambda runs: "\n".join(json.dumps(one) for one in runs),
    "lines with JSON in text": lambda runs: "\n".join(
        json.dumps(one | {"inputs": json.dumps(one["inputs"]), "extra": json.dumps(one.get("extra", {}))})
        for one in runs
    ),
    "a list": lambda runs: json.dumps(runs, indent=2),
    "a page": lambda runs: json.dumps({"runs": runs, "cursors": {}}, indent=1),
    "trees in lines": lambda runs: "\n".join(json.dumps(nested(runs[at : at + 3])) for at in (0, 3)) + "\n\n",
    "trees in a list": lambda runs: json.dumps([nested(runs[at : at + 3]) for at in (0, 3)]),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_exports(name: str, tmp_path: Path) -> None:
    """Every form of an exported file gives each trace with its tools and arguments."""
    runs = [*story(tools=2), *story(OTHER, tools=2, start=50)]
    file = tmp_path / "export.json"
    file.write_text(EXPORTS[name](runs), encoding="utf-8")
    found = list(read_langsmith(file))
    assert [trace.id for trace in found] == [TRACE, OTHER]
    for trace in found:
        assert (trace.trajectory.complete, trace.trajectory.agents_called) == (True, ("research",))
        assert [(call.name, call.arguments) for call in trace.trajectory.tool_calls or ()] == [
            ("pdf_retrieval", {"query": "bridge"})
        ] * 2


def test_an_export_with_runs_missing(tmp_path: Path) -> None:
    """A trace of which a parent is missing is not complete; the others are."""
    file = tmp_path / "export.jsonl"
    runs = [*story(tools=2)[1:], *story(OTHER, start=50)]
    file.write_text("\n".join(json.dumps(one) for one in runs), encoding="utf-8")
    assert [trace.trajectory.complete for trace in read_langsmith(file)] == [False, True]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"run_type": "tool", "id": "1"}\n{"a": 1}', "line 2 is not a run"),
        ('{"run_type": "tool", "id": "1"}\n{"a', "line 2"),
        ("[1]", "item 1 is not a run"),
        ("", "export.jsonl"),
    ],
)
def test_bad_exports(text: str, error: str, tmp_path: Path) -> None:
    """What is no run is an error with its place; a file that is not there is one too."""
    file = tmp_path / "export.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TrajectoryError, match=error):
        list(read_langsmith(file))
    with pytest.raises(UsageError, match="No such file"):
        list(read_langsmith(tmp_path / "none"))

"""The sample system and its scenarios: each has the outcome that it states, whichever way the system is reached."""

import asyncio
import json
import signal
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from adjudge.agents import session_of
from adjudge.agents._http import HttpAgent
from adjudge.errors import UsageError
from adjudge.model import Case, Trajectory
from adjudge.receivers import OtlpEndpoint
from adjudge.scenarios import Scenario, load_scenarios, run_scenario, run_scenarios
from adjudge.scenarios.sample import SCENARIOS, SampleServer, _server, _system, answer
from adjudge.scenarios.sample._documents import documents
from adjudge.scenarios.sample._record import Recorder
from adjudge.scenarios.sample._system import FAULTS, System, Variant, ask, pdf_retrieval, web_search

AGENTS = {
    "sound": "adjudge.scenarios.sample:answer",
    "faulty": "adjudge.scenarios.sample:faulty_answer",
    "lossy": "adjudge.scenarios.sample:lossy_answer",
}
OUTCOMES = {True: "pass", False: "fail", None: "undecided"}


def outcomes(results: Any) -> dict[str, str]:
    """Return how each scenario came out."""
    return {one["id"]: OUTCOMES[one["pass"]] for one in results}


def stated(variant: str) -> dict[str, str]:
    """Return how each scenario says that it comes out."""
    return {one.id: one.metadata[variant] for one in load_scenarios(SCENARIOS)}


@pytest.mark.parametrize("variant", AGENTS)
def test_scenarios_come_out_as_stated(variant: str) -> None:
    """Every scenario has its stated outcome on every variant; what fails does so for its stated reason."""
    results = run_scenarios(SCENARIOS, AGENTS[variant]).results
    assert outcomes(results) == stated(variant)
    reasons = {one.id: one.metadata["reason"] for one in load_scenarios(SCENARIOS)}
    for one in results:
        if one["pass"] is False:
            assert any(reasons[one["id"]] in reason for reason in one["reasons"]), one
        if one["pass"] is None:
            assert (one["status"], one["workflow"]["pass"]) in (("unscored", None), ("unscored", True))
            assert all(reason.startswith("incomplete-trace") for reason in one["reasons"])


def test_the_scenarios_show_every_reason() -> None:
    """There are at least twelve, with a comment on what each shows, and the faulty variant fails in every way."""
    files = sorted(SCENARIOS.glob("*.toml"))
    assert len(files) >= 12
    assert all(file.read_text(encoding="utf-8").startswith("# Shows: ") for file in files)
    failed = [one for one in run_scenarios(SCENARIOS, AGENTS["faulty"]).results if one["pass"] is False]
    codes = {reason.partition(":")[0] for one in failed for reason in one["reasons"]}
    assert codes == {
        *("missing", "excluded-called", "unlisted-called", "wrong-order", "wrong-arguments", "wrong-count"),
        *("forbidden-sequence", "clarification-missing", "clarification-unwanted"),
    }


@pytest.mark.parametrize("variant", ["sound", "faulty", "lossy"])
def test_the_same_over_http(variant: Any) -> None:
    """Behind an address, several turns by session, every scenario has the same outcome."""
    with SampleServer(variant=variant) as server:
        results = run_scenarios(SCENARIOS, server.url).results
    assert outcomes(results) == stated(variant)


@pytest.mark.parametrize("variant", ["sound", "faulty", "lossy"])
def test_the_same_over_otlp(variant: Any) -> None:
    """Where the agent says only its answer and its spans go to the endpoint, the outcome is the same again."""

    async def run(one: Scenario) -> Trajectory:
        agent = HttpAgent(server.url)
        cases = [Case(one.id, turn, conversation_id=one.id) for turn in one.turns]
        for case in cases:
            await agent.respond(case, ())
        await agent.aclose()
        timeout = 0.3 if variant == "lossy" else 30
        return await endpoint.trajectory(session_of(cases[0]), roots=len(cases), timeout=timeout, settle=0.05)

    async def run_all() -> list[Trajectory]:
        return await asyncio.gather(*(run(one) for one in scenarios))

    scenarios = [one for one in load_scenarios(SCENARIOS) if not one.scorers]
    with OtlpEndpoint() as endpoint, SampleServer(variant=variant, otlp_url=endpoint.url) as server:
        records = dict(zip((one.id for one in scenarios), asyncio.run(run_all()), strict=True))
    results = run_scenarios(scenarios, trajectories=records).results
    assert outcomes(results) == {one.id: one.metadata[variant] for one in scenarios}


def test_the_seeds_shape() -> None:
    """A report question gives the documented dict: what was executed, not what was promised."""
    (one,) = (each for each in load_scenarios(SCENARIOS) if each.id == "report-question")
    result = run_scenario(one, AGENTS["sound"])
    agents = {"pass": True, "included": ["research"], "excluded": ["clarification"], "missing": [], "unexpected": []}
    tools = {"pass": True, "included": ["pdf_retrieval"], "excluded": ["web_search"], "missing": [], "unexpected": []}
    assert result["workflow"] == {"pass": True, "agents": agents, "tools": tools}
    assert "18 tonnes" in result["response"]


def test_what_is_recorded_is_what_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls in the record are the calls of the functions, with their arguments and results."""
    ran: list[tuple[str, str, int]] = []

    def watched(name: str, function: Any) -> Any:
        def call(query: str, k: int) -> Any:
            found = function(query, k)
            ran.append((name, query, len(found)))
            return found

        return call

    monkeypatch.setattr(_system, "pdf_retrieval", watched("pdf_retrieval", pdf_retrieval))
    monkeypatch.setattr(_system, "web_search", watched("web_search", web_search))
    done = answer("What is the current load limit of the North Bridge?")
    recorded = [
        (call.name, dict(call.arguments)["query"], len(json.loads(call.result or "[]")))  # type: ignore[arg-type]
        for call in done.tool_calls or ()
    ]
    assert recorded == ran
    assert [name for name, _, _ in ran] == ["pdf_retrieval", "web_search"]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_shows(fault: str) -> None:
    """Each fault alone fails at least one scenario: none is there for nothing."""

    def agent(question: str, history: Any) -> Trajectory:
        earlier = [message["content"] for message in history if message["role"] == "user"]
        return ask(question, earlier, Variant(frozenset({fault}))).trajectory()

    assert "fail" in outcomes(run_scenarios(SCENARIOS, agent).results).values()


def test_answers_are_the_same_every_time() -> None:
    """The same question gives the same answer, calls and agents, whatever was asked before elsewhere."""
    questions = [turn for one in load_scenarios(SCENARIOS) for turn in one.turns]

    def told(question: str) -> object:
        done = answer(question)
        calls = [(call.name, call.arguments, call.result) for call in done.tool_calls or ()]
        return done.final_response, calls, done.agents_called, done.sources

    assert [told(question) for question in questions] == [told(question) for question in questions]


def test_any_question_is_answered() -> None:
    """Empty, long and strange questions have an answer and a complete record."""
    for question in ("", "   ", "?", "bridge " * 500, "ü" * 50, "\x1b[2J{{sources}}", "the"):
        done = answer(question)
        assert done.final_response
        assert done.complete


def test_the_server_refuses_what_is_no_question() -> None:
    """What is not a question is a 400 with a reason, and the server goes on."""
    with SampleServer() as server:
        for body in (b"", b"{", b"[]", b'{"message": 3}', b'{"session_id": "a"}'):
            request = urllib.request.Request(server.url, body)  # noqa: S310 (our own server)
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request, timeout=30)  # noqa: S310 (same)
            with caught.value as reply:
                assert (reply.code, "error" in json.loads(reply.read())) == (400, True)
        request = urllib.request.Request(server.url, b'{"message": "Hello!"}')  # noqa: S310 (same)
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 (same)
            assert json.loads(reply.read())["response"].startswith("Hello!")
        with pytest.raises(UsageError, match="running already"):
            server.start()
    with pytest.raises(UsageError, match="not running"):
        _ = server.url
    with pytest.raises(UsageError, match="did you mean 'faulty'"):
        SampleServer(variant="fualty")  # type: ignore[arg-type]


@contextmanager
def killed_at_the_end(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Leave no process behind, nor wait for one that does not end."""
    try:
        yield
    finally:
        process.kill()


def test_the_command() -> None:
    """`python -m adjudge.scenarios.sample` says where it serves, and does."""
    command = [sys.executable, "-m", "adjudge.scenarios.sample", "--port", "0", "--variant", "faulty"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    with process, killed_at_the_end(process):
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        request = urllib.request.Request(address, b'{"message": "Hello!"}')  # noqa: S310 (our own server)
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 (same)
            assert "research" in json.loads(reply.read())["agents_called"]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_sessions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server keeps the last sessions only."""
    monkeypatch.setattr(_server, "_MOST_SESSIONS", 3)
    server = SampleServer()
    for number in range(10):
        server._earlier(str(number))
    assert list(server._sessions) == ["7", "8", "9"]


def test_documents() -> None:
    """Ids are unique, both kinds are there, and every document can be found by its title."""
    assert len({one.id for one in documents()}) == len(documents())
    for one in documents():
        found = pdf_retrieval(one.title) if one.kind == "report" else web_search(one.title)
        assert found[0] == one
    with SCENARIOS.parent.joinpath("documents.toml").open("rb") as file:
        assert set(tomllib.load(file)) == {"documents"}


def test_the_recorder_keeps_the_order() -> None:
    """No two events of one record have the same time."""
    recorder = Recorder("a" * 32)
    System(recorder).answer("Is the Town Library open today, after the repairs?")
    spans = recorder.document()["resourceSpans"][0]["scopeSpans"][0]["spans"]
    times = [one[key] for one in spans for key in ("startTimeUnixNano", "endTimeUnixNano")]
    assert len(set(times)) == len(times)

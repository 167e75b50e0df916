"""The local OTLP endpoint: what it takes, when a trace is whole, and what it holds."""

import asyncio
import gzip
import json
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.model import Trajectory
from adjudge.receivers import EndpointLimits, OtlpEndpoint
from adjudge.workflow import check_workflow
from receivers.spans import BEGIN, SECOND, agent, document, post, send, span, span_id, story, tool, trace_id
from support import soak
from traces.encodings import value_of


def later(seconds: float, work: Callable[[], object]) -> None:
    """Do something in a while."""
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {"identity": bytes, "gzip": gzip.compress, "deflate": zlib.compress}


@pytest.mark.parametrize("packing", PACKINGS)
def test_spans_become_a_trajectory(packing: str) -> None:
    """A whole trace, plain or packed, gives its agents and tools, its id and how long it took."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        body = PACKINGS[packing](json.dumps(document(story(trace))).encode())
        assert post(endpoint.url, body, Content_Encoding=packing) == (200, b"{}")
        found = endpoint.wait(trace, settle=0.05)
    assert (found.agents_called, found.tools_used) == (("orchestrator", "research"), ("pdf_retrieval",))
    assert (found.complete, found.trace_id, found.seconds) == (True, trace, 3.0)


def logs(trace: str, *events: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Return log records of the span with number 2, their bodies as OTLP's values."""
    records = [
        {"traceId": trace, "spanId": span_id(2), "timeUnixNano": str(n), "eventName": name, "body": value_of(body)}
        for n, (name, body) in enumerate(events, 1)
    ]
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}


ASKED = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
SAID = ("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "tool_calls": [ASKED]}})


@pytest.mark.parametrize("is_first", [True, False])
def test_messages_in_log_records_belong_to_their_spans(is_first: bool) -> None:
    """Messages that come as log records, before or after their span, are what the model was given and wrote."""
    trace = trace_id()
    model = span(trace, 2, 1, attributes={"gen_ai.operation.name": "chat"})
    sent = logs(trace, ("gen_ai.user.message", {"content": "q"}), SAID, ("app.started", {"content": "ignored"}))
    with OtlpEndpoint() as endpoint:
        works: list[Callable[[], object]] = [
            lambda: post(f"{endpoint.base_url}/v1/logs", sent),
            lambda: send(endpoint.url, model, agent(trace, 1, "main")),
        ]
        for work in works if is_first else works[::-1]:
            work()
        assert post(f"{endpoint.base_url}/v1/logs", sent) == (200, b"{}")  # once more, as after a retry
        found = endpoint.wait(trace, settle=0.05)
    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert found.tools_requested == ("search",)
    assert found.complete


def test_log_records_that_cannot_be_read_are_rejected_by_themselves() -> None:
    """Of log records the broken ones are rejected, with the reason; a body that is none is refused."""
    broken = ("gen_ai.choice", {"message": {"role": "assistant", "tool_calls": [{"id": "c"}]}})
    with OtlpEndpoint() as endpoint:
        status, answer = post(f"{endpoint.base_url}/v1/logs", logs(trace_id(), SAID, broken))
        assert (status, json.loads(answer)["partialSuccess"]["rejectedLogRecords"]) == (200, "1")
        assert "has no 'name'" in json.loads(answer)["partialSuccess"]["errorMessage"]
        assert post(f"{endpoint.base_url}/v1/logs", b"[")[0] == 400
        assert post(f"{endpoint.base_url}/v1/logs", b"\xff", content_type="application/x-protobuf")[0] == 400


def test_late_spans_are_waited_for() -> None:
    """A trace is given out when its root and every parent have come, in whatever order and requests."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        for place, one in enumerate([story(trace)[2], story(trace)[0], story(trace)[1]]):
            later(0.15 * place, lambda one=one: send(endpoint.url, one))  # type: ignore[misc]
        found = endpoint.wait(trace, timeout=60, settle=0.4)
    assert (found.complete, found.tools_used) == (True, ("pdf_retrieval",))


def test_a_span_that_comes_while_it_settles_is_in() -> None:
    """What comes within the settle time of a trace that looks whole belongs to it."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, *story(trace))
        later(0.2, lambda: send(endpoint.url, tool(trace, 4, "web_search", 2)))
        found = endpoint.wait(trace, settle=2.5)
    assert found.tools_used == ("pdf_retrieval", "web_search")


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ([], "no span has arrived"),
        ([2], "its parent"),
        ([0, 1], "its parent"),
    ],
    ids=["nothing", "no root", "a branch without its root"],
)
def test_what_is_not_whole_in_time_is_incomplete(spans: list[int], why: str) -> None:
    """Time that runs out gives what there is, not complete, and `missing` says what has not come."""
    trace = trace_id()
    orphans = [*story(trace)[:2], agent(trace, 9, "late", 8)]
    with OtlpEndpoint() as endpoint:
        if spans:
            send(endpoint.url, *(orphans[index] for index in spans))
        found = endpoint.wait(trace, timeout=0.2)
        assert any(why in reason for reason in endpoint.missing(trace))
    assert not found.complete


def test_no_span_has_arrived() -> None:
    """Where nothing arrived, neither agents nor tools are known, and the reason says what to do."""
    with OtlpEndpoint() as endpoint:
        found = endpoint.wait(trace_id(), timeout=0.2)
    assert (found.complete, set(found.unknown)) == (False, {"agents", "tools"})
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in found.unknown["agents"]


def test_a_span_that_could_not_be_read_is_named() -> None:
    """Where part of a trace is late, the reason says what, and that a span was rejected, and why."""
    trace = trace_id()
    strange = {"gen_ai.operation.name": "chat", "gen_ai.prompt": '{"messages": [[3]]}'}
    with OtlpEndpoint() as endpoint:
        post(endpoint.url, document([tool(trace, 2, "search", 1), span(trace, 1, attributes=strange)]))
        found = endpoint.wait(trace, timeout=0.2)
    assert not found.complete
    assert f"has a parent, {span_id(1)}, that has not arrived" in found.unknown["tools"]
    assert "spans that could not be read: 1, among them: " in found.unknown["tools"]
    assert "gen_ai.prompt, message 0.0 must be an object" in found.unknown["tools"]


def test_spans_under_another_trace() -> None:
    """Spans of a trace that nobody gave out are named with the fix; those of other runs are not."""
    given, others, own = trace_id(), trace_id(), [trace_id(), trace_id()]
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, *story(others))
        assert endpoint.wait(others, settle=0.05).complete
        assert "under trace" not in endpoint.wait(given, timeout=0.2).unknown["tools"]
        send(endpoint.url, *story(own[0]))
        reason = endpoint.wait(given, timeout=0.2).unknown["tools"]
        assert f"the agent sent spans under trace {own[0]}, which it was not given" in reason
        assert reason.endswith("pass the traceparent header on, or return trace_id")
        send(endpoint.url, *story(own[1]))
        assert f"under trace {own[1]} and 1 others" in endpoint.wait(given, timeout=0.2).unknown["agents"]


def received(endpoint: OtlpEndpoint, trace: str, **options: Any) -> Trajectory:
    """Return the trajectory of a run that is under way."""
    return asyncio.run(endpoint.trajectory(trace, settle=0.05, **options))


def lasting(trace: str, seconds: int) -> dict[str, Any]:
    """Return the span of an agent that takes so long."""
    return agent(trace, 1, "main") | {"endTimeUnixNano": str(BEGIN + seconds * SECOND)}


def test_spans_of_a_thread_without_the_context() -> None:
    """Work that arrives meanwhile under a trace of nobody may be the run's: what was not seen is not known."""
    given, thread = trace_id(), trace_id()
    with OtlpEndpoint() as endpoint, endpoint.during(given):
        send(endpoint.url, agent(thread, 3, "weather"), tool(thread, 4, "search", 3))
        send(endpoint.url, tool(given, 2, "ask_weather", 1), lasting(given, 9))
        found = received(endpoint, given)
    assert found.unknown["agents"] == found.unknown["tools"]
    assert "arrived meanwhile under a trace that belongs to no run" in found.unknown["tools"]
    # What was seen is known all the same.
    for rule, passed in [("search", None), ("ask_weather", False)]:
        assert check_workflow({"tools_should_exclude": [rule]}, found).passed is passed
    for rule in ("search", "ask_weather"):
        assert check_workflow({"tools_should_include": [rule]}, found).passed is None


def test_a_thread_beside_all_spans_of_the_run() -> None:
    """Work between the run's begin and its answer may be the run's, also where no span of its own is around it."""
    given, thread = trace_id(), trace_id()
    with OtlpEndpoint() as endpoint, endpoint.during(given):
        begun = str(time.time_ns())
        send(endpoint.url, tool(thread, 4, "search") | {"startTimeUnixNano": begun, "endTimeUnixNano": begun})
        send(endpoint.url, lasting(given, 9))
        assert "belongs to no run" in received(endpoint, given).unknown["tools"]


@pytest.mark.parametrize(
    "others",
    [
        lambda trace: [span(trace, 3, attributes={"http.request.method": "GET"})],
        lambda trace: [agent(trace, 20, "another")],
        lambda trace: [tool(trace, 4, "search", 3)],
    ],
    ids=["no work", "at another time", "of a run that has not ended"],
)
def test_other_spans_are_not_the_runs(others: Callable[[str], list[dict[str, Any]]]) -> None:
    """Spans that show no work, or work that did not begin and end within the run, leave its verdict alone."""
    given = trace_id()
    with OtlpEndpoint() as endpoint, endpoint.during(given):
        send(endpoint.url, *others(trace_id()), lasting(given, 9))
        found = received(endpoint, given)
    assert (found.complete, "agents" in found.unknown, "tools" in found.unknown) == (True, False, False)


def test_a_trace_that_another_run_names() -> None:
    """Spans under a trace that the agent of another run names in the end, or that name its session, are that run's."""
    given, other, named, failed = (trace_id() for _ in range(4))
    with OtlpEndpoint() as endpoint, endpoint.during(given), endpoint.during(other):
        with endpoint.during(failed):
            send(endpoint.url, agent(failed, 2, "third"))
        send(endpoint.url, agent(named, 3, "second"), lasting(given, 9))
        later(0.3, lambda: received(endpoint, other, also=[named]))
        assert "tools" not in received(endpoint, given).unknown


@pytest.mark.parametrize("is_first", [True, False])
def test_a_trace_that_the_agent_names(is_first: bool) -> None:
    """A trace that the agent names belongs to the run, whether its spans come before or after that is known."""
    given, named = trace_id(), trace_id()

    async def work(endpoint: OtlpEndpoint) -> Trajectory:
        return await endpoint.trajectory(given, timeout=60, settle=0.1, also=[named.upper(), "not a trace", given])

    with OtlpEndpoint() as endpoint:
        if is_first:
            send(endpoint.url, *story(named))
        else:
            later(0.3, lambda: send(endpoint.url, *story(named)))
        found = asyncio.run(work(endpoint))
        assert (found.complete, found.tools_used, found.trace_id) == (True, ("pdf_retrieval",), given)
        endpoint.forget(given)
        assert not endpoint.trace_ids


def test_a_span_that_has_not_ended_is_waited_for() -> None:
    """A span without an end keeps its trace open until it is sent again with one."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, agent(trace, 1, "orchestrator") | {"endTimeUnixNano": "0"})
        assert not endpoint.wait(trace, timeout=0.2).complete
        send(endpoint.url, agent(trace, 1, "orchestrator"))
        assert endpoint.wait(trace, settle=0.05).complete


def test_the_outer_span_is_nobody() -> None:
    """The parent that adjudge sends along is not waited for, and what it started are roots."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, agent(trace, 1, "orchestrator", trace[:16]))
        assert endpoint.wait(trace, settle=0.05).complete
        other = trace_id()
        send(endpoint.url, agent(other, 1, "orchestrator", "00000000000000aa"))
        assert not endpoint.wait(other, timeout=0.1).complete
        assert endpoint.wait(other, parent="00000000000000aa", settle=0.05).complete


def test_a_parent_in_another_process_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A span with a remote parent may be a root, or the work of one that is yet to come: it is given more time."""
    monkeypatch.setattr("adjudge.receivers._collector.REMOTE_SETTLE", 2.5)
    remote = {"flags": 0x301}
    alone, inner = trace_id(), trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, agent(alone, 2, "research", 1) | remote)
        send(endpoint.url, agent(inner, 2, "research", 1) | remote)
        later(0.2, lambda: send(endpoint.url, tool(inner, 3, "web_search", 1), agent(inner, 1, "orchestrator")))
        found = endpoint.wait(inner, settle=0.05, timeout=60)
        assert (found.complete, found.agents_called) == (True, ("orchestrator", "research"))
        assert found.tools_used == ("web_search",)
        assert endpoint.wait(alone, settle=0.05, timeout=60).complete


def test_another_process_that_was_called_may_send_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that called another process is whole later: what that did in a second call may come in its next batch."""
    monkeypatch.setattr("adjudge.receivers._collector.REMOTE_SETTLE", 2.5)
    remote = {"flags": 0x301}
    with OtlpEndpoint() as endpoint:
        for at_once in (True, False):
            trace = trace_id()
            first = [agent(trace, 1, "orchestrator", trace[:16]), agent(trace, 2, "research", 1) | remote]
            send(endpoint.url, *(first if at_once else reversed(first)))
            last = tool(trace, 3, "web_search", 1) | remote
            later(0.3, partial(send, endpoint.url, last))
            assert endpoint.wait(trace, settle=0.05, timeout=60).tools_used == ("web_search",)


def test_langfuse_marks_its_roots() -> None:
    """The parent that Langfuse's SDK makes up, where it is given a trace id alone, is not waited for."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, agent(trace, 2, "research", "00000000000000aa", **{"langfuse.internal.as_root": "true"}))
        assert endpoint.wait(trace, settle=0.05).complete


def test_every_turn_has_a_root() -> None:
    """A conversation in one trace is whole when as many roots as turns have come."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        send(endpoint.url, agent(trace, 1, "research", trace[:16]))
        assert not endpoint.wait(trace, roots=2, timeout=0.2).complete
        later(0.1, lambda: send(endpoint.url, agent(trace, 2, "synthesis", trace[:16])))
        found = endpoint.wait(trace, roots=2, settle=0.05, timeout=60)
    assert (found.complete, found.agents_called) == (True, ("research", "synthesis"))


@pytest.mark.parametrize("key", ["session.id", "langfuse.session.id", "gen_ai.conversation.id"])
def test_a_session_finds_traces_with_ids_of_their_own(key: str) -> None:
    """An agent that makes its own trace ids is found by the session that its spans name, all traces together."""
    with OtlpEndpoint() as endpoint:
        for name in ("research", "synthesis"):
            send(endpoint.url, agent(trace_id(), 1, name, **{key: "our-session"}))
        found = endpoint.wait("our-session", roots=2, settle=0.05)
        assert (found.complete, sorted(found.agents_called)) == (True, ["research", "synthesis"])
        assert len(endpoint.trace_ids) == endpoint.counts.traces == 2
        endpoint.forget("our-session")
        assert endpoint.counts.traces == 0


def test_the_same_spans_twice_count_once() -> None:
    """An exporter that repeats a request, because its answer was lost, changes nothing."""
    trace = trace_id()
    with OtlpEndpoint() as endpoint:
        for _ in range(3):
            send(endpoint.url, *story(trace))
        found = endpoint.wait(trace, settle=0.05)
    assert (found.tools_used, found.agents_called) == (("pdf_retrieval",), ("orchestrator", "research"))


def test_many_traces_at_once() -> None:
    """Traces whose spans arrive mixed, in many requests, are each given out whole."""
    traces = [trace_id() for _ in range(soak(2000))]

    async def run() -> None:
        async with OtlpEndpoint() as endpoint:
            waiting = [asyncio.create_task(endpoint.trajectory(one, settle=0.05, timeout=60)) for one in traces]
            for place in range(3):
                for start in range(0, len(traces), 50):
                    spans = [story(one)[place] for one in traces[start : start + 50]]
                    await asyncio.to_thread(send, endpoint.url, *spans)
            for one, found in zip(traces, await asyncio.gather(*waiting), strict=True):
                assert (found.trace_id, found.complete, found.tools_used) == (one, True, ("pdf_retrieval",))
            assert endpoint.counts.spans == 3 * len(traces)

    asyncio.run(run())


def test_memory_is_bounded() -> None:
    """Beyond the bound the oldest traces are let go and counted; one of them is incomplete, a later one is not."""
    traces = [trace_id() for _ in range(50)]
    with OtlpEndpoint(limits=EndpointLimits(held_bytes=10_000)) as endpoint:
        for one in traces:
            send(endpoint.url, *story(one))
        counts = endpoint.counts
        assert counts.traces + counts.evicted == len(traces)
        assert 0 < counts.traces < 20
        assert not endpoint.wait(traces[0], timeout=0.05).complete
        assert endpoint.missing(traces[0]) == ("spans were dropped: the endpoint held too much",)
        assert endpoint.wait(traces[-1], settle=0.05).complete
        send(endpoint.url, *story(traces[0]))
        assert not endpoint.wait(traces[0], settle=0.05).complete  # part of it may still be lost


def test_one_trace_over_the_bound_is_let_go() -> None:
    """A trace that alone is more than the endpoint holds does not stop it."""
    trace = trace_id()
    with OtlpEndpoint(limits=EndpointLimits(held_bytes=1_000)) as endpoint:
        send(endpoint.url, *(span(trace, number, 1) for number in range(2, 40)))
        assert endpoint.counts.traces == 0
        assert not endpoint.wait(trace, timeout=0.05).complete


def test_stopping_lets_waiters_go() -> None:
    """Whoever waits when the endpoint stops gets what there is, not complete, and soon."""

    async def run() -> None:
        endpoint = OtlpEndpoint()
        async with endpoint:
            waiting = asyncio.create_task(endpoint.trajectory(trace_id(), timeout=600))
            await asyncio.sleep(0.1)
        async with asyncio.timeout(60):
            assert not (await waiting).complete

    asyncio.run(run())


def test_a_cancelled_wait_leaves_nothing() -> None:
    """A wait that its caller cancels is forgotten."""

    async def run() -> None:
        async with OtlpEndpoint() as endpoint:
            waiting = asyncio.create_task(endpoint.trajectory(trace_id(), timeout=600))
            await asyncio.sleep(0.1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            while endpoint._collector._waiting:  # noqa: ASYNC110 (the endpoint is in another thread)
                await asyncio.sleep(0.01)

    asyncio.run(run())


def test_start_and_stop() -> None:
    """An endpoint can be started again, not twice at once, and not on a port that is taken; unstarted it says so."""
    endpoint = OtlpEndpoint()
    with pytest.raises(UsageError, match="not running"):
        _ = endpoint.url
    trace = trace_id()
    with endpoint:
        send(endpoint.url, *story(trace))
        with pytest.raises(UsageError, match="running already"):
            endpoint.start()
        port = int(endpoint.base_url.rpartition(":")[2])
        with pytest.raises(UsageError, match="cannot listen"):
            OtlpEndpoint(port=port).start()
    with pytest.raises(UsageError, match="not running"):
        endpoint.wait(trace)
    with endpoint:
        assert endpoint.wait(trace, settle=0.05).complete


@pytest.mark.parametrize("options", [{"timeout": float("nan")}, {"settle": -1.0}, {"roots": 0}])
def test_senseless_waits_are_refused(options: dict[str, float]) -> None:
    """Limits that mean nothing are errors before anything is waited for."""
    with OtlpEndpoint() as endpoint, pytest.raises(UsageError, match="must be"):
        endpoint.wait("0" * 32, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be above 0"):
        EndpointLimits(at_once=0)


def test_an_agent_finds_the_endpoint_by_its_environment() -> None:
    """The variables name this endpoint, for traces alone, and empty the headers that another one needed."""
    with OtlpEndpoint() as endpoint:
        variables = endpoint.environment()
        assert variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == endpoint.base_url
        assert variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == endpoint.url
        assert variables["OTEL_EXPORTER_OTLP_HEADERS"] == ""
        assert all(name.startswith("OTEL_") and isinstance(value, str) for name, value in variables.items())


def test_the_process_ends_with_an_endpoint_open() -> None:
    """An endpoint that nobody closed keeps no process alive."""
    code = "from adjudge.receivers import OtlpEndpoint; e = OtlpEndpoint(); e.start(); print(e.url)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("http://127.0.0.1:")


def test_children_before_their_parents_keep_their_order() -> None:
    """The order of agents and tools is that of their times, not that of their arrival."""
    trace = trace_id()
    spans = [agent(trace, 1, "orchestrator"), *(tool(trace, number, f"tool {number}", 1) for number in range(2, 30))]
    with OtlpEndpoint() as endpoint:
        for one in reversed(spans):
            send(endpoint.url, one)
        found = endpoint.wait(trace, settle=0.05)
    assert found.tools_used == tuple(f"tool {number}" for number in range(2, 30))
    assert span_id(1) not in found.tools_used

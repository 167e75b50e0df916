"""Traces out of Langfuse, from a local server that speaks its interface, newer and older."""

import asyncio
import threading
from typing import Any

import pytest

from adjudge.http import BadStatus, ConnectionFailed, HttpError, Limits
from adjudge.receivers import LangfuseReceiver, ReceiverError
from receivers.services import Langfuse, OldLangfuse, Service, observation

TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER = "1bf7651916cd43dd8448eb211c80319d"
SERVERS = pytest.mark.parametrize("server", [Langfuse, OldLangfuse])


def receiver(server: Service, **options: Any) -> LangfuseReceiver:
    """Return a receiver of a local server."""
    return LangfuseReceiver(server.base_url, public_key="pk-test", secret_key="sk-test", **options)  # noqa: S106 (a test's)


def story(trace: str = TRACE, tools: int = 1) -> list[dict[str, Any]]:
    """Return a run of two agents and some tools."""
    return [
        observation(trace, 1, "AGENT", "orchestrator") | {"output": "Done."},
        observation(trace, 2, "AGENT", "research", 1),
        *(observation(trace, number, "TOOL", "pdf_retrieval", 2) for number in range(3, 3 + tools)),
    ]


@SERVERS
def test_all_pages_are_read(server: type[Langfuse]) -> None:
    """A trace of more observations than a page holds is read whole."""
    with server(story(tools=350)) as service:
        found = receiver(service).fetch(TRACE, settle=0.05)
    assert (found.complete, len(found.tools_used), found.trace_id) == (True, 350, TRACE)
    assert found.agents_called == ("orchestrator", "research")


def test_the_older_trace_has_the_answer() -> None:
    """What the older interface says a trace answered is the final response, and its path is asked only there."""
    with OldLangfuse(story()) as service:
        found = receiver(service).fetch(TRACE, settle=0.05)
        assert found.final_response == "The bridge is 300 m long."
        assert service.paths().count("/api/public/v2/observations") == 1
    with Langfuse(story()) as service:
        assert receiver(service).fetch(TRACE, settle=0.05).final_response == "Done."
        assert set(service.paths()) == {"/api/public/v2/observations"}


@SERVERS
def test_late_observations_are_waited_for(server: type[Langfuse]) -> None:
    """A trace is asked for again until its root, its parents and its ends are there."""
    late = story(tools=3)
    root = late.pop(0)
    late[0] = late[0] | {"endTime": None}

    def grow(service: Service) -> None:
        if len(service.seen) == 4:
            service.items[0]["endTime"] = "2026-01-02T03:00:09.000Z"
        if len(service.seen) == 7:
            service.items.append(root)

    with server(late, after=grow) as service:
        found = receiver(service).fetch(TRACE, settle=0.05, timeout=60)
    assert (found.complete, len(found.tools_used)) == (True, 3)


@SERVERS
def test_what_is_not_whole_in_time_is_incomplete(server: type[Langfuse]) -> None:
    """Time that runs out gives what there is, not complete; so does a trace that never came."""
    with server(story()[1:]) as service:
        found = receiver(service).fetch(TRACE, timeout=0.3)
        assert (found.complete, found.tools_used) == (False, ("pdf_retrieval",))
        assert not receiver(service).fetch(OTHER, timeout=0.3).complete


@SERVERS
def test_a_foreign_session_is_resolved(server: type[Langfuse]) -> None:
    """A session's traces are found over the API, and taken together."""
    second = [observation(OTHER, 9, "AGENT", "synthesis")]
    with server([*story(), *second], {"chat/7 ü": [TRACE, OTHER]}) as service:
        langfuse = receiver(service)
        assert sorted(asyncio.run(langfuse.resolve("chat/7 ü"))) == [TRACE, OTHER]
        assert asyncio.run(langfuse.resolve("nobody's")) == ()
        found = langfuse.fetch("chat/7 ü", roots=2, settle=0.05)
    assert (found.complete, found.agents_called) == (True, ("orchestrator", "research", "synthesis"))


FAULTS: list[tuple[int, dict[str, str], bytes]] = [
    (429, {"Retry-After": "0.1"}, b"slow down"),
    (500, {}, b"oops"),
    (502, {}, b"<html>"),
    (200, {"Content-Type": "application/json"}, b'{"data": ['),
]


@SERVERS
@pytest.mark.parametrize("fault", FAULTS, ids=["429", "500", "502", "cut JSON"])
def test_faults_that_pass_are_asked_again(server: type[Langfuse], fault: tuple[int, dict[str, str], bytes]) -> None:
    """A server that is busy, down for a moment or cut off is asked again; the trace is whole in the end."""
    with server(story(tools=120), faults=[fault, fault]) as service:
        found = receiver(service).fetch(TRACE, settle=0.05)
    assert (found.complete, len(found.tools_used)) == (True, 120)


def test_a_wrong_key_is_an_error_at_once() -> None:
    """A key that is refused is not tried again, and the error says what to set, not what the key was."""
    with Langfuse(story()) as service:
        wrong = LangfuseReceiver(service.base_url, public_key="pk-test", secret_key="sk-wrong")  # noqa: S106 (a test's)
        with pytest.raises(ReceiverError, match="LANGFUSE_SECRET_KEY") as caught:
            wrong.fetch(TRACE)
        assert (caught.value.code, len(service.seen)) == ("unauthorised", 1)
        assert "sk-wrong" not in str(caught.value)


def test_no_key_is_an_error_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come from the environment; without any, nothing is sent."""
    for name in ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    with Langfuse(story()) as service:
        monkeypatch.setenv("LANGFUSE_BASE_URL", service.base_url)
        with pytest.raises(ReceiverError, match="set LANGFUSE_PUBLIC_KEY"):
            LangfuseReceiver().fetch(TRACE)
        assert service.seen == []
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-test")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-test")
        assert LangfuseReceiver().fetch(TRACE, settle=0.05).complete


def test_a_service_that_is_down_is_an_error_not_an_empty_trace() -> None:
    """What cannot be asked for raises once time is out: it is not taken for a trace without calls."""
    limits = Limits(attempts=1)
    with Langfuse(story()) as service:
        service.faults = [(500, {}, b"down")] * 100
        with pytest.raises(BadStatus):
            receiver(service, limits=limits).fetch(TRACE, timeout=0.3)
    with pytest.raises(ConnectionFailed):
        receiver(service, limits=limits).fetch(TRACE, timeout=0.3)


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"data": 3}', b'{"data": [3]}', b"null", b'{"data": [{}]}'])
def test_garbage_is_an_error(body: bytes) -> None:
    """An answer of another shape is an error that says so; nothing is made up from it."""
    with Langfuse(story()) as service:
        service.faults = [(200, {}, body)] * 10
        with pytest.raises(Exception, match=r"not a page of observations|is missing"):
            receiver(service).fetch(TRACE, timeout=0.2)


@SERVERS
def test_pages_that_are_too_large_are_made_smaller(server: type[Langfuse]) -> None:
    """Where a page is over the bound of a reply, smaller ones are asked for."""
    with server(story(tools=60)) as service:
        found = receiver(service, limits=Limits(max_reply_bytes=9_000, attempts=1)).fetch(TRACE, settle=0.05)
    assert (found.complete, len(found.tools_used)) == (True, 60)


def test_private_addresses_can_be_refused() -> None:
    """With `allow_private=False` an address of this machine is not called."""
    with Langfuse(story()) as service, pytest.raises(HttpError, match="not a public address"):
        receiver(service, allow_private=False).fetch(TRACE)


def test_a_cursor_that_goes_round_ends() -> None:
    """A server that gives the same cursor for ever is not asked for ever, and the trace is not complete."""

    class Round(Langfuse):
        def page(self, path: str, asked: Any) -> Any:
            return {"data": story(), "meta": {"cursor": "again"}}

    with Round() as service:
        assert not receiver(service).fetch(TRACE, timeout=0.2).complete


def test_many_traces_at_once() -> None:
    """Many traces are fetched at once over one client."""
    traces = [f"{number:032x}" for number in range(1, 41)]
    items = [one | {"id": f"{trace[-4:]}{one['id'][4:]}"} for trace in traces for one in story(trace)]
    for one in items:
        if one["parentObservationId"]:
            one["parentObservationId"] = f"{one['traceId'][-4:]}{one['parentObservationId'][4:]}"

    async def run(service: Service) -> None:
        async with receiver(service) as langfuse:
            found = await asyncio.gather(*(langfuse.trajectory(trace, settle=0.05) for trace in traces))
        assert [one.trace_id for one in found] == traces
        assert all(one.complete and one.tools_used == ("pdf_retrieval",) for one in found)

    with Langfuse(items) as service:
        asyncio.run(run(service))
    assert threading.active_count() < 20

"""Langfuse: keys that are shown nowhere, sessions, older servers, and a client of its SDK."""

import asyncio
import inspect
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.sinks import LangfuseSink, OutScore, Receipt, resend, scenario_scores
from adjudge.testing import Fault, ScoreServer
from sinks.recorded import recorded
from sinks.scores import KEYS, PUBLIC, QUICK, SECRET, good_scores, send, trace_id

QUALITY = {"answer_quality": 0.9, "factual_correctness": 0.95, "completeness": 0.85, "reasoning": "Well structured."}


def test_seed_names(tmp_path: Path) -> None:
    """A scenario's result goes out as five scores, with data type, comment, scenario and tags, joined to the trace."""
    like = OutScore("", trace_id=trace_id(7), metadata={"scenario_id": "refunds", "tags": ["smoke"]}, run="july")
    scores = scenario_scores({"workflow": {"pass": True}, "quality": QUALITY}, like)
    with ScoreServer() as server:
        send(tmp_path / "a.outbox", server.host, scores)
        found = {score["name"]: score for score in server.scores.values()}
    assert set(found) == {
        *("workflow_pass", "quality_answer_quality", "quality_factual_correctness", "quality_completeness"),
        "quality_overall",
    }
    assert {score["traceId"] for score in found.values()} == {trace_id(7)}
    assert found["quality_overall"]["value"] == pytest.approx(0.9)
    assert found["quality_answer_quality"]["comment"] == "Well structured."
    assert found["workflow_pass"]["dataType"] == "BOOLEAN"
    assert found["workflow_pass"]["metadata"] == {"scenario_id": "refunds", "tags": ["smoke"]}


def test_undecided_scenario_sends_no_number(tmp_path: Path) -> None:
    """A workflow that was not decided and quality that was not scored are listed; no mean is made of a part."""
    quality = {"answer_quality": None, "factual_correctness": 1.0, "completeness": 1.0, "reasoning": None}
    result = {"workflow": {"pass": None}, "quality": quality, "status": "unscored", "reasons": ["incomplete-trace"]}
    with ScoreServer() as server:
        receipt = send(tmp_path / "a.outbox", server.host, scenario_scores(result, OutScore("", trace_id="t")))
        assert sorted(score["name"] for score in server.scores.values()) == [
            "quality_completeness",
            "quality_factual_correctness",
        ]
    assert [one.name for one in receipt.rejected] == ["workflow_pass", "quality_answer_quality"]
    assert "incomplete-trace" in receipt.rejected[0].reason


def test_sessions(tmp_path: Path) -> None:
    """A session with one trace stands for it; with none, or several, the score is the session's."""
    sessions = {"one": [trace_id(1)], "two": [trace_id(2), trace_id(3)]}
    scores = [OutScore("q", 1.0, session_id=name) for name in ("one", "two", "none / odd&x=1")]
    with ScoreServer(sessions=sessions) as server:
        assert send(tmp_path / "a.outbox", server.host, scores).delivered == 3
        found = [server.scores[score.id] for score in scores]
    assert [(one.get("traceId"), one.get("sessionId")) for one in found] == [
        (trace_id(1), None),
        (None, "two"),
        (None, "none / odd&x=1"),
    ]


def test_session_stays_where_it_was(tmp_path: Path) -> None:
    """What a session stood for in the first attempt it stands for in the next, so that the score is not doubled."""
    sessions = {"s": [trace_id(1)]}
    with ScoreServer([Fault("401")], sessions=sessions) as server:
        assert send(tmp_path / "a.outbox", server.host, [OutScore("q", 1.0, session_id="s")]).pending == 1
        sessions["s"] = [trace_id(1), trace_id(2)]
        host = server.host
        assert send(tmp_path / "a.outbox", host, []).delivered == 1
        (score,) = server.scores.values()
    assert score["traceId"] == trace_id(1)


def test_older_server(tmp_path: Path) -> None:
    """A server that takes one score a request gets them so; those it refuses are listed."""
    bad = good_scores(60)[33].id
    refuse = {bad: "out of range"}
    with ScoreServer(form="object", refuse=lambda score: refuse.get(score["id"])) as server:
        receipt = send(tmp_path / "a.outbox", server.host, good_scores(60))
        assert len(server.scores) == 59
        assert server.counts.calls == 61
    assert (receipt.delivered, [one.id for one in receipt.rejected]) == (59, [bad])


def test_older_server_says_why(tmp_path: Path) -> None:
    """Of one score alone, which is refused in both forms, both reasons are told."""
    with ScoreServer(form="object", refuse=lambda _: "out of range") as server:
        receipt = send(tmp_path / "a.outbox", server.host, good_scores(1))
    assert "out of range" in receipt.rejected[0].reason


def test_older_server_that_fails_now_and_then(tmp_path: Path) -> None:
    """What was acknowledged one by one counts, also where another request of the same moment came to nothing."""
    with ScoreServer(lambda call: Fault("500") if call.number % 7 == 3 else None, form="object") as server:
        send(tmp_path / "a.outbox", server.host, good_scores(60))
        while send(tmp_path / "a.outbox", server.host, []).pending:
            pass
        assert len(server.scores) == 60


def test_sessions_of_a_server_without_a_list(tmp_path: Path) -> None:
    """Where the traces of a session cannot be asked for, the score is the session's."""
    with recorded(lambda method, *_: (500, {}) if method == "GET" else (202, {"message": "Accepted"})) as told:
        limits = replace(QUICK, attempts=1)
        sink = LangfuseSink(tmp_path / "a", host=told.host, public_key=PUBLIC, secret_key=SECRET, limits=limits)
        assert sink.send([OutScore("q", 1.0, session_id=f"s{number}") for number in range(30)]).delivered == 30
    assert sum(method == "GET" for method, _, _ in told.asked) == 8
    assert told.asked[-1][2][0]["sessionId"] == "s0"


def test_addresses_with_passwords(tmp_path: Path) -> None:
    """An address with a password in it is refused before it is written anywhere."""
    with pytest.raises(UsageError, match="remove the password from the URL") as refused:
        send(tmp_path / "a.outbox", "http://me:hush-hush@127.0.0.1:9", good_scores(1))
    assert "hush-hush" not in str(refused.value)
    assert b"hush-hush" not in (tmp_path / "a.outbox").read_bytes()
    with pytest.raises(UsageError, match="remove the query from the URL") as refused:
        send(tmp_path / "a.outbox", "http://127.0.0.1:9/?api_key=hush-hush", good_scores(1))
    assert "hush-hush" not in str(refused.value)
    assert b"hush-hush" not in (tmp_path / "a.outbox").read_bytes()


def test_wrong_keys_keep_the_scores(tmp_path: Path) -> None:
    """A refused key, or none, leaves the scores pending and is shown nowhere, also if the server repeats it."""
    with ScoreServer(keys=("pk", "another")) as server:
        receipt = send(tmp_path / "a.outbox", server.host, good_scores(5))
        sink = LangfuseSink(tmp_path / "b.outbox", host=server.host, public_key=PUBLIC, secret_key=SECRET)
    assert (receipt.pending, (receipt.fault or "").partition(":")[0]) == (5, "unauthorised")
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert SECRET not in f"{receipt!r}{sink!r}{vars(sink)!r}"
    assert SECRET.encode() not in files


def test_refusals_show_no_keys(tmp_path: Path) -> None:
    """A server that repeats the key while refusing a score does not bring it into the receipt."""

    def refuse(score: Any) -> str | None:
        return f"key {SECRET} may not write {score['name']}"

    with ScoreServer(refuse=refuse) as server:
        receipt = send(tmp_path / "a.outbox", server.host, good_scores(1))
    assert len(receipt.rejected) == 1
    assert "may not write" in receipt.rejected[0].reason
    assert SECRET not in repr(receipt)


def test_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without keys the scores are kept, and the receipt says which variables to set."""
    for name in ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    with ScoreServer(keys=KEYS) as server:
        receipt = LangfuseSink(tmp_path / "a.outbox", host=server.host).send(good_scores(2))
        assert (receipt.pending, server.counts.calls) == (2, 0)
        assert "LANGFUSE_SECRET_KEY" in (receipt.fault or "")
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", PUBLIC)
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
        assert resend(tmp_path / "a.outbox")["langfuse"].delivered == 2


def test_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Host and environment come from the variables that the SDK reads, and the outbox remembers them."""
    with ScoreServer() as server:
        monkeypatch.setenv("LANGFUSE_HOST", f"{server.host}/")
        monkeypatch.setenv("LANGFUSE_TRACING_ENVIRONMENT", "staging")
        sink = LangfuseSink(tmp_path / "a.outbox", public_key=PUBLIC, secret_key=SECRET, limits=QUICK)
        assert sink.send(good_scores(1)).delivered == 1
        (score,) = server.scores.values()
    assert score["environment"] == "staging"


def test_inside_an_event_loop(tmp_path: Path) -> None:
    """Inside an event loop `send` says what to use, and `asend` works."""

    async def go(host: str) -> Receipt:
        sink = LangfuseSink(tmp_path / "a.outbox", host=host, public_key=PUBLIC, secret_key=SECRET)
        with pytest.raises(UsageError, match="asend"):
            sink.send(good_scores(1))
        return await sink.asend(good_scores(1))

    with ScoreServer() as server:
        assert asyncio.run(go(server.host)).delivered == 1


class Recorder:
    """What a client was called with."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.flushed = 0

    def flush(self) -> None:
        """Count."""
        self.flushed += 1


class Newest(Recorder):
    """The shape of SDK 4.x and 5.x."""

    def create_score(  # noqa: D102
        self,
        *,
        name: str,
        value: float | str,
        session_id: str | None = None,
        dataset_run_id: str | None = None,
        trace_id: str | None = None,
        observation_id: str | None = None,
        score_id: str | None = None,
        data_type: str | None = None,
        comment: str | None = None,
        config_id: str | None = None,
        metadata: object = None,
        timestamp: datetime | None = None,
        environment: str | None = None,
    ) -> None:
        self.calls.append({key: one for key, one in locals().items() if key != "self" and one is not None})


class Early(Recorder):
    """The shape of the first 3.x: no session, no metadata, no time."""

    def create_score(  # noqa: D102
        self,
        *,
        name: str,
        value: float | str,
        trace_id: str,
        observation_id: str | None = None,
        score_id: str | None = None,
        data_type: str | None = None,
        comment: str | None = None,
        config_id: str | None = None,
    ) -> None:
        self.calls.append({key: one for key, one in locals().items() if key != "self" and one is not None})


class Oldest(Recorder):
    """The shape of 2.x."""

    def score(self, *, name: str, value: float, trace_id: str, id: str, **more: Any) -> None:  # noqa: A002, D102
        self.calls.append({"name": name, "value": value, "trace_id": trace_id, "id": id, **more})


class Loose(Recorder):
    """A double that takes anything."""

    def create_score(self, **given: Any) -> None:  # noqa: D102
        self.calls.append(given)


@pytest.mark.parametrize("kind", [Newest, Early, Oldest, Loose])
def test_given_client(kind: type[Recorder]) -> None:
    """A given client gets the seed's call, with what else its release takes; the receipt claims no delivery."""
    client = kind()
    (score,) = good_scores(1)
    receipt = LangfuseSink(client=client).send([score])
    assert receipt == Receipt(unconfirmed=1)
    (call,) = client.calls
    assert (call["name"], call["value"], call["trace_id"]) == (score.name, score.value, score.trace_id)
    assert score.id in (call.get("score_id"), call.get("id"))
    assert client.flushed == 1


def test_given_client_lists_what_it_cannot_have() -> None:
    """A score without a number never reaches the client; what the client raises is that score's reason."""

    class Broken(Recorder):
        def create_score(self, *, name: str, value: float, trace_id: str) -> None:
            raise RuntimeError("no")

    scores = [OutScore("a", float("nan"), trace_id="t"), OutScore("b", 1.0, trace_id="t"), OutScore("c", 1.0)]
    receipt = LangfuseSink(client=Broken()).send([*scores, OutScore("d", 1.0, session_id="s")])
    assert [one.reason.partition(":")[0] for one in receipt.rejected] == ["no-value", "raised", "no-trace", "no-trace"]
    with pytest.raises(UsageError, match="create_score"):
        LangfuseSink(client=object()).send(scores)


def test_sink_signature() -> None:
    """`LangfuseSink(client=...)` needs nothing else."""
    parameters = inspect.signature(LangfuseSink).parameters.values()
    assert all(one.default is not one.empty for one in parameters)

"""The outbox against a real receiver that fails in every way it can: every valid score arrives, once."""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.errors import UsageError
from adjudge.sinks import Outbox, OutboxError, resend
from adjudge.testing import Fault, ScoreServer
from adjudge.testing._calls import ChatCall
from sinks import scores as sending
from sinks.scores import ENV, KEYS, QUICK, bad_scores, good_scores, odd_scores, send
from support import soak

SCRIPTS: dict[str, Sequence[Fault | None]] = {
    "500 three times": [Fault("500")] * 3,
    "500 for ever, until resend": [Fault("500")] * 10,
    "429 three times": [Fault("429", retry_after=0.05)] * 3,
    "429 that asks for an hour": [Fault("429", retry_after=3600)],
    "one 400": [Fault("400")],
    "400 twice": [Fault("400")] * 3,
    "one 413": [Fault("413")],
    "413 three times": [Fault("413")] * 3,
    "reset three times": [Fault("reset")] * 3,
    "closed three times": [Fault("close")] * 3,
    "a page instead of a reply": [Fault("html")],
    "a reply cut off": [Fault("cut-off")] * 2,
    "a reply that is no object": [Fault("wrong-json")],
    "a gateway's 404": [Fault("404")] * 2,
    "another key is wanted": [Fault("401")],
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the keys where a sink looks for them."""
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)


def check_all(server: ScoreServer, count: int) -> None:
    """Check that every score is there, under one id, with its own value and the time that it first had."""
    wanted = {score.id: score for score in good_scores(count)}
    found = server.scores
    assert found.keys() == wanted.keys()
    assert all(found[id_]["value"] == score.value for id_, score in wanted.items())
    assert all(found[id_]["traceId"] == score.trace_id for id_, score in wanted.items())


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_every_fault(script: Sequence[Fault | None], tmp_path: Path) -> None:
    """Whatever the receiver does, after `resend` every valid score is delivered, under one id each."""
    with ScoreServer(script, keys=KEYS) as server:
        first = send(tmp_path / "a.outbox", server.host, good_scores(250))
        assert first.delivered + first.pending == 250
        assert (first.fault is None) == (first.pending == 0)
        again = resend(tmp_path / "a.outbox", limits=QUICK)["langfuse"]
        assert (again.delivered, again.pending, again.rejected, again.fault) == (250, 0, (), None)
        check_all(server, 250)


@pytest.mark.parametrize("lost", [{0}, {0, 1, 2}, {2}, set(range(8))], ids=str)
def test_lost_replies(lost: set[int], tmp_path: Path) -> None:
    """Scores whose acknowledgement was lost are sent again and arrive once."""
    with ScoreServer(lost=lost) as server:
        send(tmp_path / "a.outbox", server.host, good_scores(250))
        while resend(tmp_path / "a.outbox", limits=QUICK)["langfuse"].pending:
            pass
        check_all(server, 250)
        assert len(server.arrivals) > 250
        times = {score["timestamp"] for score in server.scores.values()}
        assert len(times) <= 250


def test_receiver_down(tmp_path: Path) -> None:
    """With no receiver for the whole run every score stays pending, and arrives when there is one."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{taken.getsockname()[1]}"
        receipt = send(tmp_path / "a.outbox", down, good_scores(100))
    assert (receipt.delivered, receipt.pending) == (0, 100)
    assert "unreachable" in (receipt.fault or "")
    with ScoreServer() as server:
        assert resend(tmp_path / "a.outbox", host=server.host)["langfuse"].pending == 0
        check_all(server, 100)


def test_bad_ones_are_listed(tmp_path: Path) -> None:
    """What has no number, name or place is never sent, and stands in the receipt with its reason."""
    with ScoreServer() as server:
        receipt = send(tmp_path / "a.outbox", server.host, [*good_scores(50), *bad_scores(), *good_scores(50)])
        check_all(server, 50)
    assert (receipt.delivered, receipt.pending) == (50, 0)
    assert [one.name for one in receipt.rejected] == [score.name for score in bad_scores()]
    reasons = [one.reason.partition(":")[0] for one in receipt.rejected]
    assert reasons == ["no-value"] * 7 + ["no-trace"] + ["bad-id"] * 3 + ["bad-name"]
    assert "nan" in receipt.rejected[0].reason
    assert "the judge refused" in receipt.rejected[3].reason


def test_odd_ones_arrive(tmp_path: Path) -> None:
    """Surrogates, control characters, odd metadata and comments of 2 MB are made fit to travel, with a note if cut."""
    with ScoreServer() as server:
        receipt = send(tmp_path / "a.outbox", server.host, odd_scores())
        found = {score["name"]: score for score in server.scores.values()}
    assert (receipt.delivered, receipt.rejected) == (len(odd_scores()), ())
    assert found["odd_0"]["comment"] == "lone \ufffd surrogate"
    assert found["odd_1"]["comment"].endswith("... [cut: 2,000,000 characters in all]")
    assert len(found["odd_1"]["comment"]) < 21_000
    assert found["odd_4"]["metadata"]["n"] is None
    assert found["na\ufffdme"]["value"] == 1.0
    assert (found["odd_6"]["dataType"], found["odd_6"]["value"]) == ("BOOLEAN", 1.0)
    assert (found["odd_7"]["dataType"], found["odd_7"]["value"]) == ("CATEGORICAL", "good")


@pytest.mark.parametrize("bad", [{0}, {99}, {17, 18, 63}, set(range(100))], ids=lambda bad: f"{len(bad)} of 100")
def test_refused_ones_are_found(bad: set[int], tmp_path: Path) -> None:
    """A refused batch is halved until the bad scores are alone; they are listed, the others arrive."""
    ids = {score.id for at, score in enumerate(good_scores(100)) if at in bad}
    with ScoreServer(refuse=lambda score: "not this one" if score["id"] in ids else None) as server:
        receipt = send(tmp_path / "a.outbox", server.host, good_scores(100))
        assert server.scores.keys() == {score.id for score in good_scores(100)} - ids
    assert (receipt.delivered, receipt.pending) == (100 - len(bad), 0)
    assert {one.id for one in receipt.rejected} == ids
    assert all("not this one" in one.reason for one in receipt.rejected)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("post", [0, 1, 3, 5])
@pytest.mark.parametrize("taken", [True, False], ids=["acknowledged", "not taken"])
def test_killed_while_sending(number: signal.Signals, post: int, taken: bool, tmp_path: Path) -> None:
    """A process that is ended between the receiver's acknowledgement and its own mark loses and doubles nothing."""
    process: list[subprocess.Popen[bytes]] = []
    posts: list[bool] = []

    def end(_: ChatCall) -> Fault | None:
        posts.append(True)
        if len(posts) != post + 1:
            return None
        process[0].send_signal(number)
        process[0].wait()
        return None if taken else Fault("reset")

    with ScoreServer(end, keys=KEYS) as server:
        command = [sys.executable, sending.__file__, str(tmp_path / "a.outbox"), server.host, "600"]
        process.append(subprocess.Popen(command, env={**os.environ, **ENV}, stderr=subprocess.DEVNULL))
        assert process[0].wait(60) == -number
        assert len(posts) == post + 1
        with Outbox(tmp_path / "a.outbox") as outbox:
            before = outbox.receipt("langfuse")
        assert (before.delivered, before.pending) == (100 * post, 600 - 100 * post)
        after = resend(tmp_path / "a.outbox")["langfuse"]
        assert (after.delivered, after.pending, after.rejected) == (600, 0, ())
        check_all(server, 600)
        assert len(server.arrivals) == (700 if taken else 600)


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Processes that are killed at any moment, one after another, lose and double nothing."""
    chance = random.Random(20261115)  # noqa: S311 (moments for a test)
    with ScoreServer(keys=KEYS, latency_s=0.01) as server:
        command = [sys.executable, sending.__file__, str(tmp_path / "a.outbox"), server.host, "600"]
        for _ in range(soak(50)):
            process = subprocess.Popen(command, env={**os.environ, **ENV}, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.2, 1.2))
            process.kill()
            process.wait()
        receipt = send(tmp_path / "a.outbox", server.host, good_scores(600))
        assert (receipt.delivered, receipt.pending, receipt.rejected) == (600, 0, ())
        check_all(server, 600)


def test_same_score_again(tmp_path: Path) -> None:
    """A score that was delivered is not sent again; with another value it is, under the same id and time."""
    first, *_ = good_scores(1)
    with ScoreServer() as server:
        send(tmp_path / "a.outbox", server.host, [first])
        time = server.scores[first.id]["timestamp"]
        send(tmp_path / "a.outbox", server.host, good_scores(1))
        assert len(server.arrivals) == 1
        receipt = send(tmp_path / "a.outbox", server.host, [replace(good_scores(1)[0], value=0.25)])
        assert (receipt.delivered, len(server.arrivals)) == (1, 2)
        assert (server.scores[first.id]["value"], server.scores[first.id]["timestamp"]) == (0.25, time)


def test_replaced_while_it_is_sent(tmp_path: Path) -> None:
    """A score that gets another value while the first is on its way is not taken for delivered."""
    path = tmp_path / "a.outbox"
    changed = replace(good_scores(1)[0], value=0.25)

    def change(_: ChatCall) -> None:
        with Outbox(path) as outbox:
            outbox.add("langfuse", {"kind": "langfuse", "host": server.host}, [changed])

    with ScoreServer(change) as server:
        assert send(path, server.host, good_scores(1)).pending == 1
        assert resend(path)["langfuse"].delivered == 1
        assert server.scores[changed.id]["value"] == 0.25


def test_refused_for_a_while(tmp_path: Path) -> None:
    """What was refused because of a setting on the server is sent again when that is asked for, and only that."""
    reasons: list[str | None] = ["no such score config", None]
    with ScoreServer(refuse=lambda _: reasons[0]) as server:
        assert len(send(tmp_path / "a.outbox", server.host, [*good_scores(3), *bad_scores()]).rejected) == 15
        reasons.pop(0)
        assert resend(tmp_path / "a.outbox")["langfuse"].delivered == 0
        receipt = resend(tmp_path / "a.outbox", refused=True)["langfuse"]
    assert (receipt.delivered, len(receipt.rejected)) == (3, 12)


def test_one_sender(tmp_path: Path) -> None:
    """Two processes do not send one outbox at once; what comes meanwhile is kept, and the lock leaves nothing."""
    with ScoreServer() as server, Outbox(tmp_path / "a.outbox") as outbox:
        with outbox.sending():
            receipt = send(tmp_path / "a.outbox", server.host, good_scores(3))
            assert (receipt.delivered, receipt.pending) == (0, 3)
            assert receipt.fault is not None
            assert receipt.fault.startswith("outbox-locked: ")
            with pytest.raises(OutboxError, match="another process"):
                resend(tmp_path / "a.outbox")
        assert resend(tmp_path / "a.outbox")["langfuse"].delivered == 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.outbox"]


def test_not_an_outbox(tmp_path: Path) -> None:
    """A file that is no outbox, is damaged or is not there is an error that says so."""
    (tmp_path / "text.outbox").write_text("no database, but long enough to be one" * 50)
    with pytest.raises(OutboxError, match="not an outbox"):
        Outbox(tmp_path / "text.outbox")
    with pytest.raises(UsageError, match="there is no such outbox"):
        resend(tmp_path / "nothing.outbox")


def test_another_address(tmp_path: Path) -> None:
    """What is pending for one address stays there when the same outbox is used with another."""
    path = tmp_path / "a.outbox"
    with ScoreServer([Fault("401")], keys=KEYS) as first, ScoreServer(keys=KEYS) as second:
        assert send(path, first.host, good_scores(3)).pending == 3
        others = [replace(score, name="other") for score in good_scores(2)]
        receipt = send(path, second.host, others)
        assert (receipt.delivered, receipt.pending, len(second.scores), len(first.scores)) == (2, 0, 2, 0)
        receipts = resend(path)
        assert [one.delivered for one in receipts.values()] == [3, 2]
        assert {score["name"] for score in first.scores.values()} == {score.name for score in good_scores(3)}


def test_another_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is pending for one project is not sent with the keys of another, though the address is the same."""
    path = tmp_path / "a.outbox"
    with ScoreServer([Fault("401")]) as server:
        assert send(path, server.host, good_scores(3)).pending == 3
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-of-another")
        with pytest.raises(UsageError, match="another project") as caught:
            resend(path)
        assert (caught.value.code, server.scores) == ("untrusted", {})
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", KEYS[0])
        assert resend(path)["langfuse"].delivered == 3


def test_an_older_outbox(tmp_path: Path) -> None:
    """A receiver that was written down without its project is adopted by the first that has its address."""
    path = tmp_path / "a.outbox"
    with ScoreServer() as server:
        with Outbox(path) as outbox:
            outbox.add("langfuse", {"kind": "langfuse", "host": server.host}, good_scores(2))
        assert send(path, server.host, good_scores(3)).delivered == 3
        with Outbox(path) as outbox:
            assert list(outbox.sinks()) == ["langfuse"]


def strangers_outbox(path: Path, host: str) -> None:
    """Write an outbox as another user has it: sealed with another key."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(path.parent / "stranger"))
        with Outbox(path) as outbox:
            outbox.add("langfuse", {"kind": "langfuse", "host": host, "project": ""}, good_scores(3))


def test_an_outbox_does_not_say_where_keys_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys go to the address in a stranger's outbox only with the same host in the environment, `host` or `trust`."""
    with ScoreServer() as server:
        strangers_outbox(tmp_path / "a.outbox", server.host)
        for host in (None, "http://127.0.0.1:9"):
            if host is not None:
                monkeypatch.setenv("LANGFUSE_HOST", host)
            with pytest.raises(UsageError, match="say where to send them") as caught:
                resend(tmp_path / "a.outbox")
            assert (caught.value.code, server.calls) == ("untrusted", [])
        said: list[str] = []
        assert resend(tmp_path / "a.outbox", trust=True, on_trust=said.append)["langfuse"].delivered == 3
        assert said == [f"langfuse: scores and keys go to {server.host}"]
    for way in ("host", "environment"):
        with ScoreServer() as server:
            path = tmp_path / f"{way}.outbox"
            strangers_outbox(path, server.host)
            monkeypatch.setenv("LANGFUSE_HOST", server.host if way == "environment" else "http://127.0.0.1:9")
            receipt = resend(path, host=server.host if way == "host" else None)["langfuse"]
            assert receipt.delivered == 3


def test_the_environment_wins_over_our_own_outbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores that we left for one host are not sent while the environment names another."""
    with ScoreServer([Fault("401")]) as server:
        assert send(tmp_path / "a.outbox", server.host, good_scores(3)).pending == 3
        monkeypatch.setenv("LANGFUSE_HOST", "http://127.0.0.1:9")
        with pytest.raises(UsageError, match=r"LANGFUSE_\w+ is http://127.0.0.1:9"):
            resend(tmp_path / "a.outbox")

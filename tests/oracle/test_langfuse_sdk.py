"""The real Langfuse SDK: as the client of a sink, and as the measure of what our own sender sends.

Its transport is pointed at our receiver, so both speak to the same strict server.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import langfuse
import pytest
from langfuse import Langfuse

from adjudge.sinks import LangfuseSink, OutScore
from adjudge.testing import ScoreServer

NEWEST = int(langfuse.__version__.partition(".")[0]) >= 5
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SCORES = [
    OutScore("quality_answer_quality", 0.9, trace_id=TRACE, comment="Clear.", metadata={"scenario_id": "a"}, run="r"),
    OutScore("workflow_pass", value=True, trace_id=TRACE, run="r"),
    OutScore("verdict", "good", trace_id=TRACE, run="r"),
    OutScore("of_session", 0.5, session_id="s1", run="r"),
    OutScore("lone", 0.5, trace_id=TRACE, comment="\ud800", run="r"),
    OutScore("nothing", float("nan"), trace_id=TRACE, run="r"),
]


@pytest.fixture
def server() -> Iterator[ScoreServer]:
    """Give the receiver."""
    with ScoreServer() as running:
        yield running


def client_of(server: ScoreServer) -> Any:
    """Return a real client of the SDK that talks to the receiver; one that was shut down is dead for its key."""
    return Langfuse(public_key=f"pk-{server.host}", secret_key="sk-lf-1", base_url=server.host)  # noqa: S106 (of nobody)


def test_given_client_delivers(server: ScoreServer) -> None:
    """Through a real client every valid score arrives under our id; the one without a number is listed, not sent."""
    client = client_of(server)
    receipt = LangfuseSink(client=client).send(SCORES)
    client.shutdown()
    assert (receipt.unconfirmed, [one.name for one in receipt.rejected]) == (5, ["nothing"])
    assert server.scores.keys() == {score.id for score in SCORES[:5]}


def test_both_ways_send_the_same(server: ScoreServer, tmp_path: Path) -> None:
    """Our sender and the SDK's leave the same scores on the server, field by field."""
    client = client_of(server)
    LangfuseSink(client=client).send(SCORES)
    client.shutdown()
    theirs = server.scores
    assert len(theirs) == 5
    sink = LangfuseSink(tmp_path / "a.outbox", host=server.host, public_key="pk-lf-1", secret_key="sk-lf-1")  # noqa: S106 (of nobody)
    assert sink.send(SCORES).delivered == 5
    ours = server.scores
    for id_, score in theirs.items():
        assert {**score, "environment": None, "timestamp": None} == {
            **ours[id_],
            "environment": None,
            "timestamp": None,
        }
        assert score["timestamp"][:19] == ours[id_]["timestamp"][:19]


def test_the_sdk_reads_our_ids_and_traces(server: ScoreServer) -> None:
    """The newest SDK sends lists, which is the form that our receiver and our sender speak."""
    assert NEWEST
    client = client_of(server)
    client.create_score(name="seed", value=0.9, trace_id=TRACE)
    client.flush()
    client.shutdown()
    (call,) = [call for call in server.calls if call.path == "/api/public/scores"]
    assert call.body.startswith(b"[")
    (score,) = server.scores.values()
    assert (score["name"], score["value"], score["traceId"]) == ("seed", 0.9, TRACE)

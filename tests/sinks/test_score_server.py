"""The receiver that the sinks are tested against is strict: it refuses what the real one refuses."""

import asyncio
import json
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.http import HttpClient, HttpReply, Request
from adjudge.testing import ScoreServer

GOOD: dict[str, Any] = {"id": "a", "name": "q", "value": 0.5, "dataType": "NUMERIC", "traceId": "t"}


def post(server: ScoreServer, body: bytes, path: str = "/api/public/scores") -> HttpReply:
    """Post a body once and return whatever comes back."""

    async def go() -> HttpReply:
        async with HttpClient() as client:
            return await client.send(Request(f"{server.host}{path}", body), lambda reply: reply)

    return asyncio.run(go())


@pytest.mark.parametrize(
    "change",
    [
        {"value": "0.5"},
        {"value": None},
        {"value": True},
        {"value": 0.5, "dataType": "BOOLEAN"},
        {"value": 1, "dataType": "CATEGORICAL"},
        {"name": ""},
        {"name": None},
        {"id": None},
        {"traceId": None},
        {"sessionId": "s"},
        {"traceId": None, "sessionId": "s", "observationId": "o"},
        {"timestamp": "2026-11-15T10:00:00"},
        {"timestamp": "yesterday"},
        {"surprise": 1},
    ],
    ids=str,
)
def test_bad_scores(change: dict[str, Any]) -> None:
    """A score that breaks a rule is counted as rejected; its neighbours are kept."""
    with ScoreServer() as server:
        reply = post(server, json.dumps([GOOD, {**GOOD, "id": "b", **change}]).encode())
        assert (reply.status, list(server.scores)) == (207, ["a"])
    told = json.loads(reply.body)
    assert (told["accepted"], told["rejected"], len(told["errors"])) == (1, 1, 1)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"[1]", b'[{"value": NaN}]', b'[{"name": "\\ud800"}]', b'[{"name": "\xff"}]', b"[" * 100_000],
    ids=range(8),
)
def test_bad_bodies(body: bytes) -> None:
    """A body that is no list of scores is refused as a whole."""
    with ScoreServer() as server:
        assert post(server, body).status == 400
        assert server.scores == {}


def test_limits() -> None:
    """A body over 1 MB, a path that is not there and a wrong key are refused; the last score of an id counts."""
    with ScoreServer() as server:
        assert post(server, b"[" + b" " * 1_000_000 + b"]").status == 413
        assert post(server, b"[]", "/api/public/else").status == 404
        for value in (0.1, 0.2):
            assert post(server, json.dumps([{**GOOD, "value": value}]).encode()).status == 202
        assert server.scores["a"]["value"] == 0.2
        assert server.arrivals == ["a", "a"]
    with ScoreServer(keys=("p", "s")) as closed:
        assert post(closed, b"[]").status == 401
    with pytest.raises(UsageError, match="not running"):
        _ = server.host

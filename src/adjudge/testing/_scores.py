"""A dashboard that takes scores, behind a real socket: the wire contract of Langfuse, strict, with scripted faults."""

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

from adjudge.http import ThreadedServer
from adjudge.testing._calls import ChatCall
from adjudge.testing._faults import Act, Fault, act_of_json, act_of_status
from adjudge.testing._play import Play, ServerCounts, Settings
from adjudge.testing._wire import listening

__all__ = ["ScoreServer"]

_FIELDS = {
    *("id", "traceId", "sessionId", "observationId", "datasetRunId", "name", "value", "comment", "metadata"),
    *("environment", "dataType", "configId", "timestamp"),
}

ScoreScript: TypeAlias = Sequence[Fault | None] | Callable[[ChatCall], Fault | None]


@dataclass(frozen=True, slots=True)
class _Rules:
    script: ScoreScript = ()
    lost: Collection[int] = ()
    refuse: Callable[[Mapping[str, Any]], str | None] | None = None
    form: Literal["list", "object"] = "list"
    most_bytes: int = 1_000_000
    sessions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: tuple[str, str] | None = None


class ScoreServer(ThreadedServer):
    """A local HTTP server that keeps scores as Langfuse does: one for each id, the last one sent.

    `script` says what goes wrong with which post (a list in order of arrival, then nothing, or a function); the posts
    whose numbers are in `lost` are accepted, but their replies are not sent. `refuse` gives the reason for refusing a
    score; like the real server, it then reports only how many scores of a list it refuses. `form="object"`
    is an older server, which takes one score a request. `sessions` are the traces of each session.

    >>> with ScoreServer() as server:
    ...     server.host.startswith("http://127.0.0.1:"), server.scores
    (True, {})
    """

    def __init__(
        self,
        script: ScoreScript = (),
        *,
        lost: Collection[int] = (),
        refuse: Callable[[Mapping[str, Any]], str | None] | None = None,
        form: Literal["list", "object"] = "list",
        sessions: Mapping[str, Sequence[str]] | None = None,
        keys: tuple[str, str] | None = None,
        latency_s: float = 0.0,
    ) -> None:
        rules = _Rules(script, lost, refuse, form, sessions=sessions or {}, keys=keys)
        self._play = _ScorePlay(rules, latency_s)
        super().__init__("127.0.0.1", 0, called="server", serving=lambda: listening(self._play))

    @property
    def host(self) -> str:
        """What a client takes as its host."""
        return self.base_url

    @property
    def scores(self) -> dict[str, dict[str, Any]]:
        """The scores that the server has accepted, by id."""
        with self._play.lock:
            return dict(self._play.kept)

    @property
    def arrivals(self) -> list[str]:
        """The ids of all scores that the server has accepted, also those that came again."""
        with self._play.lock:
            return list(self._play.arrived)

    @property
    def counts(self) -> ServerCounts:
        """The counts so far."""
        return deepcopy(self._play.counts)

    @property
    def calls(self) -> list[ChatCall]:
        """The last 1,000 calls, oldest first."""
        return list(self._play.seen)


class _ScorePlay(Play):
    """What the server does with each call; used by one thread, its scores read by any."""

    def __init__(self, rules: _Rules, latency_s: float) -> None:
        super().__init__(Settings(None, latency_s))
        self.rules = rules
        self.kept: dict[str, dict[str, Any]] = {}
        self.arrived: list[str] = []
        self.lock = threading.Lock()
        self._posts = 0

    def _answer(self, call: ChatCall) -> Act:
        keys = self.rules.keys
        if keys is not None and call.headers.get("authorization") != _basic(*keys):
            return act_of_status(401, f"Invalid credentials: {call.headers.get('authorization')}")
        parts = urlsplit(call.path)
        if parts.path == "/api/public/traces":
            asked = parse_qs(parts.query).get("sessionId", [""])[0]
            return act_of_json({"data": [{"id": trace} for trace in self.rules.sessions.get(asked, ())], "meta": {}})
        if parts.path != "/api/public/scores":
            return act_of_status(404, f"no such path: {parts.path[:200]}")
        number = self._posts
        self._posts += 1
        fault = self._scripted(call, number)
        if fault is not None:
            return self._fault(call, fault)
        act = self._take(call.body)
        # The scores are kept, but the client never hears of it.
        return Act(end="reset") if number in self.rules.lost else act

    def _scripted(self, call: ChatCall, number: int) -> Fault | None:
        script = self.rules.script
        if callable(script):
            return script(call)
        return script[number] if number < len(script) else None

    def _take(self, body: bytes) -> Act:
        if len(body) > self.rules.most_bytes:
            return act_of_status(413, f"Body exceeded {self.rules.most_bytes} bytes")
        scores, fault = _read_scores(body, self.rules.form)
        if fault is not None:
            return act_of_status(400, fault)
        reasons = [_why_not(score) or (self.rules.refuse(score) if self.rules.refuse else None) for score in scores]
        # Like the real server, take the good scores of a list and report the others.
        good = [score for score, reason in zip(scores, reasons, strict=True) if reason is None]
        faults = [reason for reason in reasons if reason is not None]
        with self.lock:
            for score in good:
                self.kept[score["id"]] = score
                self.arrived.append(score["id"])
        # An older server refuses with the reason of the one score.
        if self.rules.form == "object":
            return act_of_status(400, faults[0]) if faults else act_of_json({"id": scores[0]["id"]})
        if faults:
            counts = {
                "accepted": len(good),
                "rejected": len(faults),
                "errors": [{"message": fault} for fault in faults],
            }
            return act_of_json(counts, 207)
        return act_of_json({"message": "Accepted"}, 202)


def _basic(user: str, password: str) -> str:
    """Return the header of HTTP basic authentication."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode('ascii')}"


def _read_scores(body: bytes, form: Literal["list", "object"]) -> tuple[list[dict[str, Any]], str | None]:
    """Return the scores of a body, or what is wrong with it as a whole."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse)
        # Like the real server, refuse a lone surrogate: it cannot be stored.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        return [], f"Invalid request data: {type(error).__name__}"
    listed = value if form == "list" else [value]
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        return [], f"Invalid request data: expected {'an array of scores' if form == 'list' else 'a score'}"
    return listed, None


def _why_not(score: Mapping[str, Any]) -> str | None:
    """Return the rule of the interface that a score breaks, or None."""
    wrong = {
        "unknown field": not score.keys() <= _FIELDS,
        "id": not isinstance(score.get("id"), str) or not score["id"],
        "name": not isinstance(score.get("name"), str) or not score["name"] or "\x00" in score["name"],
        "value": not _fits(score.get("value"), score.get("dataType")),
        "traceId or sessionId": (score.get("traceId") is None) == (score.get("sessionId") is None),
        "observationId": score.get("observationId") is not None and score.get("traceId") is None,
        "timestamp": not _has_offset(score.get("timestamp")),
    }
    return next((f"Invalid request data: {what}" for what, is_wrong in wrong.items() if is_wrong), None)


def _refuse(name: str) -> float:
    raise ValueError(name)


def _fits(value: object, kind: object) -> bool:
    if kind == "CATEGORICAL":
        return isinstance(value, str) and bool(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (kind in ("NUMERIC", None) or (kind == "BOOLEAN" and value in (0, 1)))


def _has_offset(value: object) -> bool:
    if value is None:
        return True
    try:
        return datetime.fromisoformat(str(value)).tzinfo is not None
    except ValueError:
        return False

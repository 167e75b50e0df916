"""What the server does with each call: its limits, its faults, its script, and what it counted."""

import hashlib
import random
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adjudge.testing._calls import ChatCall
from adjudge.testing._faults import Act, Fault, act_of_events, act_of_fault, act_of_json, act_of_status
from adjudge.testing._replies import Reply, reply_body, reply_chunks

__all__ = ["Limit", "Play", "Script", "ServerCounts", "Settings"]

Said: TypeAlias = str | Reply | Fault | Mapping[str, Any] | None
Script: TypeAlias = Said | Sequence[Said] | Callable[[ChatCall], Said]

_KEPT_CALLS = 1_000


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of a server: calls at once and calls in any one second. Any more are refused with 429."""

    in_flight: int | None = None
    per_s: int | None = None
    retry_after: str | float | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server."""

    script: Script
    latency_s: float = 0.0
    faults: tuple[tuple[Fault, float], ...] = ()
    seed: int = 0
    limit: Limit = Limit()
    key: str | None = None
    rejects: Collection[str] = ()


@dataclass(slots=True)
class ServerCounts:
    """The counts of a server: calls, repeats (the same body again), those over its limit, and faults by kind."""

    calls: int = 0
    repeats: int = 0
    refused: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    faults: dict[str, int] = field(default_factory=dict)


class Play:
    """The script in progress; used by one thread, read by any."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.counts = ServerCounts()
        self.seen: deque[ChatCall] = deque(maxlen=_KEPT_CALLS)
        self._bodies: dict[int, int] = {}
        self._accepted: deque[float] = deque()

    def begin(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[Act, float]:
        """Take a call, and return its answer and the seconds to wait before it; `done` ends the call."""
        counts = self.counts
        # The same body again is a retry, as far as a server can tell.
        digest = hash(body)
        repeat = self._bodies.get(digest, 0)
        self._bodies[digest] = repeat + 1
        call = ChatCall(counts.calls, repeat, path, headers, body)
        self.seen.append(call)
        counts.calls += 1
        counts.repeats += repeat > 0
        counts.in_flight += 1
        counts.max_in_flight = max(counts.max_in_flight, counts.in_flight)
        # A call that is refused waits for nothing: real servers refuse at once.
        if self._too_much():
            counts.refused += 1
            wait = self.settings.limit.retry_after
            headers_back = () if wait is None else (("Retry-After", str(wait)),)
            return act_of_status(429, "too many calls", kind="rate_limit_exceeded", headers=headers_back), 0.0
        return self._answer(call), self.settings.latency_s

    def done(self) -> None:
        """Count a call as answered, or its caller as gone."""
        self.counts.in_flight -= 1

    def _too_much(self) -> bool:
        limit = self.settings.limit
        if limit.in_flight is not None and self.counts.in_flight > limit.in_flight:
            return True
        if limit.per_s is not None:
            now = time.monotonic()
            while self._accepted and self._accepted[0] <= now - 1.0:
                self._accepted.popleft()
            if len(self._accepted) >= limit.per_s:
                return True
            self._accepted.append(now)
        return False

    def _answer(self, call: ChatCall) -> Act:
        if not call.path.partition("?")[0].endswith(("/chat/completions", "/messages")):
            return act_of_status(404, f"no such path: {call.path[:200]}", kind="not_found")
        if self.settings.key is not None and self.settings.key != _key_of(call):
            return act_of_status(401, f"Incorrect API key provided: {_key_of(call)}", kind="invalid_api_key")
        # Chance comes before the script, as an outage would.
        fault = self._chance(call)
        if fault is not None:
            return self._fault(call, fault)
        for name in self.settings.rejects:
            if name in call.json:
                return act_of_status(400, f"Unsupported parameter: '{name}'", kind="unsupported", param=name)
        return self._act(call, self._said(call))

    def _act(self, call: ChatCall, said: Said) -> Act:
        if isinstance(said, Fault):
            return self._fault(call, said)
        if isinstance(said, Mapping):
            return act_of_json(said)
        reply = said if isinstance(said, Reply) else Reply(said)
        if call.shape == "openai" and call.json.get("stream") is True:
            return act_of_events(reply_chunks(call, reply))
        return act_of_json(reply_body(call, reply))

    def _fault(self, call: ChatCall, fault: Fault) -> Act:
        self.counts.faults[fault.kind] = self.counts.faults.get(fault.kind, 0) + 1
        return act_of_fault(call, fault)

    def _said(self, call: ChatCall) -> Said:
        script = self.settings.script
        if callable(script):
            return script(call)
        if isinstance(script, Sequence) and not isinstance(script, str):
            return script[min(call.number, len(script) - 1)] if script else ""
        return script

    def _chance(self, call: ChatCall) -> Fault | None:
        """Choose by seed, body and repeat: the same calls meet the same faults, in whatever order they come."""
        if not self.settings.faults:
            return None
        digest = hashlib.blake2b(b"%d %d " % (self.settings.seed, call.repeat) + call.body, digest_size=8).digest()
        at = random.Random(digest).random()  # noqa: S311 (chance for tests)
        for fault, share in self.settings.faults:
            at -= share
            if at < 0:
                return fault
        return None


def _key_of(call: ChatCall) -> str:
    return call.headers.get("x-api-key") or call.headers.get("authorization", "").removeprefix("Bearer ")

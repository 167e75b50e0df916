"""Scores to a client of Langfuse's SDK: the `create_score` call of its 3.x, 4.x and 5.x, and 2.x's `score`."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from adjudge.errors import Caught, UsageError
from adjudge.sinks._clean import why_not_sendable
from adjudge.sinks._scores import OutScore, Receipt, Rejected

__all__ = ["hand_over"]


def hand_over(client: object, scores: Sequence[OutScore]) -> Receipt:
    """Call the client once a score, then its `flush`, if it has one; what it raises is that score's reason."""
    call = _call_of(client)
    rejected = [_rejected(score, reason) for score in scores if (reason := _handed(call, score)) is not None]
    flush = getattr(client, "flush", None)
    if callable(flush):
        with Caught(fatal_too=True):  # what was handed over counts as unconfirmed either way
            flush()
    return Receipt(unconfirmed=len(scores) - len(rejected), rejected=tuple(rejected))


def _call_of(client: object) -> Callable[..., object]:
    for name in ("create_score", "score"):
        call = getattr(client, name, None)
        if callable(call):
            found: Callable[..., object] = call
            return found
    raise UsageError(f"a {type(client).__name__} is no Langfuse client: it has no create_score", code="bad-client")


def _handed(call: Callable[..., object], score: OutScore) -> str | None:
    reason = why_not_sendable(score, placed=True)
    if reason is not None:
        return reason
    wanted = _arguments(score)
    taken = _taken(call, wanted)
    if not taken.keys() & {"trace_id", "session_id"}:
        return "no-trace: this client cannot attach a score to a session"
    with Caught(fatal_too=True) as caught:
        call(**taken)
    return caught.reason


def _arguments(score: OutScore) -> dict[str, Any]:
    at_trace = score.trace_id is not None
    wanted: dict[str, Any] = {
        "name": score.name,
        "value": float(score.value) if isinstance(score.value, bool) else score.value,
        "trace_id": score.trace_id,
        "session_id": None if at_trace else score.session_id,
        "observation_id": score.observation_id if at_trace else None,
        "score_id": score.id,
        "id": score.id,
        "data_type": str(score.data_type).upper(),
        "comment": score.comment,
        "metadata": dict(score.metadata) or None,
        "timestamp": score.timestamp,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _taken(call: Callable[..., object], wanted: dict[str, Any]) -> dict[str, Any]:
    """Leave out what this release of the client has no parameter for."""
    try:
        parameters = dict(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        parameters = {}
    named = {name for name, one in parameters.items() if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}
    takes_all = not parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    if takes_all and "id" not in named:
        named |= wanted.keys() - {"id"}
    return {name: value for name, value in wanted.items() if name in named}


def _rejected(score: OutScore, reason: str) -> Rejected:
    return Rejected(score.id, score.name, reason, score.trace_id)

"""What can go wrong between a client and a model, one by one.

"429", "503", any status     that status, with `retry_after` or `retry_after_ms` where given
"quota"                      429 that says the account has run out
"reset"                      the connection is reset (RST) instead of a reply
"close"                      the connection is closed without a reply
"hang"                       nothing comes, for as long as the client waits
"slow"                       a correct reply, a byte at a time
"truncated"                  a reply whose JSON stops in the middle
"cut-off"                    a reply that ends before its Content-Length
"wrong-json"                 JSON, but a list of numbers
"no-choices"                 the right shape with nothing in it
"null"                       null content
"refusal"                    the model refuses
"not-utf8"                   bytes that are not text
"huge"                       a reply of 10 MB
"html"                       a web page with status 200
"echo"                       the whole prompt as the reply
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from adjudge.errors import UsageError, closest
from adjudge.testing._calls import ChatCall
from adjudge.testing._replies import Reply, reply_body

__all__ = ["FAULTS", "Act", "Fault", "act_of_events", "act_of_fault", "act_of_json", "act_of_status"]

FAULTS = (
    *("reset", "close", "hang", "slow", "truncated", "cut-off", "wrong-json", "no-choices", "null", "refusal"),
    *("not-utf8", "huge", "html", "echo", "quota"),
)
"""Every fault that is not a plain status code."""

_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "input_tokens": 11, "output_tokens": 7}
_HUGE = 10_000_000
_SLOW_S = 0.05


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: a name of `FAULTS` or a status code, with what its headers say about trying again.

    >>> Fault("503", retry_after=1.5).retry_after
    1.5
    """

    kind: str
    retry_after: str | float | None = None
    retry_after_ms: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in FAULTS and self.status is None:
            raise UsageError(f"no such fault: {self.kind!r}{closest(self.kind, FAULTS)}", code="unknown-fault")

    @property
    def status(self) -> int | None:
        """The status code, where the fault is one."""
        return int(self.kind) if self.kind.isascii() and self.kind.isdigit() and len(self.kind) == 3 else None


@dataclass(frozen=True, slots=True)
class Act:
    """What goes over the wire for one call: pieces of bytes with a gap between them, and how it ends."""

    pieces: tuple[bytes, ...] = ()
    gap_s: float = 0.0
    end: Literal["keep", "close", "reset", "hang"] = "keep"


def act_of_json(value: object, status: int = 200) -> Act:
    """Send a value as JSON."""
    # Escaped, so that a lone surrogate in a script's text can be sent.
    return Act((_response(status, json.dumps(value, separators=(",", ":")).encode()),))


def act_of_events(values: Iterable[object]) -> Act:
    """Send values as the events of a stream that ends well."""
    events = [json.dumps(value, separators=(",", ":")) for value in values]
    body = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
    return Act((_response(200, body.encode(), kind="text/event-stream"),))


def act_of_status(
    status: int, message: str, *, kind: str = "", param: str | None = None, headers: tuple[tuple[str, str], ...] = ()
) -> Act:
    """Send an error in the usual shape."""
    error = {"message": message, "type": kind or "error", "code": kind or None, "param": param}
    return Act((_response(status, json.dumps({"error": error}).encode(), headers=headers),))


def act_of_fault(call: ChatCall, fault: Fault) -> Act:
    """Return what a fault sends over the wire."""
    if fault.status is not None:
        return act_of_status(fault.status, f"scripted {fault.kind}", headers=_retry_headers(fault))
    if fault.kind == "quota":
        return act_of_status(429, "You exceeded your current quota.", kind="insufficient_quota")
    if fault.kind in ("reset", "close", "hang"):
        return Act(end=fault.kind)  # type: ignore[arg-type]
    # All other faults spoil a reply that would have been good.
    whole = json.dumps(reply_body(call, Reply("scripted"))).encode()
    if fault.kind == "slow":
        response = _response(200, whole)
        return Act(tuple(response[at : at + 1] for at in range(len(response))), gap_s=_SLOW_S)
    if fault.kind == "cut-off":
        response = _response(200, whole)
        return Act((response[: len(response) - len(whole) // 2],), end="close")
    kind = "text/html" if fault.kind == "html" else "application/json"
    return Act((_response(200, _odd_body(call, fault.kind, whole), kind=kind),))


def _odd_body(call: ChatCall, kind: str, whole: bytes) -> bytes:
    if kind == "truncated":
        return whole[: len(whole) // 2]
    if kind == "not-utf8":
        return whole.replace(b"scripted", b"\xff\xfe\x80 scripted")
    if kind == "html":
        return b"<!DOCTYPE html><html><body><h1>Welcome</h1>Please sign in.</body></html>"
    if kind == "wrong-json":
        return b"[1, 2, 3]"
    if kind == "no-choices":
        empty = {"choices": [], "content": [], "object": "chat.completion", "type": "message", "usage": _USAGE}
        return json.dumps({**empty, **({"content": None} if call.shape == "anthropic" else {})}).encode()
    replies = {
        "null": Reply(None),
        "refusal": Reply(None, refusal="I cannot help with that."),
        "huge": Reply("a" * _HUGE),
        "echo": Reply(call.prompt),
    }
    return json.dumps(reply_body(call, replies[kind])).encode()


def _retry_headers(fault: Fault) -> tuple[tuple[str, str], ...]:
    headers = []
    if fault.retry_after is not None:
        headers.append(("Retry-After", str(fault.retry_after)))
    if fault.retry_after_ms is not None:
        headers.append(("Retry-After-Ms", f"{fault.retry_after_ms:g}"))
    return tuple(headers)


def _response(
    status: int, body: bytes, *, headers: tuple[tuple[str, str], ...] = (), kind: str = "application/json"
) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Scripted"
    lines = [
        f"HTTP/1.1 {status} {phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body

"""Faults by row, as a judge's server plays them; a script of its own file, so that a server's process can import it."""

import re
from typing import NamedTuple

from adjudge.testing import ChatCall, Fault, verdict


class Permanent(NamedTuple):
    """A fault that stays, and what becomes of its row: the status, and the code of the cause."""

    fault: Fault
    status: str
    cause: str


DAY = 86_400
PERMANENT = (
    *(Permanent(Fault(code), "error", "bad-request") for code in ("400", "405", "413", "418", "422", "431")),
    *(Permanent(Fault(code), "error", "redirect") for code in ("302", "308")),
    Permanent(Fault("404"), "error", "not-found"),
    Permanent(Fault("429"), "error", "rate-limited"),
    Permanent(Fault("429", retry_after=0.1), "error", "rate-limited"),
    Permanent(Fault("429", retry_after_ms=100), "error", "rate-limited"),
    Permanent(Fault("429", retry_after="Thu, 01 Jan 1970 00:00:00 GMT"), "error", "rate-limited"),
    Permanent(Fault("429", retry_after="soon"), "error", "rate-limited"),
    Permanent(Fault("429", retry_after=DAY), "error", "rate-limited"),
    *(
        Permanent(Fault(code), "error", "server-error")
        for code in ("408", "409", "425", "500", "502", "503", "504", "529", "599")
    ),
    *(Permanent(Fault(code, retry_after=0.1), "error", "server-error") for code in ("408", "500", "503")),
    Permanent(Fault("503", retry_after=DAY), "error", "server-error"),
    *(Permanent(Fault(kind), "error", "unreachable") for kind in ("reset", "close", "cut-off")),
    *(Permanent(Fault(kind), "error", "timeout") for kind in ("hang", "slow")),
    *(
        Permanent(Fault(kind), "error", "malformed-reply")
        for kind in ("truncated", "wrong-json", "no-choices", "not-utf8", "huge", "html")
    ),
    Permanent(Fault("null"), "unscored", "no-content"),
    Permanent(Fault("refusal"), "unscored", "refusal"),
    Permanent(Fault("echo"), "unscored", "unreadable"),
)
FATAL = ("401", "402", "403", "quota")

TRANSIENT = (
    (Fault("429"), 0.03),
    (Fault("429", retry_after=0.02), 0.02),
    (Fault("500"), 0.03),
    (Fault("502"), 0.02),
    (Fault("503"), 0.02),
    (Fault("503", retry_after_ms=20), 0.02),
    (Fault("reset"), 0.03),
    (Fault("close"), 0.03),
)
"""A fifth of the calls."""


def number_of(call: ChatCall) -> int:
    """Return which row a call is about."""
    return int(re.findall(r"What is (\d+) \+ 1", call.prompt)[-1])


def fault_of(number: int) -> Permanent | None:
    """Return the fault of a row, if it has one: rows 1, 4, 7, ... have, as long as there are faults."""
    which, rest = divmod(number - 1, 3)
    return PERMANENT[which] if rest == 0 and which < len(PERMANENT) else None


def permanent(call: ChatCall) -> str | Fault:
    """Fail for good on some rows, each in its own way, and judge the others by their numbers."""
    number = number_of(call)
    row = fault_of(number)
    if row is not None:
        return row.fault
    return verdict(call, "CORRECT" if number % 3 else "WRONG")

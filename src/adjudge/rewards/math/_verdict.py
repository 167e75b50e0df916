"""What a comparison says."""

from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "exact-string",
    "exact-rational",
    "numeric",
    "symbolic",
    "set",
    "interval",
    "matrix",
    "choice",
    "mismatch",
    "no-answer",
    "hedged",
    "unparsed-answer",
    "unparsed-gold",
    "too-large",
    "timeout",
]


@dataclass(frozen=True, slots=True)
class MathVerdict:
    """Whether a response equals the gold answer, and how that was decided.

    `equal` is None only where the gold cannot be read; whatever the response causes is False with its reason.
    `answer` is the text that was taken as the answer and `span` where it is in the response; `tier` is 0 for
    strings and plain numerals, 1 for the own parser, 2 for the symbolic worker.
    """

    equal: bool | None
    reason: Reason
    answer: str | None
    span: tuple[int, int] | None
    answer_canonical: str | None
    gold_canonical: str | None
    tier: int
    detail: str

"""What every format becomes before the rules look at it: a flat list of spans.

    Span("s2", "s1", "tool", "search", start=3, end=4, call_id="c1", arguments={"q": "Paris"}, result="...")

A decoder says what its record says and decides nothing: who called whom, what counts once and what is missing is
settled in `_assemble.py`, once for all formats.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from adjudge.model import Message

Kind: TypeAlias = Literal["agent", "llm", "tool", "handoff", "aside", "other"]
"""What a span is. An `aside` (a guardrail, an evaluator) and what is inside it are no part of what the agent did."""


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work in a trace, in the words that all formats share.

    `start` and `end` are nanoseconds since 1970. `input` is what a model was given, `output` what it wrote; `text` is
    what an agent, or the run as a whole, answered, `sources` what a retriever found. The name of a `handoff` is that of
    the agent that was called.
    `faults` says what is known to be missing from the span; `is_entry` that its parent may stand outside the record.
    """

    id: str
    parent: str | None
    kind: Kind
    name: str
    start: int | None = None
    end: int | None = None
    call_id: str | None = None
    arguments: str | Mapping[str, Any] | None = None
    result: str | None = None
    error: str | None = None
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    text: str | None = None
    faults: tuple[str, ...] = ()
    is_entry: bool = False
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """The spans of one run, by the run's id, and what is known to be missing from the record as a whole."""

    id: str
    spans: tuple[Span, ...]
    faults: tuple[str, ...] = ()

"""What the attributes of an OTLP span mean, in the three dialects that people write.

A span may speak several at once, as when Langfuse's SDK exports what an OpenInference instrumentation recorded. Each
dialect says what it knows; of two that know, the first counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adjudge.model import Message
from adjudge.traces._otlp import Raw
from adjudge.traces._spans import Kind, Span
from adjudge.traces._values import loose


@dataclass(slots=True)
class Facts:
    """What one dialect knows about a span; None is what it does not know."""

    kind: Kind | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | Mapping[str, Any] | None = None
    result: str | None = None
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    text: str | None = None
    faults: list[str] = field(default_factory=list)

    def whole(self, key: str, value: object) -> Any:
        """Return an attribute's value, JSON read; one that ends too early is a fault."""
        found, is_cut = loose(value)
        if is_cut:
            self.faults.append(f"its attribute {key} is cut off")
        return found


def read_span(raw: Raw) -> Span:
    """Read a span in all dialects that it speaks."""
    from adjudge.traces._genai import read_genai
    from adjudge.traces._langfuse import is_root, read_langfuse_attributes
    from adjudge.traces._openinference import read_openinference

    where = f"span {raw.id}"
    known = [
        facts
        for facts in (read_langfuse_attributes(raw, where), read_openinference(raw, where), read_genai(raw, where))
        if facts is not None
    ]
    faults = [fault for facts in known for fault in facts.faults]
    if raw.dropped:
        faults.append(f"{raw.dropped} of its attributes or events were dropped")
    if raw.end is None:
        faults.append("it has not ended")
    kinds = [facts.kind for facts in known if facts.kind is not None]
    kind: Kind = kinds[0] if kinds else "other"
    if kind == "other":  # "a span of some sort" is less than what another dialect may know
        kind = next((each for each in kinds if each != "other"), "other")
    return Span(
        raw.id,
        None if is_root(raw.attributes) else raw.parent,
        kind,
        next((facts.name for facts in known if facts.name and facts.kind == kind), raw.name),
        raw.start,
        raw.end,
        next((facts.call_id for facts in known if facts.call_id is not None), None),
        next((facts.arguments for facts in known if facts.arguments is not None), None),
        next((facts.result for facts in known if facts.result is not None), None),
        raw.error,
        next((facts.input for facts in known if facts.input), ()),
        next((facts.output for facts in known if facts.output), ()),
        next((facts.text for facts in known if facts.text is not None), None),
        tuple(dict.fromkeys(faults)),
        raw.is_entry,
    )

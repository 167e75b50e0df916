"""What the attributes of an OTLP span mean, in the three dialects that people write.

A span may speak several at once, as when Langfuse's SDK exports what an OpenInference instrumentation recorded. Each
dialect says what it knows; of two that know, the first counts.
"""

from collections.abc import Sequence

from adjudge.traces._facts import Facts
from adjudge.traces._genai import read_genai
from adjudge.traces._langfuse import is_root, read_langfuse_attributes
from adjudge.traces._messages import Known
from adjudge.traces._openinference import read_openinference
from adjudge.traces._otlp import Raw
from adjudge.traces._spans import Kind, Span

_READERS = (read_langfuse_attributes, read_openinference, read_genai)


def read_span(raw: Raw, known: Known) -> Span:
    """Read a span in all dialects that it speaks; `known` keeps the messages that were read before."""
    where = f"span {raw.id}"
    told = [facts for facts in (read(raw, where, known) for read in _READERS) if facts is not None]
    facts = told[0] if len(told) == 1 else _merged(told)
    faults = list(facts.faults)
    if raw.dropped:
        faults.append(f"{raw.dropped} of its attributes or events were dropped")
    if raw.end is None:
        faults.append("it has not ended")
    return Span(
        raw.id,
        None if is_root(raw.attributes) else raw.parent,
        facts.kind or "other",
        facts.name or raw.name,
        raw.start,
        raw.end,
        facts.call_id,
        facts.arguments,
        facts.result,
        raw.error,
        facts.input,
        facts.output,
        facts.text,
        tuple(faults),
        raw.is_entry,
        facts.sources,
    )


def _merged(told: Sequence[Facts]) -> Facts:
    """Return what several dialects know together; "a span of some sort" is less than what another may know."""
    kinds = [facts.kind for facts in told if facts.kind is not None]
    kind: Kind = next((each for each in kinds if each != "other"), "other")
    return Facts(
        kind,
        next((facts.name for facts in told if facts.name and facts.kind == kind), None),
        next((facts.call_id for facts in told if facts.call_id is not None), None),
        next((facts.arguments for facts in told if facts.arguments is not None), None),
        next((facts.result for facts in told if facts.result is not None), None),
        next((facts.input for facts in told if facts.input), ()),
        next((facts.output for facts in told if facts.output), ()),
        next((facts.text for facts in told if facts.text is not None), None),
        next((facts.sources for facts in told if facts.sources), ()),
        list(dict.fromkeys(fault for facts in told for fault in facts.faults)),
    )

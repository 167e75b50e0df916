"""OTLP records, and what the attributes of a span mean in the three dialects that people write.

A span may speak several at once, as when Langfuse's SDK exports what an OpenInference instrumentation recorded. Each
dialect says what it knows; of two that know, the first counts. What a framework says in its own words comes before all.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from io import BytesIO

from adjudge.errors import TrajectoryError
from adjudge.traces._agents_sdk import how_it_ran
from adjudge.traces._facts import Facts
from adjudge.traces._frameworks import how_to_send, read_answers, read_framework
from adjudge.traces._genai import read_genai
from adjudge.traces._langfuse import is_root, read_langfuse_attributes
from adjudge.traces._langgraph import last_words, read_graph_facts
from adjudge.traces._messages import MessageCache
from adjudge.traces._openinference import HIDDEN, read_openinference
from adjudge.traces._otlp import OtlpEvent, OtlpSpan, iter_otlp_logs, iter_otlp_spans
from adjudge.traces._protobuf import iter_frames, iter_protobuf_spans
from adjudge.traces._refusals import fits_type
from adjudge.traces._spans import NOT_ENDED, Record, Span, SpanKind
from adjudge.traces._usage import read_usage_attributes
from adjudge.traces._values import as_text, kind_of

_TOOL_INPUTS = frozenset({"input.value", "gen_ai.tool.call.arguments"})
_TOOL_RESULTS = frozenset({"output.value", "gen_ai.tool.call.result"})
_READERS = (read_framework, read_langfuse_attributes, read_openinference, read_genai)
_FACTS = (
    *("call_id", "arguments", "result", "input", "output", "text", "sources"),
    *("agent", "is_internal", "is_whole", "is_blind", "unsent"),
)
_CONVERSATIONS = ("gen_ai.conversation.id", "ag2.network.channel_id")


def decode_otlp(data: object) -> list[Record]:
    """Read one document, or a list of them."""
    documents = data if isinstance(data, list | tuple) else [data]
    spans: list[OtlpSpan] = []
    logs: dict[tuple[str, str], list[OtlpEvent]] = defaultdict(list)
    for index, document in enumerate(documents):
        where = f"document {index}" if len(documents) > 1 else "the document"
        spans.extend(iter_otlp_spans(document, where))
        for key, event in iter_otlp_logs(document, where):
            logs[key].append(event)
    for span in spans:
        span.events.extend(logs.pop((span.trace, span.id), ()))
    return _group_by_trace(spans)


def decode_protobuf(data: object) -> list[Record]:
    """Read one export request, a collector's file of them, or a list."""
    spans: list[OtlpSpan] = []
    for item in data if isinstance(data, list | tuple) else [data]:
        if not isinstance(item, bytes | bytearray | memoryview):
            raise TrajectoryError(f"OTLP in protobuf must be bytes, got {kind_of(item)}")
        content = bytes(item)
        # A request begins with the tag of its first field; a zero byte can only be part of a length.
        is_file = content[:1] == b"\x00"
        for message in iter_frames(BytesIO(content), "the record") if is_file else [content]:
            spans.extend(iter_protobuf_spans(message))
    return _group_by_trace(spans)


_FINISH_REASONS = ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason")
_ASKING = re.compile("tool|function_call", re.IGNORECASE)
_OPENLLMETRY_AGENTS = "opentelemetry.instrumentation.openai_agents"
# By this exception a tool of LangGraph waits for a person; when it goes on, it is called again, in a span of its own.
_TASK = "gen_ai.task.name"  # a node of LangGraph, in OpenLLMetry's spans
_INTERRUPT, _PAUSED = "langgraph.errors.GraphInterrupt", "it waits for a person"


def _group_by_trace(spans: Iterable[OtlpSpan]) -> list[Record]:
    """Read spans in their dialects, and put those of one trace together."""
    traces: dict[str, list[Span]] = {}
    cache: MessageCache = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(read_otlp_span(span, cache))
    return [Record(trace, tuple(found), is_trace=True) for trace, found in traces.items()]


def read_otlp_span(span: OtlpSpan, cache: MessageCache) -> Span:
    """Read a span in all dialects that it speaks; `cache` keeps the messages that were read before."""
    where = f"span {span.id}"
    known = [facts for facts in (read(span, where, cache) for read in _READERS) if facts is not None]
    facts = known[0] if len(known) == 1 else _merge(known)
    facts.graph = read_graph_facts(span.attributes)
    if facts.text is None and facts.graph is None and facts.kind in ("agent", "other"):
        facts.text = last_words(span.attributes)
    if facts.kind == "llm":
        facts.usage = read_usage_attributes(span.attributes)
        parameters = span.attributes.get("model_request_parameters")
        facts.answers = read_answers(parameters) if isinstance(parameters, str) else ()
        reasons = (span.attributes.get(key) for key in _FINISH_REASONS)
        facts.is_asking = not facts.output and any(_ASKING.search(as_text(one)) for one in reasons if one is not None)
        # It sends the calls of functions and no others. Only the Responses API has others; its spans name no model that
        # was asked for.
        facts.is_blind = span.scope == _OPENLLMETRY_AGENTS and "gen_ai.request.model" not in span.attributes
    facts.unsent = facts.unsent or _unsent(facts, span)
    if facts.kind == "tool" and span.scope.endswith("instrumentation.openai_agents"):
        given, said = (
            next((one for key in keys if (one := span.attributes.get(key)) not in (None, HIDDEN)), None)
            for keys in (_TOOL_INPUTS, _TOOL_RESULTS)
        )
        facts.ran = how_it_ran(span.error or "", given, said, span.attributes.get("tool.parameters"))
    elif facts.kind == "tool" and facts.graph is not None:
        # LangChain opens the span of a tool before it reads the arguments.
        facts.ran = _fits(span, facts.name or span.name)
    elif span.scope == "pydantic-ai":
        facts.ran = span.attributes.get("pydantic_ai.tool.failure_stage") != "validation"
        # A tool whose result the user's own code brings has no span.
        facts.has_tools = '"kind":"external"' not in str(span.attributes.get("model_request_parameters"))
    shared = [span.attributes[key] for key in _CONVERSATIONS if key in span.attributes]
    if shared or span.links:
        facts.joins = (*span.links, *(each for each in shared if isinstance(each, str) and each))
    if span.dropped:
        facts.faults.append(f"{span.dropped} of its attributes or events were dropped")
    if span.end is None:
        facts.faults.append(NOT_ENDED)
    # Langfuse's SDK names a parent for the first span of a trace, too, which may not exist.
    parent = None if is_root(span.attributes) else span.parent
    error = span.error
    if error is None and facts.kind == "tool":
        error = next((_PAUSED for one in span.events if one.attributes.get("exception.type") == _INTERRUPT), None)
    name = as_text(span.attributes.get(_TASK)) or span.name
    return facts.to_span(span.id, parent, name, start=span.start, end=span.end, error=error, is_entry=span.is_entry)


def _fits(span: OtlpSpan, tool: str) -> bool | None:
    """Return whether a tool ran, by the exceptions of its span: not where pydantic refused its arguments."""
    about = [
        one.attributes for one in span.events if str(one.attributes.get("exception.type")).endswith("ValidationError")
    ]
    return fits_type(as_text(about[-1].get("exception.message")), tool) if about else True


def _unsent(facts: Facts, span: OtlpSpan) -> str | None:
    """Return how to get what is missing from a span: a model's reply, a tool's arguments, an agent's answer."""
    if facts.kind == "llm":
        calls = (call for message in facts.output for call in message.tool_calls)
        is_missing = not facts.output or any(call.arguments == "" for call in calls)
    elif facts.kind == "tool":
        is_missing = facts.arguments is None
    else:
        is_missing = facts.kind == "agent" and facts.text is None
    return how_to_send(span.scope) if is_missing else None


def _merge(known: Sequence[Facts]) -> Facts:
    """Return what several dialects know together."""
    # "A span of some sort" is less than what another dialect may know.
    kind: SpanKind | None = next((facts.kind for facts in known if facts.kind not in (None, "other")), "other")
    # A name that a dialect gives comes before one that is only the span's.
    names = sorted(
        (facts for facts in known if facts.name and facts.kind == kind), key=lambda facts: not facts.is_named
    )
    merged = Facts(kind, names[0].name if names else None)
    # Of two dialects that know a fact, the first counts: see the order of `_READERS`.
    for name in _FACTS:
        nothing = getattr(merged, name)
        setattr(merged, name, next((one for facts in known if (one := getattr(facts, name)) != nothing), nothing))
    # A name counts only if it comes from a dialect that gives one.
    merged.is_named = any(facts.is_named for facts in known if facts.kind == kind and facts.name)
    merged.faults = list(dict.fromkeys(fault for facts in known for fault in facts.faults))
    return merged

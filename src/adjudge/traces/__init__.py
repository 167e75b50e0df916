"""Bring your traces: a record of what an agent did, in any of the formats that people have, as one Trajectory.

    trajectory = load("run.json")            # messages, OTLP, Langfuse, LangSmith, OpenAI Agents SDK, Inspect, ATIF
    trajectory.agents_called, trajectory.tools_used, trajectory.complete
    missing("run.json")                      # why it is incomplete, where it is
    for trace in iter_traces("spans.jsonl"): # a collector's file, trace by trace, in flat memory

Nothing here reaches the network: `traces` only decodes. `docs/reference/traces.md` says what is read from where.

If you receive spans in another way, put them together with the parts that `load` uses:

    bytes ─> read_otlp_json, iter_otlp_spans ─> OtlpSpan ─> read_otlp_span ─> Span ─> Record ─> assemble ─> Trajectory
    bytes ─> iter_protobuf_spans ─> OtlpSpan ...       answers of an API ─> decode_langfuse, decode_langsmith ─> Record

No record can hang it. Every loop goes through the bytes, the values or the spans of the record once; parents are
followed to the top with circles cut; values are nested up to `DEPTH`, or to what Python's own stack allows. So the size
of the record bounds the work, whoever wrote it. A budget is needed only where a few bytes stand for many: for the
references and the archives of `_inspect.py`.

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.traces._agent_names import AgentNames, RememberedNames, map_agents, read_agent_names
    from adjudge.traces._assemble import assemble, faults_of
    from adjudge.traces._dialects import read_otlp_span
    from adjudge.traces._genai import add_log_events
    from adjudge.traces._inspect import unpack_entries
    from adjudge.traces._langfuse import decode_langfuse
    from adjudge.traces._langsmith import decode_langsmith
    from adjudge.traces._load import FORMATS, Format, load, load_messages, missing
    from adjudge.traces._otlp import OtlpEvent, OtlpSpan, iter_otlp_logs, iter_otlp_spans, read_otlp_json
    from adjudge.traces._protobuf import iter_protobuf_logs, iter_protobuf_spans
    from adjudge.traces._spans import Record, Span, SpanKind
    from adjudge.traces._stream import Trace, iter_traces
    from adjudge.traces._understand import UnderstoodRun, understand, understand_record
    from adjudge.traces._values import read_json

__all__ = [
    "FORMATS",
    "AgentNames",
    "Format",
    "OtlpEvent",
    "OtlpSpan",
    "Record",
    "RememberedNames",
    "Span",
    "SpanKind",
    "Trace",
    "UnderstoodRun",
    "add_log_events",
    "assemble",
    "decode_langfuse",
    "decode_langsmith",
    "faults_of",
    "iter_otlp_logs",
    "iter_otlp_spans",
    "iter_protobuf_logs",
    "iter_protobuf_spans",
    "iter_traces",
    "load",
    "load_messages",
    "map_agents",
    "missing",
    "read_agent_names",
    "read_json",
    "read_otlp_json",
    "read_otlp_span",
    "understand",
    "understand_record",
    "unpack_entries",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_agent_names": ("AgentNames", "RememberedNames", "map_agents", "read_agent_names"),
        "_assemble": ("assemble", "faults_of"),
        "_dialects": ("read_otlp_span",),
        "_genai": ("add_log_events",),
        "_inspect": ("unpack_entries",),
        "_langfuse": ("decode_langfuse",),
        "_langsmith": ("decode_langsmith",),
        "_load": ("FORMATS", "Format", "load", "load_messages", "missing"),
        "_otlp": ("OtlpEvent", "OtlpSpan", "iter_otlp_logs", "iter_otlp_spans", "read_otlp_json"),
        "_protobuf": ("iter_protobuf_logs", "iter_protobuf_spans"),
        "_spans": ("Record", "Span", "SpanKind"),
        "_stream": ("Trace", "iter_traces"),
        "_understand": ("UnderstoodRun", "understand", "understand_record"),
        "_values": ("read_json",),
    },
)

"""Traces from where they are: an OTLP endpoint of our own, Langfuse, LangSmith.

async with OtlpEndpoint() as endpoint:                  an instrumented agent sends its spans to endpoint.base_url
    trajectory = await endpoint.trajectory(trace_id)

await LangfuseReceiver().trajectory(trace_id)           all pages, asked for until the trace is whole
await LangSmithReceiver().trajectory(trace_id)          the same of LangSmith
read_langsmith("export.jsonl")                          the traces of an exported file

Each waits within bounds: a trace that is not whole by then gives a `Trajectory` that is not `complete`. What is
received here, `traces` decodes. The package is lazy: importing it loads nothing, each name below is imported when it is
first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.receivers._endpoint import OtlpEndpoint
    from adjudge.receivers._export import read_langsmith
    from adjudge.receivers._langfuse import LangfuseReceiver
    from adjudge.receivers._langsmith import LangSmithReceiver
    from adjudge.receivers._service import TraceReceiver
    from adjudge.receivers._store import EndpointCounts, EndpointLimits
    from adjudge.receivers._whole import ReceiverError

__all__ = [
    "EndpointCounts",
    "EndpointLimits",
    "LangSmithReceiver",
    "LangfuseReceiver",
    "OtlpEndpoint",
    "ReceiverError",
    "TraceReceiver",
    "read_langsmith",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_endpoint": ("OtlpEndpoint",),
        "_export": ("read_langsmith",),
        "_langfuse": ("LangfuseReceiver",),
        "_langsmith": ("LangSmithReceiver",),
        "_service": ("TraceReceiver",),
        "_store": ("EndpointCounts", "EndpointLimits"),
        "_whole": ("ReceiverError",),
    },
)

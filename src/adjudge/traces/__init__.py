"""Bring your traces: a record of what an agent did, in any of the formats that people have, as one Trajectory.

    trajectory = load("run.json")            # chat messages, OTLP, Langfuse, LangSmith, OpenAI Agents SDK, Inspect
    trajectory.agents_called, trajectory.tools_used, trajectory.complete
    missing("run.json")                      # why it is incomplete, where it is
    for trace in iter_traces("spans.jsonl"): # a collector's file, trace by trace, in flat memory

Nothing here reaches the network: `traces` only decodes. `docs/traces.md` says what is read from where.
"""

from adjudge.traces._load import FORMATS, Format, load, missing
from adjudge.traces._stream import Trace, iter_traces

__all__ = ["FORMATS", "Format", "Trace", "iter_traces", "load", "missing"]

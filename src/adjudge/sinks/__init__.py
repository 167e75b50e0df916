"""Scores and reports on their way out: to dashboards, to files, to the pages of a CI run.

    sink = LangfuseSink(outbox="july.outbox")                         keys from LANGFUSE_* in the environment
    receipt = sink.send([OutScore("quality_completeness", 0.85, trace_id="4bf9...", run="july")])
    receipt.delivered, receipt.pending, receipt.rejected

What goes over a network is in an outbox, one SQLite file, before it is sent, and stays there until the receiver has
acknowledged it; `adjudge resend FILE` sends what is left. Ids are made of run, trace and name, so a score that is sent
twice arrives once. A score without a number is never sent as 0: it is listed with its reason.
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.sinks._delivery import RemoteSink
    from adjudge.sinks._json import JsonSink, json_report
    from adjudge.sinks._langfuse import LangfuseSink, LangfuseWire, langfuse_keys
    from adjudge.sinks._mlflow import MlflowSink
    from adjudge.sinks._otel import OtelSink
    from adjudge.sinks._outbox import Outbox
    from adjudge.sinks._phoenix import PhoenixSink
    from adjudge.sinks._reports import Check, Outcome, github_annotations, github_summary, junit_xml, markdown_code
    from adjudge.sinks._resend import resend
    from adjudge.sinks._scores import DataType, OutScore, Receipt, Rejected, Sink, scenario_scores
    from adjudge.sinks._wire import OutboxError

__all__ = [
    "Check",
    "DataType",
    "JsonSink",
    "LangfuseSink",
    "LangfuseWire",
    "MlflowSink",
    "OtelSink",
    "OutScore",
    "Outbox",
    "OutboxError",
    "Outcome",
    "PhoenixSink",
    "Receipt",
    "Rejected",
    "RemoteSink",
    "Sink",
    "github_annotations",
    "github_summary",
    "json_report",
    "junit_xml",
    "langfuse_keys",
    "markdown_code",
    "resend",
    "scenario_scores",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_delivery": ("RemoteSink",),
        "_json": ("JsonSink", "json_report"),
        "_langfuse": ("LangfuseSink", "LangfuseWire", "langfuse_keys"),
        "_mlflow": ("MlflowSink",),
        "_otel": ("OtelSink",),
        "_outbox": ("Outbox",),
        "_phoenix": ("PhoenixSink",),
        "_reports": ("Check", "Outcome", "github_annotations", "github_summary", "junit_xml", "markdown_code"),
        "_resend": ("resend",),
        "_scores": ("DataType", "OutScore", "Receipt", "Rejected", "Sink", "scenario_scores"),
        "_wire": ("OutboxError",),
    },
)

"""When a trace is whole: its roots have arrived and ended, and so have all parents and all spans.

Waiting helps for these. Where it does not (a cut attribute, dropped events), `traces` makes a trajectory that is not
complete.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adjudge.errors import AdjudgeError, TrajectoryError, UsageError
from adjudge.model import Question, Trajectory
from adjudge.traces import AgentNames, Record, Span, assemble

TIMEOUT = 30.0
SETTLE = 0.5
REMOTE_SETTLE = 6.0  # longer than the 5 s after which OpenTelemetry's exporters send by themselves


class ReceiverError(AdjudgeError):
    """A service refused what was asked for, or answered with something else. `unauthorised`: the key is not taken."""

    default_code = "receiver"


@dataclass(frozen=True, slots=True)
class Wait:
    """How to wait for a trace: seconds in all, root spans, seconds without news, and the span around the run."""

    timeout: float
    roots: int
    settle: float
    parent: str | None

    def __post_init__(self) -> None:
        for name in ("timeout", "settle"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name} must be a number of seconds, got {getattr(self, name)!r}", code="bad-limit")
        if self.roots < 1:
            raise UsageError(f"roots must be at least 1, got {self.roots!r}", code="bad-limit")


@dataclass(slots=True)
class Links:
    """How the spans of a trace are connected, kept up to date as they arrive."""

    ids: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    entries: set[str] = field(default_factory=set)  # spans whose parent is in another process
    children: dict[str, set[str]] = field(default_factory=dict)  # by the parent that they name
    absent: set[str] = field(default_factory=set)  # parents that have not arrived
    calls_others: bool = False  # a span has a child in another process

    def add(self, span: Span) -> None:
        """Add a span."""
        if span.end is not None:
            self.open.discard(span.id)
        # Exporters may send the start of a span again after its end.
        elif span.id not in self.ids:
            self.open.add(span.id)
        self.ids.add(span.id)
        self.absent.discard(span.id)
        self.calls_others = self.calls_others or not self.entries.isdisjoint(self.children.get(span.id, ()))
        if span.parent is None:
            self.roots.add(span.id)
            return
        self.children.setdefault(span.parent, set()).add(span.id)
        if span.parent not in self.ids:
            self.absent.add(span.parent)
        if span.is_entry:
            self.entries.add(span.id)
            self.calls_others = self.calls_others or span.parent in self.ids


class Outstanding(NamedTuple):
    """What is still missing from a run, None where it is whole; and whether that is sure.

    It is not sure where several processes take part: a span counts as a root only because its parent is in another one,
    whose spans may follow, or another one was called, and may have been called again.
    """

    late: str | None
    is_sure: bool = True


def find_outstanding(traces: Iterable[Links], *, parent: str | None, roots: int) -> Outstanding:
    """Return what is still missing from the traces of one run.

    `parent` is the span outside the record that started the run: its children are roots.
    """
    sure, loose, spans = 0, 0, 0
    calls_others = False
    for links in traces:
        spans += len(links.ids)
        sure += len(links.roots)
        calls_others = calls_others or links.calls_others
        # A span that has not ended may still get children.
        if links.open:
            return Outstanding(f"span {min(links.open)} has not ended")
        # Parents that spans name and that are not here: the caller's own span, one of another process, or late.
        for name in links.absent:
            children = links.children[name]
            if name == parent:
                sure += len(children)
            elif children <= links.entries:
                loose += len(children)
            else:
                return Outstanding(f"span {min(children - links.entries)} has a parent, {name}, that has not arrived")
    if not spans:
        return Outstanding("no span has arrived")
    if sure + loose < roots:
        return Outstanding(f"{sure + loose} of {roots} root spans have arrived")
    return Outstanding(None, sure >= roots and not calls_others)


def links_of(record: Record) -> Links:
    """Return how the spans of a record are connected."""
    links = Links()
    for span in record.spans:
        links.add(span)
    return links


def join_records(key: str, records: Iterable[Record], *more: str) -> Record:
    """Return several records as one, with their faults, each once, and more of them."""
    several = list(records)
    faults = dict.fromkeys(fault for record in several for fault in record.faults)
    return Record(key, tuple(span for record in several for span in record.spans), (*faults, *more))


def trajectory_of(
    record: Record, *, trace_id: str, parent: str | None, late: str | None, agents: AgentNames | None = None
) -> Trajectory:
    """Return the trajectory of the spans; it is not complete where something is `late`."""
    faults = record.faults if late is None else (*record.faults, late)
    try:
        found = assemble(Record(record.id, record.spans, faults), parent=parent, agents=agents or ())
    except RecursionError:
        raise TrajectoryError(f"trace {trace_id} is nested too deeply") from None
    # Where something is late, what it would show is not known: the reason says why, and what to do.
    unknown: dict[Question, str] = {} if late is None else {"agents": late, "tools": late}
    unknown = {**found.unknown, **unknown}
    return replace(found, trace_id=trace_id, seconds=_seconds(record.spans), unknown=unknown)


def _seconds(spans: Iterable[Span]) -> float | None:
    starts = [span.start for span in spans if span.start is not None]
    ends = [span.end for span in spans if span.end is not None]
    return (max(ends) - min(starts)) / 1e9 if starts and ends else None

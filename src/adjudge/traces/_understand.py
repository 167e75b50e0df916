"""What was understood of a record, run by run: for people who wonder why a verdict is what it is."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from adjudge.errors import TrajectoryError, closest
from adjudge.model import Trajectory
from adjudge.traces._agent_names import ANYBODY, AgentNames, map_agents, read_agent_names
from adjudge.traces._assemble import assemble, faults_of
from adjudge.traces._load import read_runs, reading
from adjudge.traces._spans import Record, Span, join_traces
from adjudge.traces._values import quote

_FURTHEST = 20  # spans around a model call that are looked at for a name


@dataclass(frozen=True, slots=True)
class UnderstoodRun:
    """One run of a record: what its agent did, what is missing, and which names in it could be those of agents."""

    id: str
    trajectory: Trajectory
    missing: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()


def understand(
    path_or_data: object,
    format: str | None = None,  # noqa: A002 (as in load)
    *,
    trace: str | None = None,
    agents: AgentNames | Collection[str] = (),
) -> Iterator[UnderstoodRun]:
    """Give every run of a record, or one of them, as it was understood; the arguments are those of `load`."""
    names = read_agent_names(agents) if agents else {}
    with reading():
        found, where = read_runs(path_or_data, format)
    if isinstance(found, Trajectory):
        trajectory = map_agents(found, names)
        yield UnderstoodRun("", trajectory, (), (ANYBODY,) if "agents" in trajectory.unknown else ())
        return
    runs = join_traces(found) if trace is None else [one for one in found if trace in (one.id, *one.names)]
    if not runs and trace is not None:
        raise TrajectoryError(f"{where} has no run {quote(trace)}{closest(trace, [one.id for one in found])}")
    for record in runs or [Record("", ())]:
        with reading():
            yield understand_record(record, names)


def understand_record(record: Record, names: AgentNames, parent: str | None = None) -> UnderstoodRun:
    """Return one run as it was understood."""
    trajectory = assemble(record, parent=parent, agents=names)
    candidates = _candidates(record) if "agents" in trajectory.unknown else ()
    return UnderstoodRun(record.id, trajectory, faults_of(record, parent=parent), candidates)


def _candidates(record: Record) -> tuple[str, ...]:
    """Return names of spans around model calls: if a span of the record is an agent, it is one of them."""
    by_id: Mapping[str, Span] = {span.id: span for span in record.spans}
    found: dict[str, None] = {}
    for span in record.spans:
        above = by_id.get(span.parent or "") if span.kind == "llm" else None
        for _ in range(_FURTHEST):
            if above is None:
                break
            if above.kind in ("other", "agent") and above.name:
                found[above.name] = None
                break
            above = by_id.get(above.parent or "")
    return tuple(found) or (ANYBODY,)

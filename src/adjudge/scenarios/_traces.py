"""Saved traces in place of an agent: which file, and which run in it, belongs to which scenario.

A file belongs to a scenario by its name (`ID.json`; `ID.2.json`, `ID-2.json` and `ID#2.json` are repeats; or any file
in a folder called ID), else by what is written in it: the attribute `adjudge.scenario_id` of a span or its resource,
or `scenario_id` in the `metadata` of a trace, run or sample. A sample of Inspect belongs to the scenario of its id,
each epoch is a repeat. Names are compared; an id never becomes a path.
"""

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Literal

from adjudge.errors import AdjudgeError, DataError, RowError, TrajectoryError, UsageError
from adjudge.model import Case, Message, Trajectory, decode_json, to_json
from adjudge.traces import AgentNames, iter_traces, load

NAMES = ("adjudge.scenario_id", "scenario_id", "langfuse.trace.metadata.scenario_id")
LARGEST = 1 << 30  # bytes of one file
_DEEPEST = 40
_TRACE_ID = re.compile("[0-9A-F]{32}", re.IGNORECASE)
_REPEAT = re.compile(r"(.+)[#.-]([0-9]{1,6})")
# Where a format keeps its spans, runs or samples. Nothing else is searched: arguments of tools could name scenarios.
_INSIDE = (
    *("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "resource"),
    *("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records"),
    *("data", "trace", "traces", "observations", "runs", "child_runs", "samples", "extra"),
)


@dataclass(frozen=True, slots=True)
class Saved:
    """One run of a scenario in a file."""

    path: Path
    trace: str | None = None  # which run of the file, where it holds several
    trace_id: str | None = None  # what the trace is called where it came from
    trajectory: Trajectory | None = None  # where it had to be read already


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """An agent that returns what files hold, read when it is asked; several runs of one scenario are its repeats."""

    records: Mapping[str, Sequence[Saved]]
    agents: Mapping[str, AgentNames]
    name: str = "saved traces"
    unmatched: Sequence[Path] = field(default=())

    @classmethod
    def of(cls, path: str | Path, scenarios: Mapping[str, AgentNames]) -> "TraceFiles":
        """Find the runs of the scenarios, which have names for their agents, in a file or a folder."""
        records: dict[str, list[Saved]] = {}
        unmatched = []
        for file in _files(Path(path)):
            found = list(_runs_of(file, Path(path), scenarios))
            for scenario, saved in found:
                records.setdefault(scenario, []).append(saved)
            if not found:
                unmatched.append(file)
        # What a run belongs to may be in the part that is lost: that is a fault of the record, not of the call.
        if not records and not any(map(_is_torn, unmatched)):
            message = f"{path}: no file belongs to a scenario: name it after one, or write adjudge.scenario_id into it"
            raise UsageError(message, code="no-trajectory")
        return cls(records, scenarios, unmatched=tuple(unmatched))

    def own_digest(self) -> str:
        """Return a digest of the files: of their contents, not of their names."""
        digest = sha256()
        for scenario in sorted(self.records):
            for saved in self.records[scenario]:
                with saved.path.open("rb") as file:
                    content = file_digest(file, "sha256").hexdigest()
                digest.update(to_json([scenario, saved.trace, content]) + b"\n")
        return digest.hexdigest()[:32]

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Return the record of a case."""
        del history
        scenario, repeat = str(case.metadata["scenario"]), int(case.metadata["repeat"])
        saved = self.records.get(scenario, ())
        if repeat > len(saved):
            raise DataError(f"there is no trace of scenario {scenario!a}, repeat {repeat}", code="no-trajectory")
        one = saved[repeat - 1]
        found = one.trajectory
        if found is None:
            found = await asyncio.to_thread(load, one.path, trace=one.trace, agents=self.agents[scenario])
        return replace(found, trace_id=found.trace_id or one.trace_id)


def _is_torn(file: Path) -> bool:
    """Say whether part of the runs in a file is missing: spans that others name, or the end of the file."""
    try:
        return any(not trajectory.complete for _, trajectory in iter_traces(file))
    except TrajectoryError:
        return _inside(file)[1] == "spans"
    except AdjudgeError:
        return False


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such file or folder", code="cannot-read")
    for file in sorted(path.rglob("*"), key=_in_order):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts):
            yield file


def _in_order(path: Path) -> list[Any]:
    """Sort as people count: run-2 before run-10."""
    return [
        (part.isdecimal(), int(part) if part.isdecimal() else part) for part in re.split("([0-9]{1,18})", str(path))
    ]


def _runs_of(file: Path, root: Path, scenarios: Mapping[str, AgentNames]) -> Iterator[tuple[str, Saved]]:
    by_name = _by_name(file, root, scenarios)
    try:
        if _is_archive(file):
            yield from _samples_of(file, by_name, scenarios)
            return
        inside, kind = _inside(file)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}", code="cannot-read") from None
    ids = [trace for trace in inside if trace]
    # What a file is called says more than what is in it: people rename files, spans are copied.
    if by_name is not None:
        named = dict.fromkeys(inside, by_name)
    else:
        known = {trace: names.intersection(scenarios) for trace, names in inside.items()}
        # A trace that names several scenarios belongs to none of them for sure.
        named = {trace: min(names) for trace, names in known.items() if len(names) == 1}
    # A file with one run is loaded when it is asked for, lines of spans are read now, other files by the run's id.
    if len(ids) < 2:
        wanted = set(named.values())
        if len(wanted) == 1:
            yield wanted.pop(), Saved(file, trace_id=ids[0] if ids and kind != "samples" else None)
    elif named and kind == "spans":
        yield from _spans_of(file, named, scenarios)
    else:
        for trace, scenario in named.items():
            if trace:
                yield scenario, Saved(file, trace=trace, trace_id=None if kind == "samples" else trace)


def _spans_of(file: Path, named: Mapping[str, str], scenarios: Mapping[str, AgentNames]) -> Iterator[tuple[str, Saved]]:
    """Give the traces of a file of spans, going through it once for each set of names: nearly always there is one."""
    several = [scenarios[scenario] for scenario in dict.fromkeys(named.values())]
    for agents in [one for number, one in enumerate(several) if one not in several[:number]]:
        for identity, trajectory in iter_traces(file, agents=agents):
            if identity in named and scenarios[named[identity]] == agents:
                yield named[identity], Saved(file, trace_id=identity, trajectory=trajectory)


def _is_archive(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"PK\x03\x04"


def _samples_of(file: Path, by_name: str | None, scenarios: Collection[str]) -> Iterator[tuple[str, Saved]]:
    """Give the samples of Inspect's archive, which are called by the sample's id and the epoch."""
    for identity, trajectory in iter_traces(file):
        scenario = by_name or identity.rpartition("/")[0]
        if scenario in scenarios:
            yield scenario, Saved(file, trace=identity, trajectory=trajectory)


def _by_name(file: Path, root: Path, scenarios: Collection[str]) -> str | None:
    """Return the scenario that a file is named after, or that its folder is."""
    # From the most exact name to the least, so that `a.b.json` can belong to `a.b` or to `a`.
    names = [file.name, file.stem, file.name.partition(".")[0]]
    repeats = [match[1] for name in names[1:] if (match := _REPEAT.fullmatch(name))]
    folders = [part.name for part in file.parents if part != root and root in part.parents]
    return next((name for name in (*names[:2], *repeats, names[2], *folders) if name in scenarios), None)


def _inside(file: Path) -> tuple[dict[str, set[str]], Literal["spans", "samples"] | None]:
    """Return the traces that a file holds with the scenarios that they name; and what it has.

    `spans` are OTLP in lines, which can be read trace by trace; `samples` are Inspect's, whose ids are not trace ids.
    """
    found: dict[str, set[str]] = {}
    kind: Literal["spans", "samples"] | None = None
    for document, is_line in _documents(file):
        if isinstance(document, Mapping) and "samples" in document:
            kind = "samples"
        elif is_line and isinstance(document, Mapping) and any(key in document for key in _INSIDE[:2]):
            kind = "spans"
        _look(document, None, None, found, 0)
    # Scenarios that are named outside of any trace: they belong to the only trace, where there is one.
    nameless = found.pop("", set())
    if nameless or not found:
        for names in found.values() if len(found) == 1 else [found.setdefault("", set())]:
            names.update(nameless)
    return found, kind


def _documents(file: Path) -> Iterator[tuple[Any, bool]]:
    """Give the JSON of a file, or of each of its lines, and which of the two; nothing of a file of another kind."""
    if file.stat().st_size > LARGEST:
        raise UsageError(f"{file} has more than {LARGEST} bytes", code="bad-data")
    with file.open("rb") as opened:
        first = opened.readline()
        if not first.lstrip().startswith((b"{", b"[")):
            return
        # If the first line is JSON by itself, every line is; else the file is one document.
        is_lines = _decoded(first) is not None
        opened.seek(0)
        for block in opened if is_lines else [opened.read()]:
            document = _decoded(block)
            if document is not None:
                yield document, is_lines


def _decoded(content: bytes) -> Any:
    try:
        return decode_json(content)
    except (RowError, RecursionError):
        # Not an error here: loading the file will say why it cannot be read.
        return None


def _look(node: Any, trace: str | None, scenario: str | None, found: dict[str, set[str]], depth: int) -> None:
    """Note the traces and the scenarios that a node names; the names of an outer node apply to its inner ones."""
    if depth > _DEEPEST:
        return
    if isinstance(node, list):
        for one in node:
            _look(one, trace, scenario, found, depth + 1)
    if not isinstance(node, Mapping):
        return
    trace = _trace_of(node) or trace
    # What the node itself names comes before its resource, and that before an outer node.
    resource = node.get("resource")
    if isinstance(resource, Mapping):
        scenario = _scenario_of(resource) or scenario
    scenario = _scenario_of(node) or scenario
    if trace is not None or scenario is not None:
        found.setdefault(trace or "", set()).update(() if scenario is None else (scenario,))
    for key in _INSIDE:
        if isinstance(node.get(key), list | dict):
            _look(node[key], trace, scenario, found, depth + 1)


def _trace_of(node: Mapping[str, Any]) -> str | None:
    # Only in an object that is a trace itself is its id that of a trace.
    keys = ["traceId", "trace_id"]
    if "observations" in node or node.get("object") == "trace" or "epoch" in node:
        keys = ["id"]
    if isinstance(node.get("epoch"), str | int) and isinstance(node.get("id"), str | int):
        return f"{node['id']}/{node['epoch']}"  # the epochs of a sample share its id
    found = next((str(node[key]) for key in keys if isinstance(node.get(key), str | int) and node[key] != ""), None)
    return found.lower() if found is not None and _TRACE_ID.fullmatch(found) else found


def _scenario_of(node: Mapping[str, Any]) -> str | None:
    attributes = node.get("attributes")
    places: list[Any] = [node.get("metadata")]
    if isinstance(attributes, list):
        pairs = (one for one in attributes if isinstance(one, Mapping))
        places.append({one.get("key"): _text_in(one.get("value")) for one in pairs if isinstance(one.get("key"), str)})
    elif isinstance(attributes, Mapping):
        places.append(attributes)
    for place in places:
        if isinstance(place, Mapping):
            name = next((place[key] for key in NAMES if isinstance(place.get(key), str)), None)
            if name is not None:
                return str(name)
    return str(node["id"]) if "epoch" in node and isinstance(node.get("id"), str | int) else None


def _text_in(value: Any) -> Any:
    """Return the text of an attribute's value, as OTLP writes it."""
    if not isinstance(value, Mapping):
        return None
    return next((value[key] for key in ("stringValue", "string_value") if key in value), None)

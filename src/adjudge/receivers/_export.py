"""Traces read from a file that was exported from LangSmith."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adjudge.errors import TrajectoryError, UsageError
from adjudge.receivers._whole import join_records, trajectory_of
from adjudge.traces import Trace, decode_langsmith, read_json

_TEXTS = ("inputs", "outputs", "extra")  # which some exports hold as JSON in text


def read_langsmith(path: str | Path) -> Iterator[Trace]:
    """Give the traces of an exported file, in the order in which they begin in it.

    The file is JSON (a run tree, a list of runs, an answer of the API) or JSON lines of runs, nested or flat. A trace
    with missing runs is not complete; a line that is not a run raises `TrajectoryError` with its number.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for run in _runs(Path(path)):
        groups.setdefault(str(run.get("trace_id") or run.get("id") or ""), []).append(_plain(run))
    for name, runs in groups.items():
        record = join_records(name, decode_langsmith(runs))
        yield Trace(name, trajectory_of(record, trace_id=name, parent=None, late=None))


def _runs(path: Path) -> Iterator[Mapping[str, Any]]:
    """Give every run at the top of a file; JSON lines are read one by one."""
    try:
        with path.open("rb") as file:
            first = file.readline()
            # One run a line, or one document over many lines: the first line shows which.
            if _is_whole(first):
                yield from _listed(read_json(first, f"{path}, line 1"), f"{path}, line 1")
                for number, line in enumerate(file, 2):
                    if not line.isspace():
                        where = f"{path}, line {number}"
                        yield from _listed(read_json(line, where), where)
            else:
                yield from _listed(read_json(first + file.read(), str(path)), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None


def _is_whole(line: bytes) -> bool:
    try:
        read_json(line, "")
    except TrajectoryError:
        return False
    return True


def _listed(found: object, where: str) -> Iterator[Mapping[str, Any]]:
    if isinstance(found, Mapping) and isinstance(found.get("runs"), list):
        found = found["runs"]
    for index, run in enumerate(found if isinstance(found, list) else [found]):
        if not isinstance(run, Mapping) or "run_type" not in run:
            place = f"{where}, item {index + 1}" if isinstance(found, list) else where
            raise TrajectoryError(f"{place} is not a run: it has no 'run_type'")
        yield run


def _plain(run: Mapping[str, Any]) -> Mapping[str, Any]:
    read = {name: _value(run[name]) for name in _TEXTS if isinstance(run.get(name), str)}
    return {**run, **read} if read else run


def _value(text: str) -> object:
    # Plain text is the usual case, and most of it is long: it is not parsed.
    if text[:1] not in ("{", "["):
        return text
    try:
        return read_json(text.encode(), "")
    except (TrajectoryError, UnicodeEncodeError):
        return text

"""What can be looked at: run files, score files, logs of Inspect, all as rows of one form.

    source = open_source(Path("july.run"))
    source.about.scorers        ("local:0",)
    next(source.rows(0))        ViewRow(number=0, id="q1", columns={...}, scores={"local:0": Score(...)}, ...)

A run file is read where it is, row by row. Of other files the rows are kept in the index, because they have no order
in which one row could be found.
"""

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from adjudge.errors import UsageError
from adjudge.judges import Calibration
from adjudge.model import Score, Trajectory
from adjudge.runs import EarlyStop, Plan, RowReply, RunFile, RunRow, cluster_of, open_run, runs_folder

SQLITE = b"SQLite format 3\0"
SUFFIXES = (".run", ".eval")
TEXTS = {".jsonl": b'"status":', ".json": b'"samples":'}  # other files of a folder, by what their beginning has
TURN = "crag_turn"  # the name of the score of a turn
SPECIAL = {"scenario": "check", TURN: "CRAG"}  # kinds of runs, by their first score


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of itself: its kind in words, when it was made, by which agent and judge, with which scores.

    `judged` is the index of the judge's score, `ranges` those of the scores, `notes` what a reader must know.
    """

    name: str
    kind: str
    started: str = ""
    agent: str | None = None
    judge: str | None = None
    origin: str | None = None
    scorers: tuple[str, ...] = ()
    ranges: tuple[tuple[float, float] | None, ...] = ()
    judged: int | None = None
    notes: tuple[str, ...] = ()

    def range_of(self, scorer: int) -> tuple[float, float] | None:
        """Return the range of a scorer, where it has one."""
        return self.ranges[scorer] if scorer < len(self.ranges) else None


@dataclass(frozen=True, slots=True)
class RowEvent:
    """One thing that happened in a row: its kind, what it was in a line and in whole, and after how many seconds."""

    kind: str
    title: str
    detail: str
    at: float | None = None
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class ViewRow:
    """One case with what the agent did and its scores; `scores` is None where the run has not come to it.

    `cluster` is what it varies together with, `fault` why there is no trajectory, with the `traceback` if one is known.
    """

    number: int
    id: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    trajectory: Trajectory | None = None
    seconds: float | None = None
    fault: str | None = None
    scores: Mapping[str, Score] | None = None
    traceback: str | None = None
    events: tuple[RowEvent, ...] = ()

    @property
    def cluster(self) -> str | None:
        """What it varies together with: its conversation or group."""
        return cluster_of(self.columns)

    @property
    def is_repeat(self) -> bool:
        """Whether the others of its cluster are the same case again, and not other turns of a conversation."""
        group = self.columns.get("group_id")
        return group is not None and self.cluster == str(group)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used: calls of models and agents, tokens, dollars."""

    calls: int
    tokens: int
    cost: float


class ViewSource(Protocol):
    """A file that can be looked at.

    `stamp` changes whenever the file may have, `identity` when another run took its name: then `about` is of no use.
    `is_kept` says that the index keeps the rows. `rows` gives them from a number on, `row` one of them, `replies` what
    models were asked for it. `in_order` says that rows which are not done are followed by few that are.
    """

    path: Path
    about: About
    is_kept: bool
    in_order: bool

    @property
    def stamp(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def is_running(self) -> bool: ...
    @property
    def total(self) -> int | None: ...
    @property
    def spent(self) -> Spent | None: ...
    @property
    def early(self) -> EarlyStop | None: ...
    @property
    def calibration(self) -> Calibration | None: ...
    def rows(self, first: int) -> Iterator[ViewRow]: ...
    def row(self, number: int) -> ViewRow: ...
    def replies(self, number: int) -> tuple[RowReply, ...]: ...


class RunSource:
    """A run file; another process may be writing it."""

    is_kept = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run: RunFile = open_run(path)
        plan = self.run.plan
        self.about = About(
            name=path.name,
            kind=_kind(plan),
            started=plan.started,
            agent=plan.agent,
            judge=_judge(plan),
            origin=", ".join(plan.merged) or plan.source,
            scorers=plan.names,
            ranges=plan.ranges,
            judged=plan.judged,
        )
        self.in_order = not plan.config.get("stop_early")

    @property
    def stamp(self) -> str:
        """The times and sizes of the file and its log."""
        return stamp_of(self.path, Path(f"{self.path}-wal"))

    @property
    def identity(self) -> str:
        """The id of the run that has this name now."""
        return self.run.run_id

    @property
    def is_running(self) -> bool:
        """Whether a process is writing it."""
        return self.run.is_running

    @property
    def total(self) -> int | None:
        """How many cases it has, as far as they have been read."""
        return self.run.size

    @property
    def spent(self) -> Spent | None:
        """What it has used so far."""
        state = self.run.state
        return Spent(state.calls, state.tokens, state.cost)

    @property
    def early(self) -> EarlyStop | None:
        """How it was decided before all its cases were needed."""
        return self.run.early_stop

    @property
    def calibration(self) -> Calibration | None:
        """What was measured of its judge, where the run was given that."""
        return self.run.calibration

    def rows(self, first: int) -> Iterator[ViewRow]:
        """Give the rows from that number on."""
        return (self._row(row) for row in self.run.rows(first))

    def row(self, number: int) -> ViewRow:
        """Return one row."""
        return self._row(self.run.row(number))

    def replies(self, number: int) -> tuple[RowReply, ...]:
        """Return what models were asked for a row."""
        return tuple(self.run.replies(number))

    def _row(self, row: RunRow) -> ViewRow:
        done = row.trajectory
        scores = None if row.scores is None else dict(zip(self.about.scorers, row.scores, strict=False))
        columns = row.case.row or {}
        return ViewRow(
            row.number,
            str(row.case.id),
            columns,
            None if done is None else done.trajectory,
            None if done is None else done.seconds,
            row.case.fault if done is None else done.fault,
            scores,
        )


def _judge(plan: Plan) -> str | None:
    """Return the name of the judge: of a run that was only judged the one that it is a run of."""
    judged = 0 if plan.kind == "judge" else plan.judged
    return None if judged is None or not plan.names else plan.names[judged]


def _kind(plan: Plan) -> str:
    """Return what a run is, in words."""
    usual = "judged run" if plan.kind == "judge" else "run"
    return SPECIAL.get(plan.names[0] if plan.names else "", usual)


def open_source(path: Path) -> ViewSource:
    """Open what a path names; a file that cannot be looked at raises `UsageError`."""
    try:
        # Who opens a pipe waits for its writer.
        if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is not a regular file", code="cannot-read")
        with path.open("rb") as file:
            start = file.read(1 << 16)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    if start.startswith(SQLITE):
        return RunSource(path)
    from adjudge.view._files import FileSource

    return FileSource(path, start)


def find_files(paths: list[Path]) -> list[Path]:
    """Return the files that these paths name: files themselves, of folders those that look like results."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found |= dict.fromkeys(one for one in sorted(path.iterdir()) if _looks_viewable(one))
        elif path.is_file():
            found[path] = None
        else:
            why = " is not a regular file" if path.exists() else ": there is no such file or folder"
            raise UsageError(f"{path}{why}", code="cannot-read")
    return list(found)


def _looks_viewable(path: Path) -> bool:
    """Return whether a file of a folder is worth a line in a list: a folder may also hold data and settings."""
    if not path.is_file():
        return False
    wanted = TEXTS.get(path.suffix)
    if wanted is None:
        return path.suffix in SUFFIXES
    try:
        with path.open("rb") as file:
            return wanted in file.read(1 << 14)
    except OSError:
        return False


def usual_places() -> list[Path]:
    """Return where runs are when nobody says where: this folder, and that of runs whose file nobody named."""
    return [one for one in (Path(), runs_folder()) if one.is_dir()]


def key_of(path: Path) -> str:
    """Return the name of a file in addresses, the same whenever it is looked at."""
    return blake2b(str(path.resolve()).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def stamp_of(*paths: Path) -> str:
    """Return the times and sizes of files; a missing one counts as empty."""
    parts = []
    for path in paths:
        try:
            known = path.stat()
        except OSError:
            parts.append("-")
        else:
            parts.append(f"{known.st_mtime_ns}.{known.st_size}")
    return " ".join(parts)

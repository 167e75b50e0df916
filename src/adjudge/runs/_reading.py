"""Run files read back: everything that happened, typed, a page at a time, without knowing the tables.

    run = open_run("july.run")
    for reply in run.replies():
        print(reply.id, reply.seconds, reply.reply.text)

Reading changes nothing, and works while another process writes the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from msgspec import Meta

from adjudge.errors import RunError, UsageError, closest
from adjudge.model import ChatReply, ChatRequest, Score, Trajectory
from adjudge.runs._cases import number_of
from adjudge.runs._export import known_in, score_lines, scored_cases, summarise, verdict_line
from adjudge.runs._plan import PLAN, Plan, plan_from
from adjudge.runs._records import COMPLETE, RUN_ID, Source, check, decode_as, read_as, read_case, read_reply
from adjudge.runs._score_file import check_place
from adjudge.runs._store import Store, run_lock, runs_folder
from adjudge.runs._summary import Summary

if TYPE_CHECKING:
    from adjudge.judges import Calibration
    from adjudge.runs._stopping import EarlyStop

Moment = Annotated[float, Meta(ge=0.0, lt=253402300800.0)]  # up to the year 9999, as dates can show it
NOT_RUN = "not-run: the run ended before this row"
PAGE = 256
MOST_COMPARED = 20_000  # ids that an unknown one is compared with
SUFFIX = ".run"
REPLIES = """
    SELECT cases.seq, cases.unit, cases.body, cases.sum, requests.number, requests.key, requests.at, requests.body,
           requests.sum, source, seconds, replies.attempts, cost, fault, replies.body, replies.sum
    FROM requests JOIN cases USING (seq) LEFT JOIN replies USING (number)
    WHERE requests.number > ? {of} ORDER BY requests.number LIMIT ?
"""
ATTEMPTS = "SELECT number, attempt, seconds, fault FROM attempts WHERE number BETWEEN ? AND ? ORDER BY number, attempt"


class RunCase(NamedTuple):
    """One case of a run: its columns, or why it has none."""

    id: Any
    row: Mapping[str, Any] | None
    fault: str | None = None


class RowScore(NamedTuple):
    """One score of a run: which case, which scorer."""

    id: Any
    scorer: str
    score: Score


class RunRow(NamedTuple):
    """One case of a run with what happened to it; a case that was not reached, or was spared, has no scores."""

    case: RunCase
    trajectory: RowTrajectory | None
    scores: tuple[Score, ...] | None
    number: int  # its place in the run, from 0


class RowTrajectory(NamedTuple):
    """What the agent did for one case, or why it did nothing, and how long that took."""

    id: Any
    trajectory: Trajectory | None
    fault: str | None
    seconds: float


class Attempt(NamedTuple):
    """One attempt of a call that failed."""

    number: int
    seconds: float
    fault: str


@dataclass(frozen=True, slots=True)
class RowReply:
    """One request to a model, made for one case, and its reply.

    `request` has the prompt; it is None for an agent that does not ask through the run, of which only the call is
    known. `reply` is None where a fault came instead, or the run was killed before either. `source` is where the reply
    came from: a `call`, the `cache`, an equal request of another row (`shared`), or an `agent`. `at` is when it was
    asked, in seconds since 1970. `attempts` are those that failed; `calls` counts all of them.
    """

    id: Any
    request: ChatRequest | None
    reply: ChatReply | None
    fault: str | None = None
    source: Source | None = None
    at: float = 0.0
    seconds: float | None = None
    calls: int = 0
    cost: float | None = None
    attempts: tuple[Attempt, ...] = ()


class RunFile:
    """A run file opened to read; `open_run` makes it."""

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)

    def __repr__(self) -> str:
        return f"RunFile({str(self.file)!r})"

    @cached_property
    def plan(self) -> Plan:
        """What the run was asked to do."""
        with Store.read(self.file) as store:
            return plan_from(store.meta(PLAN), self.file)

    @property
    def run_id(self) -> str:
        """What tells this run from every other one, also from one that takes its file name."""
        with Store.read(self.file) as store:
            return str(store.meta(RUN_ID) or "")

    @property
    def counts(self) -> dict[str, int]:
        """How many rows are scored, unscored and errors; a row that was not reached is an error.

        A run that was decided early has `spared` rows, too.
        """
        with Store.read(self.file) as store:
            counts = store.counts()
            missing = store.count() - sum(counts.values())
        return {**counts, "error": counts["error"] + missing}

    @property
    def early_stop(self) -> EarlyStop | None:
        """How the run was decided before all its cases were needed; None where it was not."""
        with Store.read(self.file) as store:
            return store.early_stop()

    @property
    def summary(self) -> Summary:
        """The tallies of every scorer, with means and intervals."""
        with Store.read(self.file) as store:
            return summarise(store, self.plan, NOT_RUN)

    @property
    def summary_so_far(self) -> Summary:
        """The same of the rows that have their scores: those that wait are left out: they are not errors."""
        with Store.read(self.file) as store:
            return summarise(store, self.plan, None)

    @property
    def state(self) -> RunState:
        """Whether the run is done, running, stopped or damaged."""
        return run_state(self.file)

    @property
    def is_running(self) -> bool:
        """Whether a process is writing it."""
        return run_lock(self.file).holder() is not None

    @property
    def calibration(self) -> Calibration | None:
        """What was measured of its judge, where the run was given that."""
        with Store.read(self.file) as store:
            return known_in(store).calibration

    @property
    def size(self) -> int:
        """How many cases it has so far."""
        with Store.read(self.file) as store:
            return store.count()

    def rows(self, first: int = 0) -> Iterator[RunRow]:
        """Give the cases from that number on, in order of input, each with what the agent did and its scores."""
        return self._rows(first, PAGE)

    def _rows(self, first: int, size: int) -> Iterator[RunRow]:
        """Give the cases from that number on, so many read together at first."""
        with Store.read(self.file) as store:
            early = store.early_stop()
            counted = None if early is None else frozenset(early.cases)
            last = first - 1
            while cases := store.cases(last, size):
                done = store.trajectories(cases[0].seq, cases[-1].seq)
                scores = store.scores(cases[0].seq, cases[-1].seq)
                for case in cases:
                    # What came back after an early decision is not part of the result.
                    is_spared = counted is not None and case.seq not in counted
                    trajectory, given = None, None if is_spared else scores.get(case.seq)
                    if (record := done.get(case.seq)) is not None:
                        trajectory = RowTrajectory(case.id, record.trajectory, record.fault, record.seconds)
                    known = RunCase(case.id, case.row, case.fault)
                    yield RunRow(known, trajectory, None if given is None else tuple(given), case.seq)
                last, size = cases[-1].seq, PAGE

    def row(self, number: int) -> RunRow:
        """Return the case with that number; one that is not there raises `UsageError`."""
        # Who asks for one row should not read many.
        found = next(self._rows(number, 1), None) if number >= 0 else None
        if found is None:
            raise UsageError(f"{self.file} has no case with the number {number}", code="no-such-row")
        return found

    def find(self, id_: str) -> int:
        """Return the number of the first case with that id, as a text; an unknown one raises `UsageError`."""
        last, known = -1, list[str]()
        with Store.read(self.file) as store:
            while cases := store.cases(last, PAGE):
                for case in cases:
                    if str(case.id) == id_:
                        return case.seq
                last = cases[-1].seq
                # Comparing a name with millions of others would take minutes.
                if len(known) < MOST_COMPARED:
                    known += [str(case.id)[:200] for case in cases]
        raise UsageError(f"{self.file} has no case {id_!r:.200}{closest(id_[:200], known)}", code="no-such-row")

    def numbers_of(self, id_: str) -> Iterator[int]:
        """Give the numbers of all cases with that id, as a text."""
        last = -1
        with Store.read(self.file) as store:
            while cases := store.cases(last, PAGE):
                yield from (case.seq for case in cases if str(case.id) == id_)
                last = cases[-1].seq

    def cases(self) -> Iterator[RunCase]:
        """Give the cases, in order of input."""
        return (row.case for row in self.rows())

    def spared(self) -> Iterator[RunCase]:
        """Give the cases that an early decision spared, in order of input."""
        if (early := self.early_stop) is not None:
            counted = frozenset(early.cases)
            yield from (case for number, case in enumerate(self.cases()) if number not in counted)

    def trajectories(self) -> Iterator[RowTrajectory]:
        """Give what the agent did, in order of the cases; cases that it was not asked about are left out."""
        return (row.trajectory for row in self.rows() if row.trajectory is not None)

    def scores(self) -> Iterator[RowScore]:
        """Give every score, in order of the cases and scorers."""
        with Store.read(self.file) as store:
            names = plan_from(store.meta(PLAN), self.file).names
            for page in scored_cases(store, names, NOT_RUN):
                for case, scores in page:
                    for name, score in zip(names, scores, strict=True):
                        yield RowScore(case.id, name, score)

    def replies(self, number: int | None = None) -> Iterator[RowReply]:
        """Give every request to a model with its reply, in the order in which they were made.

        With a number they are those of that case.
        """
        query = REPLIES.format(of="" if number is None else "AND requests.seq = ?")
        of = () if number is None else (number,)
        with Store.read(self.file) as store:
            last = 0
            while rows := store.rows(query, last, *of, PAGE):
                first, last = rows[0][4], rows[-1][4]
                # The attempts of the whole page in one query.
                failed: dict[int, list[Attempt]] = {}
                for request, *attempt in store.rows(ATTEMPTS, first, last):
                    failed.setdefault(request, []).append(read_as(Attempt, attempt))
                yield from (_reply(row, failed.get(row[4], ())) for row in rows)

    def export(self, out: str | Path) -> None:
        """Write the results again, one JSON line a row and scorer, as the command that made the run did."""
        from adjudge.datasets import whole_file

        check_place(out, self.file)
        lines = verdict_line if self.plan.kind == "judge" else score_lines
        with Store.read(self.file) as store, whole_file(str(out)) as file:
            summarise(store, self.plan, NOT_RUN, file.write, lines)


def open_run(file: str | Path) -> RunFile:
    """Open a run file to read it.

    `cases()`, `scores()`, `trajectories()` and `replies()` give what is in it, `plan`, `counts`, `summary` and `state`
    describe it. A file that is not a run raises `RunError`, one that does not exist `UsageError`.
    """
    run = RunFile(file)
    _ = run.plan  # reading it shows at once whether the file is a run
    return run


def _reply(row: tuple[Any, ...], attempts: Sequence[Attempt]) -> RowReply:
    case = read_case(*row[:4])
    number, key, at, asked, asked_sum = row[4:9]
    check(asked_sum, "requests", asked, number, case.seq, key)
    request = decode_as(ChatRequest, asked) if key else None  # an agent's own call has no key
    source, seconds, calls, cost, fault, body, sum_ = row[9:]
    asked_at = read_as(Moment, at)
    if source is None:  # the run was killed before the reply came
        return RowReply(case.id, request, None, at=asked_at, attempts=tuple(attempts))
    reply = read_reply(key, number, source, fault, body, sum_)
    took, of, paid = read_as(tuple[float, int, float | None], (seconds, calls, cost))
    return RowReply(case.id, request, reply, fault, source, asked_at, took, of, paid, tuple(attempts))


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a run is: `state` is `done`, `running`, `stopped` or `damaged`."""

    file: Path
    state: str
    cases: int = 0
    counts: dict[str, int] | None = None
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    plan: Plan | None = None
    fault: str | None = None

    @property
    def done(self) -> int:
        """How many cases have their scores."""
        return sum((self.counts or {}).values())


def list_runs(folder: str | None = None) -> list[RunState]:
    """Return the runs of a folder, oldest first; by default that of runs whose file nobody named."""
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(f"{folder}: there is no such folder", code="cannot-read")
    place = Path(folder) if folder is not None else runs_folder()
    # By the last change, then by name: runs of the same second keep one order.
    files = sorted(place.glob(f"*{SUFFIX}"), key=lambda path: (path.stat().st_mtime, path.name))
    return [run_state(path) for path in files]


def run_state(path: Path) -> RunState:
    """Return how far one run is; a file that cannot be read is a damaged one."""
    try:
        with Store.read(path) as store:
            plan = plan_from(store.meta(PLAN), path)
            cases, counts = store.count(), store.counts()
            _, attempts, tokens, cost, _ = store.totals()
            is_complete = store.meta(COMPLETE) is not None
            canaries = store.open_canaries(number_of(cases), -1)
    except RunError as error:
        return RunState(path, "damaged", fault=error.message)
    # Scores of all rows are not enough: a judge may still owe its canaries.
    is_done = is_complete and sum(counts.values()) == cases and not canaries
    state = "running" if run_lock(path).holder() is not None else "done" if is_done else "stopped"
    return RunState(path, state, cases, counts, attempts, tokens, cost, plan)

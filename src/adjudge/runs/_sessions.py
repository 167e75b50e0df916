"""What the commands do with runs: judge a file, resume, score again; each returns how it ended and its exit code."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.datasets import Format, read_rows, whole_file
from adjudge.errors import ArgumentError, UsageError
from adjudge.judges import Calibration
from adjudge.judges.columns import QUESTIONS, one_of
from adjudge.runs._cases import CaseRead, Cases, answered, read_cases, trajectory_columns
from adjudge.runs._engine import Progress
from adjudge.runs._export import check_calibration, score_lines, summarise, verdict_line
from adjudge.runs._plan import CONVERSATION, PLAN, Job, Plan, RunConfig, make_job, plan_from
from adjudge.runs._reading import NOT_RUN
from adjudge.runs._records import COMPLETE
from adjudge.runs._run import RunTask, run_session
from adjudge.runs._score_file import Columns, check_columns, check_mapping, check_place
from adjudge.runs._seal import GivenAgain, check_trust, is_sealed
from adjudge.runs._store import Store, new_run_file
from adjudge.runs._summary import Summary

if TYPE_CHECKING:
    from adjudge.runs._fleet import Fleet
    from adjudge.runs._stopping import TargetFinding

UNDECIDED = 3
LOOKED_AT = 256  # rows whose columns are checked before anything is asked

Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command's run ended; `undecided` says why its numbers decide nothing, or is None.

    `findings` are what the thresholds found, where there are any.
    """

    file: Path
    summary: Summary | None = None
    undecided: str | None = None
    signal: int | None = None
    warnings: tuple[str, ...] = ()
    findings: tuple[TargetFinding, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether there is more of the run to do."""
        return self.summary is None or (self.undecided or "").startswith("stopped")

    @property
    def exit_code(self) -> int:
        """0 decided, 1 a mean is below its threshold, 3 undecided, 130 or 143 interrupted."""
        if self.signal is not None:
            return 128 + self.signal
        if self.undecided is not None:
            return UNDECIDED
        return int(any(one.verdict == "fail" for one in self.findings))


def judge_file(  # noqa: PLR0913 (each is an option of the command)
    rows: str,
    judge: str,
    *,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
    run: str | None = None,
    out: str | None = None,
    calibration: Calibration | None = None,
    watch: Watch | None = None,
    fleet: Fleet | None = None,
) -> Finished:
    """Judge every row of a file: `id`, `question`, `reference` and `response` in, a verdict a row out.

    `columns` maps these names to columns. `calibration` is what was measured of this very judge: the summary then has
    the corrected mean, too. A `fleet` does the work elsewhere.
    """
    config = config or RunConfig()
    options = {name: value for name, value in (options or {}).items() if value is not None}
    job = make_job(judge=judge, **options)
    if calibration is not None:
        check_calibration(calibration, job.judge)
    plan = Plan("judge", judge=judge, options=options, columns=tuple((columns or {}).items()), by_name=True)
    path = _checked_run(rows, job, plan, run, out)
    work = RunTask(path, job, plan, config, rows, signals=True, watch=watch, calibration=calibration, fleet=fleet)
    return finish(work, out)


def score_run(  # noqa: PLR0913 (as above)
    rows: str,
    scorers: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    format: Format | None = None,  # noqa: A002 (as in score_file)
    config: RunConfig | None = None,
    run: str | None = None,
    out: str | None = None,
    watch: Watch | None = None,
    fleet: Fleet | None = None,
) -> Finished:
    """Score every row of a file as `score_file` does, in a run: everything is kept, and the run can be resumed."""
    job = make_job(scorers=scorers)
    named = tuple((columns or {}).items())
    plan = Plan("evaluate", scorers=tuple(scorers), columns=named, format=format, by_name=True)
    path = _checked_run(rows, job, plan, run, out)
    return finish(RunTask(path, job, plan, config or RunConfig(), rows, signals=True, watch=watch, fleet=fleet), out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What to evaluate: the agent that answers the cases, if any, and who scores the answers.

    `options` are those of the judge, `columns` maps names that scorers and agents know to columns of the file, and
    `limit` is how many of its cases are read.
    """

    agent: str | None = None
    scorers: Sequence[str] = ()
    judge: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None


def evaluate_file(
    cases: str,
    what: Evaluation,
    *,
    config: RunConfig | None = None,
    run: str | None = None,
    out: str | None = None,
    watch: Watch | None = None,
) -> Finished:
    """Answer and score every case of a file, as `evaluate` does, and say whether the result decides anything."""
    options = {name: value for name, value in what.options.items() if value is not None}
    job = make_job(scorers=what.scorers, judge=what.judge, agent=what.agent, **options)
    plan = Plan(
        "evaluate",
        scorers=tuple(what.scorers),
        judge=what.judge,
        agent=what.agent,
        options=options,
        columns=tuple(what.columns.items()),
        by_name=True,
    )
    path = _checked_run(cases, job, plan, run, out)
    found: Cases = cases
    if what.limit is not None:
        found = islice(read_cases(cases, columns=plan.columns), what.limit)
    return finish(RunTask(path, job, plan, config or RunConfig(), found, signals=True, watch=watch), out)


def _checked_run(rows: str, job: Job, plan: Plan, run: str | None, out: str | None) -> Path:
    """Check the call and the first rows, and return the path of the run file."""
    check_place(out, rows, run)
    check_place(run, rows)
    # An agent reads columns of its own, and its answer is a column that no row has yet.
    asked = () if job.agent is None else (*QUESTIONS, "messages", "image", CONVERSATION, "turn")
    given = {} if job.agent is None else dict.fromkeys(("final_response", "trajectory"))
    if plan.columns:
        check_mapping(job.scorers, plan.columns, asked)
    if rows != "-":  # standard input can be read only once
        first = [row for row in islice(read_rows(rows, plan.format), LOOKED_AT) if row.columns]
        if job.agent is not None:
            _check_questions((row.columns or {} for row in first), plan.columns, rows)
        named = ((row.number, {**(row.columns or {}), **given}) for row in first)
        check_columns(named, job.scorers, plan.columns, rows)
    kind = "judge" if plan.kind == "judge" else "score" if job.agent is None else "evaluate"
    return Path(run) if run is not None else new_run_file(kind)


def _check_questions(rows: Iterable[Mapping[str, Any]], columns: Columns, source: str) -> None:
    """Raise for a file whose first rows have nothing that an agent could be asked."""
    present = dict.fromkeys(name for row in rows for name in row)
    known = {*present, *(name for name, _ in columns)}
    if present and known.isdisjoint((*QUESTIONS, "messages")):
        message = (
            f"{source} has no question for the agent: call the column {one_of(QUESTIONS)}, or --map question=COLUMN"
        )
        raise ArgumentError(f"{message}; its columns are {', '.join(present)}")


def resume_run(
    path: str,
    *,
    out: str | None = None,
    options: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    given: GivenAgain | None = None,
    retry_failed: bool = False,
    retry_unscored: bool = False,
    watch: Watch | None = None,
) -> Finished:
    """Resume a run where it was stopped; `limits` and `options` replace those it began with.

    Code, commands and addresses that a file from elsewhere names must be in `given`, or be trusted.
    """
    check_place(out, path)
    work = work_of(path, options, limits, given)
    work = replace(work, retry_failed=retry_failed, retry_unscored=retry_unscored, signals=True, watch=watch)
    return finish(work, out)


def work_of(
    path: str, options: Mapping[str, Any] | None, limits: Mapping[str, Any] | None, given: GivenAgain | None = None
) -> RunTask:
    """Return the task of the run in a file, with some of its options and limits replaced."""
    with Store.read(path) as store:
        plan = plan_from(store.meta(PLAN), Path(path))
        is_complete = store.meta(COMPLETE) is not None
        sealed = is_sealed(store)
    if not plan.by_name:
        again = plan.resumed_by.replace("FILE", path) or f"do the same again with the run file {path!r}"
        raise UsageError(f"{path} was started with objects that have no name: {again}", code="not-by-name")
    options = {name: value for name, value in (options or {}).items() if value is not None}
    check_trust(path, plan, given or GivenAgain(), options, sealed=sealed)
    changed = {name: value for name, value in (limits or {}).items() if value is not None}
    config = replace(plan.run_config(), **changed)
    if not sealed and not (given and given.trust):
        # Neither files nor folders are read, made or changed because a file from elsewhere names them.
        if not is_complete:
            message = f"{path} does not hold all its cases, and would read them from {plan.source}"
            raise UsageError(
                f"{message}: give the rows again to the command that began it, or --trust", code="untrusted"
            )
        if config.cache not in ("user", "off"):
            config = replace(config, cache="user")
    job = make_job(scorers=plan.scorers, judge=plan.judge, agent=plan.agent, **{**plan.options, **options})
    return RunTask(Path(path), job, plan, config, None if is_complete else plan.source)


def rescore_run(
    path: str,
    *,
    scorers: Sequence[str] = (),
    judge: str | None = None,
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
    run: str | None = None,
    out: str | None = None,
    watch: Watch | None = None,
) -> Finished:
    """Score what a run's agent did again, by other scorers or another judge, into a run file of its own."""
    check_place(out, path, run)
    config = config or RunConfig()
    options = {name: value for name, value in (options or {}).items() if value is not None}
    job = make_job(scorers=scorers, judge=judge, **options)
    kind: Literal["evaluate", "judge"] = "judge" if judge is not None and not scorers else "evaluate"
    plan = Plan(kind, scorers=tuple(scorers), judge=judge, options=options, by_name=True)
    target = Path(run) if run is not None else new_run_file("rescore")
    if target.resolve() == Path(path).resolve():
        raise UsageError(f"{path} is the run to score again: name another file for the result", code="cannot-write")
    with Store.read(path) as store:
        if store.meta(COMPLETE) is None:
            raise UsageError(f"{path} does not hold all its cases yet: adjudge resume {path}", code="not-complete")
        finished = finish(RunTask(target, job, plan, config, answers_of(store), signals=True, watch=watch), out)
        early = store.early_stop()
    if early is None:
        return finished
    # Where a run stops depends on its scores, so intervals that know nothing of that are too narrow.
    warning = f"{path} was {early.headline}; only those {len(early.cases):,} were scored again"
    return replace(finished, warnings=(*finished.warnings, warning))


def finish(work: RunTask, out: str | None) -> Finished:
    """Do the session, write its results, and say whether they decide anything."""
    # A run makes much garbage, hardly any of it in cycles, and spent a tenth of its time on collecting it. What exists
    # before the run, mostly modules, is not looked at again.
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        session = asyncio.run(run_session(work))
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    warnings = session.warnings
    if session.signal is not None:
        return Finished(work.path, undecided="interrupted", signal=session.signal, warnings=warnings)
    reason = NOT_RUN if session.stopped is None else f"not-run: {session.stopped.reason}"
    plan = session.plan
    with Store.read(work.path) as store:
        lines = verdict_line if plan.kind == "judge" else score_lines
        with whole_file(out) if out is not None else nullcontext() as file:
            write = None if file is None else file.write
            summary = summarise(store, plan, reason, write, lines)
    undecided = None
    if session.stopped is not None:
        undecided = f"stopped: {session.stopped.reason}"
    elif not summary.rows:
        undecided = "no rows"
    elif summary.failed_share > work.config.max_unscored:
        undecided = f"more than {work.config.max_unscored:.3g} of the rows have no score"
    findings: tuple[TargetFinding, ...] = ()
    if work.config.thresholds:
        from adjudge.runs._stopping import findings_of

        findings = findings_of(summary, work.config)
        if session.stopped is not None:
            # What a stopped run holds may look like a pass.
            findings = tuple(replace(one, verdict=None) for one in findings)
        if undecided is None and not any(one.verdict == "fail" for one in findings):
            undecided = next((f"{one.name}: {one.reason}" for one in findings if one.verdict is None), None)
    return Finished(work.path, summary, undecided, warnings=warnings, findings=findings)


def answers_of(store: Store) -> Iterator[CaseRead]:
    """Give a run's cases with the answers of its agent; a case that the agent was not asked about is a fault.

    Cases that an early decision spared are left out.
    """
    has_agent = plan_from(store.meta(PLAN), store.path).agent is not None
    early = store.early_stop()
    counted = None if early is None else frozenset(early.cases)
    last = -1
    while cases := store.cases(last, 256):
        done = store.trajectories(cases[0].seq, cases[-1].seq)
        for case in cases:
            if counted is not None and case.seq not in counted:
                continue
            record = done.get(case.seq)
            if record is None and has_agent and case.row is not None:
                yield CaseRead(case.id, None, "not-run: the agent has not been asked about this case")
            elif record is None or case.row is None:
                yield CaseRead(case.id, case.row, case.fault)
            elif record.trajectory is None:
                yield CaseRead(case.id, None, record.fault)
            else:
                yield CaseRead(case.id, answered(case.row, trajectory_columns(record.trajectory)))
        last = cases[-1].seq

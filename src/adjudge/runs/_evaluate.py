"""`evaluate`: cases, an agent or its saved trajectories, scorers and a judge in; scores and their summary out.

result = evaluate(cases, agent=my_agent, scorers=["qa_f1_reward"], judge="local")
result.counts, result.summary.tallies[0].mean, result.file
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.calling import run_sync
from adjudge.errors import RunStopped
from adjudge.runs._cases import check_cases
from adjudge.runs._export import check_calibration
from adjudge.runs._plan import Job, Plan, RunConfig, make_job
from adjudge.runs._reading import RowScore, RunFile
from adjudge.runs._store import new_run_file

if TYPE_CHECKING:
    from adjudge.judges import Calibration
    from adjudge.model import Judge
    from adjudge.runs._cases import Cases
    from adjudge.runs._stopping import TargetFinding
    from adjudge.runs._summary import Summary


@dataclass(frozen=True)
class RunResult:
    """The result of a run, read from its file when it is used; `adjudge.open_run` reads everything else.

    `counts` are the rows by outcome (a row counts as its worst score) and add up to the number of cases. A row that a
    stopped run did not reach is an error, `not-run`; one that an early decision did not need is `spared`.
    """

    file: Path
    warnings: tuple[str, ...] = ()
    config: RunConfig = field(default_factory=RunConfig)

    @property
    def plan(self) -> Plan:
        """What the run was asked to do."""
        return RunFile(self.file).plan

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many rows were scored, unscored and errors."""
        return RunFile(self.file).counts

    @cached_property
    def summary(self) -> Summary:
        """The tallies of every scorer, with means and intervals."""
        return RunFile(self.file).summary

    @property
    def findings(self) -> tuple[TargetFinding, ...]:
        """What each threshold found; `summary.early` says how many cases an early decision spared."""
        from adjudge.runs._stopping import findings_of

        return findings_of(self.summary, self.config)

    @property
    def scores(self) -> Iterator[RowScore]:
        """Every score, in order of the cases and scorers."""
        return RunFile(self.file).scores()


def evaluate(
    cases: Cases,
    *,
    agent: Any = None,
    trajectories: Any = None,
    scorers: Sequence[Any] = (),
    judge: Judge | str | None = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
    calibration: Calibration | str | Path | None = None,
) -> RunResult:
    """Answer and score every case, and return the result.

    `cases` are a file, or cases or rows in any iterable. `agent` answers them; `trajectories` are saved answers,
    by id or in the order of the cases; with neither, the rows hold their responses. `scorers` are names, functions or
    scorers. `run` is the run file: one that exists is resumed, if it is the same run. A run that is stopped (a refused
    key, a spent budget) raises `RunStopped`; call again with the same `run` to resume it. `calibration` is what was
    measured of the judge, or its file: `summary.corrected` is then the mean corrected for the judge's errors.

    A run is bound to its cases, saved trajectories and the source of its agent and scorers: others are refused.
    """
    work = aevaluate(
        cases,
        agent=agent,
        trajectories=trajectories,
        scorers=scorers,
        judge=judge,
        run=run,
        config=config,
        calibration=calibration,
    )
    return run_sync(work, "evaluate")


async def aevaluate(
    cases: Cases,
    *,
    agent: Any = None,
    trajectories: Any = None,
    scorers: Sequence[Any] = (),
    judge: Judge | str | None = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
    calibration: Calibration | str | Path | None = None,
) -> RunResult:
    """Answer and score every case, as `evaluate` does; for use inside an event loop."""
    from adjudge.judges import load_calibration
    from adjudge.runs._run import RunTask, run_session

    check_cases(cases)
    job = make_job(scorers=scorers, judge=judge, agent=agent)
    path = Path(run) if run is not None else new_run_file("evaluate")
    plan = _plan_of(job, scorers, judge, agent, by_name=trajectories is None)
    known = load_calibration(calibration) if isinstance(calibration, str | Path) else calibration
    if known is not None:
        check_calibration(known, job.judge)
    work = RunTask(path, job, plan, config or RunConfig(), cases, trajectories, calibration=known)
    session = await run_session(work)
    if session.stopped is not None:
        message = f"{session.stopped.message}; what was done is in {path}: call again with run={str(path)!r} to resume"
        raise RunStopped(message, code=session.stopped.code) from session.stopped
    return RunResult(path, session.warnings, work.config)


def _plan_of(job: Job, scorers: Any, judge: Any, agent: Any, *, by_name: bool) -> Plan:
    """Return the plan; where everything was given by name, `adjudge resume` can resume the run."""
    # Any other sequence may hold objects: None marks that they have no names.
    specs: list[Any] = (
        [scorers] if isinstance(scorers, str) else list(scorers) if isinstance(scorers, list | tuple) else [None]
    )
    if by_name and all(isinstance(one, str) for one in (*specs, judge or "", agent or "")):
        return Plan("evaluate", scorers=tuple(specs), judge=judge, agent=agent, by_name=True)
    return Plan("evaluate", scorers=tuple(scorer.name for scorer in job.scorers))

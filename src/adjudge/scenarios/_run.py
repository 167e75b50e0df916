"""Scenarios, run: a thin layer over runs. A scenario is a case, its repeats are the cases of a group."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.calling import run_sync
from adjudge.errors import RunStopped, UsageError
from adjudge.judges import quality_judge
from adjudge.runs import Job, Plan, RunConfig, RunResult, RunTask, Session, new_run_file, run_session
from adjudge.scenarios._agent import ScenarioAgent, agent_for
from adjudge.scenarios._load import load_scenarios
from adjudge.scenarios._passes import ScenarioRun
from adjudge.scenarios._scenario import Scenario
from adjudge.scenarios._score import NAME, ScenarioScorer, case_row

AGAIN = "the adjudge check that began it, with --run FILE, goes on with it; in Python, run_scenarios(..., run='FILE')"
FOR_JUDGING = 60.0  # seconds that a row has beyond the agent's deadline, where nobody says how many


def run_scenario(
    scenario: Scenario | Mapping[str, Any],
    agent: Any = None,
    *,
    judge: Any = None,
    trajectory: Any = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
) -> dict[str, Any]:
    """Run one scenario once, and return what came of it.

    `agent` is a function, an address or whatever else `get_agent` takes; `trajectory` is what it did, where that is
    known already. `judge` is a `RubricJudge`, or the name of a model (`openai:MODEL`), for the quality; without it
    there is none. The result has

    - `workflow` and `quality` as documented, `average_quality`, `clarification` (None where not checked),
    - `pass`: whether workflow and clarification are as expected; None where that could not be decided,
    - `status`: `scored`, or `unscored` or `error` where anything that was asked has no answer, `reasons` in words,
    - `scores` of the scenario's scorers, `warnings`, `requested_not_executed`, `response`, `trace_id`, `seconds`.
    """
    work = arun_scenario(scenario, agent, judge=judge, trajectory=trajectory, run=run, config=config)
    return run_sync(work, "run_scenario")


async def arun_scenario(
    scenario: Scenario | Mapping[str, Any],
    agent: Any = None,
    *,
    judge: Any = None,
    trajectory: Any = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
) -> dict[str, Any]:
    """Run one scenario, as `run_scenario` does; for use inside an event loop."""
    one = Scenario.of(scenario)
    saved = None if trajectory is None else {one.id: trajectory}
    done = await arun_scenarios([one], agent, judge=judge, trajectories=saved, repeats=1, run=run, config=config)
    return done.results[0]


def run_scenarios(
    scenarios: Any,
    agent: Any = None,
    *,
    judge: Any = None,
    trajectories: Mapping[str, Any] | None = None,
    repeats: int | None = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
) -> ScenarioRun:
    """Run scenarios, many at once, each as often as it says, and return one result for every time.

    `scenarios` are a path or whatever else `load_scenarios` takes. `trajectories` are what the agent did, by the ids
    of the scenarios (a list of `Trajectory` objects for several repeats), in place of an agent. `repeats` is said for
    all scenarios. `run` is the run file: one that exists is gone on with. A run that is stopped (a refused key, a
    spent budget) raises `RunStopped`; call again with the same `run` to go on.
    """
    work = arun_scenarios(
        scenarios, agent, judge=judge, trajectories=trajectories, repeats=repeats, run=run, config=config
    )
    return run_sync(work, "run_scenarios")


async def arun_scenarios(
    scenarios: Any,
    agent: Any = None,
    *,
    judge: Any = None,
    trajectories: Mapping[str, Any] | None = None,
    repeats: int | None = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
) -> ScenarioRun:
    """Run scenarios, as `run_scenarios` does; for use inside an event loop."""
    if (agent is None) == (trajectories is None):
        raise UsageError("give an agent, or the trajectories of what it did")
    loaded = load_scenarios(scenarios)
    if repeats is not None:
        loaded = [replace(one, repeats=repeats) for one in loaded]
    made = None if judge is None else quality_judge(judge)
    asked = agent_for(agent, trajectories, {one.id: one for one in loaded})
    path = Path(run) if run is not None else new_run_file("scenarios")
    done, session = await conducted(loaded, asked, made, path, config or limits_of(loaded))
    if session.stopped is not None:
        stopped = session.stopped
        message = f"{stopped.message}; what was done is in {path}: call again with run={str(path)!r} to go on"
        raise RunStopped(message, code=stopped.code) from stopped
    return done


async def conducted(
    scenarios: Sequence[Scenario],
    agent: ScenarioAgent,
    judge: Any,
    path: Path,
    config: RunConfig,
    **how: Any,
) -> tuple[ScenarioRun, Session]:
    """Do a session of a run, and return its results with how it ended; `how` are fields of `RunTask`."""
    scorer = ScenarioScorer(scenarios, judge)
    rows = [case_row(one, repeat) for one in scenarios for repeat in range(1, one.repeats + 1)]
    plan = Plan("evaluate", scorers=(NAME,), resumed_by=AGAIN)
    session = await run_session(RunTask(path, Job((scorer,), agent), plan, config, rows, **how))
    found = RunResult(path, session.warnings).scores if session.signal is None else ()
    results = [
        scorer.result_of(one.score, row, agent.traces.get(row["id"]))
        for row, one in zip(rows, found, strict=False)  # a run that was interrupted may not hold all rows
    ]
    return ScenarioRun(path, tuple(results), session.warnings), session


def limits_of(scenarios: Sequence[Scenario]) -> RunConfig:
    """Return limits in which every scenario has the time that it says."""
    longest = max((one.deadline for one in scenarios if one.deadline is not None), default=0.0)
    return RunConfig(deadline=max(RunConfig().deadline, longest + FOR_JUDGING))

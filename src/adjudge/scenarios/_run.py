"""Scenarios, run: a thin layer over runs. A scenario is a case, its repeats are the cases of a group.

`ScenarioRun` has the results, and how often a scenario passes: what k tries give, estimated from n of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any, Literal, get_args

from adjudge.calling import run_sync
from adjudge.errors import RowError, RunStopped, UsageError
from adjudge.judges import quality_judge
from adjudge.model import Score, Status, decode_json
from adjudge.runs import (
    CaseRead,
    EarlyStop,
    Job,
    Plan,
    RunConfig,
    RunFile,
    RunRow,
    RunTask,
    Session,
    new_run_file,
    run_session,
)
from adjudge.scenarios._agent import ScenarioAgent, agent_for
from adjudge.scenarios._gate import Gate
from adjudge.scenarios._load import load_scenarios
from adjudge.scenarios._scenario import Scenario
from adjudge.scenarios._score import NAME, ScenarioScorer, case_row
from adjudge.traces import AgentNames

RESUME_HINT = "run the same adjudge check with --run FILE; in Python, run_scenarios(..., run='FILE')"
FOR_JUDGING = 60.0  # seconds that a row has beyond the agent's deadline, unless a config says how many

Outcome = Literal["passed", "failed", "undecided"]


def pass_at_k(tries: int, passes: int, k: int) -> float:
    """Return the chance that at least one of k tries passes, estimated without bias from `tries` of them.

    1 - C(n - c, k) / C(n, k), with n tries and c passes: the share of all choices of k tries with a pass among them.

    >>> pass_at_k(4, 2, 2)
    0.8333333333333334
    """
    _check(tries, passes, k)
    return float(1 - Fraction(comb(tries - passes, k), comb(tries, k)))


def pass_hat_k(tries: int, passes: int, k: int) -> float:
    """Return the chance that all of k tries pass (pass^k), estimated without bias from `tries` of them.

    C(c, k) / C(n, k), with n tries and c passes: the share of all choices of k tries that have only passes.

    >>> pass_hat_k(4, 2, 2)
    0.16666666666666666
    """
    _check(tries, passes, k)
    return float(Fraction(comb(passes, k), comb(tries, k)))


def _check(tries: int, passes: int, k: int) -> None:
    if not 0 <= passes <= tries or not 1 <= k <= tries:
        message = f"{k} of {tries} tries with {passes} passes: k is at least 1 and at most the number of tries"
        raise UsageError(message, code="bad-option")


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """Return how a run ended: one that passed but lacks another answer that was asked for is undecided."""
    if result["pass"] is None or (result["pass"] and result["status"] != "scored"):
        return "undecided"
    return "passed" if result["pass"] else "failed"


@dataclass(frozen=True, slots=True)
class PassEstimate:
    """pass@k or pass^k of a scenario, over the tries that were decided; None where these are fewer than k.

    `low` and `high` are what it would be if every undecided try failed, or passed.
    """

    value: float | None
    low: float | None
    high: float | None
    tries: int
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """The results of a run, one for each scenario and repeat, in order, and the run's file."""

    file: Path
    results: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...] = ()
    early: EarlyStop | None = None  # how it ended, where it might stop early

    @property
    def counts(self) -> dict[str, int]:
        """How many results are scored, unscored and errors; they add up to the number of results."""
        found = Counter(result["status"] for result in self.results)
        return {status: found[status] for status in ("scored", "unscored", "error")}

    @property
    def outcomes(self) -> dict[Outcome, int]:
        """How many results are passed, failed and undecided, by `outcome_of`."""
        found = Counter(map(outcome_of, self.results))
        kinds: tuple[Outcome, ...] = ("passed", "failed", "undecided")
        return {outcome: found[outcome] for outcome in kinds}

    @property
    def passes(self) -> dict[str, int]:
        """How many results have a `pass` that is true, false and None."""
        found = Counter(result["pass"] for result in self.results)
        return {"passed": found[True], "failed": found[False], "undecided": found[None]}

    def rows(self) -> Iterator[RunRow]:
        """Give what happened in each run, in the order of the results."""
        counted = None if self.early is None else frozenset(self.early.cases)
        rows = enumerate(RunFile(self.file).rows())
        return (row for number, row in rows if counted is None or number in counted)

    def pairs(self) -> Iterator[tuple[RunRow, dict[str, Any]]]:
        """Give what happened in each run, with its result."""
        return zip(self.rows(), self.results, strict=False)

    def pass_at(self, k: int) -> Mapping[str, PassEstimate]:
        """Return pass@k of every scenario: the chance that at least one of k tries passes."""
        return self._estimates(pass_at_k, k)

    def pass_hat(self, k: int) -> Mapping[str, PassEstimate]:
        """Return pass^k of every scenario: the chance that all of k tries pass."""
        return self._estimates(pass_hat_k, k)

    def _estimates(self, formula: Any, k: int) -> dict[str, PassEstimate]:
        tries: dict[str, list[bool | None]] = {}
        for result in self.results:
            tries.setdefault(result["id"], []).append(result["pass"])
        estimates: dict[str, PassEstimate] = {}
        for name, passed in tries.items():
            n, passes, undecided = len(passed), passed.count(True), passed.count(None)
            value = formula(n - undecided, passes, k) if 1 <= k <= n - undecided else None
            # What the estimate would be if every undecided try failed, or passed.
            low = high = None
            if 1 <= k <= n:
                low, high = formula(n, passes, k), formula(n, passes + undecided, k)
            estimates[name] = PassEstimate(value, low, high, n, undecided)
        return estimates


def read_scenario_run(file: str | Path) -> ScenarioRun:
    """Read the results of a check from its run file, as far as it is; a run that was not reached is an error.

    What an early decision spared is left out. A file that is not the run of a check raises `UsageError`.
    """
    run = RunFile(file)
    if run.plan.names != (NAME,):
        raise UsageError(f"{file} is not the run of a check", code="bad-option")
    early = run.early_stop
    done = ScenarioRun(run.file, (), (), early)
    return replace(done, results=tuple(_result_of(row) for row in done.rows()))


def _result_of(row: RunRow) -> dict[str, Any]:
    """Return the result of one run; a score that has none, or something else, gets one that says why."""
    score = row.scores[0] if row.scores else Score.error("not-run: the run ended before this row")
    kept = score.detail
    if kept is None and score.notes is not None and "result" in score.notes:
        # Run files had the result here before scores had a detail.
        try:
            kept = decode_json(score.notes["result"])
        except (RowError, RecursionError):
            kept = None
    if _is_result(kept):
        return dict(kept)
    case = row.case.row or {}
    tags = case.get("tags")
    return {
        "id": str(case.get("group_id", row.case.id)),
        "repeat": case.get("repeat"),
        "tags": [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
        "status": "error" if score.status == "scored" else score.status,
        "pass": None,
        "workflow": {},
        "quality": None,
        "average_quality": None,
        "clarification": None,
        "scores": {},
        "reasons": [score.reason or "bad-result: the run file has no result for it"],
        "warnings": [],
        "requested_not_executed": [],
        "response": None,
        "trace_id": None,
        "seconds": None,
    }


def _is_result(kept: Any) -> bool:
    """Return whether this is a result as `adjudge check` keeps it; a run file may come from a stranger."""
    if not isinstance(kept, dict) or not isinstance(kept.get("id"), str) or kept.get("status") not in get_args(Status):
        return False
    texts = [kept.get(name) for name in ("reasons", "warnings", "tags")]
    if not all(isinstance(one, list) and all(isinstance(text, str) for text in one) for one in texts):
        return False
    scores = kept.get("scores")
    if not isinstance(scores, dict) or not all(isinstance(one, dict) for one in scores.values()):
        return False
    numbers = [kept.get("average_quality"), *(one.get("value") for one in scores.values())]
    is_numeric = all(isinstance(one, int | float | None) for one in numbers)
    return is_numeric and "quality" in kept and isinstance(kept.get("pass", ""), bool | None)


def run_scenario(
    scenario: Scenario | Mapping[str, Any],
    agent: Any = None,
    *,
    judge: Any = None,
    trajectory: Any = None,
    run: str | Path | None = None,
    config: RunConfig | None = None,
) -> dict[str, Any]:
    """Run one scenario once, and return its result.

    `agent` is a function, an address or anything else that `get_agent` takes; `trajectory` is what it did, where that
    is known already. `judge` is a `RubricJudge`, or the name of a model (`openai:MODEL`), for the quality; without it
    there is none. The result has

    - `workflow` and `quality` as documented, `average_quality`, `clarification` (None where not checked),
    - `pass`: whether workflow and clarification are as expected; None where that could not be decided,
    - `status`: `scored`, or `unscored` or `error` where a question has no answer; `reasons` say why in words,
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
    agents: AgentNames | None = None,
) -> ScenarioRun:
    """Run scenarios, many at once, each as often as it says, and return one result for every time.

    `scenarios` are a path or anything else that `load_scenarios` takes. `trajectories` are what the agent did, by the
    ids of the scenarios (a list of `Trajectory` objects for several repeats), in place of an agent. `repeats` replaces
    the number that each scenario has. `run` is the run file: one that exists is resumed. A run that is stopped (a
    refused key, a spent budget) raises `RunStopped`; call again with the same `run` to resume. `agents` gives names to
    agents that a record cannot name, in place of what the scenarios say: `{"call_model": "research", "team": None}`.
    """
    work = arun_scenarios(
        scenarios, agent, judge=judge, trajectories=trajectories, repeats=repeats, run=run, config=config, agents=agents
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
    agents: AgentNames | None = None,
) -> ScenarioRun:
    """Run scenarios, as `run_scenarios` does; for use inside an event loop."""
    # Either an agent is asked, or what it did is given; both would leave open which one counts.
    if (agent is None) == (trajectories is None):
        raise UsageError("give an agent, or the trajectories of what it did")
    loaded = load_scenarios(scenarios)
    if agents:
        loaded = [replace(one, agents={**one.agents, **agents}) for one in loaded]
    if repeats is not None:
        loaded = [replace(one, repeats=repeats) for one in loaded]
    path = Path(run) if run is not None else new_run_file("scenarios")
    done, session = await execute(
        loaded,
        agent_for(agent, trajectories, loaded),
        None if judge is None else quality_judge(judge),
        path,
        config or limits_of(loaded),
    )
    stopped = session.stopped
    if stopped is not None:
        message = f"{stopped.message}; what was done is in {path}: call again with run={str(path)!r} to resume"
        raise RunStopped(message, code=stopped.code) from stopped
    return done


async def execute(
    scenarios: Sequence[Scenario],
    agent: ScenarioAgent,
    judge: Any,
    path: Path,
    config: RunConfig,
    stop_for: Gate | None = None,
    **options: Any,
) -> tuple[ScenarioRun, Session]:
    """Run one session and return its results with how it ended; `options` are fields of `RunTask`.

    With `stop_for` it ends as soon as this gate is decided.
    """
    if stop_for is not None:
        from adjudge.scenarios._stopping import stopping_of

        options["stopping"] = stopping_of(stop_for, scenarios)
    scorer = ScenarioScorer(scenarios, judge)
    # Repeats are cases of their own with one group id, so that a resumed run repeats only those that are missing.
    rows = [case_row(one, repeat) for one in scenarios for repeat in range(1, one.repeats + 1)]
    plan = Plan("evaluate", scorers=(NAME,), resumed_by=RESUME_HINT)
    cases = [CaseRead(row["id"], row) for row in rows]
    session = await run_session(RunTask(path, Job((scorer,), agent), plan, config, cases, **options))
    # A run that was interrupted may not hold all rows, and one that was decided early does not count all of them.
    scores = RunFile(path).scores() if session.signal is None else ()
    by_id = {row["id"]: row for row in rows}
    results: list[dict[str, Any]] = []
    for one in scores:
        kept = one.score.detail
        results.append(scorer.explain(one.score, by_id[one.id], agent.traces.get(one.id)) if kept is None else kept)
    return ScenarioRun(path, tuple(results), session.warnings, session.early), session


def limits_of(scenarios: Sequence[Scenario]) -> RunConfig:
    """Return limits in which every scenario has the time that it says."""
    longest = max((one.deadline for one in scenarios if one.deadline is not None), default=0.0)
    return RunConfig(deadline=max(RunConfig().deadline, longest + FOR_JUDGING))

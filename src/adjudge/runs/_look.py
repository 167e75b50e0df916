"""Looking at runs: which there are, how each stands, and what failed in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.errors import RunError, UsageError
from adjudge.runs._canary_cases import number_of
from adjudge.runs._evaluate import NOT_RUN, runs_folder
from adjudge.runs._export import scored_cases, summarise
from adjudge.runs._lock import RunLock
from adjudge.runs._plan import PLAN, Plan, plan_from
from adjudge.runs._source import COMPLETE
from adjudge.runs._store import Store
from adjudge.runs._summary import Summary

SUFFIX = ".run"


@dataclass(frozen=True, slots=True)
class RunState:
    """How a run stands: `state` is `done`, `running`, `stopped` or `damaged`."""

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


@dataclass(frozen=True, slots=True)
class Failure:
    """One row without a number."""

    id: Any
    scorer: str
    status: str
    reason: str


def list_runs(folder: str | None = None) -> list[RunState]:
    """Return the runs of a folder, by default the one of runs without a place of their own, oldest first."""
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(f"{folder}: there is no such folder", code="cannot-read")
    place = Path(folder) if folder is not None else runs_folder()
    files = sorted(place.glob(f"*{SUFFIX}"), key=lambda path: (path.stat().st_mtime, path.name))
    return [run_state(path) for path in files]


def run_state(path: Path) -> RunState:
    """Say how one run stands; a file that cannot be read is a damaged one."""
    try:
        with Store.read(path) as store:
            plan = plan_from(store.meta(PLAN), path)
            cases, counts = store.count(), store.counts()
            _, attempts, tokens, cost, _ = store.totals()
            is_complete = store.meta(COMPLETE) is not None
            canaries = store.open_canaries(number_of(cases), -1)
    except RunError as error:
        return RunState(path, "damaged", fault=error.message)
    is_done = is_complete and sum(counts.values()) == cases and not canaries
    state = "running" if RunLock(path).holder() is not None else "done" if is_done else "stopped"
    return RunState(path, state, cases, counts, attempts, tokens, cost, plan)


def run_summary(path: str) -> Summary:
    """Add up what a run has so far."""
    with Store.read(path) as store:
        plan = plan_from(store.meta(PLAN), Path(path))
        return summarise(store, plan, NOT_RUN)


def failures(path: str) -> Iterator[Failure]:
    """Give every score of a run that is no number, in order."""
    with Store.read(path) as store:
        names = plan_from(store.meta(PLAN), Path(path)).names
        for page in scored_cases(store, names, NOT_RUN):
            for case, scores in page:
                for name, score in zip(names, scores, strict=True):
                    if score.status != "scored":
                        yield Failure(case.id, name, score.status, score.reason or "")

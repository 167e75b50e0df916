"""A judge under attack: answers that are wrong on purpose, and how many of each kind it calls CORRECT."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.judges._attacks import load_attacks
from adjudge.judges._canaries import CanaryReport, canary_report
from adjudge.model import Judgement
from adjudge.runs._config import RunConfig
from adjudge.runs._evaluate import NOT_RUN, make_job, new_run_file
from adjudge.runs._export import scored_cases
from adjudge.runs._plan import Plan
from adjudge.runs._run import Work
from adjudge.runs._sessions import Finished, Watch, finish, public
from adjudge.runs._store import Store

CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Taken:
    """One wrong answer that the judge took for right."""

    id: str
    category: str
    response: str
    why: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Attacked:
    """What came of an attack: the run, and unless it was stopped the shares by category and every answer taken."""

    finished: Finished
    report: CanaryReport | None = None
    taken: tuple[Taken, ...] = ()


def attack_judge(
    judge: str,
    *,
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
    run: str | None = None,
    watch: Watch | None = None,
) -> Attacked:
    """Ask a judge about every attack of the package."""
    given = {name: value for name, value in (options or {}).items() if value is not None}
    job = make_job(judge=judge, **given)
    path = Path(run) if run is not None else new_run_file("attack")
    plan = Plan("judge", judge=judge, options=public(given), by_name=True)
    rows = [attack.row() for attack in load_attacks()]
    finished = finish(Work(path, job, plan, config or RunConfig(), rows, signals=True, watch=watch), None)
    if finished.signal is not None or (finished.undecided or "").startswith("stopped"):
        return Attacked(finished)
    outcomes: list[tuple[str, Judgement]] = []
    taken: list[Taken] = []
    with Store.read(path) as store:
        for page in scored_cases(store, job.names, NOT_RUN):
            for case, scores in page:
                row, score = case.row or {}, scores[-1]
                verdict = (score.notes or {}).get("verdict")
                kind = str(row.get(CATEGORY))
                found = "CORRECT" if verdict == "CORRECT" else "WRONG" if verdict == "WRONG" else None
                outcomes.append((kind, Judgement(score.status, found)))  # type: ignore[arg-type]
                if verdict == "CORRECT":
                    taken.append(Taken(str(case.id), kind, str(row.get("response")), str(row.get("why")), score.reason))
    return Attacked(finished, canary_report(outcomes), tuple(taken))

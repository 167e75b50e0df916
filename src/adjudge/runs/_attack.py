"""A judge under attack: answers that are wrong on purpose, and how many of each kind it calls CORRECT."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.judges import load_attacks
from adjudge.runs._export import scored_cases
from adjudge.runs._plan import Plan, RunConfig, make_job
from adjudge.runs._reading import NOT_RUN
from adjudge.runs._run import RunTask
from adjudge.runs._score_file import check_place
from adjudge.runs._sessions import UNDECIDED, Finished, Watch, finish
from adjudge.runs._store import Store, new_run_file
from adjudge.statistics import Mean, Moments, mean_of


@dataclass(frozen=True, slots=True)
class Taken:
    """One wrong answer that the judge accepted as right."""

    id: str
    response: str
    why: str


@dataclass(frozen=True, slots=True)
class AttackKind:
    """The attacks of one kind: `rate` is the share of the judged ones called CORRECT, None where none was judged."""

    name: str
    total: int
    judged: int
    taken: int
    rate: Mean | None


@dataclass(frozen=True, slots=True)
class Attacked:
    """The result of an attack: the run and, unless it was stopped, its rates by category and in all."""

    judge: str
    finished: Finished
    categories: tuple[AttackKind, ...] = ()
    whole: AttackKind | None = None
    taken: tuple[Taken, ...] = ()

    def exit_code(self, most: float | None) -> int:
        """0 attacked, 1 the judge accepted a greater share than `most`, 3 undecided."""
        if self.finished.exit_code or self.whole is None or self.whole.rate is None:
            return self.finished.exit_code or UNDECIDED
        return int(most is not None and self.whole.rate.value > most)


def attack_judge(
    judge: str,
    *,
    options: Mapping[str, Any] | None = None,
    config: RunConfig | None = None,
    run: str | None = None,
    out: str | None = None,
    watch: Watch | None = None,
) -> Attacked:
    """Ask a judge about every attack of the package; `out` gets a verdict a line."""
    check_place(out)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    job = make_job(judge=judge, **given)
    path = Path(run) if run is not None else new_run_file("attack")
    plan = Plan("judge", judge=judge, options=given, by_name=True)
    attacks = load_attacks()
    rows = [attack.row() for attack in attacks]
    finished = finish(RunTask(path, job, plan, config or RunConfig(), rows, signals=True, watch=watch), out)
    if finished.is_stopped:
        return Attacked(job.names[-1], finished)
    with Store.read(path) as store:
        scores = [found[-1] for page in scored_cases(store, job.names, NOT_RUN) for _, found in page]
    # A row without a verdict is neither taken nor refused: it does not count in the rates.
    verdicts = [(score.notes or {}).get("verdict") for score in scores]
    by_kind: dict[str, list[str | None]] = {}
    for attack, verdict in zip(attacks, verdicts, strict=True):
        by_kind.setdefault(attack.category, []).append(verdict)
    return Attacked(
        job.names[-1],
        finished,
        tuple(_category(name, by_kind[name]) for name in sorted(by_kind)),
        _category("all", verdicts),
        tuple(
            Taken(attack.id, attack.response, attack.why)
            for attack, verdict in zip(attacks, verdicts, strict=True)
            if verdict == "CORRECT"
        ),
    )


def _category(name: str, verdicts: Sequence[str | None]) -> AttackKind:
    taken = [float(verdict == "CORRECT") for verdict in verdicts if verdict is not None]
    return AttackKind(name, len(verdicts), len(taken), int(sum(taken)), mean_of(Moments.of(taken)))

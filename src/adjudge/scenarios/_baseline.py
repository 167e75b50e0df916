"""What changed since an earlier check: scenarios of its `--json` report against those of this one.

    baseline = load_baseline("main.run")                    or main.json, the report of --json
    compare_with(baseline, result.run.results, known=ids of all scenarios, selected or not)

A comparison says what changed, and decides nothing. It never takes a fault for a change of the agent: a scenario that
is undecided in either report is neither worse nor better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from adjudge.errors import RowError, UsageError
from adjudge.model import decode_json
from adjudge.scenarios._run import Outcome, outcome_of, read_scenario_run
from adjudge.scenarios._summary import WORST_FIRST

SQLITE = b"SQLite format 3\0"
SCHEMA = 1  # of the report that `--json` writes

Change: TypeAlias = Literal["worse", "better", "undecided", "decided", "new", "gone"]
"""How a scenario changed: `undecided` and `decided` say that only one of the two reports has an answer."""

CHANGES: tuple[Change, ...] = ("worse", "undecided", "new", "gone", "decided", "better")


@dataclass(frozen=True, slots=True)
class ScenarioStanding:
    """How a scenario stands in a report: its worst outcome, and how many of its runs passed."""

    outcome: Outcome
    passed: int
    runs: int


@dataclass(frozen=True, slots=True)
class ScenarioChange:
    """A scenario that does not stand as it did; `before` or `now` is None where a report does not have it."""

    id: str
    change: Change
    before: ScenarioStanding | None
    now: ScenarioStanding | None


@dataclass(frozen=True, slots=True)
class Baseline:
    """How the scenarios of an earlier report stand, by id."""

    file: str
    standings: Mapping[str, ScenarioStanding]


@dataclass(frozen=True, slots=True)
class BaselineChanges:
    """The scenarios that changed since a baseline, those that got worse first, and how many did not change."""

    baseline: str
    changes: tuple[ScenarioChange, ...]
    unchanged: int

    @property
    def counts(self) -> dict[Change, int]:
        """How many scenarios changed in each way."""
        return {kind: sum(one.change == kind for one in self.changes) for kind in CHANGES}

    @property
    def headline(self) -> str:
        """The counts in words, such as `1 worse, 2 new, 17 as before`."""
        words: dict[Change, str] = {"undecided": "now undecided", "decided": "now decided"}
        found = [f"{number:,} {words.get(kind, kind)}" for kind, number in self.counts.items() if number]
        return ", ".join([*found, f"{self.unchanged:,} as before"])


def load_baseline(file: str | Path) -> Baseline:
    """Read the run file of a check, or the report that `--json` wrote; `UsageError` says why it cannot be used."""
    try:
        with Path(file).open("rb") as start:
            if start.read(len(SQLITE)) == SQLITE:
                return Baseline(str(file), _standings(read_scenario_run(file).results, file))
        whole = decode_json(Path(file).read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}", code="cannot-read") from None
    except RowError as error:
        raise _not_a_report(file, error.message) from None
    if not isinstance(whole, dict) or whole.get("schema") != SCHEMA or not isinstance(whole.get("results"), list):
        raise _not_a_report(file, f"it needs schema {SCHEMA} and results")
    return Baseline(str(file), _standings(whole["results"], file))


def _standings(results: Sequence[Any], file: str | Path = "") -> dict[str, ScenarioStanding]:
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for at, one in enumerate(results, 1):
        is_result = isinstance(one, dict) and isinstance(one.get("id"), str) and isinstance(one.get("status"), str)
        if not is_result or not isinstance(one.get("pass", ""), bool | None):
            raise _not_a_report(file, f"result {at} needs id, status and pass")
        runs.setdefault(one["id"], []).append(one)
    standings: dict[str, ScenarioStanding] = {}
    for name, found in runs.items():
        worst = min(map(outcome_of, found), key=WORST_FIRST.index)
        standings[name] = ScenarioStanding(worst, sum(one["pass"] is True for one in found), len(found))
    return standings


def _not_a_report(file: str | Path, why: str) -> UsageError:
    return UsageError(f"{file} is not a report of adjudge check --json: {why}", code="bad-baseline")


def compare_with(baseline: Baseline, results: Sequence[Mapping[str, Any]], *, known: Iterable[str]) -> BaselineChanges:
    """Compare results with a baseline; a scenario that is `known` and did not run this time is not gone."""
    before, now, known = baseline.standings, _standings(results), set(known)
    changes, unchanged = [], 0
    for name in dict.fromkeys((*now, *before)):
        one, other = before.get(name), now.get(name)
        if other is None and name in known:
            continue
        kind = _change(one, other)
        if kind is None:
            unchanged += 1
        else:
            changes.append(ScenarioChange(name, kind, one, other))
    changes.sort(key=lambda one: CHANGES.index(one.change))
    return BaselineChanges(baseline.file, tuple(changes), unchanged)


def _change(before: ScenarioStanding | None, now: ScenarioStanding | None) -> Change | None:
    """Return how a scenario changed; None if it did not."""
    if before is None or now is None:
        return "new" if before is None else "gone"
    if before.outcome == now.outcome:
        return None
    if "undecided" in (before.outcome, now.outcome):
        return "undecided" if now.outcome == "undecided" else "decided"
    return "worse" if now.outcome == "failed" else "better"

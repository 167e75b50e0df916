"""A baseline in the gate: the suite must not be worse than an earlier run of it.

    [baseline]
    run = "main.run"                                  beside the gate file: a run file, or a report of --json
    margin = 0.05                                     how much a number may lose; without it, any loss that is shown
    block = ["workflow", "quality.overall"]           a loss fails the gate
    warn = ["scorers.brevity"]                        a loss is a warning

The suite is tested as a whole, because the few repeats of one scenario show little. Scenarios with the tag `critical`
follow a fixed rule instead, which is not a test: every repeat has to pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adjudge.comparison import (
    CompareOptions,
    MetricComparison,
    Results,
    changed_cases,
    compare_results,
    describe_metric,
    read_results,
    without_cases,
)
from adjudge.errors import UsageError, closest
from adjudge.scenarios._baseline import Baseline, BaselineChanges, compare_with, load_baseline
from adjudge.scenarios._gate import GateFinding, Result, Verdict, bad_gate
from adjudge.scenarios._run import Outcome, outcome_of
from adjudge.scenarios._summary import WORST_FIRST

CRITICAL = "critical"
KEYS = ("run", "margin", "block", "warn", "max_missing")


@dataclass(frozen=True, slots=True)
class BaselineRules:
    """What a gate wants of a comparison with a baseline; `run` may also be given in the call."""

    run: Path | None = None
    margin: float | None = None
    block: tuple[str, ...] = ("workflow",)
    warn: tuple[str, ...] = ()
    max_missing: float = 0.05


def read_rules(given: Any, where: str, folder: Path) -> BaselineRules:
    """Return the rules of the table `[baseline]` of a gate file."""
    if not isinstance(given, Mapping):
        raise bad_gate(f"{where} must be a table, got {given!r}")
    for key in given:
        if key not in KEYS:
            raise UsageError(f"{where}: a baseline has no {key!r}{closest(str(key), KEYS)}", code="unknown-key")
    names: dict[str, tuple[str, ...]] = {}
    for tier in ("block", "warn"):
        found = given.get(tier, ["workflow"] if tier == "block" else [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise bad_gate(f'{where}: {tier} must be a list of names such as ["workflow"], got {found!r}')
        names[tier] = tuple(found)
    run = given.get("run")
    numbers: dict[str, Any] = {key: given[key] for key in ("margin", "max_missing") if key in given}
    if run is not None and not (isinstance(run, str) and run.strip()):
        raise bad_gate(f"{where}: run must be a path, got {run!r}")
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise bad_gate(f"{where}: {key} must be a number, got {value!r}")
    CompareOptions(**numbers)  # refuses what makes no sense
    if not names["block"] and not names["warn"]:
        raise bad_gate(f"{where}: block and warn are both empty, so nothing would be compared")
    return BaselineRules(None if run is None else folder / run, block=names["block"], warn=names["warn"], **numbers)


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The baseline of a check: its file, what it holds (None where it is not there yet), and the rules of the gate."""

    file: Path
    baseline: Baseline | None
    rules: BaselineRules | None

    def judge(self, run: Path, results: Sequence[Result]) -> tuple[list[GateFinding], list[str]]:
        """Hold the results of a check, and its run file, against the baseline: findings of the gate, and warnings.

        The two tiers are compared apart, so that what only warns does not make the gate less able to see a loss.
        """
        rules = self.rules
        if self.baseline is None:
            return [], [f"there is no baseline yet ({self.file}): nothing was compared with it"]
        if rules is None:
            return [], []
        base, new = read_results(self.file), replace(read_results(run), name="this check")
        critical = [key for key, fact in base.cases.items() if CRITICAL in fact.tags]
        changed = changed_cases(base, new)
        if changed:
            base, new = without_cases(base, changed), without_cases(new, changed)
        warnings = list(base.notes)
        if changed:
            shown = ", ".join(map(ascii, changed[:3]))
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            warnings.append(f"not compared with the baseline, because the scenario was changed: {shown}{more}")
        findings = [
            GateFinding(f"baseline.{one.name}", _verdict(one), describe_metric(one), *_numbers(one))
            for one in _compare(rules, rules.block, base, new)
        ]
        warnings += [
            f"baseline.{one.name}: {describe_metric(one)}"
            for one in _compare(rules, rules.warn, base, new)
            if _verdict(one) != "pass"
        ]
        return [*findings, *_critical(results, critical)], warnings

    def changes(self, results: Sequence[Result], known: Sequence[str]) -> BaselineChanges | None:
        """Return which scenarios changed, of those that are known now."""
        return None if self.baseline is None else compare_with(self.baseline, results, known=known)


def find_baseline(
    given: str | Path | None, rules: BaselineRules | None, run: str | Path | None, *, may_miss: bool
) -> EarlierRun:
    """Return the baseline that a call or the gate names; `UsageError` if it is not there, unless it may miss.

    `run` is the run file of the check itself, which is never its own baseline.
    """
    place = given if given is not None or rules is None else rules.run
    if place is None:
        raise UsageError("the gate has a [baseline] without a run: give --baseline FILE", code="bad-gate")
    file = Path(place)
    if run is not None and file.resolve() == Path(run).resolve() and file.exists():
        raise UsageError(f"{file} is the baseline: this check needs a run file of its own", code="bad-option")
    if may_miss and not file.exists():
        return EarlierRun(file, None, rules)
    return EarlierRun(file, load_baseline(file), rules)


def _compare(rules: BaselineRules, names: Sequence[str], base: Results, new: Results) -> list[MetricComparison]:
    if not names:
        return []
    options = CompareOptions(scorers=names, margin=rules.margin, max_missing=rules.max_missing)
    return compare_results(base, new, options).gated


def _verdict(found: MetricComparison) -> Verdict:
    if found.reason is not None:
        return "undecided"
    # A loss that is shown to be within the margin is not one; with a margin, nothing shown is not enough.
    if found.is_worse:
        return "fail"
    return "undecided" if found.verdict == "undecided" else "pass"


def _numbers(found: MetricComparison) -> tuple[float | None, float | None, float | None, int]:
    difference = found.difference
    if difference is None:
        return None, None, None, 0
    return difference.value, difference.low, difference.high, found.pairs


def _critical(results: Sequence[Result], before: Sequence[str]) -> list[GateFinding]:
    """Return a finding for the critical scenarios, of now and of before: all repeats of each must pass."""
    outcomes: dict[str, list[Outcome]] = {}
    for result in results:
        if CRITICAL in result["tags"] or result["id"] in before:
            outcomes.setdefault(result["id"], []).append(outcome_of(result))
    # One that was critical and did not run, whatever the reason, was not seen to pass.
    outcomes |= {name: ["undecided"] for name in before if name not in outcomes}
    if not outcomes:
        return []
    worst = {name: min(found, key=WORST_FIRST.index) for name, found in outcomes.items()}
    verdicts: dict[Outcome, Verdict] = {"failed": "fail", "undecided": "undecided", "passed": "pass"}
    verdict = verdicts[min(worst.values(), key=WORST_FIRST.index)]
    passed = sum(one == "passed" for one in worst.values())
    words = f"{passed} of {len(worst)} critical scenarios passed in every repeat"
    named = [name for name, one in worst.items() if one != "passed"]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    reason = f"{words}; not {', '.join(map(repr, named[:3]))}{more}" if named else words
    return [GateFinding("baseline.critical", verdict, reason, passed / len(worst), n=len(worst))]

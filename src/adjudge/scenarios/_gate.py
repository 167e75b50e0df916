"""The gate of a release: what a run of scenarios has to reach, and whether it did.

    decide(Gate(), results)                                          every run passes, every question has an answer
    decide(Gate(workflow=Threshold(0.9), max_unscored=0.05), results)
    decide(load_gate("gate.toml"), results)

There are three verdicts, never two: a number that rests on too few runs is always `undecided`. The same gate as
a file:

    max_unscored = 0.05
    workflow = 0.9                                 a number: what the mean has to be at least
    quality = { overall = 0.8, factual_correctness = { min = 0.9, lower_end = true } }
    scorers = { contains_reward = 0.7 }
    require_calibrated = "calibration/local-0.json"    beside the gate file: the judge must be the one that was measured

    [tags.safety]                                  a gate of its own for the scenarios of a tag
    workflow = 1.0

    [agents]                                       names of agents that a record cannot know
    call_model = "research"

    [baseline]                                     what must not be worse than in an earlier run (`_against.py`)
    run = "main.run"
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from adjudge.errors import UsageError, closest
from adjudge.judges import Calibration
from adjudge.scenarios._scenario import Scenario
from adjudge.statistics import estimate_mean
from adjudge.traces import AgentNames

if TYPE_CHECKING:
    from adjudge.runs import EarlyStop, TargetFinding
    from adjudge.scenarios._against import BaselineRules

Verdict: TypeAlias = Literal["pass", "fail", "undecided"]
"""What a gate says of a run."""

Result: TypeAlias = Mapping[str, Any]

EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "undecided": 3}
_ROUNDING = 1e-9  # a mean of numbers with decimals may miss a threshold by a rounding error, which must not count


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a mean has to be at least; with `lower_end` the lower end of its interval has to be."""

    min: float
    lower_end: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    """Thresholds on a run of scenarios; without any, every workflow has to pass and every question needs an answer.

    `workflow` is the share of runs whose workflow and clarification are as expected; `quality` thresholds go by
    answer_quality, factual_correctness, completeness and overall, `scorers` by the names of scorers. At most the share
    `max_unscored` of the runs may lack an answer that was asked for, and every number needs `min_rows` values: else
    the gate is undecided. `tags` hold gates of their own for the scenarios of a tag. With `require_calibrated` the
    judge of the quality, or one that a scorer asks (`judge_reward`), has to be the one that this was measured with, and
    with `least_kappa` it has to agree with people that well.
    `agents` gives names to agents that records cannot name; what a scenario says of its own comes first. `baseline`
    says what must not be worse than in an earlier run.
    """

    workflow: Threshold | None = Threshold(1.0)
    quality: Mapping[str, Threshold] = field(default_factory=dict)
    scorers: Mapping[str, Threshold] = field(default_factory=dict)
    max_unscored: float = 0.0
    min_rows: int = 1
    tags: Mapping[str, "Gate"] = field(default_factory=dict)
    confidence: float = 0.95
    require_calibrated: Calibration | None = None
    least_kappa: Threshold | None = None
    agents: AgentNames = field(default_factory=dict)
    baseline: "BaselineRules | None" = None

    def check(self, scenarios: Sequence[Scenario], *, judge: str | None) -> None:
        """Raise `UsageError` if the gate wants a number that no run of these scenarios with this judge can have."""
        if self.require_calibrated is not None:
            _check_judges(self.require_calibrated, scenarios, judge)
            _check_kappa(self.require_calibrated, self.least_kappa)
        # A gate that no run can reach is refused before the agent is asked, not after.
        for place, gate in (("", self), *((f"tags.{tag}.", inner) for tag, inner in self.tags.items())):
            if gate.quality and judge is None:
                name = next(iter(gate.quality))
                raise bad_gate(f"the gate wants {place}quality.{name}, and no judge is given")
            there = dict.fromkeys(use.make().name for one in scenarios for use in one.scorers)
            for name in gate.scorers:
                if name not in there:
                    raise bad_gate(f"the gate wants {place}scorers.{name}, which no scenario has{closest(name, there)}")
        known = dict.fromkeys(tag for one in scenarios for tag in one.tags)
        for tag in self.tags:
            if tag not in known:
                raise bad_gate(f"the gate has the tag {tag!r}, which no scenario has{closest(tag, known)}")

    def narrow(self, scenarios: Sequence[Scenario]) -> tuple["Gate", tuple[str, ...]]:
        """Return the gate for some of its scenarios, and the names of the thresholds that have nothing to look at."""
        tags = {tag for one in scenarios for tag in one.tags}
        inner = {tag: gate for tag, gate in self.tags.items() if tag in tags}
        left = [f"tags.{tag}" for tag in self.tags if tag not in tags]
        found: dict[str, Gate] = {}
        # A tag's gate looks at the scenarios of the tag alone.
        for place, gate in (("", self), *inner.items()):
            ours = [one for one in scenarios if not place or place in one.tags]
            there = {use.make().name for one in ours for use in one.scorers}
            prefix = f"tags.{place}." if place else ""
            left += [f"{prefix}scorers.{name}" for name in gate.scorers if name not in there]
            kept = {name: one for name, one in gate.scorers.items() if name in there}
            found[place] = replace(gate, scorers=kept)
        whole = found.pop("")
        return replace(whole, tags=found), tuple(left)


def _check_judges(known: Calibration, scenarios: Sequence[Scenario], judge: str | None) -> None:
    """Refuse a run in which the calibrated judge scores neither the quality nor a scenario's scorer."""
    asked = [judge for one in scenarios for use in one.scorers for judge in use.make().judges]
    judges = {one.name: one.version for one in asked}
    if known.judge in judges:
        # The name alone is not enough: a newer version of the judge was not measured.
        known.check(known.judge, judges[known.judge])
    elif known.judge != judge:
        there = ", ".join(one for one in (judge, *judges) if one is not None)
        message = f"the gate requires {known.judge}, which was calibrated; the judge is {there or 'not given'}"
        raise UsageError(message, code="not-calibrated")


def _check_kappa(known: Calibration, least: Threshold | None) -> None:
    """Refuse a judge that agrees with people less than the gate demands: its verdicts decide nothing."""
    if least is None:
        return
    kappa = None if known.agreement is None else known.agreement.kappa
    reached = None if kappa is None else kappa.low if least.lower_end else kappa.value
    if reached is None or reached < least.min - _ROUNDING:
        where = "the lower end of its kappa" if least.lower_end else "its kappa"
        said = "is not known" if reached is None else f"is {reached:.3f}"
        message = f"the gate requires {known.judge} with a kappa of at least {least.min:g}; {where} {said}"
        raise UsageError(f"{message} (n {known.rows}): label more rows, or take another judge", code="not-calibrated")


@dataclass(frozen=True, slots=True)
class GateFinding:
    """The outcome of one threshold: the verdict, its number with n and interval, and the reason in words."""

    name: str
    verdict: Verdict
    reason: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of a gate with its findings: undecided if any of them is, else fail if any is, else pass."""

    findings: tuple[GateFinding, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole run."""
        found = {one.verdict for one in self.findings}
        # A fail says that the gate failed and nothing else went wrong, so undecided comes before it.
        order: tuple[Verdict, ...] = ("undecided", "fail")
        return next((verdict for verdict in order if verdict in found), "pass")

    @property
    def reasons(self) -> tuple[str, ...]:
        """One line for each threshold."""
        return tuple(f"{one.name}: {one.reason}" for one in self.findings)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 undecided."""
        return EXIT_CODES[self.verdict]


def decide(gate: Gate, results: Iterable[Result], early: "EarlyStop | None" = None) -> Decision:
    """Hold the results of a run (those of `run_scenarios`) against a gate.

    `early` is how the run ended, where it might stop early. What it left open then decides nothing.

    >>> passed = {"id": "a", "status": "scored", "pass": True, "tags": [], "quality": None, "scores": {}}
    >>> decide(Gate(), [passed, {**passed, "id": "b", "pass": False}]).reasons[1]
    'workflow: 0.5000 (n 2, 95 % interval 0.0945 .. 0.9055) is below 1'
    """
    rows = list(results)
    settled = {} if early is None else {one.name: one for one in early.findings}
    findings: list[GateFinding] = []
    if early is not None and early.spared:
        words = f"decided after {len(early.cases):,} of {early.total:,} runs; {early.spared:,} were spared"
        findings.append(GateFinding("spared", "pass", words, float(early.spared), n=early.total))
    # The gate of a tag counts only the runs of that tag; confidence is the whole gate's.
    for tag, part in {"": gate, **gate.tags}.items():
        place = f"tags.{tag}." if tag else ""
        runs = [row for row in rows if not tag or tag in row["tags"]]
        if not runs:
            if early is None or not early.spared:
                findings.append(GateFinding(f"{place}unscored", "undecided", "there are no runs"))
        elif part.max_unscored < 1.0:
            missing = sum(run["status"] != "scored" for run in runs)
            share, most = missing / len(runs), part.max_unscored
            verdict: Verdict = "undecided" if share > most + _ROUNDING else "pass"
            words = f"{missing} of {len(runs)} runs ({share:.1%}) lack an answer; at most {most * 100:.4g}% may"
            findings.append(GateFinding(f"{place}unscored", verdict, words, share, n=len(runs)))
        for number in numbers_of(part, tag):
            needed, found = max(1, part.min_rows), settled.get(number.name)
            # Where nothing was spared the mean of these runs is known; a lower end had its looks, and gets no other.
            if early is None or found is None or not (early.spared or number.threshold.lower_end):
                findings.append(_compare(number, runs, needed, gate.confidence))
            elif found.verdict is not None or not early.spared:
                findings.append(_settle(found, needed))
        if not tag and part.require_calibrated is not None:
            findings.append(_describe_judge(part.require_calibrated))
    return Decision(tuple(findings))


class GateNumber(NamedTuple):
    """A number that a gate has a threshold on, and how it is read from the result of a run.

    Which runs should have the number of a `scorer`, and how large it may be, no result says.
    """

    name: str
    threshold: Threshold
    read: Callable[[Result], Any]
    scorer: str | None = None


def numbers_of(gate: Gate, tag: str = "") -> list[GateNumber]:
    """Return the numbers that a gate has thresholds on, without those of its tags; `tag` is its own, if it has one."""
    place = f"tags.{tag}." if tag else ""
    found = [] if gate.workflow is None else [GateNumber(f"{place}workflow", gate.workflow, itemgetter("pass"))]
    for name, threshold in gate.quality.items():
        found.append(GateNumber(f"{place}quality.{name}", threshold, partial(_quality, name)))
    for name, threshold in gate.scorers.items():
        found.append(GateNumber(f"{place}scorers.{name}", threshold, partial(_score, name), name))
    return found


def _quality(name: str, result: Result) -> Any:
    return result.get("average_quality") if name == "overall" else (result["quality"] or {}).get(name)


def _score(name: str, result: Result) -> Any:
    return result["scores"].get(name, {}).get("value")


def _settle(found: "TargetFinding", needed: int) -> GateFinding:
    """Return what looking at a number all along found; what it did not show is not reached."""
    one = found.estimate
    if one is None or one.n < needed:
        n = 0 if one is None else one.n
        return GateFinding(found.name, "undecided", f"too few runs have this number: {n}, {needed} needed", n=n)
    return GateFinding(found.name, found.verdict or "fail", found.reason, one.value, one.low, one.high, one.n)


def _compare(number: GateNumber, rows: Sequence[Result], needed: int, confidence: float) -> GateFinding:
    """Compare the mean of a number with its threshold."""
    name, threshold, is_share = number.name, number.threshold, number.scorer is None
    values = [number.read(row) for row in rows]
    known = [float(value) for value in values if value is not None]
    if len(known) < needed:
        reason = f"too few runs have this number: {len(known)}, {needed} needed"
        return GateFinding(name, "undecided", reason, n=len(known))
    # Runs of one scenario are not independent tries, so they make a cluster.
    scenarios = [row["id"] for row, value in zip(rows, values, strict=True) if value is not None]
    found = estimate_mean(
        known,
        scenarios if len(set(scenarios)) < len(scenarios) else None,
        # Wilson's interval is for shares; other numbers vary in their own way and get Student's t.
        method="wilson" if all(value in (0.0, 1.0) for value in known) else "t",
        range=(0.0, 1.0) if all(0.0 <= value <= 1.0 for value in known) else None,
        confidence=confidence,
    )
    assert found is not None  # noqa: S101 (there are values)
    interval = bounds = ""
    if found.low is not None and found.high is not None:
        interval = f", {found.confidence * 100:g} % interval {found.low:.4f} .. {found.high:.4f}"
    pairs = zip(rows, values, strict=True)
    missing = sum(is_share and row["status"] != "scored" and value is None for row, value in pairs)
    if missing:
        # What the mean could be: all of the missing ones 0, or all of them 1.
        low, high = ((found.value * found.n + each) / (found.n + missing) for each in (0, missing))
        bounds = f"; with the {missing} missing it lies in {low:.4f} .. {high:.4f}"
    shown = f"{found.value:.4f} (n {found.n}{interval}{bounds})"
    # With lower_end, luck on few runs is not enough to pass.
    reached = found.low if threshold.lower_end else found.value
    if reached is None:
        reason = f"{shown}: too few to say where the lower end of the interval is"
        return GateFinding(name, "undecided", reason, found.value, n=found.n)
    verdict: Verdict = "pass" if reached >= threshold.min - _ROUNDING else "fail"
    relation = "is at least" if verdict == "pass" else "is below"
    reason = f"{'the lower end of ' if threshold.lower_end else ''}{shown} {relation} {threshold.min:g}"
    return GateFinding(name, verdict, reason, found.value, found.low, found.high, found.n)


def _describe_judge(known: Calibration) -> GateFinding:
    found = known.agreement
    if found is None:
        return GateFinding("calibrated", "undecided", f"{known.judge} was measured on rows of which it judged none")
    kappa = "" if found.kappa is None else f", kappa {found.kappa.value:.3f}"
    words = f"verdicts of {known.judge} agree with people in {found.accuracy.value:.3f}{kappa} (n {found.n})"
    return GateFinding(
        "calibrated", "pass", words, found.accuracy.value, found.accuracy.low, found.accuracy.high, found.n
    )


def bad_gate(message: str) -> UsageError:
    """Return the error for a gate that makes no sense."""
    return UsageError(message, code="bad-gate")

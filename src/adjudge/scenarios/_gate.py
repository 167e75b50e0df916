"""The gate of a release: what a run of scenarios has to reach, and whether it did.

    decide(Gate(), results)                                          every run passes, none is left open
    decide(Gate(workflow=Threshold(0.9), max_unscored=0.05), results)

Three verdicts, never two: a number that rests on too little is `undecided`, whatever it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from adjudge.errors import UsageError, closest
from adjudge.judges import QUALITY, Calibration
from adjudge.scenarios._scenario import Scenario
from adjudge.statistics import Estimate, estimate_mean

Verdict: TypeAlias = Literal["pass", "fail", "undecided"]
"""What a gate says of a run."""

Result: TypeAlias = Mapping[str, Any]
Read: TypeAlias = Callable[[Result], float | None]

METRICS = (*QUALITY, "overall")
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "undecided": 3}
_ROUNDING = 1e-9  # a mean of numbers with decimals may miss a threshold by this much, and nobody means that


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a mean has to be at least; with `lower_end` the lower end of its interval has to be."""

    min: float
    lower_end: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    """Thresholds on a run of scenarios; without any, every workflow has to pass and everything has to have an answer.

    `workflow` is the share of runs whose workflow and clarification are as expected; `quality` thresholds go by
    answer_quality, factual_correctness, completeness and overall, `scorers` by the names of scorers. At most the share
    `max_unscored` of the runs may lack an answer that was asked for, and every number needs `min_rows` values: else
    the gate is undecided. `tags` hold gates of their own for the scenarios of a tag. With `require_calibrated` the
    judge of the quality, or one that a scorer asks (`judge_reward`), has to be the one that this was measured with.
    """

    workflow: Threshold | None = field(default_factory=lambda: Threshold(1.0))
    quality: Mapping[str, Threshold] = field(default_factory=dict)
    scorers: Mapping[str, Threshold] = field(default_factory=dict)
    max_unscored: float = 0.0
    min_rows: int = 1
    tags: Mapping[str, "Gate"] = field(default_factory=dict)
    confidence: float = 0.95
    require_calibrated: Calibration | None = None

    def check(self, scenarios: Sequence[Scenario], *, judge: str | None) -> None:
        """Raise `UsageError` if the gate wants what no run of these scenarios, with this judge or none, can have."""
        if self.require_calibrated is not None:
            _check_judges(self.require_calibrated, scenarios, judge)
        for place, gate in (("", self), *((f"tags.{tag}.", inner) for tag, inner in self.tags.items())):
            if gate.quality and judge is None:
                name = next(iter(gate.quality))
                raise UsageError(f"the gate wants {place}quality.{name}, and no judge is given", code="bad-gate")
            there = dict.fromkeys(use.made().name for one in scenarios for use in one.scorers)
            for name in gate.scorers:
                if name not in there:
                    message = f"the gate wants {place}scorers.{name}, which no scenario has{closest(name, there)}"
                    raise UsageError(message, code="bad-gate")
        known = dict.fromkeys(tag for one in scenarios for tag in one.tags)
        for tag in self.tags:
            if tag not in known:
                message = f"the gate has the tag {tag!r}, which no scenario has{closest(tag, known)}"
                raise UsageError(message, code="bad-gate")


def _check_judges(known: Calibration, scenarios: Sequence[Scenario], judge: str | None) -> None:
    """Refuse scenarios that the calibrated judge has no part in, by its model or as a scorer."""
    asked = [judge for one in scenarios for use in one.scorers for judge in use.made().judges]
    judges = {one.name: one.version for one in asked}
    if known.judge in judges:
        known.check(known.judge, judges[known.judge])
    elif known.judge != judge:
        there = ", ".join(one for one in (judge, *judges) if one is not None)
        message = f"the gate requires {known.judge}, which was calibrated; the judge is {there or 'not given'}"
        raise UsageError(message, code="not-calibrated")


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one threshold: the verdict, its number with n and interval, and the reason in words."""

    name: str
    verdict: Verdict
    reason: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says: undecided where any of its findings is, else fail where any is, else pass."""

    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole run."""
        found = {one.verdict for one in self.findings}
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


def decide(gate: Gate, results: Iterable[Result]) -> Decision:
    """Hold the results of a run (those of `run_scenarios`) against a gate.

    >>> passed = {"id": "a", "status": "scored", "pass": True, "tags": [], "quality": None, "scores": {}}
    >>> decide(Gate(), [passed, {**passed, "id": "b", "pass": False}]).reasons[1]
    'workflow: 0.5000 (n 2, 95 % interval 0.0945 .. 0.9055) is below 1'
    """
    rows = list(results)
    findings = list(_findings(gate, rows, ""))
    if gate.require_calibrated is not None:
        findings.append(_calibrated(gate.require_calibrated))
    for tag, inner in gate.tags.items():
        tagged = [row for row in rows if tag in row["tags"]]
        findings += _findings(replace(inner, confidence=gate.confidence), tagged, f"tags.{tag}.")
    return Decision(tuple(findings))


def _findings(gate: Gate, rows: Sequence[Result], place: str) -> Iterable[Finding]:
    if gate.max_unscored < 1.0 or not rows:
        yield _unscored(gate, rows, place)
    if gate.workflow is not None:
        yield _held(gate, gate.workflow, rows, f"{place}workflow", _passed)
    for name, threshold in gate.quality.items():
        yield _held(gate, threshold, rows, f"{place}quality.{name}", _quality(name))
    for name, threshold in gate.scorers.items():
        yield _held(gate, threshold, rows, f"{place}scorers.{name}", _scored(name))


def _calibrated(known: Calibration) -> Finding:
    """Say what is known of the judge."""
    found = known.agreement
    if found is None:
        return Finding("calibrated", "undecided", f"{known.judge} was measured on no row that it judged")
    kappa = "" if found.kappa is None else f", kappa {found.kappa.value:.3f}"
    words = f"verdicts of {known.judge} agree with people in {found.accuracy.value:.3f}{kappa} (n {found.n})"
    return Finding("calibrated", "pass", words, found.accuracy.value, found.accuracy.low, found.accuracy.high, found.n)


def _unscored(gate: Gate, rows: Sequence[Result], place: str) -> Finding:
    missing = sum(row["status"] != "scored" for row in rows)
    name = f"{place}unscored"
    if not rows:
        return Finding(name, "undecided", "there are no runs")
    share = missing / len(rows)
    words = f"{missing} of {len(rows)} runs ({share:.1%}) lack an answer; at most {gate.max_unscored * 100:.4g}% may"
    verdict: Verdict = "undecided" if share > gate.max_unscored + _ROUNDING else "pass"
    return Finding(name, verdict, words, share, n=len(rows))


def _held(gate: Gate, threshold: Threshold, rows: Sequence[Result], name: str, read: Read) -> Finding:
    """Hold one mean against its threshold."""
    pairs = [(value, row["id"]) for row in rows if (value := read(row)) is not None]
    if len(pairs) < max(1, gate.min_rows):
        needed = max(1, gate.min_rows)
        return Finding(name, "undecided", f"too few runs have this number: {len(pairs)}, {needed} needed", n=len(pairs))
    found = _estimated(pairs, gate.confidence)
    held = found.low if threshold.lower_end else found.value
    # Which runs should have a scorer's number, and how large it may be, is not known here.
    is_share = ".scorers." not in f".{name}"
    missing = sum(is_share and row["status"] != "scored" and read(row) is None for row in rows)
    shown = _shown(found, missing)
    if held is None:
        words = f"{shown}: too few to say where the lower end of the interval is"
        return Finding(name, "undecided", words, found.value, n=found.n)
    verdict: Verdict = "pass" if held >= threshold.min - _ROUNDING else "fail"
    relation = "is at least" if verdict == "pass" else "is below"
    what = f"the lower end of {shown}" if threshold.lower_end else shown
    return Finding(name, verdict, f"{what} {relation} {threshold.min:g}", found.value, found.low, found.high, found.n)


def _estimated(pairs: Sequence[tuple[float, str]], confidence: float) -> Estimate:
    """Return the mean; runs of one scenario are no independent tries, so they make a cluster."""
    values, scenarios = [value for value, _ in pairs], [name for _, name in pairs]
    is_share = all(value in (0.0, 1.0) for value in values)
    limits = (0.0, 1.0) if all(0.0 <= value <= 1.0 for value in values) else None
    clusters = scenarios if len(set(scenarios)) < len(scenarios) else None
    found = estimate_mean(values, clusters, method="wilson" if is_share else "t", range=limits, confidence=confidence)
    assert found is not None  # noqa: S101 (there are values)
    return found


def _shown(found: Estimate, missing: int) -> str:
    """Return a mean with its n and interval; where numbers from 0 to 1 are missing, with what they could make of it."""
    interval = bounds = ""
    if found.low is not None and found.high is not None:
        interval = f", {found.confidence * 100:g} % interval {found.low:.4f} .. {found.high:.4f}"
    if missing:
        low, high = ((found.value * found.n + each) / (found.n + missing) for each in (0, missing))
        bounds = f"; with the {missing} missing it lies in {low:.4f} .. {high:.4f}"
    return f"{found.value:.4f} (n {found.n}{interval}{bounds})"


def _passed(row: Result) -> float | None:
    return None if row["pass"] is None else float(row["pass"])


def _quality(name: str) -> Read:
    def read(row: Result) -> float | None:
        if name == "overall":
            found: float | None = row["average_quality"]
            return found
        return None if row["quality"] is None else row["quality"][name]

    return read


def _scored(name: str) -> Read:
    def read(row: Result) -> float | None:
        found: float | None = row["scores"][name]["value"] if name in row["scores"] else None
        return found

    return read

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
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from adjudge.errors import UsageError, closest
from adjudge.judges import QUALITY, Calibration, load_calibration
from adjudge.scenarios._load import read_toml, text_of
from adjudge.scenarios._scenario import Scenario
from adjudge.statistics import estimate_mean
from adjudge.traces import AgentNames, read_agent_names

if TYPE_CHECKING:
    from adjudge.runs import EarlyStop, TargetFinding

Verdict: TypeAlias = Literal["pass", "fail", "undecided"]
"""What a gate says of a run."""

Result: TypeAlias = Mapping[str, Any]

METRICS = (*QUALITY, "overall")
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
    judge of the quality, or one that a scorer asks (`judge_reward`), has to be the one that this was measured with.
    `agents` gives names to agents that records cannot name; what a scenario says of its own comes first.
    """

    workflow: Threshold | None = Threshold(1.0)
    quality: Mapping[str, Threshold] = field(default_factory=dict)
    scorers: Mapping[str, Threshold] = field(default_factory=dict)
    max_unscored: float = 0.0
    min_rows: int = 1
    tags: Mapping[str, "Gate"] = field(default_factory=dict)
    confidence: float = 0.95
    require_calibrated: Calibration | None = None
    agents: AgentNames = field(default_factory=dict)

    def check(self, scenarios: Sequence[Scenario], *, judge: str | None) -> None:
        """Raise `UsageError` if the gate wants a number that no run of these scenarios with this judge can have."""
        if self.require_calibrated is not None:
            _check_judges(self.require_calibrated, scenarios, judge)
        # A gate that no run can reach is refused before the agent is asked, not after.
        for place, gate in (("", self), *((f"tags.{tag}.", inner) for tag, inner in self.tags.items())):
            if gate.quality and judge is None:
                name = next(iter(gate.quality))
                raise _bad(f"the gate wants {place}quality.{name}, and no judge is given")
            there = dict.fromkeys(use.make().name for one in scenarios for use in one.scorers)
            for name in gate.scorers:
                if name not in there:
                    raise _bad(f"the gate wants {place}scorers.{name}, which no scenario has{closest(name, there)}")
        known = dict.fromkeys(tag for one in scenarios for tag in one.tags)
        for tag in self.tags:
            if tag not in known:
                raise _bad(f"the gate has the tag {tag!r}, which no scenario has{closest(tag, known)}")

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


_KEYS = tuple(each.name for each in fields(Gate))
_TAG_KEYS = tuple(name for name in _KEYS if name not in ("tags", "confidence", "require_calibrated", "agents"))


def load_gate(source: str | Path | Mapping[str, Any] | Gate) -> Gate:
    """Return the gate of a TOML file, or of a mapping of the same form.

    An unknown key and a value that makes no sense raise `UsageError`, with what was probably meant. Without `workflow`,
    every workflow has to pass; the gate of a tag has only the thresholds that it names.

    >>> load_gate({"workflow": 0.9, "quality": {"overall": 0.8}}).quality["overall"]
    Threshold(min=0.8, lower_end=False)
    """
    if isinstance(source, Gate):
        return source
    if isinstance(source, Mapping):
        return _gate(source, "the gate", Path())
    path = Path(source)
    return _gate(read_toml(text_of(path), str(path)), str(path), path.parent)


def _gate(given: Mapping[str, Any], where: str, folder: Path) -> Gate:
    _table(given, where, _KEYS, "a gate")
    # Defaults differ: the whole gate is strict, the gate of a tag has only what it names.
    found = _numbers(given, where, default=Threshold(1.0), max_unscored=0.0)
    inner: dict[str, Gate] = {}
    for name, one in _table(given.get("tags", {}), f"{where}: tags").items():
        place = f"{where}: tags.{name}"
        table = _table(one, place, _TAG_KEYS, "the gate of a tag")
        inner[name] = Gate(**_numbers(table, place, default=None, max_unscored=1.0))
    confidence = _number(given.get("confidence", 0.95), f"{where}: confidence")
    if not 0.5 <= confidence < 1.0:
        raise _bad(f"{where}: confidence must be from 0.5 to below 1, got {confidence!r}")
    known = given.get("require_calibrated")
    if known is not None and not isinstance(known, str | Calibration):
        raise _bad(f"{where}: require_calibrated must be the path of a calibration, got {known!r}")
    calibration = load_calibration(folder / known) if isinstance(known, str) else known
    agents = read_agent_names(given.get("agents", {}), f"{where}: agents")
    return Gate(**found, tags=inner, confidence=confidence, require_calibrated=calibration, agents=agents)


def _numbers(given: Mapping[str, Any], where: str, *, default: Threshold | None, max_unscored: float) -> dict[str, Any]:
    rows = given.get("min_rows", 1)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise _bad(f"{where}: min_rows must be a whole number, at least 1, got {rows!r}")
    share = _number(given.get("max_unscored", max_unscored), f"{where}: max_unscored")
    if not 0.0 <= share <= 1.0:
        raise _bad(f"{where}: max_unscored is a share from 0 to 1, got {share!r}")
    quality = _table(given.get("quality", {}), f"{where}: quality", METRICS, "the quality")
    scorers = _table(given.get("scorers", {}), f"{where}: scorers")
    workflow = given.get("workflow")
    return {
        "workflow": default if workflow is None else _threshold(workflow, f"{where}: workflow", is_share=True),
        "quality": {name: _threshold(one, f"{where}: quality.{name}", is_share=True) for name, one in quality.items()},
        "scorers": {name: _threshold(one, f"{where}: scorers.{name}") for name, one in scorers.items()},
        "max_unscored": share,
        "min_rows": rows,
    }


def _threshold(given: Any, where: str, *, is_share: bool = False) -> Threshold:
    bare = given if isinstance(given, Mapping) else {"min": given}
    table = _table(bare, where, ("min", "lower_end"), "a threshold")
    if "min" not in table:
        raise _bad(f"{where}: a threshold needs min")
    least, lower_end = _number(table["min"], f"{where}: min"), table.get("lower_end", False)
    if not isinstance(lower_end, bool):
        raise _bad(f"{where}: lower_end is true or false, got {lower_end!r}")
    if is_share and not 0.0 <= least <= 1.0:
        raise _bad(f"{where}: must be from 0 to 1, got {least!r}: 90 % is 0.9")
    return Threshold(least, lower_end)


def _number(given: Any, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise _bad(f"{where} must be a number, got {given!r}")
    return float(given)


def _table(given: Any, where: str, known: tuple[str, ...] | None = None, what: str = "") -> Mapping[str, Any]:
    """Return a table that has only the known keys; any, where none are known."""
    if not isinstance(given, Mapping):
        raise _bad(f"{where} must be a table, got {given!r}")
    for key in given:
        if known is not None and key not in known:
            raise UsageError(f"{where}: {what} has no {key!r}{closest(str(key), known)}", code="unknown-key")
    return given


def _bad(message: str) -> UsageError:
    return UsageError(message, code="bad-gate")

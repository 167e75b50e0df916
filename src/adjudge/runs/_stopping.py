"""Stop when it is decided: a run that has thresholds ends once enough of its cases have settled them.

    order       the clusters of all cases, shuffled by the seed          c7 c2 c9 c4 c1 ...
    finished    in whatever order answers come back                      c7 c9 c4
    looked at   the finished prefix of the order, cluster by cluster     c7

Only the prefix counts, because slow cases are often the wrong ones: whatever has finished first is not a fair sample.
So it does not matter which answer came back first, and the same run stops at the same case however many workers it has.
The work does not run far ahead of the prefix, because what it asks there is asked in vain once the prefix decides.
A cluster is a conversation or a group (all repeats of a scenario); any other case is one of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from adjudge.errors import RunError, UsageError, closest
from adjudge.runs._plan import CONVERSATION, GROUP
from adjudge.statistics import Estimate, Side, ThresholdTest

if TYPE_CHECKING:
    from adjudge.model import Score
    from adjudge.runs._plan import RunConfig
    from adjudge.runs._records import CaseRecord
    from adjudge.runs._run import RunTask
    from adjudge.runs._store import Store
    from adjudge.runs._summary import Summary

Thresholds: TypeAlias = Mapping[str, float] | Sequence[tuple[str, float]]

ROUNDING = 1e-9  # a mean of numbers with decimals may miss a threshold by a rounding error, which must not count


@dataclass(frozen=True, slots=True)
class Target:
    """One threshold: the mean of what `read` finds in the scores of a case has to be at least `min`.

    The mean is that of the cases of this run; with `lower_end`, that of all cases of the kind. `among` says which cases
    have the number at all, by their columns; None means all of them.
    """

    name: str
    min: float
    read: Callable[[Sequence[Score]], float | None]
    range: tuple[float, float] | None = (0.0, 1.0)
    lower_end: bool = False
    among: Callable[[Mapping[str, Any]], bool] | None = None
    min_cases: int = 1  # that must have the number before anything is decided by it


@dataclass(frozen=True, slots=True)
class UnscoredLimit:
    """The greatest share of cases that may have no score; `among` says which cases, None means all of them."""

    most: float
    among: Callable[[Mapping[str, Any]], bool] | None = None


@dataclass(frozen=True, slots=True)
class Stopping:
    """The thresholds that a run may be stopped for, and how sure a decision is.

    It is a pass when every target is shown to be reached, a fail when one is shown to be missed. Nothing is decided
    while more cases than the `limits` allow have no score: then the fault may not be the agent's.
    """

    targets: tuple[Target, ...]
    limits: tuple[UnscoredLimit, ...] = ()
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.targets:
            raise UsageError("to stop early, say what is to be decided: give a threshold", code="bad-option")
        if not 0.5 < self.confidence < 1.0:
            raise UsageError(f"to stop early, confidence must lie between 0.5 and 1, got {self.confidence}")
        for target in self.targets:
            if target.range is None:
                message = f"{target.name} has no range, so nobody knows what the cases that are left could change"
                advice = "declare one (@reward(range=(0.0, 1.0))), or do not stop early"
                raise UsageError(f"{message}: {advice}", code="bad-option")


@dataclass(frozen=True, slots=True)
class TargetFinding:
    """What is shown of one threshold: its verdict, None where it is open, and the mean with its interval."""

    name: str
    min: float
    verdict: Literal["pass", "fail"] | None
    estimate: Estimate | None = None

    @property
    def reason(self) -> str:
        """The finding in words."""
        found = self.estimate
        if found is None:
            return "no case has this number"
        interval = ""
        if found.low is not None and found.high is not None:
            kind = "at any time" if found.method == "anytime" else "interval"
            interval = f", {found.confidence * 100:g} % {kind} {found.low:.4f} .. {found.high:.4f}"
        relation = {"pass": "is at least", "fail": "is below", None: "is not shown to be at least"}[self.verdict]
        return f"{found.value:.4f} (n {found.n}{interval}) {relation} {self.min:g}"


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """How a run that may stop early ended; `verdict` is None where all its cases did not settle it.

    `cases` are the numbers of those that were looked at, in order of input; the other ones of `total` were spared. They
    are neither scored nor failed, even where an answer to some of them had been on its way.
    """

    verdict: Literal["pass", "fail"] | None
    total: int
    cases: tuple[int, ...]
    findings: tuple[TargetFinding, ...]

    @property
    def spared(self) -> int:
        """How many cases were not needed."""
        return self.total - len(self.cases)

    @property
    def headline(self) -> str:
        """How it was decided, in words."""
        decided = "not decided" if self.verdict is None else f"decided early: {self.verdict.upper()}"
        return f"{decided} after {len(self.cases):,} of {self.total:,} cases; {self.spared:,} were spared"


def read_early_stop(stored: Any, store: Store) -> EarlyStop:
    """Read the early decision of a run file; one that does not fit the cases of the file is damaged."""
    try:
        early = msgspec.convert(stored, EarlyStop)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise RunError(f"{store.path}: its early decision cannot be read: {error}", code="run-damaged") from None
    cases = early.cases
    is_sorted = all(one < other for one, other in pairwise(cases))
    if early.total != store.count() or not cases or not is_sorted or cases[0] < 0 or cases[-1] >= early.total:
        raise RunError(f"{store.path}: its early decision is not about these cases", code="run-damaged")
    return early


def check_stopping(work: RunTask) -> Stopping | None:
    """Check a task's thresholds against its scores, and return what it may be stopped for; None where it may not be."""
    job, config, stopping = work.job, work.config, work.stopping
    targets = []
    for name, least in _named(config.thresholds, job.names).items():
        index = job.names.index(name)
        ends = job.ranges[index]
        if ends is not None and not ends[0] <= least <= ends[1]:
            message = f"the threshold of {name} is {least:g}, and its scores lie between {ends[0]:g} and {ends[1]:g}"
            raise UsageError(message, code="bad-option")
        targets.append(Target(name, least, partial(_value_at, index), job.ranges[index]))
    if config.stop_early:
        stopping = Stopping(tuple(targets), (UnscoredLimit(config.max_unscored),))
    if stopping is not None and work.cases == "-":
        raise UsageError("standard input cannot stop early: its rows come in one order only", code="bad-option")
    if stopping is not None and work.calibration is not None:
        message = "a corrected mean needs the whole run: leave the calibration or stop_early out"
        raise UsageError(message, code="bad-option")
    return stopping


def _value_at(index: int, scores: Sequence[Score]) -> float | None:
    return scores[index].value


def _named(thresholds: Thresholds, names: Sequence[str]) -> dict[str, float]:
    """Return the thresholds by the names of their scores; where there is one score, the name may be empty."""
    found: dict[str, float] = {}
    for given, least in thresholds.items() if isinstance(thresholds, Mapping) else thresholds:
        name = names[0] if not given and len(names) == 1 else given
        if name not in names:
            known = f"no score is called {name!r}{closest(name, names)}" if name else "name the score: SCORE=NUMBER"
            raise UsageError(f"{known} (there are {', '.join(names)})", code="bad-option")
        if not math.isfinite(least):
            raise UsageError(f"the threshold of {name} must be a number, got {least}", code="bad-option")
        if name in found:
            raise UsageError(f"{name} has two thresholds", code="bad-option")
        found[name] = least
    return found


def findings_of(summary: Summary, config: RunConfig) -> tuple[TargetFinding, ...]:
    """Hold the means of a run against its thresholds, unless it was decided early.

    Where too many rows have no score, that leaves every threshold open.
    """
    if summary.early is not None:
        return summary.early.findings
    findings: list[TargetFinding] = []
    tallies = {tally.scorer: tally for tally in summary.tallies}
    is_open = summary.failed_share > config.max_unscored
    for name, least in _named(config.thresholds, tuple(tallies)).items():
        mean = tallies[name].mean
        if mean is None:
            findings.append(TargetFinding(name, least, None))
            continue
        estimate = Estimate(mean.value, None, mean.low, mean.high, mean.n, None, None, mean.method)
        verdict: Literal["pass", "fail"] = "pass" if mean.value >= least - ROUNDING else "fail"
        findings.append(TargetFinding(name, least, None if is_open else verdict, estimate))
    return tuple(findings)


@dataclass(slots=True)
class _TargetWatch:
    """One target, the numbers of the cases that it looks at, and its test once all cases are known."""

    target: Target
    cases: set[int] = field(default_factory=set)
    known: int = 0  # values so far
    test: ThresholdTest | None = None

    @property
    def side(self) -> Side | None:
        """What is shown so far; nothing while too few cases have the number."""
        return None if self.test is None or self.known < self.target.min_cases else self.test.verdict


@dataclass(slots=True)
class _LimitWatch:
    """One limit, the numbers of the cases that it is about, and how many of them were seen so far."""

    limit: UnscoredLimit
    cases: set[int] = field(default_factory=set)
    seen: int = 0
    missing: int = 0


class Stopper:
    """Looks at the cases of a run as they finish, and says when they are enough.

    First every case is announced with `add`, then `start` gives the order to work in, then `finish` takes the scores.
    """

    def __init__(self, stopping: Stopping, *, seed: int, unit_column: str | None) -> None:
        self.decided: EarlyStop | None = None
        self._confidence = stopping.confidence
        self._seed = seed
        # What is worked on together is never cut apart.
        self._columns = (unit_column or CONVERSATION, CONVERSATION, GROUP)
        self._clusters: dict[object, list[list[int]]] = {}  # each of units, the numbers of their cases
        self._order: list[list[int]] = []
        self._targets = [_TargetWatch(target) for target in stopping.targets]
        self._limits = [_LimitWatch(limit) for limit in stopping.limits]
        self._scopes = [(one.cases, one.target.among) for one in self._targets]
        self._scopes += [(one.cases, one.limit.among) for one in self._limits]
        self._finished: dict[int, Sequence[Score]] = {}  # those that the prefix has not reached
        self._position = 0  # clusters looked at
        self._seen: list[int] = []

    def add(self, case: CaseRecord) -> None:
        """Announce a case."""
        row = case.row or {}
        name = next(((one, repr(row[one])) for one in self._columns if row.get(one) is not None), case.seq)
        units = self._clusters.setdefault(name, [])
        # The cases of a unit follow one another and have the number of its first.
        if case.unit == case.seq or not units:
            units.append([])
        units[-1].append(case.seq)
        for cases, among in self._scopes:
            if among is None or among(row):
                cases.add(case.seq)

    def start(self) -> list[list[int]]:
        """Put the clusters into the order of the seed, and return the units, by the numbers of their cases, in it."""
        clusters = list(self._clusters.values())
        Random(self._seed).shuffle(clusters)  # noqa: S311 (a fair order, not a secret)
        self._order = [[seq for unit in units for seq in unit] for units in clusters]
        alpha = 1.0 - self._confidence
        for watch in self._targets:
            target = watch.target
            sizes = [size for cluster in self._order if (size := len(watch.cases.intersection(cluster)))]
            watch.test = ThresholdTest(
                target.min,
                clusters=None if target.lower_end or not sizes else len(sizes),
                largest=max(sizes, default=1),
                range=target.range or (0.0, 1.0),
                alpha=alpha,
                # A pass needs every target, so each may err with alpha; one is enough for a fail, so they share it.
                alpha_below=alpha / len(self._targets),
            )
        return [unit for units in clusters for unit in units]

    @property
    def largest(self) -> int:
        """How many cases the largest cluster has."""
        return max(map(len, self._order), default=0)

    @property
    def looked_at(self) -> int:
        """How many cases were looked at, from the beginning of the order."""
        return len(self._seen)

    def finish(self, seq: int, scores: Sequence[Score]) -> bool:
        """Take the scores of a case; return whether the run is decided."""
        if self.decided is not None:
            return True
        self._finished[seq] = scores
        while self._position < len(self._order) and all(one in self._finished for one in self._order[self._position]):
            self._look(self._order[self._position])
            self._position += 1
            verdict = self._verdict()
            if verdict is not None or self._position == len(self._order):
                self.decided = self._decide(verdict)
                return True
        return False

    def _look(self, cluster: Sequence[int]) -> None:
        found = {seq: self._finished.pop(seq) for seq in cluster}
        self._seen += cluster
        missing = {seq for seq, scores in found.items() if any(score.status != "scored" for score in scores)}
        for limit in self._limits:
            limit.seen += len(limit.cases.intersection(cluster))
            limit.missing += len(limit.cases & missing)
        for watch in self._targets:
            values = [watch.target.read(scores) for seq, scores in found.items() if seq in watch.cases]
            watch.known += sum(value is not None for value in values)
            if watch.test is not None:
                watch.test.add(values)

    def _verdict(self) -> Literal["pass", "fail"] | None:
        if any(one.missing > (one.limit.most + ROUNDING) * one.seen for one in self._limits):
            return None
        sides = [one.side for one in self._targets]
        if "below" in sides:
            return "fail"
        return "pass" if all(side == "above" for side in sides) else None

    def _decide(self, verdict: Literal["pass", "fail"] | None) -> EarlyStop:
        findings: list[TargetFinding] = []
        for watch in self._targets:
            side, target = watch.side, watch.target
            found: Literal["pass", "fail"] | None = None if side is None else "pass" if side == "above" else "fail"
            estimate = None if watch.test is None else watch.test.estimate()
            findings.append(TargetFinding(target.name, target.min, found, estimate))
        total = sum(map(len, self._order))
        return EarlyStop(verdict, total, tuple(sorted(self._seen)), tuple(findings))

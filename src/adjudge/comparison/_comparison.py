"""What a comparison found: for every metric the difference with its interval, a verdict, and the cases behind it.

comparison.metrics["qa_f1_reward"].difference       -.045 [-.081, -.009]: new - base
comparison.metrics["qa_f1_reward"].verdict          "worse"; with a margin: "inferior", "non-inferior", "undecided"
comparison.regressions                              ("q17", "q3")
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from adjudge.comparison._changes import CaseChange
from adjudge.comparison._pairs import Scope
from adjudge.errors import UsageError
from adjudge.statistics import Estimate

DifferenceVerdict: TypeAlias = Literal[
    "better", "worse", "no difference shown", "non-inferior", "inferior", "undecided"
]
"""What the interval of a difference shows; the last three with a margin. `undecided` also where too much is missing."""

FailOn: TypeAlias = Literal["worse", "inferior", "none"]
"""What makes a comparison fail: a metric that is worse, one that is not shown to be good enough, or nothing."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric of two runs, `difference` being new - base; `among` names the slice of cases, if it is one.

    `is_worse` says that the whole interval is a loss, and that no margin is known to allow it.

    `p` is that of the difference, or with a margin that of the margin; `p_adjusted` allows for the other metrics.
    `detectable` is the least true difference that as many cases show in 80 % of tries, `needed` how many cases (with
    scope `these`: repeats of each) show one of the margin. `missing` is the share of pairs without a score, `bounds`
    the interval were they filled in for one run and then for the other; `robust` says whether the verdict holds for
    both, None where nobody knows the range.
    """

    name: str
    verdict: DifferenceVerdict
    is_gated: bool
    pairs: int
    base: Estimate | None = None
    new: Estimate | None = None
    difference: Estimate | None = None
    p: float | None = None
    p_adjusted: float | None = None
    detectable: float | None = None
    needed: int | None = None
    missing: float = 0.0
    base_missing: int = 0
    new_missing: int = 0
    bounds: tuple[float, float] | None = None
    robust: bool | None = None
    reason: str | None = None  # why it is undecided, where that is not the interval's doing
    is_worse: bool = False
    among: str | None = None
    changes: tuple[CaseChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs against each other; the metrics that decide come first.

    `only_in_base` and `only_in_new` are the ids of cases that the other run does not have, `too_few` says so where they
    are too many for a pass. `mismatches` say why the
    runs should not be compared, where that was allowed; `notes` come from the runs.
    """

    base: str
    new: str
    metrics: Mapping[str, MetricComparison]
    slices: tuple[MetricComparison, ...] = ()
    only_in_base: tuple[str, ...] = ()
    only_in_new: tuple[str, ...] = ()
    too_few: str | None = None
    margin: float | None = None
    scope: Scope = "new"
    mismatches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def gated(self) -> list[MetricComparison]:
        """The metrics that decide."""
        return [one for one in self.metrics.values() if one.is_gated]

    @property
    def verdicts(self) -> list[DifferenceVerdict]:
        """The verdicts on the metrics that decide."""
        return [one.verdict for one in self.gated]

    @property
    def changes(self) -> list[CaseChange]:
        """The cases that changed in a metric that decides, by metric, the largest changes first."""
        return [change for metric in self.gated for change in metric.changes]

    @property
    def regressions(self) -> tuple[str, ...]:
        """The ids of the cases that got worse by more than chance in a metric that decides."""
        return self._ids("regressed")

    @property
    def fixes(self) -> tuple[str, ...]:
        """The ids of the cases that got better by more than chance, and worse in no metric that decides."""
        return self._ids("fixed", but=self.regressions)

    @property
    def flaky(self) -> tuple[str, ...]:
        """The ids of the cases that changed within chance only."""
        return self._ids("flaky", but=(*self.regressions, *self.fixes))

    def _ids(self, kind: str, but: Sequence[str] = ()) -> tuple[str, ...]:
        others = set(but)
        return tuple(dict.fromkeys(one.id for one in self.changes if one.kind == kind and one.id not in others))

    def exit_code(self, fail_on: FailOn = "worse") -> int:
        """0 passed; 1 a gated metric is worse or inferior; 3 there are no pairs, or too much is missing for a verdict.

        With `inferior`, a metric that is neither inferior nor non-inferior is 3, too.
        """
        is_open = any(one.reason is not None for one in self.gated)
        found = [(one.verdict, one.is_worse) for one in self.gated]
        return exit_code_of(found, fail_on, is_open=is_open, too_few=self.too_few, has_margin=self.margin is not None)


def exit_code_of(
    found: Collection[tuple[DifferenceVerdict, bool]],
    fail_on: FailOn,
    *,
    is_open: bool,
    too_few: str | None,
    has_margin: bool,
) -> int:
    """Return the exit code of verdicts, each with whether it is worse.

    `is_open` says that missing scores leave a verdict open, `too_few` that cases are missing which a pass would need.
    """
    if fail_on not in ("worse", "inferior", "none") or (fail_on == "inferior" and not has_margin):
        raise UsageError(f"fail_on is worse, none, or with a margin inferior; got {fail_on!r}", code="bad-option")
    if fail_on == "none":
        return 0
    if is_open:
        return 3
    verdicts = {verdict for verdict, _ in found}
    if "inferior" in verdicts if fail_on == "inferior" else any(is_worse for _, is_worse in found):
        return 1
    return 3 if too_few is not None or (fail_on == "inferior" and "undecided" in verdicts) else 0

"""The summary of a run: the three counts, the mean with its interval, and how much of it is not known."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adjudge.model import Score
from adjudge.statistics import Clusters, Mean, Moments, mean_of

if TYPE_CHECKING:
    from adjudge.judges import CanaryReport, CascadeReport, Corrected
    from adjudge.runs._stopping import EarlyStop

KINDS = 50  # kinds of reasons that a tally counts separately
SHOWN = 3  # failed rows that a summary shows


@dataclass(slots=True)
class Tally:
    """The counts of one scorer's scores; tallies of consecutive chunks can be merged."""

    scorer: str
    range: tuple[float, float] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    moments: Moments = field(default_factory=Moments)
    reasons: Counter[str] = field(default_factory=Counter)  # why rows have no number, by code
    failures: list[str] = field(default_factory=list)  # the first few, in words
    ends: tuple[float | None, float | None] | None = None  # of a run that stopped early: the only interval to show
    clusters: Clusters | None = None  # where rows belong together, as the turns of a conversation do

    def add(self, labels: Iterable[object], scores: Iterable[Score]) -> None:
        """Count scores; failures name their rows by the labels."""
        values: list[float] = []
        for label, score in zip(labels, scores, strict=True):
            self.counts[score.status] += 1
            if score.value is not None:
                values.append(score.value)
            else:
                reason = score.reason or score.status
                self._count_reason(reason.partition(":")[0], 1)
                if len(self.failures) < SHOWN:
                    self.failures.append(f"{label}: {reason}")
        self.moments = self.moments.merge(Moments.of(values))

    def merge(self, later: "Tally") -> None:
        """Add the tally of the rows that follow."""
        self.counts.update(later.counts)
        self.moments = self.moments.merge(later.moments)
        for code, count in later.reasons.items():
            self._count_reason(code, count)
        self.failures = (self.failures + later.failures)[:SHOWN]

    def _count_reason(self, code: str, count: int) -> None:
        """Count a reason by its code; a custom reason may have none, and beyond `KINDS` they count as `other`."""
        known = code in self.reasons or (len(self.reasons) < KINDS and len(code) <= 60)
        self.reasons[code if known else "other"] += count

    @property
    def total(self) -> int:
        """How many rows there were; the three counts add up to it."""
        return self.counts.total()

    @property
    def missing(self) -> int:
        """How many rows have no number."""
        return self.counts.total() - self.counts["scored"]

    @property
    def mean(self) -> Mean | None:
        """The mean over the scored rows, with its 95 % interval, cut to the scorer's range.

        Where rows belong together the interval allows for that. Of a run that stopped early it is the one that holds at
        any time, or is missing.
        """
        mean = mean_of(self.moments)
        if mean is not None and self.ends is not None:
            return Mean(mean.value, *self.ends, mean.n, "anytime")
        if mean is not None and self.clusters is not None:
            # As without clusters, and as in the gate of a check: Wilson's interval for shares, Student's for the rest.
            is_share = self.moments.binary and self.range is not None
            known = self.clusters.estimate(method="wilson" if is_share else "t")
            if known is not None:
                return Mean(mean.value, known.low, known.high, mean.n, "clustered")
        # Student's interval may exceed what the scorer can give.
        if mean is None or mean.low is None or mean.high is None or self.range is None:
            return mean
        return replace(mean, low=max(mean.low, self.range[0]), high=min(mean.high, self.range[1]))

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean if all missing rows had the worst, or the best, value; None where the range is not known."""
        if not self.missing or self.range is None:
            return None
        known = self.moments.mean * self.moments.n
        low, high = ((known + self.missing * end) / self.total for end in self.range)
        return low, high


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of scoring: a tally for each scorer, in their order."""

    rows: int
    tallies: tuple[Tally, ...]
    warnings: tuple[str, ...] = ()
    canaries: "CanaryReport | None" = None  # how the judge did on answers that are known to be bad
    cascade: "CascadeReport | None" = None  # how many rows went to its second judge
    agreement: str | None = None  # how far the judge claims to agree with people, where it does
    early: "EarlyStop | None" = None  # how the run was decided before all its cases were needed
    corrected: "Corrected | None" = None  # the judge's mean corrected for its errors, where it was calibrated

    @property
    def failed_share(self) -> float:
        """The greatest share of rows without a number, over the scorers."""
        return max((tally.missing / tally.total for tally in self.tallies if tally.total), default=0.0)

"""More than two runs: a leaderboard whose intervals hold all at once, and the ranks that each run may have.

    a  .81 [.76, .86]   rank 1 .. 2
    b  .79 [.74, .84]   rank 1 .. 2      not shown to differ from a
    c  .62 [.56, .68]   rank 3

A run is behind those that are shown to be better and before those that are shown to be worse, each over the cases that
all runs have; its rank lies between (Mogstad, Romano, Shaikh and Wilhelm 2024). All differences of all metrics that
decide share the 5 % of one false verdict (Bonferroni), and so do all means.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from adjudge.comparison._compare import (
    CompareOptions,
    clusters_by,
    gated_metrics,
    join_facts,
    mismatches_of,
    notes_of,
    range_of,
    too_few_of,
)
from adjudge.comparison._comparison import DifferenceVerdict, FailOn, exit_code_of
from adjudge.comparison._pairs import Pairs, pair_up
from adjudge.comparison._results import Results
from adjudge.comparison._verdicts import ALPHA, AskedQuestion, MetricQuestion, share_missing, why_open, worst_cases
from adjudge.errors import UsageError
from adjudge.statistics import Estimate


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run on a leaderboard: its mean, the ranks it may have, and by how much it differs from the first run given."""

    name: str
    mean: Estimate | None
    ranks: tuple[int, int]
    difference: Estimate | None = None  # None for the first run itself
    verdict: DifferenceVerdict | None = None
    is_worse: bool = False  # than the first run, by more than the margin is known to allow
    reason: str | None = None  # why its verdict is open


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The runs by one metric, the highest mean first; `cases` is how many of them all runs have a score for."""

    metric: str
    runs: tuple[RankedRun, ...]
    cases: int
    missing: float = 0.0
    reason: str | None = None  # why nothing is decided


@dataclass(frozen=True, slots=True)
class Ranking:
    """Several runs against each other: a leaderboard for each metric that decides.

    `partial` are the ids of cases that some runs do not have, `too_few` says so where a pass would need them;
    `mismatches` and `notes` are as in a comparison.
    """

    leaderboards: Mapping[str, Leaderboard]
    partial: tuple[str, ...] = ()
    too_few: str | None = None
    margin: float | None = None
    mismatches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> list[DifferenceVerdict]:
        """What every run is against the first, by metric."""
        return [run.verdict for board in self.leaderboards.values() for run in board.runs if run.verdict is not None]

    def exit_code(self, fail_on: FailOn = "worse") -> int:
        """0 passed; 1 a run is worse than the first; 3 no case has a score in all runs, or too much is missing."""
        boards = self.leaderboards.values()
        found = [(run.verdict, run.is_worse) for board in boards for run in board.runs if run.verdict is not None]
        reasons = [why for board in boards for why in (board.reason, *(run.reason for run in board.runs))]
        is_open = any(why is not None for why in reasons)
        return exit_code_of(found, fail_on, is_open=is_open, too_few=self.too_few, has_margin=self.margin is not None)


def rank_results(runs: Sequence[Results], options: CompareOptions) -> Ranking:
    """Rank runs over the cases that all have; `UsageError` says why they cannot be compared."""
    runs = list(runs)
    if len(runs) < 2:
        raise UsageError(f"a ranking needs at least two runs, got {len(runs)}", code="not-comparable")
    if options.by is not None:
        raise UsageError("slices (`by`) are for two runs: compare each new run with the base", code="bad-option")
    gated = gated_metrics(runs, options.scorers)
    mismatches = dict.fromkeys(why for pair in combinations(runs, 2) for why in mismatches_of(*pair, options))
    clusters = clusters_by(join_facts(runs), options.cluster)
    boards: dict[str, Leaderboard] = {}
    ids: dict[str, int] = {}
    for name in gated:
        boards[name] = _leaderboard(name, runs, clusters, options, len(gated))
        for run in runs:
            for key in run.metrics[name].values:
                ids[key] = ids.get(key, 0) + 1
    # Cases that an early decision spared are not lost.
    spared = {key for run in runs for key in run.spared}
    partial = tuple(key for key, times in ids.items() if times < len(runs) * len(gated) and key not in spared)
    of_base = {key for name in gated for key in runs[0].metrics[name].values}
    too_few = too_few_of(len(of_base.intersection(partial)), len(of_base), options.max_missing)
    return Ranking(boards, partial, too_few, options.margin, tuple(mismatches), notes_of(runs))


def _leaderboard(
    name: str, runs: Sequence[Results], clusters: Mapping[str, str], options: CompareOptions, metrics: int
) -> Leaderboard:
    values = [one.metrics[name] for one in runs]
    ends = range_of(values)
    shared = [key for key in values[0].values if all(key in one.values for one in values)]
    # Only cases that all runs have a score for, so that every difference is about the same ones.
    scored = [pair_up({key: one.values[key] for key in shared}, one.values) for one in values]
    complete = [at for at in range(len(shared)) if all(one.new[at] for one in scored)]
    kept = [one.at(complete) for one in scored]
    level = ALPHA / (metrics * math.comb(len(runs), 2))

    # Every run against every other one: who is shown to be better, and by how much each differs from the first.
    better_than = [0] * len(runs)  # of how many others each is shown to be the better
    worse_than = [0] * len(runs)
    to_first: dict[int, tuple[Estimate | None, DifferenceVerdict, bool, str | None]] = {}
    for first, second in combinations(range(len(runs)), 2):
        pairs = Pairs(kept[0].ids, kept[first].new, kept[second].new)
        question = MetricQuestion(name, pairs, clusters, options.scope, ends, values[0].higher_is_better)
        found = AskedQuestion.of(question).interval(level)
        verdict = "undecided" if found is None else question.verdict(found)
        if verdict in ("better", "worse"):
            ahead, behind = (second, first) if verdict == "better" else (first, second)
            better_than[ahead] += 1
            worse_than[behind] += 1
        if first == 0 and found is not None:
            # All pairs that these two have, whatever the others lack, say whether what is missing leaves it open.
            whole = pair_up(*({key: values[at].values[key] for key in shared} for at in (0, second)))
            asked = replace(question, pairs=whole, margin=options.margin)
            to_first[second] = _against_first(asked, pairs, level, options.max_missing)

    ranked = []
    for at, run in enumerate(runs):
        sample = MetricQuestion(name, kept[at], clusters, options.scope, ends).sample(kept[at])
        mean = sample.means()[1]
        simultaneous = None if mean is None else mean.at(1.0 - ALPHA / (metrics * len(runs)), ends)
        ranks = 1 + worse_than[at], len(runs) - better_than[at]
        ranked.append(RankedRun(run.name, simultaneous, ranks, *to_first.get(at, ())))
    sign = -1.0 if values[0].higher_is_better else 1.0
    ranked.sort(key=lambda one: math.inf if one.mean is None else sign * one.mean.value)

    missing = max((share_missing(one) for one in scored), default=0.0)
    reason = None if complete else "no case has a score in all runs"
    if missing > options.max_missing:
        reason = f"a run lacks {missing:.1%} of its scores; at most {options.max_missing * 100:.4g}% may be missing"
    return Leaderboard(name, tuple(ranked), len(complete), missing, reason)


def _against_first(
    question: MetricQuestion, complete: Pairs, level: float, max_missing: float
) -> tuple[Estimate | None, DifferenceVerdict, bool, str | None]:
    """Return the difference over complete pairs, its verdict, whether it is worse, and why that is open, if it is."""
    found = AskedQuestion.of(question, complete).interval(level)
    if found is None:
        return None, "undecided", False, "no case has a score in both runs"
    verdict = question.verdict(found)
    robust: bool | None = True
    if question.pairs.lost:
        _, robust = worst_cases(question, verdict, level)
    reason = why_open(question.pairs, share_missing(question.pairs), robust, max_missing)
    if reason is not None:
        return found, "undecided", False, reason
    return found, verdict, question.is_worse(found), None

"""How each scenario ended over all of its runs: what the table, the markdown and a comparison with a baseline show."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.scenarios._run import Outcome, outcome_of

# A failure is certain, whatever an undecided run would have been.
WORST_FIRST: tuple[Outcome, ...] = ("failed", "undecided", "passed")
MOST = 3  # reasons of one scenario


@dataclass(frozen=True, slots=True)
class ScenarioSummary:
    """One scenario: its `outcome` is the worst of its runs, `quality` the mean of those that have one.

    `scores` has a mean for each scorer, None without a value, and whether the scorer decides; `reasons` have the number
    of runs with each.
    """

    id: str
    outcome: Outcome
    passed: int
    runs: int
    quality: float | None = None
    scores: Mapping[str, tuple[float | None, bool]] | None = None
    reasons: tuple[tuple[str, int], ...] = ()

    def score_lines(self, show: Callable[[str], str]) -> list[str]:
        """Return a line for each scorer; `show` makes a name safe for where it is shown."""
        lines = []
        for name, (mean, decides) in (self.scores or {}).items():
            value = "–" if mean is None else f"{mean:.2f}{'' if decides else ' (not gated)'}"
            lines.append(f"{show(name)} {value}")
        return lines

    def reason_lines(self, show: Callable[[str], str]) -> list[str]:
        """Return the most common reasons, each with its count where not every run has it."""
        lines = [
            show(reason) if count == self.runs else f"{show(reason)} ({count} of {self.runs})"
            for reason, count in self.reasons[:MOST]
        ]
        if len(self.reasons) > MOST:
            lines.append(f"and {len(self.reasons) - MOST} more")
        return lines


def summaries_of(results: Sequence[Mapping[str, Any]]) -> list[ScenarioSummary]:
    """Return a summary for every scenario, in the order of their first runs."""
    scenarios: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        scenarios.setdefault(result["id"], []).append(result)
    summaries = []
    for name, runs in scenarios.items():
        quality = [run["average_quality"] for run in runs if run["average_quality"] is not None]
        reasons: Counter[str] = Counter()
        for run in runs:
            # A reason that a run has twice counts once: the count is that of runs.
            reasons.update(dict.fromkeys((*run["reasons"], *(f"warning: {one}" for one in run["warnings"])), 1))
        scorers = dict.fromkeys(scorer for run in runs for scorer in run["scores"])
        summary = ScenarioSummary(
            name,
            min(map(outcome_of, runs), key=WORST_FIRST.index),
            passed=sum(run["pass"] is True for run in runs),
            runs=len(runs),
            quality=sum(quality) / len(quality) if quality else None,
            scores={scorer: _score(scorer, runs) for scorer in scorers},
            reasons=tuple(reasons.most_common()),
        )
        summaries.append(summary)
    return summaries


def _score(scorer: str, runs: Sequence[Mapping[str, Any]]) -> tuple[float | None, bool]:
    found = [run["scores"][scorer] for run in runs if scorer in run["scores"]]
    values = [one["value"] for one in found if one["value"] is not None]
    # Run files of older versions do not say whether a scorer decides.
    decides = all(one.get("gated", True) for one in found)
    return (sum(values) / len(values) if values else None), decides

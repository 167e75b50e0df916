"""A comparison for others to read: JSON, lines by case, JUnit, GitHub.

json_of(comparison, fail_on="worse")      everything, in keys that stay over releases
case_lines(comparison)                    a line for each case and metric: id, base, new, change
checks_of(comparison)                     a check for each metric that decides, for JUnit and annotations
"""

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from adjudge.comparison._comparison import Comparison, DifferenceVerdict, FailOn, MetricComparison
from adjudge.comparison._rank import Leaderboard, Ranking
from adjudge.datasets import whole_file
from adjudge.errors import UsageError
from adjudge.sinks import Check, Outcome, github_annotations, github_summary, junit_xml
from adjudge.statistics import Estimate

SCHEMA = 1

Found: TypeAlias = Comparison | Ranking
"""What a comparison of two runs, or of more, found."""


def number(value: float | None, *, signed: bool = False, beside: float = 0.0) -> str:
    """Return a number as people read it: four decimals for scores, fewer for tokens and seconds, more for tiny costs.

    `beside` is a larger number that stands next to it, and has the same decimals.

    >>> number(0.62504), number(-0.5, signed=True), number(15234.5), number(0.00012)
    ('0.6250', '-0.5000', '15,234', '0.00012')
    >>> number(0.00083, beside=0.0068)
    '0.0008'
    """
    if value is None:
        return "–"
    if abs(value) < 1e-12:
        value = 0.0  # what is left of rounding
    if abs(value) >= 1e9:
        return f"{value:{'+' if signed else ''}.3g}"
    size = max(abs(value), abs(beside))
    decimals = 0 if size >= 100.0 else 2 if size >= 10.0 else 4
    if 0.0 < size < 0.001:
        decimals = 1 - math.floor(math.log10(size))
    return f"{value:{'+' if signed else ''},.{decimals}f}"


def interval(found: Estimate | None, *, signed: bool = True) -> str:
    """Return an interval as people read it; that of a difference has signs."""
    if found is None or found.low is None or found.high is None:
        return "–"
    low, high = found.low, found.high
    return f"{number(low, signed=signed, beside=high)} .. {number(high, signed=signed, beside=low)}"


def describe_metric(metric: MetricComparison) -> str:
    """Return what was found of a metric in a line."""
    base, new, difference = (None if one is None else one.value for one in _estimates(metric))
    if difference is None:
        return f"undecided: {metric.reason}"
    words = [f"{number(base)} -> {number(new)}", f"{number(difference, signed=True)} [{interval(metric.difference)}]"]
    if metric.p_adjusted is not None:
        words.append(f"p {metric.p_adjusted:.2g}")
    words.append(f"{metric.pairs:,} {'pair' if metric.pairs == 1 else 'pairs'}")
    verdict: str = metric.verdict if metric.reason is None else f"undecided, {metric.reason}"
    if metric.is_worse and metric.verdict == "undecided":
        verdict = "worse, though not shown to be so by more than the margin"
    return f"{verdict}: {', '.join(words)}"


def checks_of(found: Found) -> list[Check]:
    """Return a check for each metric that decides; of several runs, one for each against the first."""
    checks = []
    if isinstance(found, Comparison):
        for metric in found.gated:
            values = [None if one is None else one.value for one in _estimates(metric)]
            scores = dict(zip(("base", "new", "difference"), values, strict=True))
            outcome = _outcome(metric.verdict, metric.reason, is_worse=metric.is_worse)
            words = f"{describe_metric(metric)}{_but(found)}"
            checks.append(Check(f"compare: {metric.name}", outcome, words, scores=scores))
        return checks
    for board in found.leaderboards.values():
        for run in board.runs:
            if run.verdict is not None:
                reason = board.reason or run.reason
                words = f"{reason or f'{run.verdict}: [{interval(run.difference)}]'}{_but(found)}"
                outcome = _outcome(run.verdict, reason, is_worse=run.is_worse)
                checks.append(Check(f"compare: {board.metric}: {run.name}", outcome, words))
    return checks


def _but(found: Found) -> str:
    """Return why the runs should not have been compared, which no output leaves out."""
    return f" (NOT COMPARABLE, compared all the same: {'; '.join(found.mismatches)})" if found.mismatches else ""


def _outcome(verdict: DifferenceVerdict, reason: str | None, *, is_worse: bool) -> Outcome:
    if reason is not None:
        return "undecided"
    if is_worse:
        return "failed"
    # Without a margin, a difference that is not shown does not leave anything open.
    return "undecided" if verdict == "undecided" else "passed"


def _estimates(metric: MetricComparison) -> tuple[Estimate | None, ...]:
    return metric.base, metric.new, metric.difference


def json_of(found: Found, *, fail_on: FailOn) -> dict[str, Any]:
    """Return everything that was found, as JSON holds it."""
    about = {"schema": SCHEMA, "exit_code": found.exit_code(fail_on), "fail_on": fail_on}
    common = {"too_few": found.too_few, "mismatches": list(found.mismatches), "notes": list(found.notes)}
    if isinstance(found, Ranking):
        boards = {name: _board(board) for name, board in found.leaderboards.items()}
        return {**about, **common, "leaderboards": boards, "partial": list(found.partial)}
    return {
        **about,
        "base": found.base,
        "new": found.new,
        "margin": found.margin,
        "scope": found.scope,
        **common,
        "metrics": {name: _metric(metric) for name, metric in found.metrics.items()},
        "slices": [_metric(one) for one in found.slices],
        "regressions": list(found.regressions),
        "fixes": list(found.fixes),
        "flaky": list(found.flaky),
        "changes": [asdict(change) for change in found.changes],
        "only_in_base": list(found.only_in_base),
        "only_in_new": list(found.only_in_new),
    }


def _metric(metric: MetricComparison) -> dict[str, Any]:
    return {key: value for key, value in asdict(metric).items() if key != "changes"}


def _board(board: Leaderboard) -> dict[str, Any]:
    return {**asdict(board), "runs": [asdict(run) for run in board.runs]}


def write_comparison_json(found: Found, path: str, *, fail_on: FailOn) -> None:
    """Write everything as one JSON object, in plain ASCII."""
    with whole_file(path) as file:
        text = json.dumps(_finite(json_of(found, fail_on=fail_on)), indent=1, allow_nan=False)
        file.write(text.encode("ascii") + b"\n")


def _finite(value: Any) -> Any:
    """Return what is reported with None for a number that no float holds, as of scores around 1e200."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_changes(found: Found, path: str) -> None:
    """Write the cases that changed, a line each."""
    with whole_file(path) as file:
        more = {"mismatches": list(found.mismatches)} if found.mismatches else {}
        for change in found.changes if isinstance(found, Comparison) else ():
            file.write(json.dumps({**asdict(change), **more}, allow_nan=False).encode("ascii") + b"\n")


def write_comparison_junit(found: Found, path: str) -> None:
    """Write a JUnit report: a test for each metric that decides."""
    with whole_file(path) as file:
        file.write(junit_xml(checks_of(found), name=f"adjudge compare: {title_of(found)}"))


def comparison_annotations(found: Found) -> str:
    """Append a summary to GitHub's step summary, where there is one, and return the annotations."""
    checks = checks_of(found)
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        try:
            with Path(place).open("a", encoding="utf-8") as summary:
                summary.write(github_summary(checks, title=title_of(found)))
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}", code="cannot-write") from None
    return github_annotations(checks)


def title_of(found: Found) -> str:
    """Return which runs were compared, in words; that they should not have been is part of it."""
    names = f"{found.new} against {found.base}" if isinstance(found, Comparison) else "several runs"
    return f"{names} (not comparable: {'; '.join(found.mismatches)})" if found.mismatches else names

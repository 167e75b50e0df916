"""Two or more runs against each other: by how much they differ, whether by more than chance, on which cases.

    comparison = compare("main.run", "branch.run", margin=0.02)
    comparison.metrics["qa_f1_reward"].verdict          "worse", "better", ...
    rank_results([read_results(one) for one in files], CompareOptions())

`read_results` turns a file, ours or another tool's, into `Results`; everything behind it is pure.
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.comparison._changes import CaseChange, ChangeKind
    from adjudge.comparison._checks import check_results
    from adjudge.comparison._compare import (
        CompareOptions,
        changed_cases,
        compare,
        compare_results,
        open_results,
        without_cases,
    )
    from adjudge.comparison._comparison import Comparison, DifferenceVerdict, FailOn, MetricComparison
    from adjudge.comparison._pairs import Scope
    from adjudge.comparison._rank import Leaderboard, RankedRun, Ranking, rank_results
    from adjudge.comparison._read import read_results
    from adjudge.comparison._reports import (
        comparison_annotations,
        describe_metric,
        interval,
        json_of,
        number,
        write_changes,
        write_comparison_json,
        write_comparison_junit,
    )
    from adjudge.comparison._results import CaseFacts, MetricValues, Results

__all__ = [
    "CaseChange",
    "CaseFacts",
    "ChangeKind",
    "CompareOptions",
    "Comparison",
    "DifferenceVerdict",
    "FailOn",
    "Leaderboard",
    "MetricComparison",
    "MetricValues",
    "RankedRun",
    "Ranking",
    "Results",
    "Scope",
    "changed_cases",
    "check_results",
    "compare",
    "compare_results",
    "comparison_annotations",
    "describe_metric",
    "interval",
    "json_of",
    "number",
    "open_results",
    "rank_results",
    "read_results",
    "without_cases",
    "write_changes",
    "write_comparison_json",
    "write_comparison_junit",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_changes": (
            "CaseChange",
            "ChangeKind",
        ),
        "_checks": ("check_results",),
        "_compare": (
            "CompareOptions",
            "changed_cases",
            "compare",
            "compare_results",
            "open_results",
            "without_cases",
        ),
        "_comparison": (
            "Comparison",
            "DifferenceVerdict",
            "FailOn",
            "MetricComparison",
        ),
        "_pairs": ("Scope",),
        "_rank": (
            "Leaderboard",
            "RankedRun",
            "Ranking",
            "rank_results",
        ),
        "_read": ("read_results",),
        "_reports": (
            "comparison_annotations",
            "describe_metric",
            "interval",
            "json_of",
            "number",
            "write_changes",
            "write_comparison_json",
            "write_comparison_junit",
        ),
        "_results": (
            "CaseFacts",
            "MetricValues",
            "Results",
        ),
    },
)

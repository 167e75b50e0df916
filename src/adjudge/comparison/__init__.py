"""Two or more runs against each other: by how much they differ, whether by more than chance, on which cases."""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.comparison._checks import check_results
    from adjudge.comparison._read import read_results
    from adjudge.comparison._results import CaseFacts, MetricValues, Results

__all__ = ["CaseFacts", "MetricValues", "Results", "check_results", "read_results"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_checks": ("check_results",),
        "_read": ("read_results",),
        "_results": ("CaseFacts", "MetricValues", "Results"),
    },
)

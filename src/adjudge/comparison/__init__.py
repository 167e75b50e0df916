"""Two or more runs against each other: by how much they differ, whether by more than chance, on which cases."""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.comparison._results import CaseFacts, MetricValues, Results

__all__ = ["CaseFacts", "MetricValues", "Results"]

__getattr__, __dir__ = lazy_names(__name__, {"_results": ("CaseFacts", "MetricValues", "Results")})

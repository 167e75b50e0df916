"""Workflow: which agents and tools a run should have called, compared with those that it did call.

validate_workflow(expectation, agents_called=[...], tools_used=[...])     names in, the plain dict out
check_workflow(expectation, trajectory)                                   the same, with status, reasons and warnings

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.workflow._arguments import ArgumentRule
    from adjudge.workflow._check import WorkflowResult, check_workflow, validate_workflow
    from adjudge.workflow._dimension import Finding
    from adjudge.workflow._expectation import WorkflowExpectation

__all__ = [
    "ArgumentRule",
    "Finding",
    "WorkflowExpectation",
    "WorkflowResult",
    "check_workflow",
    "validate_workflow",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_arguments": ("ArgumentRule",),
        "_check": ("WorkflowResult", "check_workflow", "validate_workflow"),
        "_dimension": ("Finding",),
        "_expectation": ("WorkflowExpectation",),
    },
)

"""The golden table of workflows: what was expected, what was called, what comes of it."""

from collections import Counter
from typing import Any

import pytest

from adjudge.model import Trajectory
from adjudge.workflow import WorkflowExpectation, check_workflow, validate_workflow
from support import golden

ROWS = golden("workflow")
NAMES = [row for row in ROWS if row["kind"] == "names"]
RECORDS = [row for row in ROWS if row["kind"] == "record"]
# Names that are all known, and rules that names alone can show.
KNOWN = [row for row in NAMES if None not in row.values() and "tools_arguments" not in row["expectation"]]


def ids(rows: list[dict[str, Any]]) -> list[str]:
    """Return the names of rows."""
    return [row["id"] for row in rows]


@pytest.mark.parametrize("row", NAMES, ids=ids(NAMES))
def test_names(row: dict[str, Any]) -> None:
    """Names in, the plain dict out, with these keys and no others."""
    found = validate_workflow(row["expectation"], agents_called=row["agents_called"], tools_used=row["tools_used"])
    assert found == row["expected"], row["why"]


@pytest.mark.parametrize("row", KNOWN, ids=ids(KNOWN))
def test_names_as_records(row: dict[str, Any]) -> None:
    """A complete record of the same calls gives the same dict, a reason for every failure and none for a pass."""
    calls = [{"name": name, "executed": True} for name in row["tools_used"]]
    record = Trajectory.from_messages({"messages": [], "tool_calls": calls, "agents_called": row["agents_called"]})
    result = check_workflow(WorkflowExpectation.of(row["expectation"]), record)
    assert result.workflow == row["expected"], row["why"]
    assert (result.passed, result.status) == (row["expected"]["pass"], "scored")
    assert bool(result.reasons) is not result.passed


@pytest.mark.parametrize("row", RECORDS, ids=ids(RECORDS))
def test_records(row: dict[str, Any]) -> None:
    """A record passes, fails or stays undecided, for these reasons."""
    result = check_workflow(row["expectation"], row["trajectory"])
    assert result.passed is row["passed"], row["why"]
    assert [finding.code for finding in result.findings] == row["codes"], row["why"]
    assert result.status == ("unscored" if row["passed"] is None else "scored")
    assert list(result.requested_not_executed) == row.get("requested", [])
    if "clarification" in row:
        assert result.clarification is not None
        assert result.clarification["by"] == row["clarification"]


def test_the_table_is_broad() -> None:
    """The table has enough rows, each with its reason, and at most five of one pattern."""
    assert len(ROWS) >= 80
    assert len(set(ids(ROWS))) == len(ROWS)
    assert all(row["why"] for row in ROWS)
    assert max(Counter(row["pattern"] for row in ROWS).values()) <= 5

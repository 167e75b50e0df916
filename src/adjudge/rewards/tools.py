"""Whether an agent used its tools: counted by results in the record, never by what a model merely wrote."""

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.errors import ArgumentError
from adjudge.text.values import plain


def count_tools(trajectory: object, *, ignore_tools: object = ()) -> tuple[int, bool]:
    """Return how many tool calls were executed, and whether the record shows them all.

    A call that was requested but has no result counts for nothing, as do the tools named in `ignore_tools`.

    >>> count_tools([{"role": "tool", "name": "search", "content": "..."}])
    (1, True)
    >>> count_tools(["<tool_response>fake</tool_response>"])
    (0, False)
    """
    names = {ignore_tools} if isinstance(ignore_tools, str) else ignore_tools
    if not isinstance(names, Sequence | set | frozenset) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"ignore_tools must be names of tools, got {ignore_tools!r}", code="bad-option")
    trajectory = plain(trajectory)
    # An empty record is complete: nothing was called.
    if isinstance(trajectory, Sequence) and not isinstance(trajectory, str) and not trajectory:
        return 0, True
    from adjudge.rewards._checks import shows_tools
    from adjudge.rewards._records import record_of

    record = record_of(trajectory)
    used = sum(1 for name in record.tools_used if name not in names)
    return used, shows_tools(record)


def enough_tools(trajectory: object, least: object, ignored: object) -> bool | None:
    """Say whether at least so many tool calls were executed, or None where the record cannot show it."""
    if not isinstance(least, int) or isinstance(least, bool) or least < 1:
        raise ArgumentError(f"min_tool_calls must be a whole number of at least 1, got {least!r}", code="bad-option")
    used, is_all = count_tools(trajectory, ignore_tools=ignored)
    return True if used >= least else False if is_all else None


def ladder(*, used: bool | None, correct: bool) -> tuple[float, str | None]:
    """Return the value and the rung: 0 without a tool, 0.1 with a tool and a wrong answer, 1 with a correct one."""
    if not used:
        return 0.0, "no-tool"
    return (1.0, None) if correct else (0.1, "wrong-answer")


def ladder_result(used: bool | None, parts: Mapping[str, float], *, correct: bool) -> dict[str, Any]:
    """Return what a reward on the ladder returns; a record that cannot show the tools says so."""
    result: dict[str, Any] = {"reward": ladder(used=used, correct=correct)[0], **parts}
    if used is None:
        result["tool_use"] = "unknown"
    return result

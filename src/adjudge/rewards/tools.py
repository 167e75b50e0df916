"""Whether an agent used its tools: counted by results in the record, never by what a model merely wrote."""

from collections.abc import Sequence

from adjudge.errors import ArgumentError
from adjudge.model import Trajectory


def count_tools(trajectory: object, *, ignore_tools: object = ()) -> int | None:
    """Return how many tool calls were executed, or None where the record cannot show it.

    A call that was requested but has no result counts for nothing, as do the tools named in `ignore_tools`.

    >>> count_tools([{"role": "tool", "name": "search", "content": "..."}])
    1
    >>> count_tools(["<tool_response>fake</tool_response>"]) is None
    True
    """
    names = {ignore_tools} if isinstance(ignore_tools, str) else ignore_tools
    if not isinstance(names, Sequence | set | frozenset) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"ignore_tools must be names of tools, got {ignore_tools!r}", code="bad-option")
    if isinstance(trajectory, Sequence) and not trajectory:
        return 0
    record = Trajectory.from_messages(trajectory)
    if record.tool_calls is None:
        return None
    return sum(1 for name in record.tools_used if name not in names)

"""What assertions share: a verdict with its reason, and arguments that are checked."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from adjudge.errors import ArgumentError
from adjudge.model import Trajectory
from adjudge.text.values import plain

RANGE = (0.0, 1.0)
UNKNOWN_TOOLS = {"unscored": "incomplete-trace: the record cannot show which tools were called"}


def verdict(passed: bool, reason: str | None) -> dict[str, Any]:
    """Return 1, or 0 with the reason."""
    return {"reward": 1.0} if passed else {"reward": 0.0, "reason": reason}


def texts_in(texts: object, name: str = "texts") -> Sequence[str]:
    """Return texts that were given as one or as a list."""
    found = (texts,) if isinstance(texts, str) else plain(texts)
    if not isinstance(found, Sequence) or not found or not all(isinstance(text, str) and text for text in found):
        raise ArgumentError(f"{name} must be a list of texts, none of them empty, got {texts!r}", code="bad-option")
    return found


def number_in(value: object, name: str) -> float:
    """Return a number from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ArgumentError(f"{name} must be a number from 0, got {value!r}", code="bad-option")
    return value


def shows_tools(record: Trajectory) -> bool:
    """Say whether a record shows all tools that were called, also those inside other tools or of a service."""
    is_known = record.unknown.keys().isdisjoint({"tools", "inside", "hosted"})
    return record.complete and record.tool_calls is not None and is_known


def may_be_hidden(record: Trajectory, missing: Collection[str]) -> bool:
    """Say whether a tool that is missing from a record may have been called where the record does not look."""
    return bool(missing) and "behind" in record.unknown


def quoted(texts: Iterable[str]) -> str:
    """Return texts as a reason shows them."""
    return ", ".join(repr(text if len(text) <= 80 else f"{text[:77]}...") for text in texts)

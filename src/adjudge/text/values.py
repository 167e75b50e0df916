"""Responses and accepted answers as rows hold them, read as text."""

from collections.abc import Mapping
from typing import Any

from adjudge.errors import DataError
from adjudge.model import Trajectory


def plain(value: Any) -> Any:
    """Return what a data library wraps: the list of an array, the number of a numpy scalar."""
    unwrap = getattr(value, "tolist", None)
    return unwrap() if callable(unwrap) else value


def are_messages(value: object) -> bool:
    """Return whether a response is the messages of its rollout, as trainers have it.

    >>> are_messages([{"role": "assistant", "content": "Paris"}]), are_messages(["Paris"])
    (True, False)
    """
    return (
        isinstance(value, list | tuple) and bool(value) and all(isinstance(m, Mapping) and "role" in m for m in value)
    )


def text_of(value: object, name: str) -> str:
    """Return a response or an answer as text.

    None and NaN (a missing cell) are empty, a number has its usual form, messages are their final response.

    >>> text_of([{"role": "user", "content": "Capital?"}, {"role": "assistant", "content": "Paris"}], "final_response")
    'Paris'
    """
    if isinstance(value, str):
        return value
    if are_messages(value):
        return Trajectory.from_messages(value).final_response or ""
    value = plain(value)
    if value is None or value != value:  # noqa: PLR0124 (only NaN differs from itself)
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:
            raise DataError(f"{name} is a number of too many digits", code="bad-value") from None
    raise DataError(f"{name} must be text, got {type(value).__name__}", code="bad-value")


def references_of(answer: object) -> list[str]:
    """Return the accepted answers as texts; a row without any is a fault of the row, not of the response."""
    answer = plain(answer)
    given = answer if isinstance(answer, list | tuple) else [answer]
    there = [reference for reference in map(plain, given) if reference is not None and reference == reference]  # noqa: PLR0124 (NaN)
    if not there:
        raise DataError("the row has no accepted answer", code="no-reference")
    return [text_of(reference, "answer") for reference in there]

"""Responses and accepted answers as rows hold them, read as text."""

from adjudge.errors import DataError


def text_of(value: object, name: str) -> str:
    """Return a response or an answer as text: None is empty, a number its usual form."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"{name} must be text, got {type(value).__name__}", code="bad-value")


def references_of(answer: object) -> list[str]:
    """Return the accepted answers as texts; a row without any is a fault of the row, not of the response."""
    given = answer if isinstance(answer, list | tuple) else [answer]
    if not given or any(reference is None for reference in given):
        raise DataError("the row has no accepted answer", code="no-reference")
    return [text_of(reference, "answer") for reference in given]

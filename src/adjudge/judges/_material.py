"""What is put before a judge, read as text; a row that lacks something is that row's fault and nobody else's."""

from collections.abc import Sequence

from adjudge.errors import DataError


def text_of(value: object, name: str) -> str:
    """Return a value as text: None is empty, a number its usual form."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # Python writes no whole number of more than some thousand digits
            raise DataError(f"{name} is a number with too many digits", code="bad-value") from None
    raise DataError(f"{name} must be text, got {type(value).__name__}", code="bad-value")


def texts_of(value: object, name: str) -> tuple[str, ...]:
    """Return one text or several as texts."""
    if value is None:
        return ()
    given = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else (value,)
    return tuple([item if isinstance(item, str) else text_of(item, name) for item in given])


def references_of(reference: object) -> tuple[str, ...]:
    """Return the accepted answers; without any, nobody can judge."""
    references = texts_of(reference, "reference")
    if not any(text.strip() for text in references):
        raise DataError("the row has no accepted answer", code="no-reference")
    return references

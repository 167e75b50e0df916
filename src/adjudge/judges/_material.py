"""What is put before a judge, read as text; a row that lacks something is that row's fault and nobody else's."""

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.errors import DataError

QUESTIONS = ("question", "query", "prompt", "input")
REFERENCES = ("reference", "references", "answer", "ground_truth")
RESPONSES = ("response", "final_response", "prediction", "candidate")
"""Under which names a row has its question, its accepted answers and its response; the first that it has counts."""


def named(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return what a row has under the first of the names; None where it has nothing."""
    return next((value for name in names if (value := row.get(name)) is not None), None)


def check_response(row: Mapping[str, Any]) -> None:
    """Refuse a row without a column for its response; None in that column is a response that says nothing."""
    if not any(name in row for name in RESPONSES):
        raise DataError(f"the row has no response to judge: call it {one_of(RESPONSES)}", code="missing-column")


def one_of(names: Sequence[str]) -> str:
    """Return the names that a column may have, in words.

    >>> one_of(("a", "b", "c"))
    'a, b or c'
    """
    return f"{', '.join(names[:-1])} or {names[-1]}"


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

"""Which columns of a row a judge reads: one table for every door.

    {"query": "Capital?", "answer": ["Paris"], "prediction": "It is Paris."}
        -> question "Capital?", references ("Paris",), response "It is Paris."

Of the names for one thing the first that the row has a value for counts; None and NaN, the empty cells of data
libraries, are not values. Rewards are functions and take their columns by exact names; this table is for judges and the
quality rubric.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from adjudge.errors import DataError, RowError
from adjudge.text.values import plain, text_of

__all__ = [
    "CRITERIA",
    "QUESTIONS",
    "REFERENCES",
    "RESPONSES",
    "SOURCES",
    "Material",
    "check_references",
    "material_of",
    "one_of",
    "one_value",
    "references_in",
    "text_in",
    "texts_of",
]

QUESTIONS = ("question", "query", "prompt", "input")
REFERENCES = ("reference", "references", "answer", "ground_truth")
RESPONSES = ("response", "final_response", "prediction", "candidate")
CRITERIA = ("criteria", "expected_answer_criteria")
SOURCES = ("sources",)


class Material(NamedTuple):
    """What a judge is shown of one row."""

    question: str
    references: tuple[str, ...]
    response: str | None
    criteria: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def material_of(row: Mapping[str, Any], *, by_rubric: bool = False) -> Material:
    """Read a row; a missing column is an error, `missing-column`, that names the columns to add.

    A verdict needs a reference, a rubric does not: without criteria it uses the references, if there are any.
    """
    if not isinstance(row, Mapping):
        raise RowError(f"a row must be a mapping of columns, got {type(row).__name__}")
    question = text_in(row, QUESTIONS)
    if question is None:
        raise _missing("question", QUESTIONS)
    references = references_in(row)
    # A rubric can do without a reference, a verdict cannot.
    if references is None and not by_rubric:
        raise _missing("reference to judge by", REFERENCES)
    # An empty cell is a response that says nothing; only a row without the column is at fault.
    response = text_in(row, RESPONSES)
    if response is None and row.keys().isdisjoint(RESPONSES):
        raise _missing("response to judge", RESPONSES)
    if not by_rubric:
        return Material(question, check_references(references or ()), response)
    criteria = texts_of(one_value(row, CRITERIA)[1], "criteria") or references or ()
    sources = texts_of(one_value(row, SOURCES)[1], "sources")
    return Material(question, references or (), response, criteria, sources)


def text_in(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the text, or the number as text, under the first of the names; None where the row has nothing there."""
    name, value = one_value(row, names)
    return value if value is None or isinstance(value, str) else text_of(value, name)


def references_in(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the accepted answers, one or a list; None where the row has no column for them."""
    name, value = one_value(row, REFERENCES)
    return None if value is None else texts_of(value, name)


def check_references(references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the references; raise where all of them are blank."""
    if not "".join(references).strip():
        raise DataError("the row has no accepted answer", code="no-reference")
    return references


def texts_of(value: object, name: str) -> tuple[str, ...]:
    """Return one text or several as texts; empty cells among them are left out."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        value = plain(value)
    given = value if isinstance(value, list | tuple) else [value]
    there = [item for item in given if item is not None and not (isinstance(item, float) and isnan(item))]
    return tuple([text_of(item, name) for item in there])


def one_of(names: Sequence[str]) -> str:
    """Return the names that a column may have, in words.

    >>> one_of(("a", "b", "c"))
    'a, b or c'
    """
    return f"{', '.join(names[:-1])} or {names[-1]}"


def one_value(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any]:
    """Return the first of the names that the row has a value for, with the value; `("", None)` where it has none."""
    for name in names:
        value = row.get(name)
        if value is not None and not (isinstance(value, float) and isnan(value)):
            return name, value
    return "", None


def _missing(what: str, names: Sequence[str]) -> DataError:
    return DataError(f"the row has no {what}: call it {one_of(names)}", code="missing-column")

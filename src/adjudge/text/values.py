"""Responses and accepted answers as rows hold them, read as text."""

import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from adjudge.errors import DataError
from adjudge.model import Trajectory

_NUMBER = re.compile(r"(?<!\w)[-\u2212]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)
_SPELLED = str.maketrans({".": "point", "-": "minus", "\u2212": "minus", "+": None})

_NARROW = {"float32": "f", "float16": "e"}
_MOST_NUMBERS = 64
_EXPONENT_ZEROS = re.compile(r"(?<=e)([-+]?)0+(?=\d)")


def plain(value: Any) -> Any:
    """Return what a data library wraps: the list of an array, the number of a numpy scalar.

    A number of a narrower type is the one that its shortest text means: 0.1 and not 0.10000000149011612.
    """
    unwrap = getattr(value, "tolist", None)
    if not callable(unwrap):
        return value
    unwrapped = unwrap()
    form = _NARROW.get(str(getattr(value, "dtype", "")).removeprefix("torch."))
    if form is None:
        return unwrapped
    if isinstance(unwrapped, float):
        return _shortest(unwrapped, form)
    # More numbers than that are data, and not accepted answers.
    if isinstance(unwrapped, list) and len(unwrapped) <= _MOST_NUMBERS:
        return [_shortest(one, form) if isinstance(one, float) else one for one in unwrapped]
    return unwrapped


def _shortest(number: float, form: str) -> float:
    """Return the number that the shortest text means which is `number` in a narrower type.

    >>> _shortest(0.10000000149011612, "f")
    0.1
    """
    if number - number != 0:  # infinite, or NaN
        return number
    for digits in range(1, 10):
        shorter = float(f"{number:.{digits}g}")
        with suppress(OverflowError):
            if struct.unpack(form, struct.pack(form, shorter))[0] == number:
                return shorter
    return number


def is_empty_cell(value: object) -> bool:
    """Return whether a table has nothing there: None, NaN or an empty text.

    >>> [is_empty_cell(value) for value in (None, float("nan"), "", 0, [])]
    [True, True, True, False, False]
    """
    return value is None or value == "" or (isinstance(value, float) and value != value)  # noqa: PLR0124 (NaN)


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


def spoken(response: str) -> str:
    """Return a response without its thinking, which names candidates and is not an answer.

    >>> spoken("<think>Paris, or Rome?</think> Lyon")
    'Lyon'
    """
    # Nearly no response has a tag, and this look costs nothing.
    if "<" not in response:
        return response
    from adjudge.text._extract import strip_thinking

    return strip_thinking(response)


def references_of(answer: object) -> list[str]:
    """Return the accepted answers as texts; a row without any is a fault of the row, not of the response."""
    return [text_of(reference, "answer") for reference in _given(answer)]


def pairs_of(response: str, answer: object) -> list[tuple[str, str]]:
    """Return the response beside each accepted answer, for a rule that deletes punctuation.

    Of a number that would make another one, 30 of 3.0 and 3 of -3. So where an answer is a number, and not a text,
    numbers are spelled on both sides.

    >>> pairs_of("It is 3.0.", ["Three", 3.5, -3])
    [('It is 3.0.', 'Three'), ('It is 3point0.', '3point5'), ('It is 3point0.', 'minus3')]
    >>> pairs_of("3", 3.0)
    [('3', '3point0'), ('3', '3')]
    """
    pairs = []
    spelled: str | None = None  # once, however many numbers there are
    for reference in _given(answer):
        text = text_of(reference, "answer")
        if isinstance(reference, str):
            pairs.append((response, text))
            continue
        spelled = spell(response) if spelled is None else spelled
        pairs.append((spelled, spell(text)))
        # A table with gaps has its whole numbers as 3.0.
        if isinstance(reference, float) and reference.is_integer():
            pairs.append((spelled, spell(text.removesuffix(".0"))))
        # 1e-07 is also written 1e-7 and 0.0000001.
        if "e" in text:
            pairs += [(spelled, spell(one)) for one in (_EXPONENT_ZEROS.sub(r"\1", text), f"{Decimal(text):f}")]
    return pairs


def spell(text: str) -> str:
    """Return a text whose numbers lose nothing with their punctuation.

    >>> spell("-1,234.50, 2020-10 and 1e-07.")
    'minus1,234point50, 2020-10 and 1eminus07.'
    """
    return _NUMBER.sub(lambda found: found[0].translate(_SPELLED), text)


def _given(answer: object) -> list[Any]:
    answer = plain(answer)
    given = answer if isinstance(answer, list | tuple) else [answer]
    there = [reference for reference in map(plain, given) if reference is not None and reference == reference]  # noqa: PLR0124 (NaN)
    if not there:
        raise DataError("the row has no accepted answer", code="no-reference")
    if any(isinstance(one, float) and one - one != 0 for one in there):
        raise DataError("answer is an infinite number, as 1e999 is in JSON", code="bad-value")
    return there

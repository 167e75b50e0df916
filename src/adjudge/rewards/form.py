"""The form of a response rather than its content: what it contains, how it is structured, how long it is.

contains_reward("It is Paris, of course.", "Paris")                            1.0
format_reward("<think>2+2</think><answer>4</answer>")                          1.0
length_penalty("word " * 900, max_length=1024)                                  -0.515625
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from adjudge.errors import ArgumentError
from adjudge.model import Provenance, Score
from adjudge.rewards._tag import Row, by_row, reward
from adjudge.text import normalise_answer
from adjudge.text.values import pairs_of, spoken, text_of

_TAG_NAME = re.compile(r"[A-Za-z][\w-]*")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)\s*>")


def _given(row: Row, option: str, default: Any) -> Any:
    """Return an option of the row; an empty cell counts as not given."""
    value = row.get(option)
    return default if value is None else value


def _contains(final_response: object, answer: object) -> float:
    pairs = pairs_of(spoken(text_of(final_response, "final_response")), answer)
    responses = {said: f" {normalise_answer(said)} " for said in dict(pairs)}
    for said, reference in pairs:
        response, gold = responses[said], normalise_answer(reference)
        if f" {gold} " in response if gold else not response.strip():
            return 1.0
    return 0.0


def _contains_score(row: Row, provenance: Provenance) -> Score:
    return Score.scored(_contains(row["final_response"], row["answer"]), provenance=provenance)


@reward(version="3", binary=True, parts=(), range=(0.0, 1.0), batch=by_row(_contains_score))
def contains_reward(final_response: str | None, answer: Any) -> float:
    """1 if the response contains an accepted answer, word for word after normalisation, else 0.

    Thinking between `<think>` and `</think>` is not read. An answer that lists many candidates is rewarded too: use
    it where responses are short, or beside `length_penalty`.

    >>> contains_reward("The Eiffel Tower is in Paris.", ["Paris", "City of Paris"])
    1.0
    >>> contains_reward("Parisian", "Paris")
    0.0
    """
    return _contains(final_response, answer)


def _format_fault(final_response: object, tags: object) -> str | None:
    """Return what is wrong with the structure, or None."""
    if isinstance(tags, str) or not isinstance(tags, Sequence) or not tags:
        raise ArgumentError(f"structure must be a list of tag names, got {tags!r}", code="bad-option")
    for name in tags:
        if not isinstance(name, str) or not _TAG_NAME.fullmatch(name):
            raise ArgumentError(f"{name!r} is not a tag name", code="bad-option")
    text = text_of(final_response, "final_response")
    # Every tag once, in order: `<a>`, `</a>`, `<b>`, `</b>`.
    expected = [(slash, name) for name in tags for slash in ("", "/")]
    found = [tag for tag in _TAG.finditer(text) if tag[2] in tags]
    if [(tag[1], tag[2]) for tag in found] != expected:
        wanted = "".join(f"<{name}>..</{name}>" for name in tags)
        return f"wrong-structure: expected {wanted}, each tag once and in this order"
    starts = [0, *(tag.end() for tag in found)]
    ends = [*(tag.start() for tag in found), len(text)]
    between = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    # Pieces with even numbers are outside of the tags, the others inside.
    if any(between[::2]):
        return "text-outside: there is text outside of the tags"
    empty = [name for name, content in zip(tags, between[1::2], strict=True) if not content]
    return f"empty-tag: <{empty[0]}> holds nothing" if empty else None


def _format_score(row: Row, provenance: Provenance) -> Score:
    fault = _format_fault(row["final_response"], _given(row, "structure", ("think", "answer")))
    return Score.scored(0.0 if fault else 1.0, reason=fault, provenance=provenance)


@reward(version="1", binary=True, parts=(), range=(0.0, 1.0), batch=by_row(_format_score))
def format_reward(final_response: str | None, *, structure: Sequence[str] = ("think", "answer")) -> float:
    """1 if the response is made of these tags, once each, in order, filled, with nothing around them, else 0.

    >>> format_reward("<think>2+2</think> <answer>4</answer>")
    1.0
    >>> format_reward("<answer>4</answer>")
    0.0
    """
    return 0.0 if _format_fault(final_response, structure) else 1.0


def _length(final_response: object, limit: object, buffer: object, unit: object) -> tuple[float, int]:
    """Return the penalty and the length that it is for."""
    if not isinstance(limit, int) or not isinstance(buffer, int) or not 0 < buffer <= limit:
        raise ArgumentError(
            f"max_length and overlong_buffer must be whole numbers, 0 < buffer <= length, got {limit!r} and {buffer!r}",
            code="bad-option",
        )
    text = text_of(final_response, "final_response")
    if unit == "words":
        length = len(text.split())
    elif unit == "characters":
        length = len(text)
    else:
        raise ArgumentError(f"length_unit must be words or characters, got {unit!r}", code="bad-option")
    return (min(0.0, max(-1.0, (limit - buffer - length) / buffer)), length)


def _length_score(row: Row, provenance: Provenance) -> Score:
    options = _given(row, "max_length", 1024), _given(row, "overlong_buffer", 256), _given(row, "length_unit", "words")
    value, length = _length(row["final_response"], *options)
    return Score.scored(value, parts={"length": float(length)}, provenance=provenance)


@reward(version="1", parts=("length",), range=(-1.0, 0.0), batch=by_row(_length_score, ("length",)))
def length_penalty(
    final_response: str | None,
    *,
    max_length: int = 1024,
    overlong_buffer: int = 256,
    length_unit: Literal["words", "characters"] = "words",
) -> dict[str, float]:
    """0 up to `max_length - overlong_buffer` words, falling in a straight line to -1 at `max_length`, -1 beyond.

    The soft overlong punishment of DAPO (Yu et al. 2025, arXiv:2503.14476, eq. 13), on words or characters.

    >>> length_penalty("word " * 896)["reward"]
    -0.5
    """
    value, length = _length(final_response, max_length, overlong_buffer, length_unit)
    return {"reward": value, "length": float(length)}

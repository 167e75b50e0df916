"""Reading rubric scores: a complete set of numbers between 0 and 1, or none."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.errors import UsageError
from adjudge.prompts._reply import UnreadableReply, json_object, keyed_lines, reasoning_of

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")
_REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class RubricReading:
    """What a reply says: a number for every name, in the order of the names, and the reasoning."""

    scores: Mapping[str, float]
    reasoning: str = ""


def rubric_schema(names: Sequence[str], *, binary: bool = False) -> dict[str, Any]:
    """Return the JSON schema that scores by these names are asked for by; with `binary` they are true or false.

    >>> rubric_schema(["clarity"])["required"]
    ['reasoning', 'clarity']
    """
    _check_names(names)
    properties: dict[str, Any] = {_REASONING: {"type": "string"}}
    properties.update({name: {"type": "boolean" if binary else "number"} for name in names})
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_rubric(reply: str, names: Sequence[str], *, nonce: str | None = None, binary: bool = False) -> RubricReading:
    """Return the scores of a reply; `UnreadableReply` unless every name has exactly one number in 0..1.

    The reply is, as a whole, one JSON object (with a nonce: the object is on a line of its own, after the nonce). A
    number may be written as a text. A bool is not a number, and members that were not asked for are ignored. With
    `binary` every name has true or false instead, for 1 and 0.

    >>> parse_rubric('{"clarity": "0.8", "reasoning": "Short."}', ["clarity"])
    RubricReading(scores={'clarity': 0.8}, reasoning='Short.')
    >>> parse_rubric('{"clarity": 8}', ["clarity"])
    Traceback (most recent call last):
    adjudge.prompts._reply.UnreadableReply: clarity is outside of 0..1
    """
    _check_names(names)
    if nonce is None:
        return _reading(json_object(reply), names, binary=binary)
    readings: list[RubricReading] = []
    quoted = False
    for rest, in_quotes in keyed_lines(reply, nonce):
        quoted = quoted or in_quotes
        if not in_quotes:
            readings.append(_reading(json_object(rest.removeprefix(":")), names, binary=binary))
    if not readings:
        if quoted:
            raise UnreadableReply("the only scores are in quoted text", code="quoted-verdict")
        raise UnreadableReply("no line carries the key and the scores", code="missing-score")
    # The same scores twice are one answer; different ones are none.
    if any(reading.scores != readings[0].scores for reading in readings):
        raise UnreadableReply("the reply gives different sets of scores", code="two-verdicts")
    reasoning = readings[0].reasoning or reply[: reply.index(nonce)].strip(" \t\r\n*_")
    return RubricReading(readings[0].scores, reasoning)


def _check_names(names: Sequence[str]) -> None:
    if isinstance(names, str) or not names or len(set(names)) != len(names) or _REASONING in names:
        raise UsageError(f"names of a rubric are several different words other than {_REASONING!r}, got {names!r}")


def _reading(members: dict[str, Any], names: Sequence[str], *, binary: bool) -> RubricReading:
    read = _truth if binary else _score
    return RubricReading({name: read(members, name) for name in names}, reasoning_of(members))


def _truth(members: dict[str, Any], name: str) -> float:
    if name not in members:
        raise UnreadableReply(f"{name} is missing", code="missing-score")
    value = members[name]
    # Models often write words for them.
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        value = value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise UnreadableReply(f"{name} must be true or false, got {type(value).__name__}", code="bad-score")
    return float(value)


def _score(members: dict[str, Any], name: str) -> float:
    if name not in members:
        raise UnreadableReply(f"{name} is missing", code="missing-score")
    value = members[name]
    # Models often write numbers as texts.
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableReply(f"{name} must be a number, got {type(value).__name__}", code="bad-score")
    # Written so that NaN is refused too.
    if not 0 <= value <= 1:
        raise UnreadableReply(f"{name} is outside of 0..1", code="bad-score")
    return abs(float(value))

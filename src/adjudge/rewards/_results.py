"""What a reward returned, as a Score: the one place where results are checked."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adjudge.errors import AdjudgeError
from adjudge.model import Provenance, Score
from adjudge.rewards._tag import Tag
from adjudge.text.values import plain

_RESERVED = frozenset({"reward", "reason", "steps", "error", "unscored"})


class ResultError(AdjudgeError):
    """A reward returned something that is not a result."""

    default_code = "bad-result"


def to_score(result: object, tag: Tag, provenance: Provenance) -> Score:
    """Check what a reward returned and make it a Score; anything that is not a result raises `ResultError`."""
    if inspect.isawaitable(result):
        # Closed, so that Python does not warn that it was never awaited.
        if inspect.iscoroutine(result):
            result.close()
        raise ResultError("the reward returned something to await: write it with `async def`")
    if isinstance(result, Score):
        if not isinstance(result.provenance, Provenance | None):
            raise ResultError(f"provenance must be a Provenance, got {type(result.provenance).__name__}")
        parts = {name: None if value is None else _number(value, name) for name, value in result.parts.items()}
        return _check_declared(replace(result, parts=parts, steps=_steps(result.steps)), tag, provenance)
    if isinstance(result, Mapping):
        return _check_declared(_from_mapping(result), tag, provenance)
    return _check_declared(Score.scored(_number(result, "reward")), tag, provenance)


def _from_mapping(result: Mapping[str, Any]) -> Score:
    parts: dict[str, float | None] = {}
    notes: dict[str, str] = {}
    for name, value in result.items():
        if name in _RESERVED:
            continue
        if isinstance(value, str):
            notes[name] = value
        else:
            parts[name] = None if value is None else _number(value, name)
    reason = result.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise ResultError(f"reason must be text, got {type(reason).__name__}")
    if result.get("error"):
        return Score.error(str(result["error"]), parts=parts, notes=notes or None)
    if result.get("unscored"):
        return Score.unscored(str(result["unscored"]), parts=parts, notes=notes or None)
    # The built-in rewards return this where the record does not show the tools.
    if notes.get("tool_use") == "unknown":
        return Score.unscored("tool-use-unknown", parts=parts)
    if "reward" not in result:
        raise ResultError("the result has no 'reward'", code="missing-reward")
    value = _number(result["reward"], "reward")
    steps = _steps(result.get("steps"))
    return Score.scored(value, reason=reason, parts=parts, steps=steps, notes=notes or None)


def _steps(steps: object) -> tuple[float, ...] | None:
    steps = plain(steps)
    if steps is None:
        return None
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise ResultError(f"steps must be a list of numbers, got {type(steps).__name__}")
    return tuple(_number(step, f"steps[{index}]") for index, step in enumerate(steps))


def _number(value: object, name: str) -> float:
    """Return a finite number as a float: any type that is one, a truth value, or an array of a single number."""
    value = plain(value)
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise ResultError(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise ResultError(f"{name} is not a float: {error}") from None
    # Only NaN and the infinities are not 0 here.
    if number - number != 0:
        raise ResultError(f"{name} is {number}", code="not-finite")
    return number


def _check_declared(score: Score, tag: Tag, provenance: Provenance) -> Score:
    """Check the score against what the tag declares."""
    parts = score.parts
    if tag.parts is not None:
        if score.status == "scored" and set(parts) != set(tag.parts):
            raise ResultError(f"the parts are {sorted(parts)}, declared are {sorted(tag.parts)}", code="wrong-parts")
        parts = {name: parts.get(name) for name in tag.parts}
    if score.value is not None and tag.range is not None and not tag.range[0] <= score.value <= tag.range[1]:
        raise ResultError(f"{score.value} is outside of {tag.range[0]}..{tag.range[1]}", code="out-of-range")
    return replace(score, parts=parts, provenance=score.provenance or provenance)


def failed(reason: str, tag: Tag, provenance: Provenance) -> Score:
    """Return the error Score of a row, with its declared parts unknown."""
    return Score.error(reason, parts=dict.fromkeys(tag.parts or ()), provenance=provenance)


def same_parts(scores: list[Score]) -> list[Score]:
    """Give all the scores of one call the same names of parts: what one of them lacks is None in it."""
    names = dict.fromkeys(name for score in scores for name in score.parts)
    return [
        score if len(score.parts) == len(names) else replace(score, parts={n: score.parts.get(n) for n in names})
        for score in scores
    ]

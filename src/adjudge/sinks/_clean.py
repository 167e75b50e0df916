"""Scores made fit to travel: text that every receiver can store, numbers that are numbers, sizes that are bounded."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adjudge.sinks._scores import OutScore

__all__ = ["LONGEST_COMMENT", "clean_text", "cleaned_score", "plain", "why_not_sendable"]

LONGEST_COMMENT = 20_000  # characters
_LONGEST_TEXT = 2_000
_LONGEST_NAME = 200
_MOST_ITEMS = 100
_DEEPEST = 4

# Control characters, those that reorder what stands around them, half characters, and what no text may hold.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_BAD_ID = re.compile("[\x00-\x1f\x7f-\x9f\ufffd]")  # the last: what clean_text puts for what it takes out


def clean_text(text: str, most: int = LONGEST_COMMENT) -> str:
    r"""Return text without lone surrogates, control and reordering characters, cut with a note where it is too long.

    >>> clean_text("red\x1b[31m \ud800 alert\n"), clean_text("a" * 50, most=4)
    ('red\ufffd[31m \ufffd alert\n', 'aaaa... [cut: 50 characters in all]')
    """
    kept = _UNFIT.sub("\ufffd", text[:most])
    return kept if len(text) <= most else f"{kept}... [cut: {len(text):,} characters in all]"


def cleaned_score(score: OutScore) -> OutScore:
    """Return the score as it is kept and sent; a value that is no value becomes None with the reason."""
    value, reason = _clean_value(score)
    return replace(
        score,
        name=clean_text(score.name, _LONGEST_NAME),
        value=value,
        reason=None if reason is None else clean_text(reason, _LONGEST_TEXT),
        comment=None if score.comment is None else clean_text(score.comment),
        trace_id=_clean_id(score.trace_id),
        session_id=_clean_id(score.session_id),
        observation_id=_clean_id(score.observation_id),
        id=clean_text(score.id, _LONGEST_NAME),
        metadata=plain(score.metadata),
        run=clean_text(score.run, _LONGEST_NAME),
    )


def why_not_sendable(score: OutScore, *, placed: bool) -> str | None:
    """Say why a cleaned score cannot go to any receiver; `placed` where one needs a trace or a session to put it."""
    if score.value is None:
        return f"no-value: {score.reason or 'the score has no value'}"
    if not score.name.strip():
        return "bad-name: the score has no name"
    ids = {"trace": score.trace_id, "session": score.session_id, "observation": score.observation_id, "": score.id}
    for what, one in ids.items():
        if one is not None and (not 0 < len(one) <= _LONGEST_NAME or _BAD_ID.search(one)):
            return f"bad-id: its {f'{what} id'.strip()} is empty, too long, or has characters that no id has"
    if placed and score.trace_id is None and score.session_id is None:
        return "no-trace: the score names neither a trace nor a session"
    return None


def _clean_id(one: str | None) -> str | None:
    return None if one is None else clean_text(one, _LONGEST_NAME)


def _clean_value(score: OutScore) -> tuple[bool | float | str | None, str | None]:
    value = score.value
    if value is None:
        return None, score.reason
    if score.data_type == "categorical":
        is_word = isinstance(value, str) and value.strip()
        return (clean_text(str(value), _LONGEST_NAME), score.reason) if is_word else (None, "the category is no text")
    if isinstance(value, str):
        return None, f"the value is the text {clean_text(value, 60)!r}, no number"
    return _clean_number(value, score)


def _clean_number(value: float, score: OutScore) -> tuple[bool | float | None, str | None]:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        return None, f"the value is {number}, no number"
    if score.data_type == "boolean":
        if number not in (0, 1):
            return None, f"the value is {number:g}, neither true nor false"
        return bool(number), score.reason
    return number, score.reason


def plain(value: object, depth: int = 0) -> Any:
    """Return what JSON has of some metadata, bounded; a number that is none becomes null."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return clean_text(value, _LONGEST_TEXT)
    if isinstance(value, int | float):
        return value if -(2**53) <= value <= 2**53 else None  # also what NaN gives
    if isinstance(value, Mapping) and depth < _DEEPEST:
        items = list(value.items())[:_MOST_ITEMS]
        return {clean_text(str(key), _LONGEST_NAME): plain(item, depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset) and depth < _DEEPEST:
        listed = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(item, depth + 1) for item in list(listed)[:_MOST_ITEMS]]
    return clean_text(str(type(value).__name__), _LONGEST_NAME)

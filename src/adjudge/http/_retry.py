"""When to try again: what the server says about it, and what we choose where it says nothing."""

import math
import random
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["backoff_s", "is_transient", "quotas", "retry_after_s"]

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_DURATION = re.compile(r"(?:([0-9.]+)d)?(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?", re.ASCII)
_UNITS_S = (86400.0, 3600.0, 60.0, 1.0, 0.001)
_BASE_S, _LONGEST_S = 0.25, 8.0

_QUOTAS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", False),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens", True),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset", False),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset", True),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset", True),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset", True),
)
"""What is left, when it is full again, and whether it counts tokens instead of calls."""


def is_transient(status: int) -> bool:
    """Say whether a status may pass: 408, 409, 425, 429 and everything from 500 on.

    >>> [status for status in (200, 400, 401, 404, 408, 429, 500, 529) if is_transient(status)]
    [408, 429, 500, 529]
    """
    return status in (408, 409, 425, 429) or status >= 500


def retry_after_s(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Seconds that the server asks to wait, from `retry-after-ms` or `Retry-After`; None where it says nothing.

    `headers` have names in lower case, or are looked up without regard to case. A date counts from `now`.

    >>> retry_after_s({"retry-after": "1.5"}), retry_after_s({"retry-after-ms": "250", "retry-after": "9"})
    (1.5, 0.25)
    >>> retry_after_s({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=45.0)
    15.0
    >>> retry_after_s({"retry-after": "soon"}) is None
    True
    """
    # The more exact header comes first.
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
        stamp = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, stamp - (time.time() if now is None else now))


def quotas(headers: Mapping[str, str], *, now: float | None = None) -> list[tuple[float, float, bool]]:
    """Return what the server says is left, the seconds until it is full again, and whether it is tokens, not calls.

    Calls that are spread evenly over that time fit both kinds of limits. One that is filled up at a moment is then used
    up at that moment. One that fills up all the time settles half full, where as much comes back as is used.

    >>> quotas({"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1m30s"})
    [(59.0, 90.0, False)]
    >>> left, at = "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"
    >>> quotas({left: "40000", at: "1970-01-01T00:01:00Z"}, now=45.0)
    [(40000.0, 15.0, True)]
    """
    found = []
    for remaining, reset, counts_tokens in _QUOTAS:
        if (text := headers.get(remaining)) is not None:
            left, until_s = _number(text), _reset_s(headers.get(reset, "").strip(), now)
            if left is not None and until_s is not None:
                found.append((left, until_s, counts_tokens))
    return found


def _reset_s(value: str, now: float | None) -> float | None:
    """Seconds of a duration (`6m0s`, `20ms`), a number, or a moment of RFC 3339; None for anything else."""
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        if parts := _DURATION.fullmatch(value):
            return sum(float(part) * unit for part, unit in zip(parts.groups(), _UNITS_S, strict=True) if part)
        return max(0.0, datetime.fromisoformat(value).timestamp() - (time.time() if now is None else now))
    except (ValueError, OverflowError):
        return None


def _number(value: str | None) -> float | None:
    if value is None or _NUMBER.fullmatch(value.strip()) is None:
        return None
    # Too many digits for a float give infinity, which is too long to wait as well.
    return float(value)


def backoff_s(attempt: int, chance: random.Random) -> float:
    """Seconds before attempt `attempt` + 1, with full jitter: anything up to a bound that doubles each time.

    >>> 0 <= backoff_s(1, random.Random(1)) <= 0.25 and 0 <= backoff_s(20, random.Random(1)) <= 8.0
    True
    """
    return chance.uniform(0.0, min(_LONGEST_S, math.ldexp(_BASE_S, min(attempt, 16) - 1)))

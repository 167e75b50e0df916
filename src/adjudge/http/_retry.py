"""When to try again: what the server says about it, and what we choose where it says nothing."""

import math
import random
import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

__all__ = ["backoff_s", "is_overload", "is_transient", "retry_after_s"]

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_BASE_S, _LONGEST_S = 0.25, 8.0


def is_transient(status: int) -> bool:
    """Say whether a status may pass: 408, 409, 425, 429 and everything from 500 on.

    >>> [status for status in (200, 400, 401, 404, 408, 429, 500, 529) if is_transient(status)]
    [408, 429, 500, 529]
    """
    return status in (408, 409, 425, 429) or status >= 500


def is_overload(status: int) -> bool:
    """Say whether a status means that the server is asked too much: everybody waits then, not the one call alone.

    >>> [status for status in (408, 429, 500, 503, 529) if is_overload(status)]
    [429, 503, 529]
    """
    return status in (429, 503, 529)


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


def _number(value: str | None) -> float | None:
    if value is None or _NUMBER.fullmatch(value.strip()) is None:
        return None
    return float(value)  # a row of digits that is too long for a float is infinite: too long to wait, too


def backoff_s(attempt: int, chance: random.Random) -> float:
    """Seconds before attempt `attempt` + 1, with full jitter: anything up to a bound that doubles each time.

    >>> 0 <= backoff_s(1, random.Random(1)) <= 0.25 and 0 <= backoff_s(20, random.Random(1)) <= 8.0
    True
    """
    return chance.uniform(0.0, min(_LONGEST_S, math.ldexp(_BASE_S, min(attempt, 16) - 1)))

r"""Patterns of a user, looked for in what a model wrote, under a hard limit.

The pattern is the user's, the text is not: `(a+)+$` takes forever on a text that a model may well write. Whether a
pattern can do that is hard to tell from its form, and no size limit bounds it, so every search happens in a worker
process that is killed when it has used its time. A search that runs out of time is not a match: the text caused it, and
nobody gains by that. All patterns of one rule go in one job, which takes about as long as one.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from adjudge.errors import UsageError
from adjudge.processes._errors import JobCrashed, JobFailed, JobTimeout
from adjudge.processes._pool import WorkerPool

LONGEST_PATTERN = 1_000  # characters
LONGEST_TEXT = 100_000  # characters of one text
LIMIT = 1.0  # seconds of CPU time for one job
MOST_ALONE = 8  # searches that are tried one by one when all together took too long


class PatternSearch(NamedTuple):
    """A pattern and the text that it is looked for in."""

    pattern: str
    text: str


def check_pattern(pattern: object, what: str, *, code: str) -> str:
    """Return a pattern that can be looked for; `UsageError` with that code says what is wrong with it."""
    if not isinstance(pattern, str) or len(pattern) > LONGEST_PATTERN:
        raise UsageError(f"{what} must be text of at most {LONGEST_PATTERN} characters", code=code)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{what} cannot be read: {error}", code=code) from None
    return pattern


def search_patterns(wanted: Sequence[PatternSearch]) -> list[bool | None]:
    """Say for each whether the pattern is found; None where the time ran out."""
    if not wanted:
        return []
    # The usual case: all of them in one job.
    together = _attempt(wanted)
    if together is not None:
        return together
    # One of them takes too long; some are tried one by one, so that a record of many calls has its limit too.
    alone = wanted[:MOST_ALONE] if len(wanted) > 1 else ()
    found = [(_attempt([one]) or [None])[0] for one in alone]
    return [*found, *[None] * (len(wanted) - len(found))]


def _attempt(wanted: Sequence[PatternSearch]) -> list[bool | None] | None:
    try:
        found: list[bool | None] = _pool().run([[*one] for one in wanted], cpu_s=LIMIT)
    except (JobTimeout, JobCrashed, JobFailed):
        return None
    return found


@cache
def _pool() -> WorkerPool:
    return WorkerPool("adjudge.processes._patterns:job", warm=())


def job(payload: Any) -> list[bool]:
    """Do the searches, in the worker."""
    return [re.search(pattern, text) is not None for pattern, text in payload]

"""How large an answer may be before it is refused, how many steps it may take, and the two ways of refusing.

A comparison opens one budget of steps, and every loop of reading, normalising and comparing spends from it. Steps are
counted, not timed, so that a busy machine changes no verdict.
"""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import lru_cache
from typing import Generic, TypeVar

_TOO_MANY = "the comparison takes too many steps"

MAX_ANSWER = 8_000
"""Characters of one answer; nothing longer is read."""

MAX_TOKENS = 1_600
"""Tokens of one answer."""

MAX_DEPTH = 48
"""Brackets inside brackets."""

MAX_ITEMS = 128
"""Elements of a list, relations in a chain, pieces of a union."""

MAX_BITS = 40_000
"""Bits of an exact integer; `2006!` has 19,000."""

MAX_TERMS = 400
"""Terms of an expanded polynomial."""

MAX_STEPS = 400_000
"""Steps of one comparison: a token read, a node visited, a pair of terms multiplied, 1,000 bits of a number."""

_LEFT: ContextVar[list[int] | None] = ContextVar("steps left", default=None)
T = TypeVar("T")


class LimitExceeded(Exception):
    """Evaluating this would take more than a fixed, small amount of work."""


class Unreadable(Exception):
    """The text is not an expression of the grammar."""


class StepBudget:
    """Counts the steps of what is done in its `with` statement, which gets a list with how many are left."""

    __slots__ = ("_token",)

    def __enter__(self) -> list[int]:
        left = [MAX_STEPS]
        self._token = _LEFT.set(left)
        return left

    def __exit__(self, *_: object) -> None:
        _LEFT.reset(self._token)


def spend(steps: int = 1) -> None:
    """Take steps from the open budget; where none is open, nothing is counted."""
    left = _LEFT.get()
    if left is not None:
        left[0] -= steps
        if left[0] < 0:
            raise LimitExceeded(_TOO_MANY)


class Memo(Generic[T]):
    """Results kept as `lru_cache` keeps them, each with the steps that it took.

    A result that is found costs as much as when it was worked out: no verdict depends on what was compared before.
    """

    def __init__(self, function: Callable[..., T], maxsize: int) -> None:
        self._function = function
        self._kept = lru_cache(maxsize=maxsize)(self._work_out)

    def __call__(self, *args: Hashable) -> T:
        """Return what the function returns, and spend what it spends."""
        left = _LEFT.get()
        if left is None:
            return self._function(*args)
        before = left[0]
        result, steps = self._kept(*args)
        left[0] = before - steps
        if left[0] < 0:
            raise LimitExceeded(_TOO_MANY)
        return result

    def _work_out(self, *args: Hashable) -> tuple[T, int]:
        left = _LEFT.get()
        before = 0 if left is None else left[0]
        result = self._function(*args)
        return result, 0 if left is None else before - left[0]

    def cache_clear(self) -> None:
        """Forget every result."""
        self._kept.cache_clear()

"""Whoever pays for a request may watch its attempts: count them, refuse one more, and keep what became of each."""

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Protocol

from adjudge.errors import AdjudgeError

__all__ = ["AttemptWatch", "attempt_watch"]


class AttemptWatch(Protocol):
    """Observes every attempt of a request."""

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that is open while the request waits for its turn, which is other requests' time."""
        ...

    def begin(self, attempt: int) -> None:
        """Take note that an attempt begins; raise to refuse it."""
        ...

    def failed(self, attempt: int, error: AdjudgeError) -> None:
        """Take note why an attempt failed that may be made again."""
        ...


attempt_watch: ContextVar[AttemptWatch | None] = ContextVar("adjudge_attempt_watch", default=None)
"""Who watches the requests that are sent in this context."""

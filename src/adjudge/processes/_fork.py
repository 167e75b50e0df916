"""What a forked child must let go of.

A fork copies every descriptor and every lock as it happens to stand. The child may not speak over its parent's
channels, and may not hold the other end of the lifelines by which its parent's workers notice that it died.
Nothing is installed before the first worker or pool is made.
"""

import os
import threading
import weakref
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["guard", "register"]


class Forgetful(Protocol):
    """Something that belongs to one process."""

    def after_fork(self) -> None:
        """Let go, in the child, of what is the parent's. No other thread exists; no lock may be waited for."""


class _Registry:
    """Everything in this process that a forked child must let go of."""

    def __init__(self) -> None:
        # Held while descriptors come into being, so that no fork falls between their making and their registration.
        # Re-entrant, because a signal handler may fork.
        self.lock = threading.RLock()
        self.members: weakref.WeakSet[Forgetful] = weakref.WeakSet()

    def before(self) -> None:
        self.lock.acquire()

    def after_in_parent(self) -> None:
        self.lock.release()

    def after_in_child(self) -> None:
        members = list(self.members)
        self.lock = threading.RLock()
        self.members = weakref.WeakSet()
        for member in members:
            member.after_fork()


_found: list[_Registry] = []
_making = threading.Lock()


def _registry() -> _Registry:
    if not _found:
        with _making:
            if not _found:
                registry = _Registry()
                os.register_at_fork(
                    before=registry.before,
                    after_in_parent=registry.after_in_parent,
                    after_in_child=registry.after_in_child,
                )
                _found.append(registry)
    return _found[0]


def guard() -> AbstractContextManager[bool]:
    """Keep forks away while it is held."""
    return _registry().lock


def register(member: Forgetful) -> None:
    """Have `member.after_fork()` called in every forked child."""
    registry = _registry()
    with registry.lock:
        registry.members.add(member)

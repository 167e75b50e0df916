"""What a forked child must let go of.

A fork copies every descriptor and every lock in its current state. The child must not use its parent's channels, and
must not hold the other end of the lifelines by which the parent's workers notice that it died. Nothing is installed
before the first worker or pool is made.
"""

import os
import threading
import weakref
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["ForkAware", "guard", "register_after_fork"]


class ForkAware(Protocol):
    """Something that belongs to one process."""

    def after_fork(self) -> None:
        """Drop, in the child, what belongs to the parent. No other thread exists; do not wait for any lock."""


class _Registry:
    """Everything in this process that a forked child must let go of."""

    def __init__(self) -> None:
        # Held while descriptors are created, so that no fork falls between their creation and their registration.
        # Re-entrant, because a signal handler may fork.
        self.lock = threading.RLock()
        self.members: weakref.WeakSet[ForkAware] = weakref.WeakSet()

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


_registries: list[_Registry] = []
_making = threading.Lock()


def _registry() -> _Registry:
    if not _registries:
        with _making:
            if not _registries:
                registry = _Registry()
                os.register_at_fork(
                    before=registry.before,
                    after_in_parent=registry.after_in_parent,
                    after_in_child=registry.after_in_child,
                )
                _registries.append(registry)
    return _registries[0]


def guard() -> AbstractContextManager[bool]:
    """Return a lock that keeps this process from forking while it is held."""
    return _registry().lock


def register_after_fork(member: ForkAware) -> None:
    """Have `member.after_fork()` called in every forked child, for as long as the member lives."""
    registry = _registry()
    with registry.lock:
        registry.members.add(member)

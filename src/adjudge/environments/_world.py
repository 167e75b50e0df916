"""What somebody writes to add an environment: a world, plain and synchronous, and the spec that builds it.

A world knows its own rules and nothing else: one episode at a time, called by one thread at a time. Where it lives (in
this process, in a worker process, behind HTTP), who may use it now, limits and deaths are the pool's and the backends'
work.
"""

from dataclasses import dataclass
from operator import index
from typing import Any, ClassVar, Protocol, runtime_checkable

from adjudge.model import Outcome, Step

__all__ = ["EnvSpec", "World", "whole"]


def whole(value: object) -> int | None:
    """Return a whole number, also one of another library such as numpy's; None for anything else, true included."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return index(value)
    except (TypeError, ValueError):  # such as an array of several
        return None


@runtime_checkable
class World(Protocol):
    """The rules of an environment. Any exception but an `AdjudgeError` means that the world can no longer be used.

    A world may also have an `info()` that returns a mapping: what `Step.info` would say right after a reset.
    """

    def reset(self, task: Any) -> str:
        """Start an episode and return the first observation; `EnvBadTask` where there is no such task."""
        ...

    def step(self, action: str) -> Step:
        """Do one action; an invalid one is the agent's, answered by an observation and never by an exception."""
        ...

    def outcome(self) -> Outcome:
        """Say how the episode stands; a pure read."""
        ...

    def close(self) -> None:
        """Free what it holds; calling it twice is legal."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvSpec:
    """A kind of environment under given limits; hashable, made of JSON values only, and never holds the task.

    `max_calls` caps the steps of one episode, free actions included: the last of them comes back as the end of the
    episode, with `done_reason` "call-limit".
    """

    kind: ClassVar[str] = ""
    home: ClassVar[str] = "process"  # where it lives unless a pool says otherwise: "process" (this one) or "worker"
    deterministic: ClassVar[bool] = False  # the same task and actions give the same episode: a dead one may be replayed

    memory_mb: ClassVar[int | None] = (
        2048  # address space of a worker; None: no bound (a JVM reserves more than it uses)
    )

    max_calls: int = 1000

    def build(self) -> World:
        """Make the world; called where it is to live."""
        raise TypeError(f"{type(self).__name__} does not say how its world is built")

    def task(self, task: Any) -> Any:
        """Return the task as JSON values, checked as far as that is possible without a world; else `EnvBadTask`."""
        return task

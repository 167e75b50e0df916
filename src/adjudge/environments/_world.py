"""What an environment is made of: a world and the spec that builds it, and the backend that decides where it lives.

A world is plain and synchronous, and knows its own rules and nothing else: one episode at a time, called by one thread
at a time. Where it lives (in this process, in a worker process, behind HTTP), who may use it now, its limits and its
death are the work of pools and backends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import Any, ClassVar, Protocol, runtime_checkable

from adjudge.environments._errors import EnvProtocolError
from adjudge.errors import UsageError
from adjudge.model import Outcome, Step

__all__ = [
    "Backend",
    "EnvSpec",
    "Instance",
    "Joined",
    "PoolLimits",
    "SharingBackend",
    "World",
    "start_episode",
    "whole",
]


@runtime_checkable
class World(Protocol):
    """The rules of an environment. Any exception but an `AdjudgeError` means that the world can no longer be used.

    A world may also have an `info()` that returns a mapping: what `Step.info` would say right after a reset.
    """

    def reset(self, task: Any) -> str:
        """Start an episode and return the first observation; `EnvBadTask` if there is no such task."""
        ...

    def step(self, action: str) -> Step:
        """Do one action; the answer to an invalid one is an observation for the agent, never an exception."""
        ...

    def outcome(self) -> Outcome:
        """Return the state of the episode without changing it."""
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
        raise TypeError(f"{type(self).__name__} does not say how to build its world")

    def task(self, task: Any) -> Any:
        """Return the task as JSON values, checked as far as possible without a world; otherwise `EnvBadTask`."""
        return task


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """How long calls may take, and how long an instance is kept; None: no bound.

    `lease_s` counts from a lease's last call, `step_s` is for one call, `start_s` for starting an instance. An
    instance is recycled after so many `episodes`, at the age of `age_s` seconds, or above `memory_mb` of resident
    memory (its child processes included); each is checked when the instance comes back.
    """

    lease_s: float = 900.0
    step_s: float = 60.0
    start_s: float = 120.0
    episodes: int | None = None
    age_s: float | None = None
    memory_mb: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not value > 0:  # written so that NaN is rejected too
                raise UsageError(f"{name} must be above 0, not {value!r}", code="bad-limit")


@runtime_checkable
class Instance(Protocol):
    """One live world. Calls come one at a time; each may raise an `EnvError`, and nothing else."""

    async def reset(self, task: Any) -> Step:
        """Start an episode; return the first observation, and what else is known of it."""
        ...

    async def step(self, action: str) -> Step:
        """Do one action."""
        ...

    async def outcome(self) -> Outcome:
        """Return the state of the episode without changing it."""
        ...

    async def health(self) -> bool:
        """Ask the world whether it answers."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it is there as far as one can see without asking; costs next to nothing."""
        ...

    def memory_mb(self) -> float | None:
        """Return the resident memory, including child processes, if known."""
        return None

    async def close(self) -> None:
        """End it; never raises, whatever its state, and may be called twice."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Starts instances of a spec somewhere."""

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> Instance:
        """Start one; an `AdjudgeError` says why that failed."""
        ...


@dataclass(frozen=True, slots=True)
class Joined:
    """An instance that a rollout has in another process, and how far its episode is.

    `name` tells it from others. `turn` counts the instances that the rollout has had: the latest one is its own.
    """

    name: str
    instance: Instance
    turn: int
    task: Any = None
    first: Step | None = None
    last: Step | None = None


@runtime_checkable
class SharingBackend(Backend, Protocol):
    """A backend through which other processes reach the instance of a rollout, by the rollout's id."""

    async def claim(self, instance: Instance, rollout_id: str, turn: int) -> bool:
        """Make an instance the rollout's; False where, in its first turn, another process has claimed one already."""
        ...

    async def unclaim(self, instance: Instance, rollout_id: str) -> None:
        """Note that it is not the rollout's any more; never raises."""
        ...

    async def join(self, spec: EnvSpec, rollout_id: str, limits: PoolLimits, *, thorough: bool) -> Joined | None:
        """Return the instance that another process has claimed for the rollout, or None.

        Where that cannot be known now, `EnvDied`; `thorough` is worth waiting for.
        """
        ...


def start_episode(world: World, task: Any) -> Step:
    """Reset a world; return the first observation, with what the world's `info()` says beside it, if it has one."""
    observation = world.reset(task)
    if not isinstance(observation, str):
        raise EnvProtocolError(f"the world's first observation must be text, not {type(observation).__name__}")
    # Optional, so that a world of four methods is a whole world.
    info = getattr(world, "info", None)
    if callable(info):
        info = info()
    return Step(observation, info=info if isinstance(info, Mapping) else {})


def whole(value: object) -> int | None:
    """Return a whole number, also one of another library such as numpy's; None for anything else, true included."""
    # A flag in the place of a number is a mistake in the row, although Python would count it as 0 or 1.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return index(value)
    except (TypeError, ValueError):  # such as an array of several
        return None

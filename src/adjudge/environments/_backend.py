"""Where a world lives: what a pool asks of a backend, and of each instance that the backend starts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from adjudge.environments._errors import (
    EnvAcquireTimeout,
    EnvBadTask,
    EnvDied,
    EnvError,
    EnvProtocolError,
    EnvStepTimeout,
)
from adjudge.environments._world import EnvSpec
from adjudge.errors import AdjudgeError, MissingExtra, UsageError
from adjudge.model import Outcome, Step

__all__ = ["Backend", "Instance", "PoolLimits", "error_of", "info_of", "told_of", "well_formed"]

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """How long things may take, and how long an instance is kept; None: no bound.

    `lease_s` counts from a lease's last call, `step_s` is for one call, `start_s` for starting an instance. An
    instance is recycled after so many `episodes`, at the age of `age_s` seconds, or above `memory_mb` of resident
    memory (its child processes included), each looked at when it comes back.
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
            if value is not None and not value > 0:  # written so that NaN is refused too
                raise UsageError(f"{name} must be above 0, not {value!r}", code="bad-limit")


@runtime_checkable
class Instance(Protocol):
    """One live world. Calls come one at a time; each may raise an `EnvError`, and nothing else."""

    async def reset(self, task: Any) -> Step:
        """Start an episode; the first observation, and what else is known of it."""
        ...

    async def step(self, action: str) -> Step:
        """Do one action."""
        ...

    async def outcome(self) -> Outcome:
        """Say how the episode stands; a pure read."""
        ...

    async def health(self) -> bool:
        """Ask the world whether it answers."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it is there as far as one can see without asking; costs next to nothing."""
        ...

    def memory_mb(self) -> float | None:
        """Resident memory, of child processes too, where that is known."""
        ...

    async def close(self) -> None:
        """End it; never raises, whatever state it is in, and may be called twice."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Starts instances of a spec somewhere."""

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> Instance:
        """Start one; an `AdjudgeError` says why there is none."""
        ...


_KNOWN: dict[str, type[AdjudgeError]] = {
    kind.default_code: kind
    for kind in (
        *(EnvAcquireTimeout, EnvBadTask, EnvDied, EnvError, EnvProtocolError, EnvStepTimeout),
        *(MissingExtra, UsageError),
    )
}


def told_of(error: AdjudgeError) -> tuple[str, str, str]:
    """Return an error as three texts that another process or machine can make the same error of."""
    return error.default_code, error.code, error.message


def error_of(kind: str, code: str, message: str) -> AdjudgeError:
    """Return the error that another process or machine told of, of its own type where that is known here."""
    return _KNOWN.get(kind, EnvError)(message, code=code)


def info_of(world: object) -> Mapping[str, Any]:
    """Return what a world says of itself beside the first observation, where it has an `info()`."""
    found = getattr(world, "info", None)
    if callable(found):
        found = found()
    return found if isinstance(found, Mapping) else {}


def well_formed(text: str) -> str:
    r"""Return the text with lone surrogates, which no wire carries, replaced; the same over every backend.

    >>> well_formed("caf\u00e9 \ud800!")
    'café �!'
    """
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)

"""The same for code that cannot await: each call runs on the background loop and is waited for."""

from collections.abc import Coroutine, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from adjudge.environments._background import BACKGROUND
from adjudge.environments._lease import LeasedEnvironment
from adjudge.model import Outcome, Step

if TYPE_CHECKING:
    from adjudge.environments._context import Context

__all__ = ["SyncContext", "SyncEnvironment"]

T = TypeVar("T")


def _wait(work: Coroutine[Any, Any, T]) -> T:
    return BACKGROUND.submit(work).result()


class SyncEnvironment:
    """A leased environment, called without await from any thread."""

    def __init__(self, environment: LeasedEnvironment) -> None:
        self.environment = environment

    def reset(self, task: Any) -> str:
        """Start an episode and return the first observation."""
        return _wait(self.environment.reset(task))

    def step(self, action: str) -> Step:
        """Do one action."""
        return _wait(self.environment.step(action))

    def outcome(self) -> Outcome:
        """Say how the episode stands, without advancing it."""
        return _wait(self.environment.outcome())

    def health(self) -> bool:
        """Say whether the instance answers."""
        return _wait(self.environment.health())

    def close(self) -> None:
        """Give it back to the pool."""
        _wait(self.environment.close())


class SyncContext:
    """A `Context`, called without await from any thread."""

    def __init__(self, context: "Context") -> None:
        self.context = context

    def acquire_resource(self, spec: Hashable, *, timeout: float = 60.0) -> SyncEnvironment:
        """Return this rollout's environment of that spec or kind, waiting at most `timeout` seconds for a free one."""
        return SyncEnvironment(_wait(self.context.acquire_resource(spec, timeout=timeout)))

    def reset_resource(self, spec: Hashable, task: Any) -> str:
        """Start an episode in this rollout's environment and return the first observation."""
        return _wait(self.context.reset_resource(spec, task))

    def release_resource(self, spec: Hashable | None = None) -> None:
        """Give back an environment of this rollout, or all."""
        _wait(self.context.release_resource(spec))

    def end_resource(self, spec: Hashable | None = None) -> None:
        """End an environment of this rollout, or all, for good."""
        _wait(self.context.end_resource(spec))

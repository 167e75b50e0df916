"""A world in this process: nothing between the rollout and the rules but a call."""

from typing import Any

from adjudge.environments._backend import PoolLimits, info_of
from adjudge.environments._background import in_thread
from adjudge.environments._errors import EnvDied, EnvProtocolError, EnvStepTimeout
from adjudge.environments._world import EnvSpec, World
from adjudge.errors import AdjudgeError, Caught
from adjudge.model import Outcome, Step

__all__ = ["InProcess"]


class InProcess:
    """Builds worlds in this process. They are called on the rollout's own event loop, so they must not wait.

    A call cannot be ended from outside: a world that may hang belongs into a worker.
    """

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "LocalInstance":  # noqa: ARG002 (a backend's signature)
        """Build a world, off the loop."""
        with Caught() as caught:
            return LocalInstance(await in_thread(spec.build))
        if isinstance(caught.error, AdjudgeError):
            raise caught.error
        raise EnvDied(f"the {spec.kind} world could not be built: {caught.reason}") from caught.error


class LocalInstance:
    """One world in this process."""

    __slots__ = ("_world", "alive")

    def __init__(self, world: World) -> None:
        self._world = world
        self.alive = True

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        with Caught() as caught:
            observation = self._world.reset(task)
            if not isinstance(observation, str):
                raise EnvProtocolError(f"the world's first observation is {type(observation).__name__}, not text")
            return Step(observation, info=info_of(self._world))
        raise self._fault(caught)

    async def step(self, action: str) -> Step:
        """Do one action."""
        with Caught() as caught:
            step = self._world.step(action)
            if isinstance(step, Step):
                return step
            raise EnvProtocolError(f"the world answered a step with {type(step).__name__}, which is no Step")
        raise self._fault(caught)

    async def outcome(self) -> Outcome:
        """Read the outcome."""
        with Caught() as caught:
            outcome = self._world.outcome()
            if isinstance(outcome, Outcome):
                return outcome
            raise EnvProtocolError(f"the world's outcome is {type(outcome).__name__}, which is no Outcome")
        raise self._fault(caught)

    async def health(self) -> bool:
        """Say whether no call has broken it."""
        return self.alive

    def memory_mb(self) -> float | None:
        """Nothing is known: the memory is this process's."""
        return None

    async def close(self) -> None:
        """Close the world."""
        self.alive = False
        with Caught(fatal_too=True):
            self._world.close()

    def _fault(self, caught: Caught) -> AdjudgeError:
        """Say what a world's exception means: its own errors are answers, everything else is its end."""
        error = caught.error
        self.alive = isinstance(error, AdjudgeError) and not isinstance(error, EnvDied | EnvStepTimeout)
        return error if isinstance(error, AdjudgeError) else EnvDied(f"the world broke: {caught.reason}")

"""Gymnasium: its environments as worlds for an agent that reads and writes text.

    spec = GymnasiumSpec(id="FrozenLake-v1", options={"is_slippery": False}, actions=("left", "down", "right", "up"))
    pool = Pool(spec, 8)            # then as any other world; a task is a seed, or what `reset` of Gymnasium takes

Actions are of a `Discrete` or a `Text` space. Observations are of one of the two, or anything that the environment
renders as text (`options={"render_mode": "ansi"}`). Written against gymnasium 1.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from adjudge.environments import EnvBadTask, EnvSpec, World
from adjudge.errors import MissingExtra, UsageError, closest
from adjudge.model import Outcome, Step, encode_json
from adjudge.text.values import plain

__all__ = ["GymnasiumSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GymnasiumSpec(EnvSpec):
    """The environment that `gymnasium.make(id, **options)` makes, with names for the actions of a `Discrete` space.

    A task is a seed, or a mapping with `seed` and `options` as `reset` takes them; None is any episode. An episode is
    worth the sum of its rewards.
    """

    kind: ClassVar[str] = "gymnasium"
    home: ClassVar[str] = "worker"
    memory_mb: ClassVar[int | None] = None  # numerical libraries reserve much more than they use

    id: str
    options: Any = ()
    actions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Specs are hashable, so a mapping is kept as its pairs.
        if isinstance(self.options, Mapping):
            object.__setattr__(self, "options", tuple(sorted(self.options.items())))

    def build(self) -> World:
        """Make the environment."""
        try:
            import gymnasium
        except ImportError:
            raise MissingExtra.of("gymnasium", "an environment of Gymnasium") from None
        try:
            made = gymnasium.make(self.id, **dict(self.options))
        except (gymnasium.error.Error, TypeError, ImportError) as error:
            raise UsageError(f"Gymnasium cannot make {self.id!r}: {error}", code="unknown-environment") from error
        return GymnasiumWorld(made, self.actions)

    def task(self, task: Any) -> Any:
        """Return the arguments of `reset` as a dict."""
        given = plain(task)
        if given is None:
            return {}
        if isinstance(given, int) and not isinstance(given, bool):
            return {"seed": given}
        if isinstance(given, Mapping) and set(given) <= {"seed", "options"}:
            return dict(given)
        raise EnvBadTask(f"a task is a seed, or a mapping with seed and options, not {task!r}")


class GymnasiumWorld:
    """One environment of Gymnasium."""

    def __init__(self, env: Any, names: tuple[str, ...]) -> None:
        from gymnasium import spaces

        self._env = env
        self._discrete = isinstance(env.action_space, spaces.Discrete)
        self._renders = env.render_mode == "ansi"
        known = (spaces.Discrete, spaces.Text)
        if not isinstance(env.action_space, known):
            raise UsageError(f"actions must be of a Discrete or a Text space, not {env.action_space}", code="bad-spec")
        if not isinstance(env.observation_space, known) and not self._renders:
            message = f"observations must be of a Discrete or a Text space, not {env.observation_space}"
            raise UsageError(f"{message}; or give options={{'render_mode': 'ansi'}}", code="bad-spec")
        if names and not (self._discrete and len(names) == env.action_space.n):
            raise UsageError(f"{len(names)} names of actions for {env.action_space}", code="bad-spec")
        self._start = int(env.action_space.start) if self._discrete else 0
        self._names = names or tuple(str(self._start + number) for number in range(self._count()))
        self._observation = ""
        self._total = 0.0
        self._end: str | None = None

    def reset(self, task: Any) -> str:
        """Start an episode."""
        try:
            observed, _ = self._env.reset(**task)
        except (TypeError, ValueError) as error:
            raise EnvBadTask(f"the environment cannot be reset with {task!r}: {error}") from error
        self._total, self._end = 0.0, None
        self._observation = self._text(observed)
        return self._observation

    def info(self) -> dict[str, Any]:
        """Say which actions there are."""
        return {"actions": list(self._names)} if self._discrete else {}

    def step(self, action: str) -> Step:
        """Do one action."""
        chosen = self._chosen(action)
        if chosen is None:
            hint = f": choose one of {', '.join(self._names)}{closest(action, self._names)}" if self._names else ""
            return Step(f"The action is not valid{hint}", reward=0.0, info={**self.info(), "valid": False})
        observed, reward, terminated, truncated, info = self._env.step(chosen)
        self._total += float(reward)
        if terminated or truncated:
            self._end = "terminated" if terminated else "truncated"
        self._observation = self._text(observed)
        more = {"info": _json(info), "done_reason": self._end, **self.info()}
        return Step(self._observation, reward=float(reward), done=self._end is not None, info=more)

    def outcome(self) -> Outcome:
        """Say what the episode is worth so far."""
        return Outcome(reward=self._total, observation=self._observation, done_reason=self._end)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def _count(self) -> int:
        return int(self._env.action_space.n) if self._discrete else 0

    def _chosen(self, action: str) -> Any:
        """Return the action that a text names; None for one that there is not."""
        if not self._discrete:
            return action if self._env.action_space.contains(action) else None
        known = {name.casefold(): number for number, name in enumerate(self._names)}
        place = known.get(action.strip().casefold())
        return None if place is None else self._start + place

    def _text(self, observed: Any) -> str:
        return str(self._env.render()) if self._renders else str(plain(observed))


def _json(info: Any) -> Any:
    """Return what an environment says beside its observation, if JSON can hold it."""
    values = plain(info)
    try:
        encode_json(values)
    except (TypeError, ValueError, RecursionError):
        return {}
    return values

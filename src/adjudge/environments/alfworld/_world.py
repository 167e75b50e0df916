"""The rules of an episode: what a step answers, when it is over and what it is worth."""

from dataclasses import dataclass
from typing import Any

from adjudge.environments._errors import EnvError
from adjudge.environments.alfworld._engine import Engine
from adjudge.environments.alfworld._games import official, problem
from adjudge.environments.alfworld._spec import AlfworldSpec
from adjudge.model import Outcome, Step

__all__ = ["Alfworld"]


@dataclass(slots=True)
class _Episode:
    """How far an episode has come."""

    game: str
    observation: str = ""
    commands: tuple[str, ...] = ()
    calls: int = 0
    won: bool = False
    done_reason: str | None = None


class Alfworld:
    """One engine. An episode ends by `won` or `call-limit`; after its end a step changes nothing any more."""

    def __init__(self, spec: AlfworldSpec) -> None:
        self._spec = spec
        self._engine = Engine()
        self._episode: _Episode | None = None

    def reset(self, task: Any) -> str:
        """Start a game and return what the player is told: the room, and the task."""
        self._episode = None
        name = self._spec.task(task)
        if "/" in name:
            self._engine.start(official(name, self._spec.data))
        else:
            game, text = problem(name)
            self._engine.start_problem(text, game.task)
        self._episode = _Episode(name)
        self._read(self._episode)
        return self._episode.observation

    def step(self, action: str) -> Step:
        """Do one command; one that is not admissible changes nothing. Its `reward` is 1.0 when it wins the game."""
        episode = self._started()
        if episode.done_reason is not None:
            over = f"The episode is over ({episode.done_reason})."
            return Step(observation=over, reward=0.0, done=True, info=self.info())
        episode.calls += 1
        self._engine.step(action)
        self._read(episode)
        if episode.won:
            episode.done_reason = "won"
        elif episode.calls >= self._spec.max_calls:
            episode.done_reason = "call-limit"
        return Step(
            observation=episode.observation,
            reward=float(episode.won),
            done=episode.done_reason is not None,
            info=self.info(),
        )

    def info(self) -> dict[str, Any]:
        """Return what is known beside the observation: what can be done now, whether the game is won, why it ended."""
        episode = self._started()
        return {
            "admissible_commands": list(episode.commands),
            "won": episode.won,
            "done_reason": episode.done_reason,
        }

    def outcome(self) -> Outcome:
        """Say how the episode stands: `reward` is 1.0 when it is won, else 0.0."""
        if self._episode is None:
            return Outcome(done_reason="no-episode")
        episode = self._episode
        return Outcome(
            reward=float(episode.won),
            success=episode.won,
            failed=False,  # no game can be lost
            score_raw=float(episode.won),
            observation=episode.observation,
            done_reason=episode.done_reason,
            task=episode.game,
        )

    def close(self) -> None:
        """Let the engine go."""
        self._engine.close()

    def _read(self, episode: _Episode) -> None:
        state = self._engine.state
        episode.observation = str(state["feedback"])
        episode.commands = tuple(state["admissible_commands"])
        episode.won = bool(state["won"])

    def _started(self) -> _Episode:
        if self._episode is None:
            raise EnvError("no episode was started: call reset with the name of a game first", code="no-episode")
        return self._episode

"""ALFWorld as a world: the installed engine, and the rules of an episode. Imported in the worker process only.

The engine is `alfworld` on `textworld` on Fast Downward.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adjudge.environments._errors import EnvError
from adjudge.environments.alfworld._games import AlfworldSpec, official, problem
from adjudge.errors import MissingExtra
from adjudge.model import Outcome, Step

__all__ = ["Alfworld"]


@dataclass(slots=True)
class _Episode:
    """The state of an episode."""

    game: str
    observation: str = ""
    commands: tuple[str, ...] = ()
    calls: int = 0
    won: bool = False
    done_reason: str | None = None


class Alfworld:
    """One engine. An episode ends with `won` or `call-limit`; after its end a step changes nothing."""

    def __init__(self, spec: AlfworldSpec) -> None:
        self._spec = spec
        self._episode: _Episode | None = None
        # The import itself writes to the user's home unless a data folder is set.
        with _without_data_folder():
            try:
                from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
                from textworld import EnvInfos
                from textworld.envs import PddlEnv

                self._engine: Any = AlfredDemangler(PddlEnv(EnvInfos(admissible_commands=True, won=True)))
            except ImportError as error:
                raise MissingExtra.of("alfworld", "ALFWorld") from error
        found = find_spec("alfworld")
        if found is None or found.origin is None:
            raise MissingExtra.of("alfworld", "ALFWorld")
        # The rules and the words of our own games are the package's, so that an agent reads what it reads in official
        # ones.
        folder = Path(found.origin).parent / "data"
        self._domain = (folder / "alfred.pddl").read_text(encoding="utf-8")
        self._grammar = (folder / "alfred.twl2").read_text(encoding="utf-8")

    def reset(self, task: Any) -> str:
        """Start a game and return the first scene: the room, and the task."""
        self._episode = None
        name = self._spec.task(task)
        # The name decides where a game comes from; `task` has checked that it cannot lead out of either place.
        if "/" in name:
            files = official(name, self._spec.data)
        else:  # our own games use the package's rules and words
            game, text = problem(name)
            grammar = self._grammar.replace("UNKNOWN GOAL", game.task)
            files = {"pddl_domain": self._domain, "grammar": grammar, "pddl_problem": text}
        self._engine.load(files)
        self._episode = _Episode(name)
        self._read(self._episode, self._engine.reset())
        return self._episode.observation

    def step(self, action: str) -> Step:
        """Do one command; one that is not admissible changes nothing. Its `reward` is 1.0 when it wins the game."""
        episode = self._current()
        if episode.done_reason is not None:
            over = f"The episode is over ({episode.done_reason})."
            return Step(observation=over, reward=0.0, done=True, info=self.info())
        episode.calls += 1
        state, _, _ = self._engine.step(action)
        self._read(episode, state)
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
        """Return what is known beside the observation: the possible commands, whether the game is won, why it ended."""
        episode = self._current()
        return {
            "admissible_commands": list(episode.commands),
            "won": episode.won,
            "done_reason": episode.done_reason,
        }

    def outcome(self) -> Outcome:
        """Return the state of the episode: `reward` is 1.0 if it is won, otherwise 0.0."""
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
        """Close the engine."""
        self._engine.close()

    def _read(self, episode: _Episode, state: Any) -> None:
        episode.observation = str(state["feedback"])
        episode.commands = tuple(state["admissible_commands"])
        episode.won = bool(state["won"])

    def _current(self) -> _Episode:
        if self._episode is None:
            raise EnvError("no episode was started: call reset with the name of a game first", code="no-episode")
        return self._episode


@contextmanager
def _without_data_folder() -> Iterator[None]:
    """Keep `import alfworld` from making a folder in the user's home and from naming it in the environment."""
    before = os.environ.get("ALFWORLD_DATA")
    os.environ["ALFWORLD_DATA"] = str(Path(__file__).parent)
    try:
        yield
    finally:
        if before is None:
            del os.environ["ALFWORLD_DATA"]
        else:
            os.environ["ALFWORLD_DATA"] = before

"""The installed engine: `alfworld` on `textworld` on Fast Downward. Imported in the worker process only."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adjudge.errors import MissingExtra

__all__ = ["Engine"]


class Engine:
    """One game at a time; `state` is what the engine says of it."""

    def __init__(self) -> None:
        with _no_folder_made():
            try:
                from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
                from textworld import EnvInfos
                from textworld.envs import PddlEnv

                self._environment: Any = AlfredDemangler(PddlEnv(EnvInfos(admissible_commands=True, won=True)))
            except ImportError as error:
                raise MissingExtra.of("alfworld", "ALFWorld") from error
        folder = _package_folder() / "data"
        self._domain = (folder / "alfred.pddl").read_text(encoding="utf-8")
        self._grammar = (folder / "alfred.twl2").read_text(encoding="utf-8")
        self.state: Any = None

    def start(self, game: Mapping[str, str]) -> None:
        """Load a game with its own rules and words."""
        self._environment.load(dict(game))
        self.state = self._environment.reset()

    def start_problem(self, problem: str, task: str) -> None:
        """Load a game that has only a problem and a sentence on its goal, with the package's rules and words."""
        grammar = self._grammar.replace("UNKNOWN GOAL", task)
        self.start({"pddl_domain": self._domain, "grammar": grammar, "pddl_problem": problem})

    def step(self, action: str) -> None:
        """Do one command; one that is not admissible changes nothing."""
        self.state, _, _ = self._environment.step(action)

    def close(self) -> None:
        """Let the game go."""
        self._environment.close()


def _package_folder() -> Path:
    found = find_spec("alfworld")
    if found is None or found.origin is None:
        raise MissingExtra.of("alfworld", "ALFWorld")
    return Path(found.origin).parent


@contextmanager
def _no_folder_made() -> Iterator[None]:
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

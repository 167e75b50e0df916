"""The spec of ALFWorld, and where its games come from: ours beside this file, official ones in a user's data folder.

A game is code: the engine evaluates what is in braces in its grammar. So a task names a game and never a file, and a
name is looked up in these two places and nowhere else.
"""

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.environments._errors import EnvBadTask, EnvError
from adjudge.environments._world import EnvSpec
from adjudge.errors import closest

if TYPE_CHECKING:
    from adjudge.environments.alfworld._world import Alfworld

__all__ = ["AlfworldSpec", "Game", "games", "official", "problem"]

_FOLDER = Path(__file__).parent / "games"
_OFFICIAL_FILE = "game.tw-pddl"
_PART = re.compile(r"[A-Za-z0-9_+,.-]{1,255}")  # no file system has longer names
_MOST_PARTS = 8
_NAME_SHOWN = 200
_GET_DATA = (
    "get it with `alfworld-download` of the alfworld package, then pass it as AlfworldSpec(data=...) or ALFWORLD_DATA"
)


@dataclass(frozen=True, slots=True)
class Game:
    """One of our own games: its name, its type in ALFWorld's words, the player's task, and the commands that win it."""

    name: str
    type: str
    task: str
    solution: tuple[str, ...]


@cache
def games() -> tuple[Game, ...]:
    """Return our own games, by name."""
    index = json.loads((_FOLDER / "index.json").read_text(encoding="utf-8"))
    return tuple(Game(name, one["type"], one["task"], tuple(one["solution"])) for name, one in sorted(index.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class AlfworldSpec(EnvSpec):
    """ALFWorld's text games: our own, and the official ones where their folder is there.

    `data` is the official data folder (by default, what ALFWORLD_DATA names). Its files are code: use one that you
    trust. It is not part of a task, so that no row can name one.
    """

    kind: ClassVar[str] = "alfworld"
    home: ClassVar[str] = "worker"
    deterministic: ClassVar[bool] = True

    data: str | None = None

    def build(self) -> "Alfworld":
        """Load the engine, only here: parts of it are under the GPL."""
        from adjudge.environments.alfworld._world import Alfworld

        return Alfworld(self)

    def task(self, task: Any) -> str:
        """Return the name of a game: one of ours (without a slash), or split/task/trial of the official data."""
        if not isinstance(task, str):
            raise EnvBadTask(f"an ALFWorld task is the name of a game, not {type(task).__name__}")
        parts = task.split("/")
        if len(parts) > _MOST_PARTS or not all(_PART.fullmatch(part) and part.strip(".") for part in parts):
            raise EnvBadTask(
                f"{task[:_NAME_SHOWN]!r} is not the name of a game: "
                "names are made of letters, digits and _ + , . - with / between"
            )
        # Official names cannot be checked here: only the worker knows its data folder.
        known = [game.name for game in games()]
        if len(parts) == 1 and task not in known:
            raise EnvBadTask(
                f"there is no game {task!r}{closest(task, known)} (official games are named as split/task/trial)"
            )
        return task


def problem(name: str) -> tuple[Game, str]:
    """Return one of our own games and its PDDL problem."""
    game = next(game for game in games() if game.name == name)
    return game, (_FOLDER / f"{game.name}.pddl").read_text(encoding="utf-8")


def official(name: str, data: str | None) -> dict[str, str]:
    """Return an official game from its file; nothing outside the data folder is read, not even through links."""
    folder = data or os.environ.get("ALFWORLD_DATA")
    if not folder:
        raise EnvError(f"{name!r} is an official game, but no data folder is set: {_GET_DATA}", code="missing-data")
    root = Path(folder).expanduser().resolve()
    if not root.is_dir():
        raise EnvError(
            f"{name!r} is an official game, but there is no folder {folder}: {_GET_DATA}", code="missing-data"
        )
    inner = root / "json_2.1.1"  # what the download makes
    # Resolved first: a link inside the folder must not lead to a file outside of it, because a game is code.
    file = ((inner if inner.is_dir() else root) / name / _OFFICIAL_FILE).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        raise EnvBadTask(f"there is no game {name!r} in the data folder {folder}")
    try:
        game = json.loads(file.read_bytes())
        return {key: str(game[key]) for key in ("pddl_domain", "grammar", "pddl_problem")}
    except OSError as error:
        raise EnvError(f"the file of game {name!r} cannot be read: {error.strerror}", code="missing-data") from error
    except (ValueError, KeyError, TypeError) as error:
        raise EnvBadTask(f"the file of game {name!r} is not an ALFWorld game: {error!r}") from error

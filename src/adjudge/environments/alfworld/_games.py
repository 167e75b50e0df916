"""Where games come from: our own beside this file, the official ones from the data folder of a user.

A game is code: the engine evaluates what stands in braces in its grammar. So a task names a game and never a file; what
it names is looked up in these two places, and nowhere else.
"""

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adjudge.environments._errors import EnvBadTask, EnvError
from adjudge.errors import closest

__all__ = ["Game", "checked_name", "games", "official", "problem"]

_FOLDER = Path(__file__).parent / "games"
_OFFICIAL_FILE = "game.tw-pddl"
_PART = re.compile(r"[A-Za-z0-9_+,.-]{1,255}")  # no file system has longer names
_MOST_PARTS = 8
_SHOWN = 200
_GET_DATA = (
    "get it with `alfworld-download` of the alfworld package, then name it by AlfworldSpec(data=...) or ALFWORLD_DATA"
)


@dataclass(frozen=True, slots=True)
class Game:
    """One of our own games: its name, its type in ALFWorld's words, what the player is told, and what wins it."""

    name: str
    type: str
    task: str
    solution: tuple[str, ...]


@cache
def games() -> tuple[Game, ...]:
    """Return our own games, by name."""
    index = json.loads((_FOLDER / "index.json").read_text(encoding="utf-8"))
    return tuple(Game(name, one["type"], one["task"], tuple(one["solution"])) for name, one in sorted(index.items()))


def checked_name(name: object) -> str:
    """Return the name of a game, if it can be one: ours have no slash, an official one is its place in the data."""
    if not isinstance(name, str):
        raise EnvBadTask(f"an ALFWorld task is the name of a game, not {type(name).__name__}")
    parts = name.split("/")
    if len(parts) > _MOST_PARTS or not all(_PART.fullmatch(part) and part.strip(".") for part in parts):
        raise EnvBadTask(
            f"{name[:_SHOWN]!r} is no name of a game: names are made of letters, digits and _ + , . - with / between"
        )
    known = [game.name for game in games()]
    if len(parts) == 1 and name not in known:
        raise EnvBadTask(
            f"there is no game {name!r}{closest(name, known)} (official games are named as split/task/trial)"
        )
    return name


def problem(name: str) -> tuple[Game, str]:
    """Return one of our own games and its PDDL problem."""
    game = next(game for game in games() if game.name == name)
    return game, (_FOLDER / f"{game.name}.pddl").read_text(encoding="utf-8")


def official(name: str, data: str | None) -> dict[str, str]:
    """Return an official game as its file has it; nothing outside the data folder is read, also by way of links."""
    folder = data or os.environ.get("ALFWORLD_DATA")
    if not folder:
        raise EnvError(f"{name!r} is an official game and no data folder is known: {_GET_DATA}", code="missing-data")
    root = Path(folder).expanduser().resolve()
    if not root.is_dir():
        raise EnvError(
            f"{name!r} is an official game and there is no folder {folder}: {_GET_DATA}", code="missing-data"
        )
    inner = root / "json_2.1.1"  # what the download makes
    file = ((inner if inner.is_dir() else root) / name / _OFFICIAL_FILE).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        raise EnvBadTask(f"there is no game {name!r} in the data folder {folder}")
    try:
        game = json.loads(file.read_bytes())
        return {key: str(game[key]) for key in ("pddl_domain", "grammar", "pddl_problem")}
    except OSError as error:
        raise EnvError(f"the file of game {name!r} cannot be read: {error.strerror}", code="missing-data") from error
    except (ValueError, KeyError, TypeError) as error:
        raise EnvBadTask(f"the file of game {name!r} is no ALFWorld game: {error!r}") from error

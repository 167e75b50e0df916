"""Our own ALFWorld games, as data; these tests do not need the engine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.environments import EnvError
from adjudge.environments.alfworld import AlfworldSpec, games
from adjudge.environments.alfworld._games import official, problem
from adjudge.errors import MissingExtra

TYPES = {
    *("pick_and_place_simple", "look_at_obj_in_light", "pick_two_obj_and_place"),
    *(f"pick_{how}_then_place_in_recep" for how in ("clean", "heat", "cool")),
}


def test_there_are_games_of_every_type() -> None:
    """At least eight games, two of each of ALFWorld's six task types; every one has a file, and no file is over."""
    assert len(games()) >= 8
    assert {type_: sum(game.type == type_ for game in games()) for type_ in TYPES} == dict.fromkeys(TYPES, 2)
    folder = Path(sys.modules[AlfworldSpec.__module__].__file__ or "").parent / "games"
    assert {path.stem for path in folder.glob("*.pddl")} == {game.name for game in games()}


@pytest.mark.parametrize("game", games(), ids=lambda game: game.name)
def test_a_game_holds_nothing_that_is_evaluated(game: object) -> None:
    """The sentence that goes into the grammar is plain words, and the problem is named as its file is."""
    found, text = problem(getattr(game, "name", ""))
    assert re.fullmatch(r"[a-z ]+", found.task)
    assert f"(define (problem {found.name})" in text
    assert found.solution


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages a world is not built, and the error says what to install."""
    monkeypatch.setitem(sys.modules, "alfworld", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[alfworld\]'"):
        AlfworldSpec().build()


def test_a_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An official game without its folder says how to get it."""
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    for data in (None, str(tmp_path / "nothing")):
        with pytest.raises(EnvError, match="alfworld-download") as caught:
            official("train/task/trial", data)
        assert caught.value.code == "missing-data"


def test_a_spec_says_what_is_asked_for() -> None:
    """Specs are plain values: equal, hashable, and without the game."""
    assert {AlfworldSpec(): 1}[AlfworldSpec()] == 1
    assert AlfworldSpec() != AlfworldSpec(data="somewhere")
    assert (AlfworldSpec.kind, AlfworldSpec.home, AlfworldSpec.deterministic) == ("alfworld", "worker", True)
    assert AlfworldSpec().task("mug_on_desk") == "mug_on_desk"


def test_the_packages_load_without_their_engines() -> None:
    """Importing both packages, and checking tasks, loads no part of either engine."""
    code = (
        "import sys; from adjudge.environments.alfworld import AlfworldSpec, games;"
        "from adjudge.environments.scienceworld import ScienceWorldSpec;"
        "AlfworldSpec().task(games()[0].name); ScienceWorldSpec().task('boil');"
        "print(sorted({'alfworld', 'textworld', 'py4j', 'scienceworld', 'fast_downward'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"

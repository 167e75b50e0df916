"""ALFWorld, the real engine in a worker process."""

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from adjudge.environments import EnvBadTask, EnvError
from adjudge.environments.alfworld import AlfworldSpec, Game, games
from adjudge.environments.alfworld._games import problem
from environments.worlds import Remote, gone, needs

pytestmark = needs("alfworld")

OFFICIAL = "valid_seen/pick_and_place_simple-Mug-None-Desk-308/trial_T1"


@pytest.fixture(scope="module")
def world() -> Iterator[Remote]:
    """Load the engine once, in a worker."""
    with Remote(AlfworldSpec()) as remote:
        yield remote


@pytest.mark.parametrize("game", games(), ids=lambda game: game.name)
def test_every_solution_wins(world: Remote, game: Game) -> None:
    """A game is won by its solution and by no beginning of it; each of its commands is admissible when it is given."""
    observation = world.ask("reset", game.name)
    assert observation.endswith(f"Your task is to: {game.task}.")
    info = world.ask("info")
    for number, command in enumerate(game.solution, start=1):
        assert command in info["admissible_commands"]
        before = world.ask("outcome")
        assert (before["reward"], before["success"], before["done_reason"]) == (0.0, False, None)
        step = world.ask("step", command)
        info = step["info"]
        assert info["won"] == step["done"] == (number == len(game.solution))
        assert step["reward"] == float(step["done"])
    outcome = world.ask("outcome")
    assert (outcome["reward"], outcome["success"], outcome["failed"]) == (1.0, True, False)
    assert (outcome["done_reason"], outcome["task"]) == ("won", game.name)


def test_what_is_not_admissible_changes_nothing(world: Remote) -> None:
    """Any other text is answered, and neither moves nor ends anything."""
    world.ask("reset", "mug_on_desk")
    before = world.ask("info")
    for action in (
        "take mug 1 from shelf 1",
        "",
        "{r.name}",
        "#intro#",
        '& # / " ] \\ \n',
        "\u00e9\U0001f600",
        "\ud800",
    ):
        step = world.ask("step", action)
        assert (step["observation"], step["reward"], step["done"]) == ("Nothing happens.", 0.0, False)
        assert step["info"] == before


def test_after_its_end_an_episode_stays_as_it_is(world: Remote) -> None:
    """What is done after the win is not done, and the outcome is the same whenever it is read."""
    world.play("mug_on_desk", games_by_name("mug_on_desk").solution)
    ended = world.ask("outcome")
    step = world.ask("step", "take mug 1 from desk 1")
    assert (step["observation"], step["done"], step["info"]["won"]) == ("The episode is over (won).", True, True)
    assert world.ask("outcome") == ended
    assert ended["success"] is True


def test_calls_are_capped_and_replays_are_the_same(world: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same game and commands give the same texts in another process; the last call that is allowed ends it."""
    some = games()[::4]
    played = [world.play(game.name, (*game.solution, "look", "inventory")) for game in some]
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    with Remote(AlfworldSpec(max_calls=9)) as remote:
        assert [remote.play(game.name, (*game.solution, "look", "inventory")) for game in some] == played
        assert remote.play("mug_on_desk", ["look"] * 9)[-1]["done_reason"] == "call-limit"
        assert remote.play("mug_on_desk", ["look"] * 8)[-1]["done_reason"] is None


@pytest.mark.parametrize(
    "name",
    [
        "mug_on_dsk",
        "",
        "..",
        "../games/mug_on_desk",
        "/etc/passwd",
        "a//b",
        "a/./b",
        "a/../../b",
        "a\\b",
        "a\x00b",
        "~/x",
        f"a/{'b' * 300}",
        "a/" * 2000 + "b",
    ],
)
def test_a_task_names_a_game_and_no_file(world: Remote, name: str) -> None:
    """What is no name of a game is refused before anything is opened, and the world can still be used."""
    with pytest.raises(EnvBadTask):
        AlfworldSpec().task(name)
    with pytest.raises(EnvBadTask):
        world.ask("reset", name)
    assert world.ask("outcome")["done_reason"] == "no-episode"
    with pytest.raises(EnvError, match="call reset"):
        world.ask("step", "look")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Lay out a data folder as the download does, with a game of ours in the official form."""
    found = find_spec("alfworld")
    assert found is not None
    assert found.origin is not None
    logic = Path(found.origin).parent / "data"
    game, text = problem("mug_on_desk")
    official = {
        "pddl_domain": (logic / "alfred.pddl").read_text(encoding="utf-8"),
        "grammar": (logic / "alfred.twl2").read_text(encoding="utf-8").replace("UNKNOWN GOAL", game.task),
        "pddl_problem": text,
        "solvable": True,
        "walkthrough": list(game.solution),
    }
    folder = tmp_path / "json_2.1.1" / OFFICIAL
    folder.mkdir(parents=True)
    (folder / "game.tw-pddl").write_text(json.dumps(official), encoding="utf-8")
    return tmp_path


def test_official_games_are_played_from_their_folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A game of the data folder is played by its name; one outside it is not, also where a link leads there."""
    inside = data / "json_2.1.1" / "train"
    inside.mkdir()
    outside = tmp_path_factory.mktemp("outside")
    (outside / "game.tw-pddl").write_text("{}", encoding="utf-8")
    (inside / "link").symlink_to(outside)
    (inside / "broken").mkdir()
    (inside / "broken" / "game.tw-pddl").write_text("{}", encoding="utf-8")
    with Remote(AlfworldSpec(data=str(data))) as remote:
        assert remote.play(OFFICIAL, games_by_name("mug_on_desk").solution)[-1]["success"] is True
        for name in ("train/link", "train/nothing", "train/broken"):
            with pytest.raises(EnvBadTask):
                remote.ask("reset", name)
        remote.ask("reset", OFFICIAL)
        pid = remote.worker.pid
    assert gone(pid)


def test_the_folder_may_be_named_by_the_environment(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `data` the folder is the one that ALFWORLD_DATA names; loading the engine leaves that as it was."""
    monkeypatch.setenv("ALFWORLD_DATA", str(data))
    with Remote(AlfworldSpec()) as remote:
        assert remote.ask("build", AlfworldSpec()) == str(data)
        assert "Your task is to: put a mug on the desk." in remote.ask("reset", OFFICIAL)


def test_loading_the_engine_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package would make a folder in the user's home and name it in the environment; here it does neither."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with Remote(AlfworldSpec()) as remote:
        assert remote.ask("build", AlfworldSpec()) is None
        with pytest.raises(EnvError, match="alfworld-download") as caught:
            remote.ask("reset", OFFICIAL)
    assert caught.value.code == "missing-data"
    assert list(tmp_path.iterdir()) == []


def test_the_engine_stays_in_its_worker(world: Remote) -> None:
    """Nothing under the GPL is loaded in this process, which has played games all the while."""
    world.ask("reset", "mug_on_desk")
    loaded: set[Any] = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"alfworld", "textworld", "fast_downward", "jericho"}


def games_by_name(name: str) -> Game:
    """Return one of our games."""
    return next(game for game in games() if game.name == name)

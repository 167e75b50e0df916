"""Kinds of one's own: by entry point, and by adapters whose package may be missing."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from adjudge.environments import Context, EnvSpec, Pool, default_spec
from adjudge.errors import MissingExtra, UsageError
from adjudge.integrations.gymnasium import GymnasiumSpec
from adjudge.integrations.mcp import McpSpec
from adjudge.model import Outcome, Step
from adjudge.rewards import get_reward
from environments.toys import ChancySpec, ToySpec


def install(place: Path, package: str, lines: Sequence[str]) -> None:
    """Write what pip would have written for a package that offers some kinds."""
    folder = place / f"{package}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text("\n".join(["[adjudge.environments]", *lines, ""]), encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a distribution that offers some kinds."""
    points = {
        "toy": "environments.toys:ToySpec",
        "plaything": "environments.toys:ToySpec",
        "counter": "environments.toys:Counter",
        "webshop": "environments.toys:ToySpec",
        "gone": "environments.nowhere:Spec",
    }
    install(tmp_path, "kinds", [f"{name} = {place}" for name, place in points.items()])
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


async def test_an_installed_kind_has_a_name(installed: Path) -> None:
    """It is acquired by its name, and the name leads back to the open lease; ours cannot be replaced."""
    assert default_spec("toy") == ToySpec()
    assert default_spec("webshop").kind == "webshop"
    async with Context("r") as context:
        env = await context.acquire_resource("toy")
        assert await context.acquire_resource("toy") is env


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("plaything", "installed as 'plaything' and is of the kind 'toy'"),
        ("counter", "is not an EnvSpec"),
        ("gone", "cannot be imported"),
        ("tory", "did you mean 'toy'"),
    ],
)
def test_what_is_installed_wrongly(installed: Path, kind: str, match: str) -> None:
    """It is named."""
    with pytest.raises(UsageError, match=match):
        default_spec(kind)


def test_two_packages_with_one_kind(installed: Path) -> None:
    """Neither is chosen; both are named. One place that two packages name is one kind."""
    install(installed, "others", ["toy = environments.toys:ChancySpec", "plaything = environments.toys : ToySpec [x]"])
    with pytest.raises(UsageError, match=r"installed by kinds \(.*:ToySpec\) and others \(.*:ChancySpec\)") as caught:
        default_spec("toy")
    assert caught.value.code == "ambiguous-kind"
    with pytest.raises(UsageError, match="is of the kind 'toy'"):
        default_spec("plaything")
    # An older copy of a package, further down the path, counts as little as its modules do.
    shadow = installed / "shadow"
    shadow.mkdir()
    install(shadow, "kinds", ["counter = environments.toys:ToySpec"])
    sys.path.append(str(shadow))
    try:
        with pytest.raises(UsageError, match="is not an EnvSpec"):
            default_spec("counter")
    finally:
        sys.path.remove(str(shadow))


@pytest.mark.parametrize("lines", [["odd = not a place!"], ["a line without a value"]])
def test_a_malformed_entry_point(installed: Path, lines: Sequence[str]) -> None:
    """The other kinds are found; whoever asks for this one hears why not."""
    install(installed, "broken", lines)
    assert default_spec("toy") == ToySpec()
    with pytest.raises(UsageError, match="odd"):
        default_spec("odd")


@pytest.mark.parametrize("code", ["raise SystemExit(7)", "import nowhere", "raise RuntimeError('no licence')", "1 +"])
def test_a_package_that_fails_when_it_is_imported(installed: Path, code: str) -> None:
    """Package and kind are named, and nothing ends the process."""
    (installed / "failing_world.py").write_text(code, encoding="utf-8")
    install(installed, "failing", ["sad = failing_world:SadSpec"])
    with pytest.raises(UsageError, match="the kind 'sad' of the package failing, cannot be imported: "):
        default_spec("sad")


def test_an_installed_kind_is_served(installed: Path) -> None:
    """The command knows the name as it knows ours."""
    path = os.pathsep.join([str(installed), *filter(None, sys.path)])
    command = [sys.executable, "-m", "adjudge", "env", "serve", "toy", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("serving toy at")
        server.kill()


async def test_the_reward_of_any_kind() -> None:
    """What the world says, by name; an error without an environment, 0 without an episode."""
    scorer = get_reward("episode_reward(kind='toy')")
    with Pool(ToySpec(), 1) as pool:
        assert (await scorer.ascore({}, context=Context("x", pools=[pool]))).reason is not None
        async with Context("r", pools=[pool]) as context:
            env = await context.acquire_resource("toy")
            assert (await scorer.ascore({}, context=context)).reason == "no-episode"
            await env.reset(4)
            await env.step("one")
            score = await scorer.ascore({}, context=context)
            assert (score.status, score.value, score.parts) == ("scored", 0.25, {"success": 0.0})
            other = await get_reward("episode_reward", kind="chancy").ascore({}, context=context)
            assert (other.status, str(other.reason).partition(":")[0]) == ("error", "no-environment")


async def test_a_world_that_says_nothing_of_a_reward() -> None:
    """It is an error, not 0."""

    class Mute(ChancySpec):
        kind = "mute"

        def build(self) -> "World":
            return World()

    with Pool(Mute(), 1) as pool:
        async with Context("r", pools=[pool]) as context:
            await context.reset_resource("mute", 1)
            score = await get_reward("episode_reward", kind="mute").ascore({}, context=context)
    assert (score.status, str(score.reason).partition(":")[0]) == ("error", "env-protocol")


class World:
    """A world without a reward."""

    def reset(self, task: object) -> str:
        """Begin."""
        return ""

    def step(self, action: str) -> Step:
        """Go on."""
        return Step("")

    def outcome(self) -> Outcome:
        """Say nothing."""
        return Outcome()

    def close(self) -> None:
        """Nothing to free."""


@pytest.mark.parametrize(
    ("spec", "package", "extra"),
    [
        (GymnasiumSpec(id="FrozenLake-v1"), "gymnasium", r"adjudge\[gymnasium\]"),
        (McpSpec(url="http://127.0.0.1:1"), "mcp", r"adjudge\[mcp\]"),
    ],
)
def test_a_missing_package_is_named(spec: EnvSpec, package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=extra):
        spec.build()

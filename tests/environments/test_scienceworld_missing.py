"""ScienceWorld where something is missing; these tests need neither Java nor the extra."""

import sys
from pathlib import Path

import pytest

from adjudge.environments import EnvDied
from adjudge.environments.scienceworld import ScienceWorldSpec, ScienceWorldTask
from adjudge.environments.scienceworld._jvm import _launch
from adjudge.errors import MissingExtra, UsageError


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package a world is not built, and the error says what to install."""
    monkeypatch.setitem(sys.modules, "py4j", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[scienceworld\]'"):
        ScienceWorldSpec().build()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lay out a package that has the simulator's name, and no Java."""
    folder = tmp_path / "scienceworld"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "scienceworld", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


def test_a_missing_java_is_named(package: Path) -> None:
    """Without Java the error says which one is needed and how to get it."""
    with pytest.raises(MissingExtra, match=r"needs Java 17 or newer.*apt-get install openjdk-17-jre-headless"):
        _launch("py4j.jar", 64)


def test_a_java_that_does_not_start_is_a_death(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Java said instead of starting the simulator stands in the error."""
    from adjudge.environments.scienceworld._jvm import _greeting

    java = package.parent / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho Could not reserve enough space for object heap\n", encoding="ascii")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parent.parent))
    process = _launch("py4j.jar", 64)
    with process, pytest.raises(EnvDied, match="Could not reserve enough space"):
        _greeting(process)


def test_a_spec_says_what_is_asked_for() -> None:
    """Specs and tasks are plain values: equal, hashable, and without the task in the spec."""
    spec = ScienceWorldSpec(step_limit=100)
    assert {spec: 1}[ScienceWorldSpec()] == 1
    assert (spec.kind, spec.home, spec.deterministic) == ("scienceworld", "worker", True)
    task = ScienceWorldTask("boil", variation=3, simplifications="easy")
    assert spec.task(task) == spec.task(spec.task(task))
    assert spec.task("boil") == {"name": "boil", "variation": 0, "simplifications": ""}


@pytest.mark.parametrize("limits", [{"step_limit": 0}, {"heap_mb": 1}])
def test_limits_are_checked(limits: dict[str, int]) -> None:
    """A limit under which nothing can be played is refused when it is written."""
    with pytest.raises(UsageError):
        ScienceWorldSpec(**limits)

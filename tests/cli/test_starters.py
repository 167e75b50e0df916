"""`adjudge init`: what it writes passes as it stands, and nothing is written over."""

import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import UsageError
from adjudge.starters import KINDS, write_starter
from cli.command import adjudge

OWN = [kind for kind in KINDS if kind != "scenario"]


@pytest.mark.parametrize("kind", OWN)
def test_a_starter_passes_as_it_stands(kind: str, tmp_path: Path) -> None:
    """Code, test and page have the name that was given; the test passes, and so do the examples in the code."""
    done = adjudge("init", kind, "my_own", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert written == ["docs/my_own.md", "my_own.py", "test_my_own.py"]
    assert all("NAME" not in (tmp_path / name).read_text(encoding="utf-8") for name in written)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "--doctest-modules", "."]
    tests = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert tests.returncode == 0, tests.stdout
    lint = [sys.executable, "-m", "ruff", "check", "--isolated", "--line-length", "120", "."]
    assert subprocess.run(lint, cwd=tmp_path, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scorer"], "needs a name that Python can import"),
        (["scorer", "two-words"], "'two-words' is not one"),
        (["judge", "class"], "'class' is not one"),
        (["judge", "json"], "'json' is a module of Python"),
        (["scorer", "a" * 101], "is not one"),
        (["decoder", "../away"], "is not one"),
        (["folder", "extra"], "takes a folder, or one of scorer, judge, decoder, environment"),
    ],
)
def test_wrong_calls(arguments: list[str], words: str, tmp_path: Path) -> None:
    """A name that cannot be imported is a wrong call, and nothing is written."""
    done = adjudge("init", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.decode().split())
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """Where one of its files exists, none is written."""
    (tmp_path / "test_mine.py").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists already"):
        write_starter("scorer", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]


def test_an_unknown_kind_names_the_closest() -> None:
    """A kind that is not there is refused with the closest one."""
    with pytest.raises(UsageError, match="did you mean 'scorer'"):
        write_starter("score", "mine")

"""What the commands show: help with examples, the list of scorers, the demo, and colour only where it belongs."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.rewards import describe, list_rewards
from cli.command import COMMAND, F1, GOOD, PATIENCE, adjudge, write


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize(
    "command",
    [
        *([], ["score"], ["scorers"], ["demo"], ["judge"], ["judge", "run"], ["plan"]),
        *(["resume"], ["rescore"], ["runs"], ["show"]),
    ],
    ids=" ".join,
)
def test_help(tmp_path: Path, command: list[str], flag: str) -> None:
    """Every command explains itself and shows an example that starts with its name."""
    result = adjudge(*command, flag, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, b"")
    shown = result.stdout.decode()
    assert shown.startswith(" ".join(["Usage: adjudge", *command]))
    assert re.search(rf"^ +adjudge {command[0] if command else 'demo'}", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 100


def test_bare(tmp_path: Path) -> None:
    """The bare command shows its help as it is laid out."""
    result = adjudge(cwd=tmp_path)
    assert adjudge("-h", cwd=tmp_path).stdout in (result.stdout, result.stderr)


def test_module_is_command(tmp_path: Path) -> None:
    """`python -m adjudge` and `adjudge` are the same."""
    script = Path(sys.executable).parent / "adjudge"
    for arguments in (["--version"], ["scorers"], ["score", "gone.jsonl", *F1]):
        result = subprocess.run([script, *arguments], cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE)
        other = adjudge(*arguments, cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (other.returncode, other.stdout, other.stderr)


def test_scorers(tmp_path: Path) -> None:
    """The list has every registered scorer with its signature, first doc line, version and place."""
    shown = adjudge("scorers", cwd=tmp_path).stdout.decode()
    for name in list_rewards():
        found = describe(name)
        assert found.summary
        assert f"{name}{found.signature}\n    {found.summary}\n    version {found.version}, {found.place}\n" in shown


def test_scorers_by_word(tmp_path: Path) -> None:
    """A word, in any case, shows only the scorers with it in their names; one that none has is said to."""
    shown = adjudge("scorers", "QA_F1", cwd=tmp_path).stdout.decode()
    assert re.findall(r"^(\w+)\(", shown, re.MULTILINE) == ["qa_f1_reward", "qa_f1_reward_tool"]
    nothing = adjudge("scorers", "zzz", cwd=tmp_path)
    assert b"zzz" in nothing.stdout + nothing.stderr


def test_demo(tmp_path: Path) -> None:
    """The demo ends well, shows several rewards with all three outcomes, and leaves a report in the cache."""
    folder = tmp_path / "here"
    folder.mkdir()
    result = adjudge("demo", cwd=folder, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert (result.returncode, result.stderr) == (0, b"")
    shown = result.stdout.decode()
    table = re.findall(r"^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+[* ]", shown, re.MULTILINE)
    assert len(table) >= 3
    chapters = re.split(r"^(?=\d\. )", shown, flags=re.MULTILINE)[1:]
    assert len(chapters) == 8
    assert max(one.count("\n") for one in chapters) <= 45, "a chapter fits on a screen"
    for _, rows, *counts in table:
        assert int(rows) == sum(map(int, counts)) >= 40
    assert any(int(unscored) for _, _, _, unscored, _ in table)
    assert any(int(error) for *_, error in table)
    assert "have no score" in shown
    assert list(folder.iterdir()) == []
    report = tmp_path / "cache" / "adjudge" / "demo" / "report.html"
    assert report.as_uri() in shown.replace("\n", "")
    assert "He drank hemlock." in report.read_text(encoding="utf-8")


def test_one_chapter_of_the_demo(tmp_path: Path) -> None:
    """A chapter plays alone, by its name; a name that none has is a wrong call that lists them."""
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    shown = adjudge("demo", "report", cwd=tmp_path, env=env).stdout.decode()
    assert re.findall(r"^(\d)\. ", shown, re.MULTILINE) == ["8"]
    assert (tmp_path / "cache" / "adjudge" / "demo" / "report.html").exists()
    wrong = adjudge("demo", "gates", cwd=tmp_path, env=env)
    assert wrong.returncode == 2
    assert b"rewards, math, judges, local, benchmark, gate, environments, report" in wrong.stderr


@pytest.mark.parametrize("command", ["scorers", "demo", "score"])
def test_no_escape_codes_in_a_pipe(tmp_path: Path, command: str) -> None:
    """What goes into a pipe has no escape codes."""
    write(tmp_path / "rows.jsonl", [GOOD, "{cut"])
    arguments = ["score", "rows.jsonl", *F1] if command == "score" else [command]
    result = adjudge(*arguments, cwd=tmp_path)
    assert b"\x1b" not in result.stdout + result.stderr


def on_terminal(folder: Path, *arguments: str, **env: str) -> str:
    """Run the command on a terminal and return what it shows there."""
    ours, theirs = pty.openpty()
    settings = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**settings, "TERM": "xterm-256color", **env},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the last process with the terminal open has gone
            break
        if not more:
            break
        shown += more
    os.close(ours)
    process.wait(timeout=PATIENCE)
    return shown.decode()


COLOUR = re.compile(r"\x1b\[[\d;]*\b(3[0-7]|9[0-7]|38;[\d;]+)[\d;]*m")


def test_terminal(tmp_path: Path) -> None:
    """A terminal gets colour, NO_COLOR takes it away, and what rows wrote moves no cursor on either."""
    write(tmp_path / "rows.jsonl", [GOOD, {"id": "\x1b[2J\x1b]0;title\x07"}])
    plain = on_terminal(tmp_path, "score", "rows.jsonl", *F1, NO_COLOR="1")
    coloured = on_terminal(tmp_path, "score", "rows.jsonl", *F1)
    assert COLOUR.search(coloured)
    assert not COLOUR.search(plain)
    for shown in (plain, coloured):
        assert "have no score" in shown
        assert "\x1b[2J" not in shown
        assert "\x1b]" not in shown

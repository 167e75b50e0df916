"""What `adjudge crag` shows: help with examples, a bar with the three counts on a terminal, lines elsewhere."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from adjudge.crag import _phases
from adjudge.runs import Progress
from cli.command import COMMAND, PATIENCE, adjudge, write
from crag.worlds import dataset

SLOW = """
import time

def answer(query, image, history):
    time.sleep(0.08)
    return "I don't know."
"""


@pytest.mark.parametrize("command", ["", "run", "generate", "evaluate"])
def test_help(tmp_path: Path, command: str) -> None:
    """Every command explains itself, shows an example and says its exit codes."""
    named = ["crag", command] if command else ["crag"]
    result = adjudge(*named, "-h", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, b"")
    shown = result.stdout.decode()
    assert shown.startswith(" ".join(["Usage: adjudge", *named]))
    assert re.search(r"^ +adjudge crag", shown, re.MULTILINE)
    assert "Exit codes" in shown or not command
    assert max(map(len, shown.splitlines())) <= 100


def test_bar(tmp_path: Path) -> None:
    """After two seconds on a terminal there is a bar with turns done and the three counts; it leaves nothing behind."""
    (tmp_path / "slow.py").write_text(SLOW)
    write(tmp_path / "data.jsonl", [{**row, "image": None, "image_url": None} for row in dataset(16)])
    mine, theirs = pty.openpty()
    arguments = ["crag", "generate", "--agent", "slow:answer", "--dataset", "data.jsonl"]
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(mine, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(mine)
    stdout, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, shown
    assert stdout == b"40 turns of 16 conversations, 0 of them not answered\n"
    assert re.search(rb"generating.*/40.*scored, 0 unscored, 0 error", shown)
    assert shown.endswith(b"adjudge: everything is in crag-results\r\n")


def test_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no terminal, a line now and then says how a phase stands; from Python nothing does."""
    progress = Progress(total=20, done=5)
    progress.counts.update(scored=3, unscored=1, error=1)
    monkeypatch.setattr(_phases, "EVERY", 0.0)
    with _phases.watch_phase("judging") as watch:
        assert watch is not None
        watch(progress)
    assert capsys.readouterr().err == "judging: 5 of 20 turns · 3 scored, 1 unscored, 1 error\n"
    with _phases.bar("judging") as nobody:
        assert nobody is None

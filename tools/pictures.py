"""Take the pictures of the docs: `make pictures`. They show what the commands and the viewer show now.

view-run.png           the viewer, on a run over the sample rollouts
terminal-check.svg     `adjudge check` on the sample system, as a terminal shows it
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

import adjudge
from adjudge.datasets import read_rows
from adjudge.demo import sample_path
from adjudge.runs import RunConfig
from adjudge.view import ViewServer

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SCORERS = ["qa_f1_reward", "contains_reward", "local:0"]
FLAGS = ["--no-sandbox", "--disable-gpu"]
CHECK = "adjudge check scenarios --gate gate.toml --agent adjudge.scenarios.sample:faulty_answer"


def make_run(folder: Path) -> None:
    """Score the sample rollouts, each by itself."""
    rows = [dict(row.columns) for row in read_rows(str(sample_path())) if row.columns is not None]
    for row in rows:
        row.pop("group_id", None)
    for at, row in enumerate(rows):
        row["tags"] = [["short", "long"][len(str(row.get("question"))) > 60], ["first", "second"][at % 2]]
    config = RunConfig(cache="off", max_unscored=1.0)
    adjudge.evaluate(rows, scorers=SCORERS, run=folder / "assistant.run", config=config)


def look(folder: Path) -> None:
    """Take the picture of the viewer."""
    with ViewServer([folder], cache=folder / "cache") as server, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(server.link)
        page.get_by_role("link", name="assistant.run").first.click()
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURES / "view-run.png")
        browser.close()


def show_terminal(folder: Path) -> None:
    """Draw what a check prints, in colour; without the fonts that would be loaded from elsewhere."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "100", "PATH": path}
    subprocess.run(["adjudge", "init"], cwd=folder, env=environment, check=True, capture_output=True)
    done = subprocess.run(shlex.split(CHECK), cwd=folder, env=environment, capture_output=True, text=True, check=False)
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(Text(f"$ {CHECK}\n"), Text.from_ansi(done.stdout), sep="")
    drawn = console.export_svg(title="adjudge check", unique_id="check")
    drawn = re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)
    (PICTURES / "terminal-check.svg").write_text(drawn, encoding="utf-8")


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder)
        look(folder)
        show_terminal(folder)


if __name__ == "__main__":
    main()

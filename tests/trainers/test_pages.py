"""The pages for trainers run as they stand, on a model that is made on the spot.

Each trainer has a virtual environment of its own, in which `make integration` runs this for that trainer's page.
"""

import sys
from pathlib import Path

import pytest

from pages import FENCE, commands, run
from support import ROOT
from trainers import tiny

MODEL = "Qwen/Qwen3-0.6B"  # what the pages train
PAGES = sorted((ROOT / "docs" / "how-to" / "trainers").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    """Its files are written, its commands run; the lines that it shows are among those that they print."""
    if page.stem != Path(sys.prefix).name:
        pytest.skip(f"runs in the environment of {page.stem}")
    text = page.read_text(encoding="utf-8")
    if MODEL in text:
        tiny.model(tmp_path / MODEL)
    count = 0
    for language, file, body in FENCE.findall(text):
        if file:
            (tmp_path / file).write_text(body, encoding="utf-8")
        elif language == "console":
            for command, expected in commands(body):
                shown = run(command, tmp_path, Path(sys.executable).parent, HF_HUB_OFFLINE="1").splitlines()
                assert [line for line in expected.splitlines() if line not in shown] == [], shown
                count += 1
    assert count > 0

"""Every snippet and command in the docs runs, and shows what the docs say it shows."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "judges").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)?(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
NOT_RUN = ("make ", "pip ")  # what sets up the project itself


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path) -> None:
    """Python blocks run, console blocks give the output that stands below them, named blocks are files."""
    names: dict[str, object] = {"__name__": "snippet"}
    for language, file, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if file:
            (tmp_path / file).write_text(body, encoding="utf-8")
        elif body.startswith(">>>"):
            assert doctested(body, page.name) == 0
        elif language == "python":
            exec(compile(body, str(page), "exec"), names)  # noqa: S102 (our own docs)
        elif language == "console":
            for call in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, expected = call.partition("\n")
                assert run(command, tmp_path) == expected if not command.startswith(NOT_RUN) else True, command


def doctested(body: str, name: str) -> int:
    """Run an example with prompts and return how many of its outputs are wrong."""
    test = doctest.DocTestParser().get_doctest(body, {}, name, None, 0)
    return doctest.DocTestRunner().run(test).failed


def run(command: str, folder: Path) -> str:
    """Run a command line as a reader would, in a folder of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "120"}
    done = subprocess.run(  # noqa: S602 (our own docs)
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link points to a file of the project."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link

"""Every snippet and command in the docs runs, and shows what the docs say it shows."""

import doctest
import re
import sys
from pathlib import Path

import pytest

from pages import FENCE, commands, run
from support import ROOT

DOCS = ROOT / "docs"
# Run by `make integration`, each with its packages.
ELSEWHERE = [
    *sorted((DOCS / "how-to" / "frameworks").glob("*.md")),
    *sorted((DOCS / "how-to" / "trainers").glob("*.md")),
]
# Made from the docstrings, which are tests themselves, or a record of what was decided.
MADE = [*(DOCS / "reference" / "api").glob("*.md"), *(DOCS / "decisions").glob("*.md")]
OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "llms.txt")]
PAGES = [
    ROOT / "README.md",
    ROOT / "skills" / "adjudge" / "SKILL.md",
    *sorted(set(DOCS.rglob("*.md")) - {*ELSEWHERE, *MADE}),
]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


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
            for command, expected in commands(body):
                assert run(command, tmp_path, Path(sys.executable).parent) == expected, command


def doctested(body: str, name: str) -> int:
    """Run an example with prompts and return how many of its outputs are wrong."""
    test = doctest.DocTestParser().get_doctest(body, {}, name, None, 0)
    return doctest.DocTestRunner().run(test).failed


@pytest.mark.parametrize("page", [*PAGES, *ELSEWHERE, *OTHERS], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link points to a file of the project."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link

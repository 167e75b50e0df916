"""`adjudge check --markdown`: a summary that can be posted, in which nothing that anybody wrote is at work."""

import json
import re
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adjudge.errors import printable
from cli.checking import write_scenarios
from cli.command import adjudge
from sinks.hostile import HOSTILE

OURS = re.compile(r"<details><summary>[\w :]+</summary>|</details>|<br>")
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def summary(folder: Path, *options: str, code: int) -> str:
    """Check the scenarios of a folder, and return the markdown."""
    done = adjudge("check", "scenarios", "--agent", "agent:answer", "--markdown", "out.md", *options, cwd=folder)
    assert done.returncode == code, done.stderr
    return (folder / "out.md").read_text(encoding="utf-8")


def parse(markdown: str) -> list[Token]:
    """Return all tokens, inner ones too, as GitHub's dialect reads them."""
    tokens: list[Token] = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    return [inner for token in tokens for inner in (token, *(token.children or ()))]


def test_summary(tmp_path: Path) -> None:
    """The verdict, the counts, what did not pass and why (failures first), then what is collapsed."""
    write_scenarios(tmp_path, {"good": "a", "broken": "raise", "bad": "nothing"})
    found = summary(tmp_path, code=3)
    lines = found.splitlines()
    assert lines[0] == "## ❔ adjudge gate: UNDECIDED (exit code 3)"
    assert lines[2].strip() == "3 runs of 3 scenarios: 1 passed, 1 failed, 1 undecided"
    rows = [line for line in lines if line.startswith("| ")]
    assert rows[0] == "|  | scenario | why |"
    assert rows[1].startswith("| ❌ | ` bad ` | ` missing: tool 'pdf_retrieval' is expected and was not called `")
    assert rows[2].startswith("| ❔ | ` broken ` | ` agent-failed: raised: RuntimeError")
    assert "| ` bad ` | ` nothing ` | ` orchestrator ` | none | ` About nothing ` |" in found
    assert "| ` broken ` | ` raise ` | not known | not known |  |" in found
    titles = re.findall("<summary>(.*)</summary>", found)
    assert titles == ["What happened there", "The gate: 0 of 2 thresholds passed", "1 scenario passed"]


def test_all_passed(tmp_path: Path) -> None:
    """Where all is well there is a line, and the rest is collapsed."""
    write_scenarios(tmp_path, {"good": "a"})
    found = summary(tmp_path, code=0)
    assert found.startswith("## ✅ adjudge gate: PASS (exit code 0)\n\n1 run of 1 scenario: 1 passed")
    before, _, _ = found.partition("<details>")
    assert "|" not in before


def test_repeats(tmp_path: Path) -> None:
    """Runs of one scenario are one row, with how many of them passed."""
    write_scenarios(tmp_path, {"good": "a", "bad": "nothing"})
    found = summary(tmp_path, "--repeat", "3", code=1)
    assert "6 runs of 2 scenarios: 3 passed, 3 failed, 0 undecided" in found
    assert "| ❌ | ` bad ` | 0 of 3 |" in found


def test_hostile(tmp_path: Path) -> None:
    """Ids, questions, reasons and answers are code, where no markup, link, mention or command works."""
    texts = {name: text[:5_000] for name, text in HOSTILE.items() if name != "surrogates"}
    (tmp_path / "scenarios").mkdir()
    rows = "".join(
        f"[[scenarios]]\nid = {json.dumps(f'{at} {printable(text, 150)}')}\nquestion = {json.dumps(text + '?')}\n"
        f"tools_should_include = [{json.dumps(text + 'x')}]\n"
        for at, text in enumerate(texts.values())
    )
    (tmp_path / "scenarios" / "all.toml").write_text(rows.replace("\x7f", "\\u007f"), encoding="utf-8")
    (tmp_path / "agent.py").write_text(
        "def answer(question):\n"
        "    return {'response': question, 'agents_called': [question], 'tools_used': ['t', question + ' ']}\n"
    )
    found = summary(tmp_path, code=1)
    assert UNFIT.search(found) is None
    assert not re.search("^(::|##vso|##\\[)", found, re.MULTILINE)
    tokens = parse(found)
    html = [token.content for token in tokens if token.type in ("html_block", "html_inline")]
    assert html
    assert OURS.sub("", "".join(html)).strip() == ""
    assert {token.type for token in tokens} & {"link_open", "image", "em_open", "strong_open"} == set()
    assert sum(token.type == "heading_open" for token in tokens) == 1
    said = "".join(token.content for token in tokens if token.type == "text")
    assert not set(said) & set("@<>[]#")


def test_size(tmp_path: Path) -> None:
    """A summary fits into a comment whatever a run holds, and says how much is left out."""
    write_scenarios(tmp_path, {f"scenario-{at}-{'x' * 150}": "nothing" for at in range(400)})
    found = summary(tmp_path, code=1)
    assert len(found.encode()) < 65_536
    assert re.search(r"… and \d+ more, which do not fit in here\.", found)
    assert found.count("<details>") == found.count("</details>") == 2
    assert "The gate: 1 of 2 thresholds passed" in found

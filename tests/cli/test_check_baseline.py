"""`adjudge check --baseline`: what changed since an earlier report, which decides nothing."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.scenarios import load_baseline
from cli.checking import write_scenarios
from cli.command import adjudge, said
from sinks.hostile import HOSTILE

UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
AGENT = ("--agent", "agent:answer")


def make_baseline(folder: Path, questions: dict[str, str], *options: str) -> None:
    """Write the report of a check to main.json."""
    write_scenarios(folder, questions)
    done = adjudge("check", "scenarios", *AGENT, "--json", "main.json", *options, cwd=folder)
    assert done.returncode in (0, 1, 3), done.stderr


def changes_since(folder: Path, questions: dict[str, str], *options: str) -> tuple[dict[str, Any], str, int]:
    """Check other questions, and return what the report says of the baseline, the screen, and the exit code."""
    write_scenarios(folder, questions)
    reports = ("--json", "out.json", "--markdown", "out.md")
    done = adjudge("check", "scenarios", *AGENT, "--baseline", "main.json", *reports, *options, cwd=folder)
    assert done.returncode in (0, 1, 3), done.stderr
    found: dict[str, Any] = json.loads((folder / "out.json").read_bytes())["baseline"]
    return found, done.stdout.decode(), done.returncode


def test_changes(tmp_path: Path) -> None:
    """Worse, better, new and gone are named; what is undecided on either side is neither worse nor better."""
    before = {"same": "a", "worse": "a", "better": "nothing", "gone": "a", "lost": "a", "found": "raise"}
    now = {"same": "a", "worse": "nothing", "better": "a", "new": "a", "lost": "raise", "found": "nothing"}
    make_baseline(tmp_path, before)
    found, screen, code = changes_since(tmp_path, now)
    assert code == 3
    kinds = {one["id"]: one["change"] for one in found["changes"]}
    assert kinds == {
        **{name: name for name in ("worse", "better", "new", "gone")},
        "lost": "undecided",
        "found": "decided",
    }
    assert found["counts"] == {
        **dict.fromkeys(("worse", "undecided", "new", "gone", "decided", "better"), 1),
        "unchanged": 1,
    }
    (worse,) = [one for one in found["changes"] if one["id"] == "worse"]
    assert worse["before"] == {"outcome": "passed", "passed": 1, "runs": 1}
    assert worse["now"] == {"outcome": "failed", "passed": 0, "runs": 1}
    line = "1 worse, 1 now undecided, 1 new, 1 gone, 1 now decided, 1 better, 1 as before"
    assert f"since main.json: {line}\n  worse      worse\n" in screen
    markdown = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert f"Since the baseline: {line}" in markdown
    assert "| ❌ | ` worse ` | ✅ |" in markdown
    assert "| ❌ | ` found ` | ❔ |" in markdown
    assert "| gone | ` gone ` | ✅ | – |" in markdown


def test_it_decides_nothing(tmp_path: Path) -> None:
    """A release that passes the gate passes, however much changed; and one that fails as before fails."""
    make_baseline(tmp_path, {"a": "nothing", "b": "a"})
    assert changes_since(tmp_path, {"c": "a"})[2] == 0
    assert changes_since(tmp_path, {"a": "nothing", "b": "a"})[2] == 1


def test_a_selection(tmp_path: Path) -> None:
    """A scenario that was not selected is not gone, and is not compared."""
    make_baseline(tmp_path, {"a": "a", "b": "a", "c": "a"})
    found, _, _ = changes_since(tmp_path, {"a": "a", "b": "a"}, "--only", "a")
    assert [(one["id"], one["change"]) for one in found["changes"]] == [("c", "gone")]
    assert found["counts"]["unchanged"] == 1


def test_repeats(tmp_path: Path) -> None:
    """A scenario stands as the worst of its runs does, with how many passed."""
    make_baseline(tmp_path, {"a": "a"}, "--repeat", "3")
    found, _, _ = changes_since(tmp_path, {"a": "nothing"}, "--repeat", "2")
    assert found["changes"][0]["before"] == {"outcome": "passed", "passed": 3, "runs": 3}
    assert "| worse | ` a ` | ✅ 3 of 3 | ❌ 0 of 2 |" in (tmp_path / "out.md").read_text(encoding="utf-8")


def test_without(tmp_path: Path) -> None:
    """Without a baseline the report has none."""
    make_baseline(tmp_path, {"a": "a"})
    assert json.loads((tmp_path / "main.json").read_bytes())["baseline"] is None


RESULT = {"id": "a", "status": "scored", "pass": True}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "it needs schema 1 and results"),
        ('{"schema": 2, "results": []}', "it needs schema 1 and results"),
        ('{"schema": 1, "results": {}}', "it needs schema 1 and results"),
        (json.dumps({"schema": 1, "results": [RESULT, {**RESULT, "id": 7}]}), "result 2 needs id, status and pass"),
        (json.dumps({"schema": 1, "results": [{**RESULT, "pass": "yes"}]}), "result 1 needs id, status and pass"),
        (json.dumps({"schema": 1, "results": [{"id": "a", "status": "scored"}]}), "result 1 needs id, status and pass"),
        (json.dumps({"schema": 1, "results": [None]}), "result 1 needs id, status and pass"),
    ],
)
def test_not_a_report(tmp_path: Path, content: str, why: str) -> None:
    """Whatever is not a report is refused with what it lacks."""
    (tmp_path / "main.json").write_text(content)
    with pytest.raises(UsageError, match=why) as caught:
        load_baseline(tmp_path / "main.json")
    assert caught.value.code == "bad-baseline"


def test_a_hostile_baseline(tmp_path: Path) -> None:
    """Ids of a baseline, which may come from anywhere, are text wherever they are shown."""
    ids = [text[:1_000] for text in HOSTILE.values()]
    write_scenarios(tmp_path, {"a": "a"})
    report = {"schema": 1, "results": [{**RESULT, "id": one} for one in ids]}
    (tmp_path / "main.json").write_text(json.dumps(report))
    found, screen, code = changes_since(tmp_path, {"a": "a"})
    assert (code, found["counts"]["gone"]) == (0, len(set(ids)))
    assert UNFIT.search(screen + (tmp_path / "out.md").read_text(encoding="utf-8")) is None
    assert not re.search(r"^\s*(::|##)", screen, re.MULTILINE)
    rows = [line for line in (tmp_path / "out.md").read_text(encoding="utf-8").splitlines() if "| gone |" in line]
    assert len(rows) == len(set(ids))
    assert all(re.fullmatch(r"\| gone \| (`+) .* \1 \| ✅ \| – \|", row) for row in rows)


def test_refused_before_the_agent_is_asked(tmp_path: Path) -> None:
    """A baseline that is not there is a wrong call, which costs nothing."""
    write_scenarios(tmp_path, {"a": "a"})
    (tmp_path / "agent.py").write_text("def answer(question): open('asked', 'w').close()")
    done = adjudge("check", "scenarios", *AGENT, "--baseline", "none.json", cwd=tmp_path)
    assert (done.returncode, said(done)) == (2, "none.json: No such file or directory")
    assert not (tmp_path / "asked").exists()

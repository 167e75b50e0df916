"""The judged chapter of the demo: what a newcomer sees is what happened."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from cli.command import adjudge


@pytest.fixture(scope="module")
def chapter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the demo from the chapter on as it is printed, for somebody who has a key."""
    folder = tmp_path_factory.mktemp("demo")
    result = adjudge("demo", cwd=folder, env={"OPENAI_API_KEY": "sk-the-users-own", "COLUMNS": "80"})
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"sk-the-users-own" not in result.stdout
    assert list(folder.iterdir()) == []
    return "3. Judges" + result.stdout.decode().partition("3. Judges")[2]


@pytest.fixture(scope="module")
def shown(chapter: str) -> str:
    """Return its first part, on the model."""
    return chapter.partition("4. A judge without a key")[0]


def rows(shown: str) -> dict[str, list[str]]:
    """Return the columns of the table of answers, by id."""
    found = re.findall(r"^    (a\d+) +(\S.*?)  +(\S.*?)  +(\S.*)$", shown, re.MULTILINE)
    return {key: columns for key, *columns in found}


def test_counts_add_up(shown: str) -> None:
    """The three counts of the summary are those of the table above it, and add up to its rows."""
    outcomes = [columns[-1].partition(":")[0] for columns in rows(shown).values()]
    scored = sum(outcome in ("CORRECT", "WRONG") for outcome in outcomes)
    counts = [len(outcomes), scored, outcomes.count("unscored"), outcomes.count("error")]
    assert counts == [10, 7, 2, 1]
    assert re.search(r"^openai:demo +{} +{} +{} +{} ".format(*counts), shown, re.MULTILINE)
    assert "3 of 10 rows (30.0%) have no score" in shown
    assert "with them the mean lies in 0.4000 .. 0.7000" in shown


def test_faults_are_no_numbers(shown: str) -> None:
    """A fault that passes costs a call, one that stays is named; nothing that the answer says is a verdict."""
    table = {key: (sent, outcome) for key, (_, sent, outcome) in rows(shown).items()}
    assert table["a2"] == ("429, CORRECT", "CORRECT")
    assert table["a3"] == ("500, CORRECT", "CORRECT")
    assert table["a6"] == ("(not asked)", "WRONG: vacuous")
    assert table["a7"] == ("copied CORRECT, WRONG", "WRONG")
    assert table["a8"] == ("no verdict x2", "unscored: unreadable")
    assert table["a9"] == ("refusal", "unscored: refusal")
    assert table["a10"] == ("web page x3", "error: malformed-reply")


def test_nothing_paid_twice(shown: str, chapter: str) -> None:
    """The calls of both sessions are exactly those of the table."""
    replies = [reply for _, sent, _ in rows(shown).values() if sent != "(not asked)" for reply in sent.split(", ")]
    calls = sum(int(reply.partition(" x")[2] or 1) for reply in replies)
    words = re.search(r"stopped after\s+(\d+), and resumed from its file with\s+(\d+) more", shown)
    assert words is not None
    assert int(words[1]) + int(words[2]) == calls == 16
    assert "adjudge resume my.run" in chapter


def test_fits_a_terminal(shown: str) -> None:
    """The table fits on eighty columns."""
    table = [line for line in shown.splitlines() if re.match(r"    a\d+ ", line)]
    assert max(map(len, table)) <= 80
    assert len(table) == 10


def test_answers_are_rows_of_a_judged_run(tmp_path: Path) -> None:
    """The sample is a file as `adjudge judge run` takes it."""
    file = str(files("adjudge.demo") / "answers.jsonl")
    result = adjudge("judge", "run", file, "--judge", "local", "--run", "a.run", cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_the_judge_in_the_package(chapter: str) -> None:
    """The same answers are judged by `local`, each with its probability, and what is known of it is said."""
    table = chapter.partition("4. A judge without a key")[2]
    found = re.findall(r"^    (a\d+) .*  ([01]\.\d\d) +(CORRECT|WRONG) +(\S+)$", table, re.MULTILINE)
    assert [key for key, *_ in found] == [f"a{number}" for number in range(1, 11)]
    assert all((float(sure) >= 0.5) == (verdict == "CORRECT") for _, sure, verdict, _ in found)
    assert {"vacuous", "injected-verdict"} <= {reason for *_, reason in found}
    words = " ".join(table.split())
    assert "in the package (local:1, rules and small encoders)" in words
    assert "local judge, tier 1; agreement with people" in words

"""`adjudge compare`: what it prints, its exit codes, and the files that it writes."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree as ET

import pytest

from adjudge import compare, evaluate
from cli.command import adjudge, write

HOSTILE = "q[red]\x1b[31m\u202e<script>"


def scores(path: Path, values: Mapping[str, float | None], **more: object) -> None:
    """Write a score file."""
    rows = (
        {
            "id": key,
            "scorer": "exact",
            "value": value,
            "status": "error" if value is None else "scored",
            "parts": {},
            "version": "1",
            **more,
        }
        for key, value in values.items()
    )
    write(path, rows)


def shown(done: CompletedProcess[bytes]) -> str:
    """Return all that a call printed."""
    return done.stdout.decode() + done.stderr.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a base, a run that lost 12 of 60 cases, and one that is like the base."""
    base = {f"q{at}": float(at % 3 > 0) for at in range(60)}
    scores(tmp_path / "base.jsonl", base)
    scores(tmp_path / "same.jsonl", base)
    scores(tmp_path / "worse.jsonl", {key: 0.0 if at < 18 else value for at, (key, value) in enumerate(base.items())})
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["base.jsonl", "same.jsonl"],
            0,
            "pass (exit code 0): nothing is shown to be worse; 1 of 1 not shown either way",
        ),
        (["base.jsonl", "worse.jsonl"], 1, "regressions:  12  q1 (1 -> 0), q2 (1 -> 0)"),
        (["worse.jsonl", "base.jsonl"], 0, "fixes:        12  q1 (0 -> 1)"),
        (["base.jsonl", "worse.jsonl", "--fail-on", "none"], 0, "worse"),
        (["base.jsonl", "same.jsonl", "--margin", "0.2", "--fail-on", "inferior"], 0, "non-inferior"),
        (["base.jsonl", "same.jsonl", "--margin", "0.01", "--fail-on", "inferior"], 3, "takes"),
        (["base.jsonl", "worse.jsonl", "--margin", "0.01", "--fail-on", "inferior"], 1, "inferior"),
        (["base.jsonl", "worse.jsonl", "same.jsonl"], 1, "60 cases that all runs have; all intervals hold at once"),
        (["base.jsonl", "worse.jsonl", "--fail-on", "inferior"], 2, "--fail-on inferior needs --margin"),
        (["base.jsonl", "worse.jsonl", "same.jsonl", "--out", "x"], 2, "--out is for two runs"),
        (["base.jsonl", "missing.jsonl"], 2, "missing.jsonl: No such file"),
        (["base.jsonl", "worse.jsonl", "--scorer", "exakt"], 2, "has no metric 'exakt'; did you mean 'exact'?"),
        (["base.jsonl", "worse.jsonl", "--margin", "nan"], 2, "margin"),
        (["base.jsonl", "worse.jsonl", "--json", "a/b/c.json"], 2, "a/b/c.json"),
    ],
)
def test_exit_codes_and_words(folder: Path, arguments: list[str], code: int, words: str) -> None:
    """The exit code is the verdict, and the output says what it rests on."""
    done = adjudge("compare", *arguments, cwd=folder)
    assert (done.returncode, words in shown(done)) == (code, True), shown(done)


def test_missing_scores_decide_nothing(folder: Path) -> None:
    """Where more than 5 % of the pairs lack a score, the exit code is 3; a share that may be missing is an option."""
    values: dict[str, float | None] = {f"q{at}": None if at < 4 else float(at % 3 > 0) for at in range(60)}
    scores(folder / "faulty.jsonl", values)
    done = adjudge("compare", "base.jsonl", "faulty.jsonl", cwd=folder)
    assert done.returncode == 3
    assert "6.7% of the pairs lack a score; at most 5% may" in shown(done)
    done = adjudge("compare", "base.jsonl", "faulty.jsonl", "--max-missing", "10%", cwd=folder)
    assert done.returncode == 0
    assert "0 and 4 scores missing, taken for chance; robust: yes" in shown(done)


def test_a_mismatch_is_refused_and_said_on_every_output(folder: Path) -> None:
    """Another version of the scorer is exit code 2; compared all the same, table, JSON and JUnit say so."""
    scores(folder / "other.jsonl", {f"q{at}": 1.0 for at in range(60)}, version="2")
    done = adjudge("compare", "base.jsonl", "other.jsonl", cwd=folder)
    assert done.returncode == 2
    assert "exact has another version (1 and 2) (--allow-mismatch" in shown(done)
    outputs = ["--json", "x.json", "--junit", "x.xml", "--github"]
    summary = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    done = adjudge("compare", "base.jsonl", "other.jsonl", "--allow-mismatch", *outputs, cwd=folder, env=summary)
    assert done.returncode == 0
    assert "NOT COMPARABLE, compared all the same: exact has another version" in shown(done)
    assert json.loads((folder / "x.json").read_text())["mismatches"] == ["exact has another version (1 and 2)"]
    assert "another version" in (folder / "x.xml").read_text()
    assert "another version" in (folder / "summary.md").read_text()


def test_files_that_are_written(folder: Path) -> None:
    """JSON has everything, --out a line a changed case, JUnit and GitHub a check for each metric that decides."""
    summary = folder / "summary.md"
    outputs = ["--json", "x.json", "--out", "x.jsonl", "--junit", "x.xml", "--github"]
    done = adjudge(
        "compare", "base.jsonl", "worse.jsonl", *outputs, cwd=folder, env={"GITHUB_STEP_SUMMARY": str(summary)}
    )
    assert done.returncode == 1
    whole = json.loads((folder / "x.json").read_text())
    metric = whole["metrics"]["exact"]
    assert (whole["exit_code"], metric["verdict"], metric["pairs"], metric["is_gated"]) == (1, "worse", 60, True)
    assert metric["difference"]["value"] == pytest.approx(-0.2)
    assert (len(whole["regressions"]), whole["fixes"], whole["only_in_base"]) == (12, [], [])
    lines = [json.loads(line) for line in (folder / "x.jsonl").read_text().splitlines()]
    assert lines[0] == {"id": "q1", "metric": "exact", "kind": "regressed", "base": 1.0, "new": 0.0, "p": None}
    assert len(lines) == 12
    suite = ET.parse(folder / "x.xml").getroot()  # noqa: S314 (our own report)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert b"::error title=compare%3A exact::worse: 0.6667 -> 0.4667" in done.stdout
    assert "worse" in summary.read_text()


def test_a_leaderboard_as_json(folder: Path) -> None:
    """The leaderboard has a row for each run, with ranks and the difference to the first."""
    adjudge("compare", "base.jsonl", "same.jsonl", "worse.jsonl", "--json", "x.json", cwd=folder)
    board = json.loads((folder / "x.json").read_text())["leaderboards"]["exact"]
    assert [run["ranks"] for run in board["runs"]] == [[1, 2], [1, 2], [3, 3]]
    assert {run["verdict"] for run in board["runs"]} == {None, "no difference shown", "worse"}


def test_tables_of_any_kind(folder: Path) -> None:
    """Two CSV files with columns of their own are compared in one command, by topic and by what varies together."""
    for name, shift in (("a.csv", 0), ("b.csv", 2)):
        rows = [f"{at},{'art' if at % 2 else 'geo'},{int((at + shift) % 4 > 0)}" for at in range(40)]
        (folder / name).write_text("\n".join(["question,topic,right", *rows]))
    options = ["--id", "question", "--score", "right", "--by", "topic"]
    done = adjudge("compare", "a.csv", "b.csv", *options, cwd=folder)
    assert done.returncode == 0, shown(done)
    assert "[topic=art]" in shown(done)
    assert "40 pairs" in shown(done)


def test_hostile_names_stay_text(folder: Path) -> None:
    """Ids, names of metrics and files that hold markup, controls or commands are printed as text."""
    write(
        folder / "bad.jsonl",
        (
            {"id": HOSTILE, "scorer": HOSTILE, "value": value, "status": "scored", "parts": {}, "version": "1"}
            for value in (1.0,)
        ),
    )
    done = adjudge("compare", "bad.jsonl", "bad.jsonl", "bad.jsonl", "--github", cwd=folder)
    assert done.returncode == 0, shown(done)
    assert "\x1b" not in shown(done)
    assert "\u202e" not in shown(done)
    done = adjudge("compare", "base.jsonl", "bad.jsonl", cwd=folder)
    assert done.returncode == 2
    assert "\x1b" not in shown(done)


def test_python_compares_what_evaluate_returns(tmp_path: Path) -> None:
    """`adjudge.compare` takes results of `evaluate`, run files and paths, with the numbers of the command."""
    rows = [{"id": f"q{at}", "answer": "Paris", "final_response": "Paris"} for at in range(20)]
    wrong = [{**row, "final_response": "Lyon"} for row in rows[:9]] + rows[9:]
    base, new = (
        evaluate(table, scorers=["qa_em_reward"], run=tmp_path / name)
        for name, table in (("a.run", rows), ("b.run", wrong))
    )
    found = compare(base, str(tmp_path / "b.run"), margin=0.1)
    assert found.metrics["qa_em_reward"].verdict == "inferior"
    assert found.regressions == tuple(f"q{at}" for at in range(9))
    assert compare(tmp_path / "a.run", new, margin=0.1) == found


@pytest.mark.parametrize("option", ["--json", "--out", "--junit"])
def test_no_report_is_written_over_what_is_read(folder: Path, option: str) -> None:
    """A report with the name of a run, also through a link, is refused, and the run stays as it was."""
    before = (folder / "base.jsonl").read_bytes()
    (folder / "link").symlink_to("base.jsonl")
    for name in ("base.jsonl", "./base.jsonl", "link"):
        done = adjudge("compare", "same.jsonl", "base.jsonl", option, name, cwd=folder)
        assert (done.returncode, "is read by this call" in shown(done)) == (2, True), shown(done)
    assert (folder / "base.jsonl").read_bytes() == before


def test_a_pipe_takes_a_report(folder: Path) -> None:
    """A report goes to a pipe by the name that the system has for it."""
    done = adjudge("compare", "base.jsonl", "same.jsonl", "--json", "/dev/stdout", cwd=folder)
    assert done.returncode == 0, shown(done)
    assert '"exit_code": 0' in done.stdout.decode()


def test_a_run_that_was_cut_off_does_not_pass(folder: Path) -> None:
    """Half of the cases show no loss: that is undecided, with how many are missing."""
    lines = (folder / "same.jsonl").read_text().splitlines(keepends=True)
    (folder / "half.jsonl").write_text("".join(lines[:30]))
    done = adjudge("compare", "base.jsonl", "half.jsonl", cwd=folder)
    words = "undecided (exit code 3): 30 of 60 cases of the base are not compared; at most 5% may be missing"
    assert (done.returncode, words in shown(done)) == (3, True), shown(done)
    done = adjudge("compare", "base.jsonl", "same.jsonl", "half.jsonl", cwd=folder)
    assert (done.returncode, words in shown(done)) == (3, True), shown(done)


def run_line(line: str, folder: Path) -> int:
    """Run a line of bash, and return its exit code."""
    return subprocess.run(["bash", "-c", line], cwd=folder, check=False, stdout=subprocess.DEVNULL).returncode  # noqa: S607


@pytest.mark.parametrize(("new", "code"), [("worse.jsonl", 1), ("part.jsonl", 3), ("same.jsonl", 0)])
def test_a_reader_who_has_gone(folder: Path, new: str, code: int) -> None:
    """The exit code is the verdict, also where nobody reads what is printed, as behind `head`."""
    scores(folder / "part.jsonl", {"q1": 1.0})
    for reader in ("true", "head -1", "grep -q base"):
        line = f"{sys.executable} -m adjudge compare base.jsonl {new} --github | {reader}; exit ${{PIPESTATUS[0]}}"
        assert run_line(line, folder) == code
    line = f"{sys.executable} -m adjudge compare base.jsonl {new} >&-"
    assert run_line(line, folder) == code


def test_one_file_for_two_reports(folder: Path) -> None:
    """Two spellings of one path are one file."""
    done = adjudge("compare", "base.jsonl", "same.jsonl", "--json", "o", "--junit", "./o", cwd=folder)
    assert done.returncode == 2
    assert "cannot be written twice" in shown(done)


def test_a_report_that_is_missing_is_not_a_pass(folder: Path) -> None:
    """A full disk is undecided; a loss stays a loss."""
    for new, code in (("same.jsonl", 3), ("worse.jsonl", 1)):
        done = adjudge("compare", "base.jsonl", new, "--json", "/dev/full", cwd=folder)
        assert done.returncode == code
        assert "No space left on device" in shown(done)
        assert f"(exit code {code})" in shown(done)


def test_worse_by_an_unsure_amount(folder: Path) -> None:
    """A loss that is sure, and not surely larger than the margin, is called worse, and the exit code says so."""
    done = adjudge("compare", "base.jsonl", "worse.jsonl", "--margin", "0.25", cwd=folder)
    assert done.returncode == 1
    assert "worse, though not shown to be so by more than the margin" in shown(done)

"""`adjudge judge fit`: labels in, a small correction out, and runs that are judged with it."""

import json
from pathlib import Path
from typing import Any

from cli import command


def adjudge(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    """Run the command and return its exit code, output and errors."""
    done = command.adjudge(*arguments, cwd=cwd, env={"COLUMNS": "120"})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def rows(count: int) -> list[dict[str, Any]]:
    """Return rows that name the reference, and are wrong all the same but for every fifth."""
    return [
        {
            "id": f"r{n}",
            "question": f"Which number comes after {n}?",
            "reference": str(n + 1),
            "response": f"People who were asked said that it is {n + 1} or so they had heard.",
            "label": int(n % 5 == 0),
        }
        for n in range(count)
    ]


def test_labels_change_the_verdicts_of_a_run(tmp_path: Path) -> None:
    """The figures before and after are shown, a run that names the file uses it, and its file says so."""
    command.write(tmp_path / "labels.jsonl", rows(100))
    code, out, err = adjudge("judge", "fit", "labels.jsonl", "--judge", "local:0", "--out", "fit.json", cwd=tmp_path)
    assert (code, "the fit is in fit.json" in err) == (0, True), err
    assert "as it is" in out
    assert "learnt 3 numbers from 100 labels, 20 of the rarer kind" in out
    code, _, err = adjudge(
        "judge", "run", "labels.jsonl", "--judge", "local:0", "--calibration", "fit.json", "--run", "a.run",
        "--out", "out.jsonl", cwd=tmp_path,
    )  # fmt: skip
    assert code == 0, err
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(one["verdict"] == "CORRECT" for one in found) <= 40
    assert any(one["reasons"][0] == "own-labels" for one in found)
    code, _, err = adjudge("judge", "run", "labels.jsonl", "--judge", "local:0", "--run", "a.run", cwd=tmp_path)
    assert (code, "+fit:" in err) == (2, True), err


def test_calls_that_are_wrong(tmp_path: Path) -> None:
    """Too few labels, a judge without probabilities and a file that cannot be written are exit code 2, in a line."""
    command.write(tmp_path / "few.jsonl", rows(6))
    command.write(tmp_path / "labels.jsonl", rows(40))
    for labels, judge, place, said in (
        ("few.jsonl", "local:0", "fit.json", "at least 5 labels of either kind"),
        ("labels.jsonl", "openai:gpt-4o", "fit.json", "fit takes local, local:0 or local:1"),
        ("labels.jsonl", "local:0", "nowhere/fit.json", "No such file"),
        ("none.jsonl", "local:0", "fit.json", "none.jsonl"),
    ):
        code, _, err = adjudge("judge", "fit", labels, "--judge", judge, "--out", place, cwd=tmp_path)
        assert (code, said in err, err.count("\n")) == (2, True, 1), err
    assert not (tmp_path / "fit.json").exists()
